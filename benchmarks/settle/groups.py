"""Scenes that the settle benchmark asks about: parts apart, parts that touch, and both with one part moved."""

import numpy as np

from scenegen.axes.axis import AxisContext
from scenegen.axes.registry import AXES
from scenegen.base import sample_base
from scenegen.cell import Cell
from scenegen.errors import PlacementFailed, VariationFailed
from scenegen.geometry import Pose, quat_about, quat_multiply
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Cause, Scenario
from scenegen.streams import stream

GROUPS = ("apart", "disturbed", "touching", "shifted")
LEVEL = 3
"""Level of the axis `stacking`: three parts lie on others."""
RAISED_M = 0.0003
FARTHEST_M = 0.008
"""Greatest distance by which a stacked part is moved aside."""


def axis_context(cell: Cell, parts: Catalogue) -> AxisContext:
    """Build what axes need."""
    return AxisContext.of(cell, parts)


def make(group: str, index: int, context: AxisContext, *, seed: int = 0) -> Scenario:
    """Make one scene of a group; attempts that the product gives up are repeated with other numbers."""
    for attempt in range(100):
        rng = stream("settle", group, seed, index, attempt)
        try:
            base = sample_base(context.cell, context.parts, rng=rng)
            if group in ("touching", "shifted"):
                base = AXES["stacking"].vary(base, LEVEL, ctx=context, rng=rng)
        except (PlacementFailed, VariationFailed):
            continue
        return {"disturbed": disturbed, "shifted": shifted}.get(group, _same)(base, rng)
    raise SystemExit(f"no scene of group {group!r} in 100 attempts")


def disturbed(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    """Return the scene with one item raised and tilted; some such scenes stay within the limits."""
    index, heading = int(rng.integers(len(scenario.layout.items))), rng.uniform(0, 2 * np.pi)
    lean = quat_about([np.cos(heading), np.sin(heading), 0.0], np.radians(10 ** rng.uniform(-0.5, 1.5)))
    pose = scenario.layout.items[index].pose_to_world
    raised = pose.position + np.array([0.0, 0.0, RAISED_M])
    return _moved(scenario, index, Pose.of(raised, quat_multiply(lean, pose.quat)))


def shifted(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    """Return the scene with one stacked item raised and moved aside; some such scenes stay within the limits."""
    items = scenario.layout.items
    stacked = [index for index, item in enumerate(items) if item.cause is Cause.PILED]
    index, heading = int(rng.choice(stacked)), rng.uniform(0, 2 * np.pi)
    aside = rng.uniform(0, FARTHEST_M) * np.array([np.cos(heading), np.sin(heading), 0.0])
    pose = items[index].pose_to_world
    return _moved(scenario, index, Pose.of(pose.position + aside + np.array([0.0, 0.0, RAISED_M]), pose.quat))


def _same(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    return scenario


def _moved(scenario: Scenario, index: int, pose: Pose) -> Scenario:
    items = list(scenario.layout.items)
    items[index] = items[index].replaced(pose_to_world=pose)
    return scenario.varied(layout=scenario.layout.replaced(items=tuple(items)))
