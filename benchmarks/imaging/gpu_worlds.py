"""Worlds for `gpu.py`: the scenes of a file, repeated, each time under other lights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scenegen.imaging.blockers import Blockers, Micropolygons, Placed, Trays, blockers_of, placed
from scenegen.imaging.exposure import Gain
from scenegen.imaging.gbuffer import GBuffer, Vector
from scenegen.imaging.light_set import Ambient, AreaLight, LightSet, SurfaceSet
from scenegen.imaging.noise import Words, seed_words
from scenegen.imaging.photo import sensor_set
from scenegen.imaging.sensor_set import SensorSet
from scenegen.imaging.stacked import moved
from scenegen.scenario import CameraSensor

MOVED_M = 0.15
"""How far lights are moved along each axis at most [m]."""
DIMMED = (0.5, 1.5)
"""Factors of their luminance."""
BAR = ((0.55, -0.4, 1.0), (0.3, 0.0, 0.0), (0.0, -0.04, 0.0), (2500.0, 2400.0, 2200.0))
"""Middle, half sides [m] and luminance [cd/m²] of the third light: a bar beside the feed that shines down."""
BLUR_PX, VEIL, CORNER, EV = 1.2, 0.08, 0.4, 1.0
"""Most lens blur, veiling glare, loss in the corners, and exposure to both sides, of sensors with faults."""


@dataclass(frozen=True, eq=False)
class Worlds:
    """All that one frame of many worlds takes; arrays of numpy, or of torch once moved."""

    gbuffer: GBuffer
    surfaces: SurfaceSet
    lights: LightSet
    open_share: Any
    items: Placed
    fixtures: Placed
    polygons: Micropolygons
    trays: Trays
    bodies: tuple[int, ...]
    present: tuple[tuple[bool, ...], ...]
    sensors: SensorSet
    faulty_sensors: SensorSet
    words: Words

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.present)

    def blockers(self, xp: Any) -> Blockers:
        """List what casts shadows."""
        bodies, present = np.array(self.bodies), np.array(self.present)
        return blockers_of(self.polygons, self.trays, bodies, present, like=self.gbuffer.depth, xp=xp)

    def first(self, count: int) -> Worlds:
        """Return the first few worlds."""
        arrays = ("gbuffer", "surfaces", "lights", "open_share", "items", "fixtures", "words")
        cut = {name: moved(getattr(self, name), lambda one: one[:count]) for name in arrays}
        return replace(self, present=self.present[:count], **cut)


def worlds_of(data: Mapping[str, Any], count: int, *, seed: int) -> Worlds:
    """Repeat the scenes of a file, each time under other lights.

    Args:
        data: What `gpu_inputs.py` collected.
        count: How many worlds.
        seed: Seed of the lights and sensors.
    """
    rng = np.random.default_rng(seed)
    rows = np.arange(count) % len(data["gbuffer.instance"])

    def read(name: str) -> Any:
        return data[name][rows]

    def vector(name: str) -> Vector:
        return read(f"{name}.0"), read(f"{name}.1"), read(f"{name}.2")

    gbuffer = GBuffer(
        names=tuple(data["gbuffer.names"].tolist()),
        height_px=int(data["gbuffer.height_px"]),
        width_px=int(data["gbuffer.width_px"]),
        instance=read("gbuffer.instance"),
        normal=vector("gbuffer.normal"),
        position=vector("gbuffer.position"),
        depth=read("gbuffer.depth"),
        eye=vector("gbuffer.eye"),
        alone=read("gbuffer.alone"),
        self_open=read("gbuffer.self_open"),
    )
    scene_lights = [
        AreaLight(*(vector(f"lights.areas.{index}.{field}") for field in ("center", "half_u", "half_v", "radiance")))
        for index in range(2)
    ]
    bar = AreaLight(*(_repeated(values, count) for values in BAR))
    like = np.empty((count, gbuffer.height_px, gbuffer.width_px), np.float32)
    gain: Gain = tuple(data["nominal_gain"].tolist())
    return Worlds(
        gbuffer=gbuffer,
        surfaces=SurfaceSet(vector("surfaces.color"), read("surfaces.metallic"), read("surfaces.roughness")),
        lights=LightSet(
            areas=tuple(_varied(light, rng=rng) for light in (*scene_lights, bar)),
            names=("key", "hall", "bar"),
            ambient=Ambient(*(vector(f"lights.ambient.{band}") for band in ("floor", "wall", "ceiling"))),
        ),
        open_share=read("open_share"),
        items=placed(read("item_positions"), read("item_quats")),
        fixtures=placed(read("fixture_positions"), read("fixture_quats")),
        polygons=_polygons(data),
        trays=Trays(*(_plain_vector(data, f"trays.{corner}") for corner in Trays._fields)),
        bodies=tuple(data["bodies"].tolist()),
        present=tuple(map(tuple, data["present"][rows].tolist())),
        sensors=sensor_set([CameraSensor(camera="camera")], nominal=gain, like=like, xp=np),
        faulty_sensors=sensor_set(_faulty(count, rng=rng), nominal=gain, like=like, xp=np),
        words=seed_words([tuple(row) for row in rng.integers(2**32, size=(count, 2)).tolist()], like=like, xp=np),
    )


def _polygons(data: Mapping[str, Any]) -> Micropolygons:
    a, b, c = (_plain_vector(data, f"polygons.corners.{corner}") for corner in range(3))
    return Micropolygons(
        corners=(a, b, c),
        starts=tuple(data["polygons.starts"].tolist()),
        edge_m=float(data["polygons.edge_m"]),
        reach_m=tuple(data["polygons.reach_m"].tolist()),
    )


def _plain_vector(data: Mapping[str, Any], name: str) -> Vector:
    return data[f"{name}.0"], data[f"{name}.1"], data[f"{name}.2"]


def _repeated(values: tuple[float, float, float], count: int) -> Vector:
    x, y, z = (np.full((count, 1), value, np.float32) for value in values)
    return x, y, z


def _varied(light: AreaLight, *, rng: np.random.Generator) -> AreaLight:
    """Move a light of each world a little and change its brightness."""
    size = light.center[0].shape
    shifts = rng.uniform(-MOVED_M, MOVED_M, (3, *size)).astype(np.float32)
    factor = rng.uniform(*DIMMED, size).astype(np.float32)
    x, y, z = (one + shift for one, shift in zip(light.center, shifts, strict=True))
    red, green, blue = (one * factor for one in light.radiance)
    return replace(light, center=(x, y, z), radiance=(red, green, blue))


def _faulty(count: int, *, rng: np.random.Generator) -> list[CameraSensor]:
    draws = rng.random((count, 4))
    return [
        CameraSensor(
            camera="camera",
            blur_px=BLUR_PX * blur,
            veil_share=VEIL * veil,
            vignetting=CORNER * corner,
            exposure_ev=EV * (2 * exposure - 1),
        )
        for blur, veil, corner, exposure in draws.tolist()
    ]
