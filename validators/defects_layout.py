"""Planted defects of layouts: what floats, overlaps, lies outside, leans, hides, or has no cause."""

from __future__ import annotations

import numpy as np

from scenegen.axes.datum import moved_fixture
from scenegen.axes.items import fixture_pose, free_slots, targets_in, with_items
from scenegen.cell import Role
from scenegen.errors import PlacementFailed
from scenegen.geometry import Array, Pose, quat_about, quat_multiply, quat_yaw
from scenegen.place import place
from scenegen.scenario import Cause, Item, Layout, Scenario
from validators.check import CheckContext
from validators.defect import Defect


def _drawn(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Item:
    """Draw a target in the feed."""
    targets = targets_in(scenario, ctx.cell)
    return targets[int(rng.integers(len(targets)))]


def _changed(scenario: Scenario, item: Item, **fields: object) -> Scenario:
    """Return the scenario with some fields of one item replaced."""
    new = Item(**{**{name: getattr(item, name) for name in Item.model_fields}, **fields})
    items = tuple(new if old.name == item.name else old for old in scenario.layout.items)
    return scenario.varied(layout=Layout(fixtures=scenario.layout.fixtures, items=items))


def _shifted(scenario: Scenario, item: Item, step: Array) -> Scenario:
    pose = Pose.of(item.pose_to_world.position + step, item.pose_to_world.quat)
    return _changed(scenario, item, pose_to_world=pose)


def _floating(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return _shifted(
        scenario, _drawn(scenario, ctx, rng), np.array([0.0, 0.0, np.exp(rng.uniform(*np.log([0.0008, 0.05])))])
    )


def _overlap(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    targets = targets_in(scenario, ctx.cell)
    if len(targets) < 2:
        return None
    moved, other = (targets[i] for i in rng.permutation(len(targets))[:2])
    nudge = rng.uniform(-0.3, 0.3, 2) * min(ctx.parts[moved.part].radius_m, ctx.parts[other.part].radius_m)
    position = other.pose_to_world.position
    there = np.array([position[0] + nudge[0], position[1] + nudge[1], moved.pose_to_world.position_m[2]])
    return _shifted(scenario, moved, there - moved.pose_to_world.position)


def _grazing(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Push a target toward its nearest neighbour until the two overlap by 0.7 to 3 mm."""
    targets = targets_in(scenario, ctx.cell)
    item = _drawn(scenario, ctx, rng)
    others = [one for one in targets if one.name != item.name]
    if not others:
        return None
    start = item.pose_to_world.position
    near = min(others, key=lambda one: float(np.linalg.norm(one.pose_to_world.position - start)))
    way = (near.pose_to_world.position - start) * (1, 1, 0)
    length, wanted = float(np.linalg.norm(way)), rng.uniform(0.0007, 0.003)
    low, high = 0.0, length
    for _ in range(20):
        middle = (low + high) / 2
        deep = _depth_m(_shifted(scenario, item, way / length * middle), item.name, near.name, ctx)
        low, high = (middle, high) if deep < wanted else (low, middle)
    varied = _shifted(scenario, item, way / length * high)
    return varied if _depth_m(varied, item.name, near.name, ctx) > 0.0006 else None


def _depth_m(scenario: Scenario, a: str, b: str, ctx: CheckContext) -> float:
    contacts = ctx.contacts.contacts(scenario.layout)
    return max((contact.depth_m for contact in contacts if {contact.a, contact.b} == {a, b}), default=0.0)


def _sunk(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    return _shifted(scenario, _drawn(scenario, ctx, rng), np.array([0.0, 0.0, -rng.uniform(0.0015, 0.004)]))


def _outside(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Lay a target beside the feed, on the table, though its zone is the feed."""
    item = _drawn(scenario, ctx, rng)
    side, sign = int(rng.integers(2)), rng.choice([-1.0, 1.0])
    pose = fixture_pose(scenario.layout, "feed")
    local = pose.inverse().apply(item.pose_to_world.position)
    beyond = ctx.cell.feed.size_m[side] / 2 + rng.uniform(0.015, 0.03)
    step = np.zeros(3)
    step[side] = sign * beyond - local[side]
    step[2] = ctx.cell.table.pose_top_to_world.position_m[2] - pose.position_m[2]
    return _shifted(scenario, item, pose.rotation @ step)


def _mislabelled(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    box = ctx.cell.bins[int(rng.integers(len(ctx.cell.bins)))].name
    return _changed(scenario, _drawn(scenario, ctx, rng), zone=box, cause=Cause.MISFEED)


def _out_of_reach(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Move the feed with all that lies in it away from the robot."""
    pose = fixture_pose(scenario.layout, "feed")
    away = pose.position - ctx.cell.robot.pose_base_to_world.position
    away[2] = 0.0
    step = away / np.linalg.norm(away) * rng.uniform(0.6, 0.9)
    return scenario.varied(layout=moved_fixture(scenario.layout, "feed", Pose.of(pose.position + step, pose.quat)))


def _fixture_shifted(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    name = ctx.cell.bins[int(rng.integers(len(ctx.cell.bins)))].name
    pose, angle = fixture_pose(scenario.layout, name), rng.uniform(0, 2 * np.pi)
    step = rng.uniform(0.03, 0.1) * np.array([np.cos(angle), np.sin(angle), 0.0])
    return scenario.varied(layout=moved_fixture(scenario.layout, name, Pose.of(pose.position + step, pose.quat)))


def _tilted(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Lean a target on its edge, on nothing else: it will fall."""
    item = _drawn(scenario, ctx, rng)
    angle, bearing = rng.uniform(0.25, 0.6), rng.uniform(0, 2 * np.pi)
    turn = quat_about(np.array([np.cos(bearing), np.sin(bearing), 0.0]), angle)
    pose = Pose.of(item.pose_to_world.position, quat_multiply(turn, item.pose_to_world.quat))
    low = pose.apply(ctx.parts[item.part].collision_vertices)[:, 2].min()
    lift = fixture_pose(scenario.layout, "feed").position_m[2] - low
    pose = Pose.of(pose.position + np.array([0.0, 0.0, lift]), pose.quat)
    return _changed(scenario, item, pose_to_world=pose, cause=Cause.LEANING)


def _hidden(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Hold a free occluder between the overhead camera and a target, as near to the camera as it takes."""
    camera = next((c for c in scenario.cameras.cameras if c.name == "overhead"), None)
    if camera is None:
        return None
    target, yaw = _drawn(scenario, ctx, rng), rng.uniform(0, 2 * np.pi)
    free = {ctx.cell.slots[slot].part: slot for slot in free_slots(scenario, ctx.cell, Role.OCCLUDER)}
    eye, seen = camera.pose_to_world.position, target.pose_to_world.position
    for share in (0.08, 0.3, 0.5, 0.7):
        for part, slot in free.items():
            rest = max(ctx.parts[part].stable_poses, key=lambda pose: pose.probability)
            lying = Pose.of((0, 0, 0), quat_multiply(quat_yaw(yaw), rest.quat_xyzw))
            middle = lying.apply(ctx.parts[part].mass.center_of_mass_m)
            pose = Pose.of(seen + share * (eye - seen) - middle, lying.quat)
            cover = Item(name=slot, part=part, zone="feed", cause=Cause.OBSTRUCTION, pose_to_world=pose)
            varied = with_items(scenario, (*scenario.layout.items, cover), cell=ctx.cell, parts=ctx.parts)
            if ctx.masks.hidden_share(varied, target.name) > ctx.cell.limits.hidden_share:
                return varied
    return None


def _cornered(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Push the smallest target into a corner of the feed, where no finger fits between it and the walls."""
    item = min(targets_in(scenario, ctx.cell), key=lambda one: ctx.parts[one.part].radius_m)
    pose, half = fixture_pose(scenario.layout, "feed"), np.array(ctx.cell.feed.size_m) / 2
    corners = pose.inverse().apply(item.pose_to_world.apply(ctx.parts[item.part].collision_vertices))[:, :2]
    sign = rng.choice([-1.0, 1.0], 2)
    step = np.array([*(sign * (half - 0.0002) - np.where(sign > 0, corners.max(axis=0), corners.min(axis=0))), 0.0])
    varied = _shifted(scenario, item, pose.rotation @ step)
    touched = [c for c in ctx.contacts.contacts(varied.layout) if item.name in (c.a, c.b)]
    return varied if all(contact.a == "feed" for contact in touched) else None


def _too_few(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Take targets away until fewer are left than the cell's smallest fill."""
    left = int(rng.integers(0, ctx.cell.fill[0]))
    targets = {item.name for item in targets_in(scenario, ctx.cell)[left:]}
    items = [item for item in scenario.layout.items if item.name not in targets]
    return with_items(scenario, items, cell=ctx.cell, parts=ctx.parts)


def _swapped_part(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Give a target another part than its slot has."""
    item = _drawn(scenario, ctx, rng)
    others = sorted({asset.part for asset in scenario.assets} - {item.part})
    return _changed(scenario, item, part=others[int(rng.integers(len(others)))]) if others else None


def _unknown_slot(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    item = _drawn(scenario, ctx, rng)
    return _changed(scenario, item, name=f"{item.part}_{int(rng.integers(50, 99))}")


def _uncaused(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Lay a foreign part into the feed and call that nominal."""
    free = free_slots(scenario, ctx.cell, Role.FOREIGN)
    if not free:
        return None
    slot = free[int(rng.integers(len(free)))]
    return _laid(scenario, ctx, [slot], "feed", Cause.NOMINAL, rng)


def _false_cause(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario:
    """Say of a target that lies flat in the feed that it leans, or is foreign."""
    causes = (Cause.LEANING, Cause.PILED, Cause.FOREIGN_OBJECT)
    return _changed(scenario, _drawn(scenario, ctx, rng), cause=causes[int(rng.integers(len(causes)))])


def _overfull(scenario: Scenario, ctx: CheckContext, rng: np.random.Generator) -> Scenario | None:
    """Add targets and send everything to one bin, until that holds more than it can."""
    box = ctx.cell.bins[int(rng.integers(len(ctx.cell.bins)))]
    missing = box.capacity + 1 - len(targets_in(scenario, ctx.cell))
    spare = free_slots(scenario, ctx.cell, Role.TARGET)
    if missing > len(spare):
        return None
    varied = _laid(scenario, ctx, spare[: max(missing, 0)], "feed", Cause.NOMINAL, rng)
    if varied is None:
        return None
    rules = tuple(rule.model_copy(update={"bin": box.name}) for rule in scenario.task.rules)
    return varied.varied(task=scenario.task.model_copy(update={"rules": rules, "instruction": "Sort the parts."}))


def _laid(
    scenario: Scenario, ctx: CheckContext, slots: list[str], zone: str, cause: Cause, rng: np.random.Generator
) -> Scenario | None:
    """Place items at rest, with a cause; None where there is no room."""
    if not slots:
        return scenario
    try:
        added = place(ctx.cell, ctx.parts, slots=slots, zone=zone, rng=rng, occupied=scenario.layout)
    except PlacementFailed:
        return None
    caused = [item.replaced(cause=cause) for item in added]
    return with_items(scenario, (*scenario.layout.items, *caused), cell=ctx.cell, parts=ctx.parts)


LAYOUT_DEFECTS: tuple[Defect, ...] = (
    Defect("floating", "floating", "a target hangs 0.8 to 50 mm above the floor", _floating),
    Defect("overlap", "overlap", "a target stands inside another one", _overlap),
    Defect("grazing", "overlap", "a target reaches 0.7 to 3 mm into its neighbour", _grazing),
    Defect("sunk", "overlap", "a target is sunk 1.5 to 4 mm into the floor", _sunk),
    Defect("outside_tray", "outside", "a target lies beside the feed to which it is said to belong", _outside),
    Defect("wrong_zone", "outside", "a target in the feed is said to lie in a bin", _mislabelled),
    Defect("out_of_reach", "reach", "the feed stands 0.6 to 0.9 m too far away", _out_of_reach),
    Defect("no_finger_room", "grasp", "the smallest target is pushed into a corner of the feed", _cornered),
    Defect("hidden_target", "hidden", "an occluder hangs before a target", _hidden),
    Defect("unstable_tilt", "settled", "a target leans on its edge, on nothing else", _tilted),
    Defect("fixture_shifted", "spec_layout", "a bin stands 30 to 100 mm off its place", _fixture_shifted),
    Defect("wrong_count", "spec_layout", "fewer targets than the smallest fill are left", _too_few),
    Defect("swapped_part", "spec_layout", "a slot holds another part than its own", _swapped_part),
    Defect("unknown_slot", "spec_layout", "an item is no slot of the inventory", _unknown_slot),
    Defect("foreign_uncaused", "causes", "a foreign part lies in the feed, called nominal", _uncaused),
    Defect("false_cause", "causes", "a target flat in the feed is said to lean, to be piled or foreign", _false_cause),
    Defect("bin_overfull", "capacity", "rules send more targets to a bin than it holds", _overfull),
)
"""Defects of Layout, some with the Task that belongs to them."""
