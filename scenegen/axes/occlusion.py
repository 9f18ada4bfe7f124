"""Axis `occlusion`: a cable, glove or chip, or a neighbour, lies in the camera's line of sight to a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scenegen.axes.aim import Aim
from scenegen.axes.axis import Axis, AxisContext, Severity
from scenegen.axes.drop import drop
from scenegen.axes.items import ITEM_FACETS, free_slots, targets_in, with_items
from scenegen.axes.rest import explained, lies_in_feed, lowest_m, settled, trial
from scenegen.axes.view import project
from scenegen.cell import Role
from scenegen.errors import VariationFailed
from scenegen.footprint import convex_outline, stable_footprints
from scenegen.geometry import Array, Pose, quat_multiply, quat_yaw
from scenegen.scenario import Cause, Item, Layout, Scenario
from scenegen.units import Quantity, Unit

NAME = "occlusion"
CAMERA = "overhead"
"""The camera whose view is judged, as `HiddenShare` has it."""
TRIES = 80
"""Most combinations of a target and an occluder."""
STEPS = 7
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
    """Where its frame's origin covers the target most, just above it [m], world frame, shape [3]."""
    away: Array
    """Unit direction in which it leaves the target, level, shape [3]."""
    reach_m: float
    """How far it must go to leave the target uncovered [m]."""

    def at(self, step: float) -> Array:
        """Return where its frame's origin is at a step of its way, from 0 to 1 [m], shape [3]."""
        return self.start + step * self.reach_m * self.away


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Lay an occluder over a target, as far as hides the asked share of it, and let it come to rest."""
    aim = Aim.drawn(HIDDEN, level, cell=ctx.cell, axis=NAME, rng=rng)
    targets = targets_in(scenario, ctx.cell)

    def pick() -> tuple[Item, Item] | None:
        target = targets[int(rng.integers(len(targets)))] if targets else None
        occluder = target and _occluder(scenario, target, ctx, rng)
        return (target, occluder) if target and occluder else None

    return hidden(scenario, aim, pick, level=level, ctx=ctx, rng=rng)


def hidden(
    scenario: Scenario,
    aim: Aim,
    pick: Callable[[], tuple[Item, Item] | None],
    *,
    level: int = 0,
    tries: int = TRIES,
    ctx: AxisContext,
    rng: np.random.Generator,
) -> Scenario:
    """Lay an occluder over a target, as far as hits the aim, and let it come to rest.

    Args:
        scenario: The scene.
        aim: Which share to hide; nothing else may be hidden farther than its band.
        pick: Draws a target and an occluder, anywhere; None where there are none.
        level: The level that a failure names.
        tries: Most combinations that are tried.
        ctx: The axis' context.
        rng: Source of randomness.

    Raises:
        VariationFailed: There is nothing that hides, or no place for it.
    """
    for _ in range(tries):
        picked = pick()
        if picked is None:
            raise VariationFailed(
                NAME, level, "no_occluder", "nothing is left in the inventory that could hide a target"
            )
        target, occluder = picked
        found = _covered(scenario, target, _cover(occluder, target, ctx, rng), aim, ctx)
        if isinstance(found, Scenario):
            return found
        aim.miss(found)
    raise aim.failed("not_hidden")


def _occluder(scenario: Scenario, target: Item, ctx: AxisContext, rng: np.random.Generator) -> Item | None:
    """Draw a kind of occluder that is left in the inventory, or a neighbour of the target."""
    slots = ctx.cell.slots
    kinds = sorted({slots[slot].part for slot in free_slots(scenario, ctx.cell, Role.OCCLUDER)})
    neighbours = len(targets_in(scenario, ctx.cell)) > 1
    choices = len(kinds) + neighbours
    if not choices:
        return None
    index = int(rng.integers(choices))
    if index == len(kinds):
        return neighbour_of(scenario, target, ctx, rng=rng)
    return piece_of(kinds[index], scenario, ctx)


def neighbour_of(scenario: Scenario, target: Item, ctx: AxisContext, *, rng: np.random.Generator) -> Item | None:
    """Draw another target of the feed, as what shall lie on a target; None where there is none."""
    neighbours = [item for item in targets_in(scenario, ctx.cell) if item.name != target.name]
    return neighbours[int(rng.integers(len(neighbours)))].replaced(cause=Cause.PILED) if neighbours else None


def piece_of(part: str, scenario: Scenario, ctx: AxisContext) -> Item | None:
    """Take an occluder of a kind out of the inventory, anywhere; None where none is left."""
    slots = ctx.cell.slots
    for slot in free_slots(scenario, ctx.cell, Role.OCCLUDER):
        if slots[slot].part == part:
            return Item(name=slot, part=part, zone="feed", cause=Cause.OBSTRUCTION, pose_to_world=Pose())
    return None


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
    x, y, _ = target.pose_to_world.position_m
    top = float(target.pose_to_world.apply(ctx.parts[target.part].collision_vertices)[:, 2].max())
    return Cover(
        item=occluder,
        quat=quat,
        start=np.array([x - anchor.real, y - anchor.imag, top - lowest_m(part, Pose.of((0, 0, 0), quat))]),
        away=np.array([np.cos(bearing), np.sin(bearing), 0.0]),
        reach_m=float(np.abs(hull - anchor).max()) + ctx.parts[target.part].radius_m,
    )


def _covered(scenario: Scenario, target: Item, cover: Cover, aim: Aim, ctx: AxisContext) -> Scenario | str:
    """Find the place at which a cover, at rest, hides the asked share; or say why there is none.

    A cover that comes to rest hides more or less than while it hovered: by as much less or more is asked of it then.
    """
    wanted, share, pixels = aim.asked, 0.0, outline_px(scenario, target, ctx)
    for _ in range(SETTLES):
        step = _hovering(scenario, target, cover, wanted, ctx)
        if step is None:
            return "too small"
        laid = _laid(scenario, cover, step, ctx)
        rested = trial(laid, {cover.item.name: laid.item(cover.item.name).pose_to_world}, ctx)
        if rested is None:
            return "not at rest"
        share = ctx.hidden_share(rested, target.name)
        if share == 0.0:
            return "slid off"
        if aim.hit(share, pixels=pixels):
            return _kept(rested, cover, aim, ctx)
        wanted += aim.asked - share
    return "too much" if share > aim.asked else "too little"


def _hovering(scenario: Scenario, target: Item, cover: Cover, wanted: float, ctx: AxisContext) -> float | None:
    """Find by bisection at which step of its way a cover in the air hides a share of a target; None where at none."""
    over, beside = 0.0, 1.0
    if not 0.0 < wanted <= ctx.hidden_share(_hung(scenario, cover, over), target.name):
        return None
    for _ in range(STEPS):
        middle = (over + beside) / 2
        if ctx.hidden_share(_hung(scenario, cover, middle), target.name) > wanted:
            over = middle
        else:
            beside = middle
    return (over + beside) / 2


def _kept(rested: Scenario, cover: Cover, aim: Aim, ctx: AxisContext) -> Scenario | str:
    """Let the whole scene come to rest, and keep it if what its worst target shows still hits the aim."""
    if max(hidden_shares(rested, ctx).values()) > aim.far:
        return "another hidden"
    whole = settled(rested, ctx)
    if whole is None:
        return "not at rest"
    if not lies_in_feed(whole, cover.item.name, ctx):
        return "outside"
    shares = hidden_shares(whole, ctx)
    worst = max(shares, key=lambda name: shares[name])
    if not aim.hit(shares[worst], pixels=outline_px(whole, whole.item(worst), ctx)):
        return "moved"
    return explained(whole, ctx)


def _hung(scenario: Scenario, cover: Cover, step: float) -> Scenario:
    """Hang the occluder at a step of its way in the air, for looking alone: only the layout is right."""
    item = cover.item.replaced(pose_to_world=Pose.of(cover.at(step), cover.quat))
    others = tuple(other for other in scenario.layout.items if other.name != item.name)
    return scenario.varied(layout=Layout(fixtures=scenario.layout.fixtures, items=(*others, item)))


def _laid(scenario: Scenario, cover: Cover, step: float, ctx: AxisContext) -> Scenario:
    """Put the occluder at a step of its way, a hair above the floor and all that lies below it."""
    item = cover.item.replaced(pose_to_world=drop(scenario, cover.item, cover.at(step)[:2], cover.quat, ctx=ctx).pose)
    others = [other for other in scenario.layout.items if other.name != item.name]
    return with_items(scenario, [*others, item], cell=ctx.cell, parts=ctx.parts)


def hidden_shares(scenario: Scenario, ctx: AxisContext) -> dict[str, float]:
    """Return the hidden share of every target in the feed, by name."""
    return {item.name: ctx.hidden_share(scenario, item.name) for item in targets_in(scenario, ctx.cell)}


def outline_px(scenario: Scenario, item: Item, ctx: AxisContext) -> float:
    """Return about how many pixels an item's convex outline covers in the overhead camera [px]; holes count."""
    camera = next(camera for camera in scenario.cameras.cameras if camera.name == CAMERA)
    pixels, _ = project(camera, item.pose_to_world.apply(ctx.parts[item.part].collision_vertices))
    x, y = convex_outline(pixels).T
    return max(1.0, float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2)


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the largest hidden share of any target in the feed."""
    most = max(hidden_shares(varied, ctx).values(), default=0.0)
    return (Quantity(name=HIDDEN.name, value=most, unit=HIDDEN.unit),)


OCCLUSION = Axis(
    name=NAME,
    doc="A cable, glove, chip or neighbour lies over a target and hides part of it from the overhead camera.",
    touches=ITEM_FACETS,
    severities=(HIDDEN,),
    aliases=("LIBERO-Plus: Objects Layout (added objects)", "Colosseum: distractor object (nearest)"),
    change=change,
    measure=measure,
)
