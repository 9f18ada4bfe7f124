"""A scene as text that a model reads: what lies where, what belongs where, what the robot is told."""

from __future__ import annotations

import json

import numpy as np

from scenegen.axes.items import fixture_pose
from scenegen.axes.rest import lean_deg
from scenegen.cell import Cell, Role
from scenegen.parts.catalogue import Catalogue
from scenegen.relations import rules_for
from scenegen.scenario import Item, Scenario
from scenegen.wording import part_names

LEANS_DEG = 2.5
"""Smaller angles to a stable pose are not worth a word [deg]."""


def scene_text(scenario: Scenario, cell: Cell, parts: Catalogue) -> str:
    """Describe a scene.

    Items are numbered as `Photographer` numbers them in the picture. Labels and instructions, which people wrote, stand
    as JSON strings, so that no line of theirs can pass for one of ours.

    Args:
        scenario: A scene of the cell.
        cell: The cell.
        parts: Its parts.
    """
    names = part_names(tuple(parts[part] for part in sorted({item.part for item in scenario.layout.items})))
    items = [
        f"[{number}] {item.name}: {names[item.part]}, {_role(item, scenario, cell, parts)}, "
        f"{_place(item, scenario, parts)}"
        for number, item in enumerate(scenario.layout.items, 1)
    ]
    bins = [f"{box.name}: labelled {json.dumps(box.label)}, room for {box.capacity}" for box in cell.bins]
    rules = [f"{rule.match} into {rule.bin}" for rule in scenario.task.rules]
    lights = [f"{light.name}: {light.kind}, {light.temperature_k:.0f} K" for light in scenario.lights.lights]
    width, depth = (round(1e3 * side) for side in cell.feed.size_m)
    feed = f"feed is a {cell.feed.kind} of {width} x {depth} mm, places in its frame from its middle"
    blocks = {
        f"Items ({feed})": items,
        "Bins": bins,
        "Sort rules": rules,
        "Lights": lights,
        "Instruction": [json.dumps(scenario.task.instruction)],
    }
    return "\n\n".join(f"{title}:\n" + "\n".join(f"- {line}" for line in lines) for title, lines in blocks.items())


def _role(item: Item, scenario: Scenario, cell: Cell, parts: Catalogue) -> str:
    role = cell.slots[item.name].role
    if role is not Role.TARGET:
        return role.value
    bins = [rule.bin for rule in rules_for(item.part, parts[item.part].label, scenario.task.rules)]
    return f"target for {' and '.join(bins) or 'no bin'}"


def _place(item: Item, scenario: Scenario, parts: Catalogue) -> str:
    zone = fixture_pose(scenario.layout, item.zone)
    x, y = np.rint(1e3 * ((item.pose_to_world.position - zone.position) @ zone.rotation)[:2]).astype(int).tolist()
    lean = lean_deg(parts[item.part], item.pose_to_world.quat)
    leaning = f", leaning by {lean:.0f} deg" if lean > LEANS_DEG else ""
    return f"in {item.zone} at ({x}, {y}) mm{leaning}, {item.cause.value}"
