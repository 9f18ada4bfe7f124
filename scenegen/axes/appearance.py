"""The colours of the targets as the judging camera shows them under the cell's nominal light, in any look.

Shadows and what neighbours hide of the surroundings are left out: they darken a target in every look alike, so that
differences of colour come out the same, to a few hundredths, in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scenegen.axes.axis import AxisContext
from scenegen.axes.shown import TargetPixels, target_pixels
from scenegen.geometry import Array, Pose
from scenegen.imaging.coat import stain_mask
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.light_set import LightSet, SurfaceSet, together
from scenegen.imaging.renderer import SEEN
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.shading import ambient_response, area_response, mixed, points_of
from scenegen.nominal import nominal_lights
from scenegen.optical import Stain
from scenegen.scenario import Look, Scenario, Surface

KEPT = 128
"""For how many looks of single targets the pixels are kept."""

Ints = NDArray[np.int64]
Colors = NDArray[np.float32]
"""Clipped linear colours of pixels, shape [3, m]."""


class Appearance:
    """Shows the targets of one layout in looks that are not theirs.

    Args:
        shown: The pixels of the targets.
        poses: Where the targets are.
        lights: The light.
        gain: Exposure and white balance by linear colour [m²/cd], shape [3].
        palette: Looks that are asked for again and again, at least one: all targets are shaded in them at once.
    """

    def __init__(
        self, shown: TargetPixels, poses: Sequence[Pose], lights: LightSet, gain: Array, palette: Sequence[Look]
    ) -> None:
        self.shown = shown
        self._poses, self._gain = poses, gain
        self._around, self._areas = replace(lights, areas=()), together(lights.areas)
        self._own = [np.flatnonzero(shown.owners == index) for index in range(len(shown.names))]
        every, count = np.arange(len(shown.owners)), len(palette)
        shaded = self._shade(np.tile(every, count), np.repeat(np.arange(count), len(every)), palette)
        self._palette = dict(zip(palette, np.split(shaded, count, axis=1), strict=True))
        self._known: dict[tuple[int, Look], Colors] = {}

    def colors_in(self, look: Look) -> Array:
        """Return the mean of each target's clipped linear colours in one look of the palette, shape [n, 3]."""
        return self._means(self._palette[look])

    def colors(self, surfaces: Mapping[str, Surface]) -> Array:
        """Return the mean of each target's clipped linear colours, shape [n, 3].

        Args:
            surfaces: Surface of each target by name; patterns do not count, parts have none.
        """
        mine = [surfaces[name] for name in self.shown.names]
        values = self._shaded([surface.look for surface in mine])
        if any(surface.stain for surface in mine):
            under = self._shaded([s.look if s.stain is None else _look_of(s.stain) for s in mine])
            values = np.where(self._stained([surface.stain for surface in mine]), under, values)
        return self._means(values)

    def _means(self, values: Colors) -> Array:
        return np.stack([self.shown.means(plane) for plane in values], axis=-1)

    def _shaded(self, looks: Sequence[Look]) -> Colors:
        """Shade the pixels, each target in a look."""
        values = np.empty((3, len(self.shown.owners)), np.float32)
        new = []
        for index, look in enumerate(looks):
            known = self._palette.get(look)
            found = self._known.get((index, look)) if known is None else known[:, self._own[index]]
            if found is None:
                new.append(index)
            else:
                values[:, self._own[index]] = found
        if new:
            pixels = np.concatenate([self._own[index] for index in new])
            which = np.repeat(np.arange(len(new)), [len(self._own[index]) for index in new])
            values[:, pixels] = self._shade(pixels, which, [looks[index] for index in new])
            if len(self._known) + len(new) > KEPT:
                self._known.clear()
            self._known |= {(index, looks[index]): values[:, self._own[index]] for index in new}
        return values

    def _shade(self, pixels: Ints, which: Ints, looks: Sequence[Look]) -> Colors:
        """Shade pixels.

        Args:
            pixels: Which of the targets' pixels, shape [m]; one may come several times.
            which: Index of the look of each, shape [m].
            looks: The looks.
        """
        rows = [(*look.color, look.metallic, look.roughness) for look in looks]
        red, green, blue, metallic, roughness = np.array(rows, np.float32).T[:, None]
        surfaces = SurfaceSet(color=(red, green, blue), metallic=metallic, roughness=roughness)
        points = points_of(self.shown.part(pixels, instance=which), surfaces, xp=np)
        seen = mixed((), ambient_response(points, xp=np), self._around)
        direct = area_response(points, self._areas, xp=np)
        planes = [
            all_around[0] + (each * radiance).sum(axis=0)
            for all_around, each, radiance in zip(seen, direct, self._areas.radiance, strict=True)
        ]
        return np.clip(np.stack(planes) * self._gain[:, None], 0.0, 1.0).astype(np.float32)

    def _stained(self, stains: Sequence[Stain | None]) -> NDArray[np.bool_]:
        """Tell which pixels lie in patches of their target's stain, shape [k]."""
        mask, spots = np.zeros(len(self.shown.owners), bool), self.shown.positions()
        by_share: dict[float, list[Ints]] = {}
        for own, pose, stain in zip(self._own, self._poses, stains, strict=True):
            if stain is not None:
                # Where the pixels lie in the endless field of patches.
                spots[own] = pose.inverse().apply(spots[own]) / stain.patch_m + np.array(stain.phase)
                by_share.setdefault(stain.share, []).append(own)
        for share, owns in by_share.items():
            chosen = np.concatenate(owns)
            x, y, z = spots[chosen].T
            mask[chosen] = stain_mask(Stain(color=(0, 0, 0), share=share, patch_m=1.0), (x, y, z), xp=np) > 0
        return mask


def appearance_of(scenario: Scenario, ctx: AxisContext, *, palette: tuple[Look, ...]) -> Appearance:
    """Return how the targets of a scene look; scenes that show the same layout on the same ground share it.

    Args:
        scenario: The scene; its lights, sensor and the targets' own surfaces do not count.
        ctx: The axis' context.
        palette: See `Appearance`.
    """
    grounds = tuple(surface for surface in scenario.surfaces.surfaces if surface.subject in ("feed", "table"))
    key = (scenario.key(*SEEN), ctx.cell.content_id, grounds, palette)
    return ctx.renderer.once("appearance", key, lambda: _appearance(scenario, ctx, palette))


def _appearance(scenario: Scenario, ctx: AxisContext, palette: tuple[Look, ...]) -> Appearance:
    shown = target_pixels(scenario, ctx)
    poses = [scenario.item(name).pose_to_world for name in shown.names]
    lights = scene_lights(scenario.varied(lights=nominal_lights(ctx.cell)))
    return Appearance(shown, poses, lights, np.array(nominal_gain(ctx.cell)), palette)


def _look_of(stain: Stain) -> Look:
    return Look(color=stain.color, metallic=stain.metallic, roughness=stain.roughness)
