"""Cast rays from a scenario's camera: which item does each pixel show, and how much of an item do others hide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from scenegen.cell import Cell, Container
from scenegen.errors import UnknownName
from scenegen.geometry import Array, Pose, quat_conjugate, quat_to_matrix
from scenegen.imaging.pinhole import camera_rays, windows
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Layout, Scenario

NOTHING = -1
"""Pixel value of `instance_mask` where a ray meets nothing."""

_BOX_FACES = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6],
     [1, 3, 5], [3, 7, 5]], np.int32
)  # fmt: skip
_CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
_EMBREE_SIZE = 100.0
"""Shapes are scaled to about this size before they meet embree's 32-bit arithmetic."""

Mask = NDArray[np.int32]


class RayShape:
    """One rigid triangle mesh, ready for rays in its own frame; built once, placed by moving the rays."""

    def __init__(self, vertices: Array, faces: NDArray[np.int32]) -> None:
        self.low, self.high = vertices.min(axis=0), vertices.max(axis=0)
        self.corners = self.low + _CORNERS * (self.high - self.low)
        """Corners of the bounding box in the shape's frame [m], shape [8, 3]."""
        self._scale = _EMBREE_SIZE / float(np.linalg.norm(self.high - self.low))
        self._scene = EmbreeScene()
        scaled = np.ascontiguousarray((vertices - self.low) * self._scale, np.float32)
        TriangleMesh(scene=self._scene, vertices=scaled, indices=np.ascontiguousarray(faces, np.int32))

    def distances(self, origin: Array, directions: Array) -> Array:
        """Return how many direction vectors lie between origin and first hit; infinite where there is none.

        Args:
            origin: Common start of the rays in the shape's frame [m], shape [3].
            directions: Directions in the shape's frame, of any length, shape [n, 3].
        """
        if not len(directions):
            return np.empty(0)
        start = np.repeat(((origin - self.low) * self._scale).astype(np.float32)[None], len(directions), axis=0)
        found = self._scene.run(start, np.ascontiguousarray(directions, np.float32), query="DISTANCE")
        return np.where(found < 1e30, found / self._scale, np.inf)


@dataclass(frozen=True, eq=False)
class _Body:
    """A shape at its place, seen from one camera."""

    name: str
    shape: RayShape
    rotation: Array
    """From the camera's to the shape's frame, shape [3, 3]."""
    origin: Array
    """The camera's centre in the shape's frame [m], shape [3]."""
    window: tuple[slice, slice]
    """Rows and columns of the image outside of which it cannot be seen."""

    def depths(self, rays: Array) -> Array:
        """Depth [m] of the first hit of each ray; infinite where there is none. Rays in the camera's frame, [n, 3]."""
        return self.shape.distances(self.origin, rays @ self.rotation.T)


@dataclass(frozen=True, eq=False)
class _View:
    """All bodies of a layout as one camera sees them."""

    layout: Layout
    camera: Camera
    bodies: dict[str, _Body]

    @cached_property
    def rays(self) -> Array:
        """A ray a pixel in the camera's frame, with z = -1, shape [h, w, 3]."""
        c = self.camera
        return camera_rays(c.width_px, c.height_px, c.focal_px, c.principal_px, c.distortion)


class MaskCaster:
    """Casts instance masks of a cell's scenes; a part's ray structure is built once, a moved part costs its pose only.

    Items and the walls and floors of fixtures hide each other; the table top lies under everything.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._cell, self._parts = cell, parts
        self._shapes: dict[str, RayShape] = {}
        self._fixtures = {name: _container_shape(box) for name, box in cell.containers.items()}
        self._view_cache: dict[str, _View] = {}

    def instance_mask(self, scenario: Scenario, camera: str) -> tuple[Mask, tuple[str, ...]]:
        """Say for each pixel what it shows.

        Args:
            scenario: The scene.
            camera: Name of one of its cameras.

        Returns:
            Indices into the names, or `NOTHING`, shape [h, w], and the names: items in the layout's order, then `feed`
            and the bins, then `table`.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        mask, names, _ = self.instance_depth(scenario, camera)
        return mask, names

    def instance_depth(self, scenario: Scenario, camera: str) -> tuple[Mask, tuple[str, ...], Array]:
        """Like `instance_mask`, with the depth along the optical axis [m], infinite at `NOTHING`, shape [h, w]."""
        view = self._view(scenario, camera)
        names = (*view.bodies, "table")
        depth = self._table_depth(view)
        mask = np.where(np.isfinite(depth), len(names) - 1, NOTHING).astype(np.int32)
        for index, body in enumerate(view.bodies.values()):
            rays = view.rays[body.window]
            found = body.depths(rays.reshape(-1, 3)).reshape(rays.shape[:2])
            nearer = found < depth[body.window]
            depth[body.window][nearer] = found[nearer]
            mask[body.window][nearer] = index
        return mask, names, depth

    def visible_pixels(self, scenario: Scenario, item: str, *, camera: str = "overhead") -> int:
        """Count the pixels that show the item.

        Raises:
            UnknownName: The scenario has no such camera or no such item.
        """
        return self._seen(self._view(scenario, camera), item)[0]

    def outline_pixels(self, scenario: Scenario, item: str, *, camera: str = "overhead") -> int:
        """Count the pixels that would show the item if nothing else were there.

        Raises:
            UnknownName: The scenario has no such camera or no such item.
        """
        return self._seen(self._view(scenario, camera), item)[1]

    def hidden_share(self, scenario: Scenario, item: str, *, camera: str = "overhead") -> float:
        """Return the share of the item's outline that other things hide; 1 where the camera does not see it at all.

        Args:
            scenario: The scene.
            item: Name of an item.
            camera: Name of the camera.

        Raises:
            UnknownName: The scenario has no such camera or no such item.
        """
        visible, outline = self._seen(self._view(scenario, camera), item)
        return 1.0 - visible / outline if outline else 1.0

    def hidden_shares(self, scenario: Scenario, *, camera: str = "overhead") -> dict[str, float]:
        """Return the hidden share of every item (see `hidden_share`); rays are cast only where something might hide it.

        Args:
            scenario: The scene.
            camera: Name of the camera.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        view = self._view(scenario, camera)
        names = [item.name for item in scenario.layout.items]
        doubtful, near_wall = self._in_doubt(view, names)
        height, width, _ = view.rays.shape
        depth, shown = np.full((height, width), np.inf), np.full((height, width), NOTHING)
        outlines = np.zeros(len(names), int)
        for index in np.flatnonzero(doubtful).tolist():
            body = view.bodies[names[index]]
            rays = view.rays[body.window]
            found = body.depths(rays.reshape(-1, 3)).reshape(rays.shape[:2])
            nearer = found < depth[body.window]
            depth[body.window][nearer] = found[nearer]
            shown[body.window][nearer] = index
            outlines[index] = np.isfinite(found).sum()
        rows, columns = np.nonzero(np.isin(shown, np.flatnonzero(near_wall)))
        for name in self._fixtures:
            if name in view.bodies and len(rows):
                hidden = view.bodies[name].depths(view.rays[rows, columns]) < depth[rows, columns]
                shown[rows[hidden], columns[hidden]] = NOTHING
        visible = np.bincount(shown[shown != NOTHING], minlength=len(names))
        shares = np.where(outlines > 0, 1.0 - visible / np.maximum(outlines, 1), 1.0)
        return dict(zip(names, np.where(doubtful, shares, 0.0).tolist(), strict=True))

    def _in_doubt(self, view: _View, names: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Find items that others, walls or the border of the image may hide, and those of them that walls may hide.

        What hides an item in doubt is itself in doubt, since their windows meet.
        """
        if not names:
            return np.empty(0, bool), np.empty(0, bool)
        edges = np.array([_window_edges(view.bodies[name].window) for name in names])
        walls = np.array([_window_edges(window) for window in self._wall_windows(view)])
        meets = _meets(edges, edges)
        np.fill_diagonal(meets, False)
        size = np.array([view.camera.height_px, view.camera.width_px])
        at_border = np.any((edges[:, 0] <= 0) | (edges[:, 1] >= size) | (edges[:, 0] >= edges[:, 1]), axis=1)
        near_wall = np.asarray(_meets(edges, walls).any(axis=1))
        return meets.any(axis=1) | near_wall | at_border, near_wall

    def _wall_windows(self, view: _View) -> list[tuple[slice, slice]]:
        """Windows of the walls of all fixtures."""
        camera = view.camera.pose_to_world
        corners = []
        for fixture in view.layout.fixtures:
            box = self._cell.containers.get(fixture.name)
            if box is not None and box.wall_height_m > 0:
                walls = container_boxes(box)[1:]
                world = fixture.pose_to_world.apply(walls[:, :1] + _CORNERS * (walls[:, 1:] - walls[:, :1]))
                corners.append((world - camera.position) @ camera.rotation)
        return windows(view.camera, np.concatenate(corners)) if corners else [(slice(0, 0), slice(0, 0))]

    def _seen(self, view: _View, item: str) -> tuple[int, int]:
        """Count visible pixels and outline pixels of an item."""
        body = view.bodies.get(item)
        if body is None or item in self._fixtures:
            raise UnknownName("item", item, [i.name for i in view.layout.items])
        window = view.rays[body.window]
        depth = body.depths(window.reshape(-1, 3))
        hits = np.flatnonzero(np.isfinite(depth))
        rays, depth = window.reshape(-1, 3)[hits], depth[hits]
        hidden = np.zeros(len(hits), bool)
        for other in view.bodies.values():
            if other is not body and _overlap(other.window, body.window):
                hidden |= other.depths(rays) < depth
        return int(len(hits) - hidden.sum()), len(hits)

    def _view(self, scenario: Scenario, camera: str) -> _View:
        """Place all bodies before a camera; the last view of each camera is kept."""
        chosen = next((c for c in scenario.cameras.cameras if c.name == camera), None)
        if chosen is None:
            raise UnknownName("camera", camera, [c.name for c in scenario.cameras.cameras])
        kept = self._view_cache.get(camera)
        if kept is None or kept.layout is not scenario.layout or kept.camera is not chosen:
            bodies = {body.name: body for body in self._place(scenario.layout, chosen)}
            kept = self._view_cache[camera] = _View(scenario.layout, chosen, bodies)
        return kept

    def _place(self, layout: Layout, camera: Camera) -> Iterator[_Body]:
        placed = [(item.name, self._shape(item.part), item.pose_to_world) for item in layout.items]
        placed += [
            (f.name, self._fixtures[f.name], f.pose_to_world) for f in layout.fixtures if f.name in self._fixtures
        ]
        if not placed:
            return
        eye, turn = camera.pose_to_world.position, camera.pose_to_world.rotation
        inverse = quat_to_matrix(quat_conjugate([pose.quat_xyzw for _, _, pose in placed]))
        origins = np.einsum("nij,nj->ni", inverse, eye - np.array([pose.position_m for _, _, pose in placed]))
        rotations = inverse @ turn
        corners = (np.stack([shape.corners for _, shape, _ in placed]) - origins[:, None]) @ rotations
        seen = windows(camera, corners)
        for (name, shape, _), rotation, origin, window in zip(placed, rotations, origins, seen, strict=True):
            yield _Body(name, shape, rotation, origin, window)

    def _shape(self, part: str) -> RayShape:
        shape = self._shapes.get(part)
        if shape is None:
            mesh = self._parts[part].mesh
            shape = self._shapes[part] = RayShape(mesh.vertices, mesh.faces)
        return shape

    def _table_depth(self, view: _View) -> Array:
        """Depth [m] of the table's upper face, infinite beside it, shape [h, w]."""
        table, pose = self._cell.table, view.camera.pose_to_world
        top: Pose = table.pose_top_to_world
        origin = top.rotation.T @ (pose.position - top.position)
        rays = view.rays @ (top.rotation.T @ pose.rotation).T
        with np.errstate(divide="ignore"):
            depth = np.where(rays[..., 2] < 0, -origin[2] / rays[..., 2], np.inf)
        reach = np.where(np.isfinite(depth), depth, 0.0)[..., None]
        beside = np.any(np.abs(origin[:2] + reach * rays[..., :2]) > np.array(table.size_m[:2]) / 2, axis=-1)
        return np.where(beside, np.inf, depth)


def silhouette(shape: RayShape, camera: Camera, pose_to_world: Pose) -> NDArray[np.bool_]:
    """Say which pixels of a camera a shape covers when it is alone, shape [h, w]."""
    inverse = pose_to_world.rotation.T
    origin = inverse @ (camera.pose_to_world.position - pose_to_world.position)
    rotation = inverse @ camera.pose_to_world.rotation
    (window,) = windows(camera, ((shape.corners - origin) @ rotation)[None])
    rays = camera_rays(camera.width_px, camera.height_px, camera.focal_px, camera.principal_px, camera.distortion)[
        window
    ]
    mask = np.zeros((camera.height_px, camera.width_px), bool)
    mask[window] = np.isfinite(shape.distances(origin, rays.reshape(-1, 3) @ rotation.T)).reshape(rays.shape[:2])
    return mask


def _window_edges(window: tuple[slice, slice]) -> tuple[tuple[int, int], tuple[int, int]]:
    """First row and column, and those after the last ones [px]."""
    return (window[0].start, window[1].start), (window[0].stop, window[1].stop)


def _meets(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which windows of two lists, shapes [n, 2, 2] and [m, 2, 2], share a pixel, shape [n, m]."""
    return np.all((a[:, None, 0] < b[None, :, 1]) & (b[None, :, 0] < a[:, None, 1]), axis=-1)


def _overlap(a: tuple[slice, slice], b: tuple[slice, slice]) -> bool:
    return all(p.start < q.stop and q.start < p.stop for p, q in zip(a, b, strict=True))


def container_boxes(box: Container) -> Array:
    """Lower and upper corners of floor and walls in the container's frame [m], shape [5, 2, 3]."""
    x, y, t = box.size_m[0] / 2, box.size_m[1] / 2, box.wall_thickness_m
    floor, top = -box.floor_thickness_m, box.wall_height_m
    return np.array(
        [
            [[-x - t, -y - t, floor], [x + t, y + t, 0.0]],
            [[-x - t, -y - t, 0.0], [-x, y + t, top]],
            [[x, -y - t, 0.0], [x + t, y + t, top]],
            [[-x, -y - t, 0.0], [x, -y, top]],
            [[-x, y, 0.0], [x, y + t, top]],
        ]
    )


def _container_shape(box: Container) -> RayShape:
    boxes = container_boxes(box)
    vertices = (boxes[:, :1] + _CORNERS * (boxes[:, 1:] - boxes[:, :1])).reshape(-1, 3)
    faces = (_BOX_FACES[None] + 8 * np.arange(len(boxes))[:, None, None]).reshape(-1, 3)
    return RayShape(vertices, faces.astype(np.int32))
