"""Mend what a verdict found, where mending keeps the scene what it is: settle, push apart, re-aim a light."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from scenegen.axes import lighting
from scenegen.axes.axis import limits as allowed
from scenegen.axes.lamp import dimmed, illuminance_lux, warmed
from scenegen.cell import Cell
from scenegen.geometry import Array, Pose, look_at
from scenegen.physics.contacts import Contact
from scenegen.record import quantise
from scenegen.scenario import (
    DistantLight,
    Item,
    Layout,
    Light,
    Lights,
    RectLight,
    Scenario,
    ShadowCaster,
    SphereLight,
)
from scenegen.verdict import Verdict
from validators.check import CheckContext

LIFT_M = 0.0002
"""Gap that is left between two things that were pushed apart [m]."""
PUSHES = 40
"""Most rounds of pushing overlapping things apart."""
SETTLE_S = 4.0
"""Longest time in which a mended layout may come to rest [s]."""
FAR_M = 0.05
"""Largest distance by which settling may move an item [m]; a larger one would make another scene."""

Mend = Callable[[Scenario, CheckContext], Scenario | None]


def repair(scenario: Scenario, verdict: Verdict, ctx: CheckContext) -> Scenario | None:
    """Mend a scene that was rejected.

    Args:
        scenario: The rejected scene.
        verdict: What was found.
        ctx: What checks use.

    Returns:
        The mended scene, which is to be checked like any other one; None where something was found that no mending can
        heal, or where mending changes nothing.
    """
    mends: dict[Mend, None] = {}
    for found in verdict.findings:
        mend = _MENDS.get((found.check, found.code))
        if mend is None:
            return None
        mends[mend] = None
    mended: Scenario | None = scenario
    for mend in sorted(mends, key=_ORDER.index):
        mended = mend(mended, ctx) if mended is not None else None
    return mended if mended is not None and mended.id != scenario.id else None


def _settled(scenario: Scenario, ctx: CheckContext) -> Scenario | None:
    """Push overlapping things apart and let everything come to rest; None where it does not, or goes too far."""
    layout = _pushed_apart(scenario.layout, ctx)
    if layout is None:
        return None
    settled = ctx.settler.settle(layout, scenario.matter, limit_s=SETTLE_S)
    if not settled.finite:
        return None
    before = {item.name: item.pose_to_world.position for item in scenario.layout.items}
    moved = [np.linalg.norm(item.pose_to_world.position - before[item.name]) for item in settled.layout.items]
    return scenario.varied(layout=settled.layout) if max(moved, default=0.0) <= FAR_M else None


def _pushed_apart(layout: Layout, ctx: CheckContext) -> Layout | None:
    """Lift items out of fixtures and push items off each other, a little at a time; None where no room is found."""
    for _ in range(PUSHES):
        deep = [c for c in ctx.contacts.contacts(layout) if c.depth_m > LIFT_M]
        if not deep:
            return layout
        shifts = _shifts(deep, layout, ctx)
        items = tuple(_moved(item, shifts[item.name]) if item.name in shifts else item for item in layout.items)
        layout = Layout(fixtures=layout.fixtures, items=items)
    return None


def _shifts(deep: list[Contact], layout: Layout, ctx: CheckContext) -> Mapping[str, Array]:
    """How far each overlapping item moves in one round [m]: up from a floor, in from a wall, away from another item."""
    posed = ctx.posed(layout)
    centers = dict(zip((item.name for item in posed.items), posed.mass_centers, strict=True))
    shifts: dict[str, Array] = {}
    for contact in deep:
        distance = contact.depth_m + LIFT_M
        if contact.a in centers:
            apart = centers[contact.b] - centers[contact.a]
            apart[2] = max(apart[2], 0.0)
            norm = float(np.linalg.norm(apart))
            step = distance * (apart / norm if norm > 1e-6 else np.array([0.0, 0.0, 1.0]))
            shifts[contact.a] = shifts.get(contact.a, np.zeros(3)) - step / 2 * (1, 1, 0)
            shifts[contact.b] = shifts.get(contact.b, np.zeros(3)) + step / 2 * (1, 1, 2)
        else:
            shifts[contact.b] = shifts.get(contact.b, np.zeros(3)) + _out_of(contact, layout, ctx.cell)
    return shifts


def _out_of(contact: Contact, layout: Layout, cell: Cell) -> Array:
    """Step of an item out of a fixture: up from its floor (or the table), inward from the wall that it meets."""
    distance = contact.depth_m + LIFT_M
    pose = next((f.pose_to_world for f in layout.fixtures if f.name == contact.a), None)
    if pose is None:
        return np.array([0.0, 0.0, distance])
    local = pose.inverse().apply(contact.position_m)
    if local[2] <= 0:
        return np.array([0.0, 0.0, distance])
    beyond = np.abs(local[:2]) - np.array(cell.containers[contact.a].size_m) / 2
    side = int(np.argmax(beyond))
    inward = np.zeros(3)
    inward[side] = -np.sign(local[side]) * distance
    return pose.rotation @ inward


def _moved(item: Item, shift: Array) -> Item:
    pose = Pose.of(item.pose_to_world.position + shift, item.pose_to_world.quat)
    return item.model_copy(update={"pose_to_world": pose})


def _relit(scenario: Scenario, ctx: CheckContext) -> Scenario | None:
    """Bring lights back: hung high enough, aimed at the feed, as strong and as warm as the plant allows."""
    aim = ctx.cell.feed.pose_to_world.position
    least = ctx.cell.table.pose_top_to_world.position_m[2] + lighting.LOWEST_LAMP_M
    key = ctx.cell.lights[0]
    lights = tuple(
        _toned(_aimed(_hung(light, least), aim), key, ctx.cell)
        if light.name == key.name
        else _aimed(_hung(light, least), aim)
        for light in scenario.lights.lights
    )
    cards = tuple(_raised(card, least) for card in scenario.lights.shadow_casters)
    return scenario.varied(lights=Lights(lights=lights, shadow_casters=cards))


def _hung(light: Light, least_m: float) -> Light:
    if isinstance(light, RectLight):
        return light.model_copy(update={"pose_to_world": _above(light.pose_to_world, least_m)})
    if isinstance(light, SphereLight):
        x, y, z = light.position_m
        return light.model_copy(update={"position_m": (x, y, quantise(max(z, least_m)))})
    return light


def _raised(card: ShadowCaster, least_m: float) -> ShadowCaster:
    return card.model_copy(update={"pose_to_world": _above(card.pose_to_world, least_m)})


def _above(pose: Pose, least_m: float) -> Pose:
    x, y, z = pose.position_m
    return pose if z >= least_m else Pose.of((x, y, least_m), pose.quat)


def _aimed(light: Light, aim: Array) -> Light:
    """Turn a panel or a distant light that shines past the feed toward it."""
    if isinstance(light, RectLight):
        toward = light.pose_to_world.position - aim
        if light.pose_to_world.rotation[:, 2] @ toward > 0:
            return light
        return light.model_copy(update={"pose_to_world": look_at(light.pose_to_world.position, aim)})
    if isinstance(light, DistantLight) and look_down(light) <= 0:
        return light.model_copy(update={"quat_xyzw": look_at((0, 0, 1), (0, 0, 0)).quat_xyzw})
    return light


def look_down(light: DistantLight) -> float:
    """Return how steeply a distant light falls, the sine of its elevation; negative from below."""
    return float(Pose(quat_xyzw=light.quat_xyzw).rotation[2, 2])


def _toned(light: Light, key: Light, cell: Cell) -> Light:
    """Clamp the key light's strength and temperature to the envelope of axis `lighting` about the cell's own."""
    aim = cell.feed.pose_to_world.position
    low, high = allowed(lighting.FACTOR, cell=cell, axis=lighting.NAME)
    factor = illuminance_lux(light, aim) / max(illuminance_lux(key, aim), 1e-9)
    if factor > 0:
        light = dimmed(light, float(np.clip(factor, low, high)) / factor)
    low, high = allowed(lighting.SHIFT, cell=cell, axis=lighting.NAME)
    shift = light.temperature_k - key.temperature_k
    return warmed(light, float(np.clip(shift, low, high)) - shift)


_ORDER: list[Mend] = [_settled, _relit]
_MENDS: Mapping[tuple[str, str], Mend] = {
    ("overlap", "overlap"): _settled,
    ("floating", "floating"): _settled,
    ("outside", "below"): _settled,
    ("settled", "drift"): _settled,
    ("settled", "rotation"): _settled,
    ("settled", "speed"): _settled,
    ("settled", "penetration"): _settled,
    ("spec_lights", "too_low"): _relit,
    ("spec_lights", "aimed_away"): _relit,
    ("spec_lights", "strength"): _relit,
    ("spec_lights", "warmth"): _relit,
    ("spec_lights", "illuminance"): _relit,
}
"""What heals which finding; anything else needs another scene."""
