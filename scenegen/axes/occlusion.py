"""Axis `occlusion`: a cable, glove or chip, or a neighbour, lies in the camera's line of sight to a target."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, band
from scenegen.axes.drop import drop
from scenegen.axes.items import ITEM_FACETS, free_slots, targets_in, with_items
from scenegen.axes.rest import explained, lies_in_feed, settled, trial
from scenegen.cell import Role
from scenegen.errors import VariationFailed
from scenegen.footprint import stable_footprints
from scenegen.geometry import Array, Pose, quat_multiply, quat_yaw
from scenegen.scenario import Cause, Item, Scenario
from scenegen.units import Quantity, Unit

NAME = "occlusion"
TRIES = 24
"""Most combinations of a target and an occluder."""
STEPS = 4
"""Steps of the bisection for the place at which a cover hides the asked share."""
SETTLES = 3
"""Most trials of one combination."""

HIDDEN = Severity(
    "hidden_share", Unit.SHARE, 0.0, 0.0, 0.85, "largest hidden share of a target, seen by the overhead camera"
)


@dataclass(frozen=True, eq=False)
class Cover:
    """An occluder on its way over a target."""

    item: Item
    """The occluder, anywhere."""
    quat: Array
    """Its rotation, shape [4]."""
    start: Array
    """Where its frame's origin covers the target most [m], shape [2]."""
    away: Array
    """Unit direction in which it leaves the target, shape [2]."""
    reach_m: float
    """How far it must go to leave the target uncovered [m]."""


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Lay an occluder over a target, as far as hides the asked share of it, and let it come to rest."""
    near, far = band(HIDDEN, level, cell=ctx.cell, axis=NAME, upward=True)
    targets = targets_in(scenario, ctx.cell)
    failed: Counter[str] = Counter()
    for _ in range(TRIES):
        target = targets[int(rng.integers(len(targets)))] if targets else None
        occluder = target and _occluder(scenario, target, ctx, rng)
        if target is None or occluder is None:
            raise VariationFailed(
                NAME, level, "no_occluder", "nothing is left in the inventory that could hide a target"
            )
        found = _covered(scenario, target, _cover(occluder, target, ctx, rng), (near, far), ctx)
        if isinstance(found, Scenario):
            return found
        failed[found] += 1
    raise VariationFailed(
        NAME, level, "not_hidden", f"{TRIES} covers hide no share of {near:.2f}-{far:.2f}, {dict(failed)}"
    )


def _occluder(scenario: Scenario, target: Item, ctx: AxisContext, rng: np.random.Generator) -> Item | None:
    """Draw a kind of occluder that is left in the inventory, or a neighbour of the target."""
    slots = ctx.cell.slots
    free = {slots[slot].part: slot for slot in reversed(free_slots(scenario, ctx.cell, Role.OCCLUDER))}
    neighbours = [item for item in targets_in(scenario, ctx.cell) if item.name != target.name]
    choices = len(free) + bool(neighbours)
    if not choices:
        return None
    index = int(rng.integers(choices))
    if index == len(free):
        return neighbours[int(rng.integers(len(neighbours)))].replaced(cause=Cause.PILED)
    part, slot = sorted(free.items())[index]
    return Item(name=slot, part=part, zone="feed", cause=Cause.OBSTRUCTION, pose_to_world=Pose())


def _cover(occluder: Item, target: Item, ctx: AxisContext, rng: np.random.Generator) -> Cover:
    """Draw how the occluder comes: its resting pose, its yaw, which point of it covers the target, and from where."""
    part = ctx.parts[occluder.part]
    probabilities = np.array([pose.probability for pose in part.stable_poses])
    index = int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))
    yaw_rad, bearing = rng.uniform(0, 2 * np.pi, 2)
    quat = quat_multiply(quat_yaw(yaw_rad), part.stable_poses[index].quat_xyzw)
    hull = stable_footprints(part)[index].hull * np.exp(1j * yaw_rad)
    weights = rng.dirichlet(np.ones(len(hull)))
    anchor = complex(weights @ hull)
    start = target.pose_to_world.position[:2] - np.array([anchor.real, anchor.imag])
    return Cover(
        item=occluder,
        quat=quat,
        start=start,
        away=np.array([np.cos(bearing), np.sin(bearing)]),
        reach_m=float(np.abs(hull - anchor).max()) + ctx.parts[target.part].radius_m,
    )


def _covered(
    scenario: Scenario, target: Item, cover: Cover, limits: tuple[float, float], ctx: AxisContext
) -> Scenario | str:
    """Find the place at which a cover, at rest, hides a share within the limits; or say why there is none."""
    near, far = limits
    wanted = (near + far) / 2
    if ctx.hidden_share(_laid(scenario, cover, 0.0, ctx), target.name) < near:
        return "too_little"
    step, share = _hovering(scenario, target, cover, wanted, ctx), 0.0
    for _ in range(SETTLES):
        laid = _laid(scenario, cover, step, ctx)
        rested = trial(laid, {cover.item.name: laid.item(cover.item.name).pose_to_world}, ctx)
        if rested is None:
            return "not_at_rest"
        share = ctx.hidden_share(rested, target.name)
        if near < share <= far:
            return _kept(rested, cover, limits, ctx)
        step = float(np.clip(step + 0.5 * (share - wanted), 0.0, 1.0))
    return "too_much" if share > far else "too_little"


def _hovering(scenario: Scenario, target: Item, cover: Cover, wanted: float, ctx: AxisContext) -> float:
    """Find by bisection at which step of its way a cover, not yet at rest, hides a share of the target."""
    over, beside = 0.0, 1.0
    for _ in range(STEPS):
        middle = (over + beside) / 2
        if ctx.hidden_share(_laid(scenario, cover, middle, ctx), target.name) > wanted:
            over = middle
        else:
            beside = middle
    return (over + beside) / 2


def _kept(rested: Scenario, cover: Cover, limits: tuple[float, float], ctx: AxisContext) -> Scenario | str:
    """Let the whole scene come to rest, and keep it if no target is hidden more than the limits say."""
    whole = settled(rested, ctx)
    if whole is None:
        return "not_at_rest"
    if not lies_in_feed(whole, cover.item.name, ctx):
        return "outside"
    share = hidden_most(whole, ctx)
    if share > limits[1]:
        return "too_much"
    return explained(whole, ctx) if share > limits[0] else "too_little"


def _laid(scenario: Scenario, cover: Cover, step: float, ctx: AxisContext) -> Scenario:
    """Put the occluder at a step of its way, a hair above the floor and all that lies below it."""
    place = cover.start + step * cover.reach_m * cover.away
    item = cover.item.replaced(pose_to_world=drop(scenario, cover.item, place, cover.quat, ctx=ctx).pose)
    others = [other for other in scenario.layout.items if other.name != item.name]
    return with_items(scenario, [*others, item], cell=ctx.cell, parts=ctx.parts)


def hidden_most(scenario: Scenario, ctx: AxisContext) -> float:
    """Return the largest hidden share of any target in the feed."""
    return max((ctx.hidden_share(scenario, item.name) for item in targets_in(scenario, ctx.cell)), default=0.0)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the largest hidden share of any target in the feed."""
    return (Quantity(name=HIDDEN.name, value=hidden_most(varied, ctx), unit=HIDDEN.unit),)


OCCLUSION = Axis(
    name=NAME,
    doc="A cable, glove, chip or neighbour lies over a target and hides part of it from the overhead camera.",
    touches=ITEM_FACETS,
    severities=(HIDDEN,),
    aliases=("LIBERO-Plus: Objects Layout (added objects)", "Colosseum: distractor object (nearest)"),
    change=change,
    measure=measure,
)
