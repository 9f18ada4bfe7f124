"""Cast rays from a scenario's camera to its G-buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.beam import beam_hits
from scenegen.imaging.gbuffer import NOTHING, GBuffer, Vector, groove_depth
from scenegen.imaging.kept import Kept
from scenegen.imaging.ray_shape import Hits
from scenegen.imaging.robot_shape import Posture
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
    """Where the rays of a camera meet a body if nothing else is there."""

    pixels: NDArray[np.int64]
    """Places in the row of all pixels, shape [c]."""
    hits: Hits
    """With depths [m] as distances."""


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
    """Unit normals toward the camera, world frame, shape [3, p]."""
    position: Floats
    """World frame [m], shape [3, p]."""
    self_open: Floats

    def behind(self, bodies: Sequence[Body], met: Sequence[_Met], view: View, *, grooved: bool) -> _Picture:
        """Put bodies before what is here, whose indices move up; of two at one depth the first is seen."""
        if not bodies:
            return self
        # What is written later covers what was written before: of equally near ones the first body comes last.
        bodies, met = bodies[::-1], met[::-1]
        pixels = np.concatenate([one.pixels for one in met])
        depth, faces, u, v = (np.concatenate(parts) for parts in list(zip(*(m.hits for m in met), strict=True))[1:])
        nearest = self.depth.copy()
        for one in met:
            nearest[one.pixels] = np.minimum(nearest[one.pixels], one.hits.distances)
        seen = np.flatnonzero(depth == nearest[pixels])
        owner = np.repeat(np.arange(len(met)), [len(one.pixels) for one in met])[seen]
        found = _Surface(bodies, owner, faces[seen], u[seen], v[seen])
        at, reach = pixels[seen], depth[seen].astype(np.float32)
        rays = self.rays[:, at]
        normal, self_open = found.shown(view, rays, grooved=grooved)
        return _Picture(
            eye=self.eye,
            rays=self.rays,
            depth=nearest,
            instance=_written(
                self.instance + np.int32(len(met)) * (self.instance != NOTHING), at, len(met) - 1 - owner
            ),
            normal=_written(self.normal, at, normal),
            position=_written(self.position, at, self.eye + rays * reach),
            self_open=_written(self.self_open, at, self_open),
        )


class _Surface(NamedTuple):
    """Points on bodies, those of each body following each other, shape [c]."""

    bodies: Sequence[Body]
    owner: NDArray[np.int64]
    """Which body each point is on, ascending."""
    faces: NDArray[np.int32]
    u: Floats
    v: Floats

    def shown(self, view: View, rays: Floats, *, grooved: bool) -> tuple[Floats, Floats]:
        """Return unit normals toward the camera, world frame, shape [3, c], and how open points are, shape [c].

        Args:
            view: The camera's view.
            rays: Where the camera's rays go, world frame, shape [3, c].
            grooved: Whether the bodies' own grooves are felt.
        """
        bounds = np.searchsorted(self.owner, np.arange(len(self.bodies) + 1)).tolist()
        runs = [slice(start, stop) for start, stop in pairwise(bounds)]
        each = list(zip(self.bodies, runs, strict=True))
        local = _mixed(np.concatenate([body.shape.normals[self.faces[run]] for body, run in each]), self.u, self.v)
        self_open = np.ones(len(self.owner), np.float32)
        if grooved:
            grooves = [(body.shape.grooves, self.faces[run]) for body, run in each]
            self_open = np.concatenate([one.open[faces] for one, faces in grooves])
            local = _leaned(local, np.concatenate([one.outward[faces] for one, faces in grooves]), self_open)
        turns = view.camera.pose_to_world.rotation @ np.stack([body.rotation for body in self.bodies]).mT
        normal = np.empty_like(local)
        for run, turn in zip(runs, turns.astype(np.float32), strict=True):
            np.matmul(local[run], turn.T, out=normal[run])
        normal[np.einsum("ij,ij->i", normal, rays.T) > 0] *= -1
        return normal.T, self_open


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

    def cast(self, scenario: Scenario, camera: str, posture: Posture | None = None) -> GBuffer:
        """Say for each pixel what it shows.

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.
            posture: How the robot stands; None: it is not there.

        Returns:
            The G-buffer of one image, 32-bit floats; instances and depths are those of `MaskCaster.instance_depth`.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        view = self._viewer.view(scenario, camera, posture)
        backdrop, behind = self._backdrops.get(view.backdrop_key, lambda: self._backdrop(view))
        items, links = (self._met(view, bodies) for bodies in (view.items, view.links))
        seen = backdrop.behind(view.links, links, view, grooved=False).behind(view.items, items, view, grooved=True)
        return GBuffer(
            names=(*view.bodies, "table"),
            height_px=view.camera.height_px,
            width_px=view.camera.width_px,
            instance=seen.instance[None],
            normal=_vector(seen.normal),
            position=_vector(seen.position),
            depth=seen.depth.astype(np.float32)[None],
            eye=_vector(seen.eye),
            alone=np.array([[*(len(one.pixels) for one in (*items, *links)), *behind]]),
            self_open=seen.self_open[None],
        )

    def _met(self, view: View, bodies: Sequence[Body]) -> list[_Met]:
        keys = [(view.camera.content_id, body.place) for body in bodies]
        return self._bodies.each(keys, lambda new: _meet(view, [bodies[index] for index in new]))

    def _backdrop(self, view: View) -> tuple[_Picture, list[int]]:
        """See table and fixtures, and say how many pixels each would cover alone, the table last."""
        depth = self._viewer.table_depth(view).reshape(-1)
        on_table, pose = np.isfinite(depth), view.camera.pose_to_world
        eye = pose.position.astype(np.float32)[:, None]
        rays = view.rays.astype(np.float32) @ pose.rotation.T.astype(np.float32)
        rays = np.ascontiguousarray(rays.reshape(-1, 3).T)
        reach = np.where(on_table, depth, 1.0).astype(np.float32)
        table = _Picture(
            eye=eye,
            rays=rays,
            depth=depth,
            instance=np.where(on_table, 0, NOTHING).astype(np.int32),
            normal=np.repeat(self._table_up[:, None], len(depth), axis=1),
            position=np.add(eye, rays * reach, dtype=np.float32),
            self_open=np.ones(len(depth), np.float32),
        )
        met = _meet(view, view.fixtures)
        return table.behind(view.fixtures, met, view, grooved=False), [
            *(len(one.pixels) for one in met),
            int(on_table.sum()),
        ]


def _meet(view: View, bodies: Sequence[Body]) -> list[_Met]:
    """Let the rays of their windows meet bodies."""
    hits = beam_hits([body.beam(view.rays[body.window].reshape(-1, 3)) for body in bodies])
    each = zip(bodies, hits, strict=True)
    return [_Met(view.places[body.window].reshape(-1)[found.rays], found) for body, found in each]


def _mixed(corners: Floats, u: Floats, v: Floats) -> Floats:
    """Interpolate unit normals at the corners of triangles, shape [n, 3, 3], to points in them, shape [n, 3]."""
    mixed = corners[:, 0] * (1 - u - v)[:, None] + corners[:, 1] * u[:, None] + corners[:, 2] * v[:, None]
    return mixed / np.sqrt(np.einsum("ij,ij->i", mixed, mixed))[:, None]


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
