"""Is a cell a workcell in which sorting can work? Findings in sentences that name the field of the cell file."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from scenegen.axes.axis import Axis
from scenegen.cell import Cell, Container, Role
from scenegen.geometry import Array, Pose
from scenegen.nominal import nominal_fixtures
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.posed import Posed
from scenegen.relations import rules_for
from scenegen.robot import Arm
from scenegen.scenario import Cause, Item
from scenegen.units import Unit
from scenegen.verdict import Finding
from validators.cell_view import check_view
from validators.check import finding
from validators.grasp import GRASP, candidates
from validators.placed import REACH

NAME = "cell"
TEMPLATE_FIELDS = ("parts", "rules")


def check_cell(cell: Cell, parts: Catalogue, axes: Mapping[str, Axis]) -> tuple[Finding, ...]:
    """Check a cell.

    Args:
        cell: The cell.
        parts: The parts of its inventory.
        axes: All axes by name, for the names in its envelope.

    Returns:
        What is wrong with it, each with a sentence that begins with the field; empty for a sound cell.
    """
    unknown = tuple(_unknown_parts(cell, parts))
    if unknown:
        return unknown
    return (
        *_names(cell, axes),
        *_templates(cell),
        *_rules(cell, parts),
        *_fixtures(cell),
        *_reach(cell),
        *check_view(cell, parts),
        *_graspable(cell, parts),
    )


def _unknown_parts(cell: Cell, parts: Catalogue) -> Iterator[Finding]:
    for item in cell.inventory:
        if item.part not in parts:
            sentence = f"inventory: part {item.part!r} is not known - accepted: {', '.join(parts)}"
            yield finding(NAME, "unknown_part", [item.part], sentence)


def _names(cell: Cell, axes: Mapping[str, Axis]) -> Iterator[Finding]:
    """Causes, axes and quantities are known ones."""
    causes = [cause.value for cause in Cause]
    for cause in cell.allowed_causes:
        if cause not in causes:
            sentence = f"allowed_causes: {cause!r} is not known - accepted: {', '.join(causes)}"
            yield finding(NAME, "unknown_cause", [cause], sentence)
    for axis, ranges in cell.envelope.items():
        if axis not in axes:
            sentence = f"envelope: axis {axis!r} is not known - accepted: {', '.join(axes)}"
            yield finding(NAME, "unknown_axis", [axis], sentence)
            continue
        known = [severity.name for severity in axes[axis].severities]
        for quantity, (low, high) in ranges.items():
            if quantity not in known:
                sentence = f"envelope.{axis}: quantity {quantity!r} is not known - accepted: {', '.join(known)}"
                yield finding(NAME, "unknown_quantity", [axis, quantity], sentence)
            elif low > high:
                sentence = f"envelope.{axis}.{quantity}: [{low:g}, {high:g}] is empty - accepted: least <= greatest"
                yield finding(NAME, "empty_range", [axis, quantity], sentence)


def _templates(cell: Cell) -> Iterator[Finding]:
    """Instruction templates hold known fields only."""
    for text in cell.instructions:
        fields = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
        for name in fields:
            if name not in TEMPLATE_FIELDS:
                sentence = f"instructions: {{{name}}} in {text!r} is not known - accepted: {{parts}} and {{rules}}"
                yield finding(NAME, "unknown_field", [name], sentence)


def _rules(cell: Cell, parts: Catalogue) -> Iterator[Finding]:
    """Each target has one rule, each rule a part, each bin room for all that its rules may send there."""
    sent: Counter[str] = Counter()
    for item in cell.inventory:
        if item.role is not Role.TARGET:
            continue
        rules = rules_for(item.part, parts[item.part].label, cell.rules)
        sent.update({rule.bin: item.count for rule in rules[:1]})
        if len(rules) != 1:
            sentence = f"rules: {len(rules)} rules match target {item.part!r} - accepted: exactly one"
            yield finding(NAME, "undecidable", [item.part], sentence, value=len(rules), limit=1, unit=Unit.COUNT)
    known = {name for item in cell.inventory for name in (item.part, parts[item.part].label)}
    for rule in cell.rules:
        if rule.match not in known:
            sentence = f"rules: {rule.match!r} is nothing in the inventory - accepted: {', '.join(sorted(known))}"
            yield finding(NAME, "unknown_match", [rule.match], sentence)
    for box in cell.bins:
        if sent[box.name] > box.capacity:
            sentence = (
                f"bins: {box.name!r} has room for {box.capacity} parts, but its rules may send {sent[box.name]} - "
                f"accepted: a capacity of at least {sent[box.name]}"
            )
            yield finding(
                NAME, "capacity", [box.name], sentence, value=box.capacity, limit=sent[box.name], unit=Unit.COUNT
            )


def _fixtures(cell: Cell) -> Iterator[Finding]:
    """Fixtures stand on the table and apart from each other."""
    corners = {f.name: _outer_corners(cell.containers[f.name], f.pose_to_world) for f in nominal_fixtures(cell)}
    names = list(corners)
    for index, name in enumerate(names):
        for other in names[index + 1 :]:
            depth = _overlap_m(corners[name], corners[other])
            if depth > 1e-6:
                sentence = (
                    f"bins: {other!r} and {name!r} overlap by {depth:.4g} m - accepted: fixtures that stand apart"
                )
                yield finding(NAME, "fixtures_overlap", [name, other], sentence, value=depth, limit=0, unit=Unit.METRE)
    table = cell.table
    top = table.pose_top_to_world.inverse()
    for name, box in cell.containers.items():
        local = top.apply(np.column_stack([corners[name], np.zeros(4)]))
        beyond = float((np.abs(local[:, :2]) - np.array(table.size_m[:2]) / 2).max())
        if beyond > 0:
            sentence = f"table: {name!r} reaches {beyond:.4g} m past its edge - accepted: fixtures on the table"
            yield finding(NAME, "off_table", [name], sentence, value=beyond, limit=0, unit=Unit.METRE)
        pose = next(f.pose_to_world for f in nominal_fixtures(cell) if f.name == name)
        sunk = float(table.pose_top_to_world.position_m[2] + box.floor_thickness_m - pose.position_m[2])
        if sunk > 1e-6:
            sentence = f"table: the floor of {name!r} is {sunk:.4g} m inside the table - accepted: above its top"
            yield finding(NAME, "in_table", [name], sentence, value=sunk, limit=0, unit=Unit.METRE)


def _outer_corners(box: Container, pose: Pose) -> Array:
    half = np.array(box.size_m) / 2 + box.wall_thickness_m
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return pose.apply(np.column_stack([signs * half, np.zeros(4)]))[:, :2]


def _overlap_m(a: Array, b: Array) -> float:
    """Depth of overlap of two rectangles given by corners in order, negative for a gap (separating axes) [m]."""
    edges = np.concatenate([np.diff(a[:3], axis=0), np.diff(b[:3], axis=0)])
    normals = edges / np.linalg.norm(edges, axis=1, keepdims=True)
    spans = [(a @ n, b @ n) for n in normals]
    return float(min(min(p.max(), q.max()) - max(p.min(), q.min()) for p, q in spans))


def _reach(cell: Cell) -> Iterator[Finding]:
    """The robot reaches the corners of the feed's floor and a point above each bin."""
    names, points = [], []
    for fixture in nominal_fixtures(cell):
        box = cell.containers[fixture.name]
        if fixture.name == "feed":
            half = np.array(box.size_m) / 2 - cell.robot.gripper.finger_thickness_m
            local = np.array([[x, y, 0.01] for x in (-half[0], half[0]) for y in (-half[1], half[1])])
        else:
            local = np.array([[0.0, 0.0, box.wall_height_m + REACH.limits["release_m"]]])
        points.append(fixture.pose_to_world.apply(local))
        names += [fixture.name] * len(local)
    reached = Arm(cell.robot).reaches_top_down(np.concatenate(points))
    for name in dict.fromkeys(n for n, ok in zip(names, reached, strict=True) if not ok):
        what = "all of the feed" if name == "feed" else f"above bin {name!r}"
        sentence = f"robot: the tool does not reach {what} from above - accepted: fixtures within its reach"
        yield finding(NAME, "unreachable", [name], sentence)


def graspable_share(part: Part, cell: Cell) -> float:
    """Return the share of random drops after which the cell's gripper can take a part from above, in [0, 1]."""
    if not part.stable_poses:
        return 0.0
    items = [
        Item(name=f"pose_{i}", part=part.id, zone="feed", pose_to_world=Pose.of((0, 0, rest.height_m), rest.quat_xyzw))
        for i, rest in enumerate(part.stable_poses)
    ]
    posed = Posed.of(items, Catalogue([part]))
    usable = candidates(posed, cell.robot.gripper, np.zeros(len(items)), GRASP.limits).usable.any(axis=1)
    weights = np.array([rest.probability for rest in part.stable_poses])
    return float(weights[usable].sum() / weights.sum())


def _graspable(cell: Cell, parts: Catalogue) -> Iterator[Finding]:
    """Each part but occluders has a grasp from above in some resting pose."""
    for item in cell.inventory:
        if item.role is Role.OCCLUDER:
            continue
        share = graspable_share(parts[item.part], cell)
        if share == 0:
            gripper = cell.robot.gripper
            sentence = (
                f"inventory: the gripper has no grasp of {item.part!r} from above in any resting pose (opening "
                f"{gripper.opening_m:g} m, least height {gripper.min_grasp_height_m:g} m) - accepted: parts "
                "that it can take"
            )
            yield finding(NAME, "not_graspable", [item.part], sentence, value=share, limit=0, unit=Unit.SHARE)
