"""The pixels that show the targets in the feed, in the camera whose image axes judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenegen.axes.axis import AxisContext
from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.gbuffer import GBuffer, Vector
from scenegen.imaging.renderer import SEEN
from scenegen.scenario import Scenario

FEWEST_PX = 16
"""Targets of which fewer pixels are visible are left out: a pixel would be too large a share [px]."""


Ints = NDArray[np.int64]


def judging_camera(cell: Cell) -> str:
    """Name the camera whose image is judged: the first fixed one, or the first."""
    return next((camera.name for camera in cell.cameras if camera.mount == "world"), cell.cameras[0].name)


@dataclass(frozen=True, eq=False)
class TargetPixels:
    """The visible pixels of the targets in the feed."""

    names: tuple[str, ...]
    """Targets, shape [n]."""
    places: Ints
    """Places in the scope that the scene's meters are read from (`Metered.scope`), shape [k]."""
    owners: Ints
    """Index of the target that each pixel shows, shape [k]."""
    gbuffer: GBuffer
    """The pixels as one row, k pixels wide; instances are the targets."""

    @property
    def counts(self) -> Ints:
        """How many pixels show each target, shape [n]."""
        return np.bincount(self.owners, minlength=len(self.names))

    def shares(self, chosen: NDArray[np.bool_]) -> Array:
        """Return the share of each target's pixels that are chosen, shape [n], from a mask of shape [k]."""
        return np.bincount(self.owners[chosen], minlength=len(self.names)) / self.counts

    def means(self, values: Array) -> Array:
        """Return the mean of a value over each target's pixels, shape [n], from shape [k]."""
        return np.bincount(self.owners, values, minlength=len(self.names)) / self.counts

    def part(self, pixels: Ints, *, instance: Ints) -> GBuffer:
        """Return some of the pixels as one row, with instances of their own.

        Args:
            pixels: Which of them, shape [m]; one may come several times.
            instance: What they show, shape [m].
        """
        return _part(self.gbuffer, pixels, instance)

    def positions(self, pixel: int | slice = slice(None)) -> Array:
        """Return what pixels show [m], world frame, shape [3] for one, else [k, 3]."""
        return _rows(self.gbuffer.position, pixel)

    def mirrored(self, pixel: int | slice = slice(None)) -> Array:
        """Return the unit directions in which a flat mirror at pixels would show a lamp, shape [3] or [k, 3]."""
        normal = _rows(self.gbuffer.normal, pixel)
        view = _rows(self.gbuffer.eye, 0) - self.positions(pixel)
        view = view / np.linalg.norm(view, axis=-1, keepdims=True)
        return 2 * np.sum(normal * view, axis=-1, keepdims=True) * normal - view


def target_pixels(scenario: Scenario, ctx: AxisContext) -> TargetPixels:
    """Find the visible pixels of the targets in the feed; without a target that shows enough of itself, none.

    Args:
        scenario: The scene.
        ctx: The axis' context; scenes that show the same things share the result.
    """
    key = (scenario.key(*SEEN), ctx.cell.content_id)
    return ctx.renderer.once("target pixels", key, lambda: _target_pixels(scenario, ctx))


def _target_pixels(scenario: Scenario, ctx: AxisContext) -> TargetPixels:
    camera = judging_camera(ctx.cell)
    whole, scope = ctx.renderer.gbuffer(scenario, camera), ctx.metered.scope(scenario, camera)
    enough = scope.visible >= FEWEST_PX
    names = tuple(name for name, shown in zip(scope.names, enough.tolist(), strict=True) if shown)
    places = np.flatnonzero(np.repeat(enough, scope.visible))
    owners = np.repeat(np.arange(len(names)), scope.visible[enough])
    part = _part(replace(whole, names=names, alone=scope.alone[None, enough]), scope.pixels[places], owners)
    return TargetPixels(names=names, places=places, owners=owners, gbuffer=part)


def _part(gbuffer: GBuffer, pixels: Ints, instance: Ints) -> GBuffer:
    """Take some pixels of one image, in one row, with instances of their own."""
    return replace(
        gbuffer,
        height_px=1,
        width_px=len(pixels),
        instance=instance[None],
        normal=_some(gbuffer.normal, pixels),
        position=_some(gbuffer.position, pixels),
        depth=gbuffer.depth[:, pixels],
        self_open=None if gbuffer.self_open is None else gbuffer.self_open[:, pixels],
    )


def _some(vector: Vector, pixels: Ints) -> Vector:
    return vector[0][:, pixels], vector[1][:, pixels], vector[2][:, pixels]


def _rows(vector: tuple[Any, Any, Any], pixel: int | slice) -> Array:
    return np.stack([plane[0, pixel] for plane in vector], axis=-1).astype(np.float64)
