"""Cast rays from a scenario's camera to its G-buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.gbuffer import NOTHING, GBuffer, Vector, groove_depth
from scenegen.imaging.kept import Kept
from scenegen.imaging.view import Body, View, Viewer
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

Floats = NDArray[np.float32]

LEAN = 0.85
"""How far the normals of a groove's sides lean toward its way out, held against path-traced threads.

Light leaves a groove that way, whichever of its sides it met last; but sides that face a lamp stay the brighter ones.
"""
BODIES = 192
"""Bodies at their places whose rays are kept: between a twin and its variant most parts stay."""
BACKDROPS = 8
"""Views of table and fixtures that are kept: as many as there are cameras that stay."""


class _Met(NamedTuple):
    """Where the rays of a camera meet a body if nothing else is there, one row a pixel, shape [c]."""

    pixels: NDArray[np.int64]
    """Places in the row of all pixels."""
    depth: Array
    normal: Floats
    """Unit normals toward the camera, world frame, shape [c, 3]."""
    self_open: Floats


@dataclass(frozen=True, eq=False)
class _Picture:
    """What a camera sees, all pixels in a row, shape [p]."""

    eye: Floats
    """The camera's centre, world frame [m], shape [3, 1]."""
    rays: Floats
    """A ray a pixel in the world's frame, 1 m deep, shape [3, p]."""
    depth: Array
    """Depth of what is nearest [m], infinite where there is nothing."""
    instance: NDArray[np.int32]
    normal: Floats
    """Shape [3, p]."""
    position: Floats
    """World frame [m], shape [3, p]."""
    self_open: Floats

    def behind(self, met: Sequence[_Met]) -> _Picture:
        """Put bodies before what is here, whose indices move up; of two at one depth the first is seen."""
        if not met:
            return self
        pixels, depth, normal, self_open = (np.concatenate(parts) for parts in zip(*reversed(met), strict=True))
        index = np.repeat(np.arange(len(met))[::-1], [len(one.pixels) for one in reversed(met)])
        moved = self.instance + np.int32(len(met)) * (self.instance != NOTHING)
        nearest = self.depth.copy()
        np.minimum.at(nearest, pixels, depth)
        seen = np.flatnonzero(depth == nearest[pixels])
        # What is written later covers what was written before: of equally near ones the first body comes last.
        at, reach = pixels[seen], depth[seen].astype(np.float32)
        return _Picture(
            eye=self.eye,
            rays=self.rays,
            depth=nearest,
            instance=_written(moved, at, index[seen]),
            normal=_written(self.normal, at, normal[seen].T),
            position=_written(self.position, at, self.eye + self.rays[:, at] * reach),
            self_open=_written(self.self_open, at, self_open[seen]),
        )


class GBufferCaster:
    """Casts G-buffers of a cell's scenes; a part's ray structure is built once, a moved part costs its pose only.

    Each body is met by the rays of its own window of the image alone; a body that stays before the same camera is not
    met again, and table and fixtures that stay are one backdrop.

    Args:
        viewer: Places the cell's bodies; may be shared.
        cell: The cell.
    """

    def __init__(self, viewer: Viewer, cell: Cell) -> None:
        self._viewer = viewer
        self._table_up = cell.table.pose_top_to_world.rotation[:, 2].astype(np.float32)
        self._bodies, self._backdrops = Kept(BODIES), Kept(BACKDROPS)

    @classmethod
    def of(cls, cell: Cell, parts: Catalogue) -> GBufferCaster:
        """Build a caster of a cell and its parts."""
        return cls(Viewer(cell, parts), cell)

    def cast(self, scenario: Scenario, camera: str) -> GBuffer:
        """Say for each pixel what it shows.

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.

        Returns:
            The G-buffer of one image, 32-bit floats; instances and depths are those of `MaskCaster.instance_depth`.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        view = self._viewer.view(scenario, camera)
        bodies, count = list(view.bodies.values()), len(view.layout.items)
        items, fixtures = bodies[:count], bodies[count:]
        key = (view.camera.content_id, *((body.kind, body.pose_to_world) for body in fixtures))
        backdrop, behind = self._backdrops.get(key, lambda: self._backdrop(view, fixtures))
        met = [self._met(view, body, backdrop.rays) for body in items]
        seen = backdrop.behind(met)
        return GBuffer(
            names=(*view.bodies, "table"),
            height_px=view.camera.height_px,
            width_px=view.camera.width_px,
            instance=seen.instance[None],
            normal=_vector(seen.normal),
            position=_vector(seen.position),
            depth=seen.depth.astype(np.float32)[None],
            eye=_vector(seen.eye),
            alone=np.array([[*(len(one.pixels) for one in met), *behind]]),
            self_open=seen.self_open[None],
        )

    def _met(self, view: View, body: Body, rays: Floats) -> _Met:
        key = (view.camera.content_id, body.kind, body.pose_to_world)
        return self._bodies.get(key, lambda: _meet(view, body, rays, grooved=True))

    def _backdrop(self, view: View, fixtures: Sequence[Body]) -> tuple[_Picture, list[int]]:
        """See table and fixtures, and say how many pixels each would cover alone, the table last."""
        depth = self._viewer.table_depth(view).reshape(-1)
        on_table, pose = np.isfinite(depth), view.camera.pose_to_world
        eye = pose.position.astype(np.float32)[:, None]
        rays = view.rays.astype(np.float32) @ pose.rotation.T.astype(np.float32)
        rays = np.ascontiguousarray(rays.reshape(-1, 3).T)
        table = _Picture(
            eye=eye,
            rays=rays,
            depth=depth,
            instance=np.where(on_table, 0, NOTHING).astype(np.int32),
            normal=np.repeat(self._table_up[:, None], len(depth), axis=1),
            position=eye + rays * np.where(on_table, depth, 1.0).astype(np.float32),
            self_open=np.ones(len(depth), np.float32),
        )
        met = [_meet(view, body, rays, grooved=False) for body in fixtures]
        return table.behind(met), [*(len(one.pixels) for one in met), int(on_table.sum())]


def _meet(view: View, body: Body, rays: Floats, *, grooved: bool) -> _Met:
    """Let the rays of its window meet a body; its own grooves are felt where it may have any."""
    found = body.hits(view.rays[body.window].reshape(-1, 3))
    hit = np.flatnonzero(found.faces >= 0)
    pixels = view.places[body.window].reshape(-1)[hit]
    faces = found.faces[hit]
    local = body.shape.normals(faces, found.u[hit], found.v[hit])
    self_open = np.ones(len(hit), np.float32)
    if grooved:
        grooves = body.shape.grooves
        self_open = grooves.open[faces]
        local = _leaned(local, grooves.outward[faces], self_open)
    normal = local @ (view.camera.pose_to_world.rotation @ body.rotation.T).astype(np.float32).T
    normal[np.einsum("ij,ij->i", normal, rays[:, pixels].T) > 0] *= -1
    return _Met(pixels, found.distances[hit], normal, self_open)


def _leaned(normals: Floats, outward: Floats, self_open: Floats) -> Floats:
    """Lean normals toward the way out of the grooves in which they lie, shapes [n, 3] and [n]."""
    lean = LEAN * groove_depth(self_open, np)[:, None]
    mixed = normals + lean * (outward - normals)
    return mixed / np.sqrt(np.einsum("ij,ij->i", mixed, mixed))[:, None]


def _written[T: np.generic](values: NDArray[T], places: NDArray[np.int64], new: Any) -> NDArray[T]:
    """Copy values with other ones at some places of the last axis."""
    copied = values.copy()
    copied[..., places] = new
    return copied


def _vector(planes: Floats) -> Vector:
    """Turn rows of a plane each, shape [3, n], into three arrays of shape [1, n]."""
    x, y, z = planes[:, None]
    return x, y, z
