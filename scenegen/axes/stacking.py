"""Axis `stacking`: targets lie on other targets."""

from __future__ import annotations

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, count_at
from scenegen.axes.drop import drop
from scenegen.axes.items import fixture_pose, targets_in
from scenegen.axes.rest import RAISED_M, explained, lies_in_feed, lifts_m, settled, trial
from scenegen.axes.touch import balances, body_of
from scenegen.errors import VariationFailed
from scenegen.geometry import Pose, quat_multiply, quat_yaw
from scenegen.scenario import Cause, Facet, Item, Scenario
from scenegen.units import Quantity, Unit

NAME = "stacking"
TRIES = 120
"""Most pairs of a target and what shall carry it."""
POSES = 4
"""Poses of one target above another one that are looked at."""
OFF_CENTER = 0.25
"""Greatest offset of a stacked part's middle from that of what carries it, as a share of the carrier's radius."""

COUNT = Severity("stacked", Unit.COUNT, 0.0, 0.0, 5.0, "targets that lie on others and do not touch the floor")
HEIGHT = Severity(
    "height", Unit.METRE, 0.0, 0.0, 0.05, "greatest height of a stacked target above the floor", graded=False
)


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Put targets onto others, one after the other, and let each come to rest."""
    count = count_at(COUNT, level, cell=ctx.cell, axis=NAME)
    before = len(stacked(scenario, ctx))
    current, tries = scenario, 0
    while len(stacked(current, ctx)) < before + count:
        tries += 1
        if tries > TRIES:
            raise VariationFailed(NAME, level, "not_resting", f"{TRIES} pairs stacked fewer than {count} targets")
        current = _one_more(current, ctx, rng) or current
    return _piled(current, before + count, level, ctx)


def stacked_on(
    scenario: Scenario, item: Item, carrier: Item, *, ctx: AxisContext, rng: np.random.Generator
) -> Scenario:
    """Put one target onto another one, and let all come to rest.

    Raises:
        VariationFailed: It carries something itself, or does not stay there.
    """
    top = stacked(scenario, ctx)
    if item.name not in top and not _carries(item, targets_in(scenario, ctx.cell), ctx):
        for _ in range(TRIES // POSES):
            laid = _laid_on(scenario, item, carrier, top, ctx, rng)
            if laid is not None:
                return _piled(laid, len(top) + 1, 0, ctx)
    raise VariationFailed(NAME, 0, "not_resting", f"{item.name!r} does not come to rest on {carrier.name!r}")


def _piled(scenario: Scenario, count: int, level: int, ctx: AxisContext) -> Scenario:
    """Let all come to rest together, so many targets on others."""
    rested = settled(scenario, ctx)
    if rested is None or len(stacked(rested, ctx)) != count:
        raise VariationFailed(NAME, level, "not_resting", "the piles fell when all came to rest together")
    return explained(rested, ctx)


def _one_more(scenario: Scenario, ctx: AxisContext, rng: np.random.Generator) -> Scenario | None:
    """Lay one target that lies on the floor onto another one; None where it does not rest there or hides the other."""
    targets = targets_in(scenario, ctx.cell)
    top = stacked(scenario, ctx)
    loose = [item for item in targets if item.name not in top and not _carries(item, targets, ctx)]
    if not loose or len(targets) < 2:
        return None
    item = loose[int(rng.integers(len(loose)))]
    carriers = [other for other in targets if other.name != item.name]
    carrier = carriers[int(rng.integers(len(carriers)))]
    return _laid_on(scenario, item, carrier, top, ctx, rng)


def _laid_on(
    scenario: Scenario, item: Item, carrier: Item, top: set[str], ctx: AxisContext, rng: np.random.Generator
) -> Scenario | None:
    """Lay a target onto another one, `top` being those that lie on others; None as `_one_more`."""
    poses = (_above(scenario, item, carrier, ctx, rng) for _ in range(POSES))
    pose = next((pose for pose in poses if pose is not None), None)
    if pose is None:
        return None
    moved = item.replaced(cause=Cause.PILED, pose_to_world=pose)
    items = tuple(moved if other.name == item.name else other for other in scenario.layout.items)
    rested = trial(scenario.varied(layout=scenario.layout.replaced(items=items)), {item.name: pose}, ctx)
    if rested is None or len(stacked(rested, ctx)) != len(top) + 1:
        return None
    seen = all(ctx.hidden_share(rested, name) <= ctx.cell.limits.hidden_share for name in _below(item, rested, ctx))
    return rested if seen and lies_in_feed(rested, item.name, ctx) else None


def _above(scenario: Scenario, item: Item, carrier: Item, ctx: AxisContext, rng: np.random.Generator) -> Pose | None:
    """Pose of an item in a stable orientation, a hair above the middle of another one; None where it would fall."""
    part, below = ctx.parts[item.part], ctx.parts[carrier.part]
    probabilities = np.array([pose.probability for pose in part.stable_poses])
    rest = part.stable_poses[int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))]
    quat = quat_multiply(quat_yaw(rng.uniform(0, 2 * np.pi)), rest.quat_xyzw)
    middle = carrier.pose_to_world.apply(np.array(below.mass.center_of_mass_m))
    bearing, offset = rng.uniform(0, 2 * np.pi), OFF_CENTER * below.radius_m * np.sqrt(rng.uniform())
    own = Pose.of((0, 0, 0), quat).apply(np.array(part.mass.center_of_mass_m))
    x, y = middle[:2] - own[:2] + offset * np.array([np.cos(bearing), np.sin(bearing)])
    upper, lower = body_of(part).at(Pose.of((x, y, 0), quat)), body_of(below).at(carrier.pose_to_world)
    if not balances(upper, lower, np.array([x, y]) + own[:2]):
        return None
    found = drop(scenario, item, np.array([x, y]), quat, ctx=ctx)
    return found.pose if found.onto == carrier.name else None


def _below(item: Item, scenario: Scenario, ctx: AxisContext) -> list[str]:
    """Name the other targets that an item may hide from above."""
    x, y, _ = scenario.item(item.name).pose_to_world.position_m
    found = []
    for other in targets_in(scenario, ctx.cell):
        ox, oy, _ = other.pose_to_world.position_m
        near = ctx.parts[item.part].radius_m + ctx.parts[other.part].radius_m
        if other.name != item.name and np.hypot(ox - x, oy - y) < near:
            found.append(other.name)
    return found


def _carries(item: Item, targets: list[Item], ctx: AxisContext) -> bool:
    """Tell whether another target lies above an item's middle, and so may rest on it."""
    x, y, z = item.pose_to_world.position_m
    for other in targets:
        if other.cause is not Cause.PILED or other.name == item.name:
            continue
        ox, oy, oz = other.pose_to_world.position_m
        near = ctx.parts[item.part].radius_m + ctx.parts[other.part].radius_m
        if oz > z + RAISED_M and np.hypot(ox - x, oy - y) < near:
            return True
    return False


def stacked(scenario: Scenario, ctx: AxisContext) -> set[str]:
    """Name the targets in the feed that do not touch its floor."""
    lifts = lifts_m(targets_in(scenario, ctx.cell), scenario, ctx)
    return {name for name, lift in lifts.items() if lift > RAISED_M}


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Count the targets that lie on others and did not in the base, and measure how high the highest reaches."""
    names = stacked(varied, ctx) - stacked(base, ctx)
    floor = fixture_pose(varied.layout, "feed").position_m[2]
    tops = [
        float(item.pose_to_world.apply(ctx.parts[item.part].collision_vertices)[:, 2].max()) - floor
        for item in targets_in(varied, ctx.cell)
        if item.name in names
    ]
    return (
        Quantity(name=COUNT.name, value=len(names), unit=COUNT.unit),
        Quantity(name=HEIGHT.name, value=max(tops, default=0.0), unit=HEIGHT.unit),
    )


STACKING = Axis(
    name=NAME,
    doc="Targets lie on other targets, at rest.",
    touches=frozenset({Facet.LAYOUT}),
    severities=(COUNT, HEIGHT),
    aliases=("no field term: piled parts", "RoboTwin: clutter (nearest)"),
    change=change,
    measure=measure,
)
