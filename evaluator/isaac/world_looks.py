"""Lights and surfaces of many worlds, held on the simulator's device and written at resets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from evaluator.isaac.world_table import WorldTable
from scenegen.imaging.coat_set import CoatSet, coat_set, layered_surfaces
from scenegen.imaging.light_set import LightSet, SurfaceSet
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.stacked import filled
from scenegen.scenario import Scenario


class WorldLooks:
    """What shines in each world, and what its things look like.

    Args:
        names: What the instances of the G-buffers are.
        count: Number of worlds; all begin as the first one that is written.
        device: The simulator's device.
    """

    def __init__(self, names: tuple[str, ...], count: int, *, device: str) -> None:
        self._names, self._count, self._device = names, count, device
        self._lights: dict[int, LightSet] = {}
        self._room = (0, 0)
        self._light_table: WorldTable[LightSet] | None = None
        self._surfaces: WorldTable[tuple[SurfaceSet, CoatSet]] | None = None

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Write the lights and surfaces of some worlds, by number."""
        surfaces = {
            world: (layered_surfaces(scenario, self._names), coat_set(scenario, self._names))
            for world, scenario in scenarios.items()
        }
        if self._surfaces is None:
            self._surfaces = WorldTable(next(iter(surfaces.values())), self._count, device=self._device)
        self._surfaces.put(surfaces)
        lights = {world: scene_lights(scenario) for world, scenario in scenarios.items()}
        self._lights |= lights
        room = _at_least(self._room, [_room(one) for one in lights.values()])
        if self._light_table is None or room != self._room:
            # Some world has more lights than any before: all get room for as many.
            self._room, lights = room, self._lights
            first = filled([next(iter(lights.values()))], *room)[0]
            self._light_table = WorldTable(first, self._count, device=self._device)
        self._light_table.put(dict(zip(lights, filled(list(lights.values()), *self._room), strict=True)))

    def surfaces(self, rows: torch.Tensor) -> tuple[SurfaceSet, CoatSet]:
        """Return the looks in some worlds, shape [b], layer by layer, and where which layer shows."""
        assert self._surfaces is not None, "surfaces are read before any is written"
        return self._surfaces.take(rows)

    def lights(self, worlds: Sequence[int], rows: torch.Tensor) -> LightSet:
        """Return the light in some worlds: as many lights as the brightest-lit of them has.

        Args:
            worlds: Numbers of the worlds.
            rows: The same on the device, shape [b].
        """
        assert self._light_table is not None, "lights are read before any is written"
        areas, cards = _at_least((0, 0), [_room(self._lights[world]) for world in worlds])
        whole = self._light_table.take(rows)
        return replace(whole, areas=whole.areas[:areas], names=whole.names[:areas], cards=whole.cards[:cards])


def _room(lights: LightSet) -> tuple[int, int]:
    return len(lights.areas), len(lights.cards)


def _at_least(room: tuple[int, int], others: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return max(room[0], *(one[0] for one in others)), max(room[1], *(one[1] for one in others))
