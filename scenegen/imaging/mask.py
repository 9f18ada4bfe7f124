"""Cast rays from a scenario's camera: which item does each pixel show, and how much of an item do others hide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.errors import UnknownName
from scenegen.geometry import Array, Pose
from scenegen.imaging.gbuffer import NOTHING
from scenegen.imaging.pinhole import camera_rays, windows
from scenegen.imaging.ray_shape import UNIT_CORNERS, RayShape, container_boxes
from scenegen.imaging.view import View, Viewer
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Scenario

__all__ = ["NOTHING", "MaskCaster", "RayShape", "container_boxes", "silhouette"]

Mask = NDArray[np.int32]


class MaskCaster:
    """Casts instance masks of a cell's scenes; a part's ray structure is built once, a moved part costs its pose only.

    Items and the walls and floors of fixtures hide each other; the table top lies under everything.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._cell, self._viewer = cell, Viewer(cell, parts)

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
        view = self._viewer.view(scenario, camera)
        names = (*view.bodies, "table")
        depth = self._viewer.table_depth(view)
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
        return self._seen(self._viewer.view(scenario, camera), item)[0]

    def outline_pixels(self, scenario: Scenario, item: str, *, camera: str = "overhead") -> int:
        """Count the pixels that would show the item if nothing else were there.

        Raises:
            UnknownName: The scenario has no such camera or no such item.
        """
        return self._seen(self._viewer.view(scenario, camera), item)[1]

    def hidden_share(self, scenario: Scenario, item: str, *, camera: str = "overhead") -> float:
        """Return the share of the item's outline that other things hide; 1 where the camera does not see it at all.

        Args:
            scenario: The scene.
            item: Name of an item.
            camera: Name of the camera.

        Raises:
            UnknownName: The scenario has no such camera or no such item.
        """
        visible, outline = self._seen(self._viewer.view(scenario, camera), item)
        return 1.0 - visible / outline if outline else 1.0

    def hidden_shares(self, scenario: Scenario, *, camera: str = "overhead") -> dict[str, float]:
        """Return the hidden share of every item (see `hidden_share`); rays are cast only where something might hide it.

        Args:
            scenario: The scene.
            camera: Name of the camera.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        view = self._viewer.view(scenario, camera)
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
        for name in self._viewer.fixtures:
            if name in view.bodies and len(rows):
                hidden = view.bodies[name].depths(view.rays[rows, columns]) < depth[rows, columns]
                shown[rows[hidden], columns[hidden]] = NOTHING
        visible = np.bincount(shown[shown != NOTHING], minlength=len(names))
        shares = np.where(outlines > 0, 1.0 - visible / np.maximum(outlines, 1), 1.0)
        return dict(zip(names, np.where(doubtful, shares, 0.0).tolist(), strict=True))

    def _in_doubt(self, view: View, names: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
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

    def _wall_windows(self, view: View) -> list[tuple[slice, slice]]:
        """Windows of the walls of all fixtures."""
        camera = view.camera.pose_to_world
        corners = []
        for fixture in view.layout.fixtures:
            box = self._cell.containers.get(fixture.name)
            if box is not None and box.wall_height_m > 0:
                walls = container_boxes(box)[1:]
                world = fixture.pose_to_world.apply(walls[:, :1] + UNIT_CORNERS * (walls[:, 1:] - walls[:, :1]))
                corners.append((world - camera.position) @ camera.rotation)
        return windows(view.camera, np.concatenate(corners)) if corners else [(slice(0, 0), slice(0, 0))]

    def _seen(self, view: View, item: str) -> tuple[int, int]:
        """Count visible pixels and outline pixels of an item."""
        body = view.bodies.get(item)
        if body is None or item in self._viewer.fixtures:
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
