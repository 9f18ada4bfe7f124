"""What stands before a camera: the bodies of a layout in the camera's frame, each with the pixels that it can cover."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenegen.cell import Cell
from scenegen.errors import UnknownName
from scenegen.geometry import Array, Pose, quat_conjugate, quat_to_matrix
from scenegen.imaging.beam import Beam, beam_distances
from scenegen.imaging.feed_region import FeedRegion
from scenegen.imaging.kept import Kept
from scenegen.imaging.pinhole import camera_rays, pixel_places, window_rays, windows
from scenegen.imaging.ray_shape import RayShape, container_shape
from scenegen.imaging.robot_shape import Posture, RobotShape
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Layout, Scenario

DEPTHS = 256
"""Bodies at their places whose depths are kept: before the map of a light that stays, fixtures and most parts do."""
BACKDROPS = 8
"""Cameras and lights before which the fixtures' depths are kept."""


class Body(NamedTuple):
    """A shape at its place, seen from one camera."""

    name: str
    kind: str
    """What it is, at whatever place: a part's id, or a fixture's name after a slash, or a link's after two."""
    pose_to_world: Pose
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

    @property
    def place(self) -> Hashable:
        """What it is and where, quickly hashed."""
        return self.kind, self.pose_to_world.position_m, self.pose_to_world.quat_xyzw

    def beam(self, rays: Array) -> Beam:
        """Return rays, in the camera's frame, shape [n, 3], that meet this body alone; depths [m] are distances."""
        return Beam(self.shape, self.origin, self.rotation, rays)


@dataclass(frozen=True, eq=False)
class View:
    """All bodies of a layout as one camera sees them."""

    layout: Layout
    camera: Camera
    items: Sequence[Body]
    """In the layout's order."""
    links: Sequence[Body]
    """The robot's."""
    fixtures: Sequence[Body]
    """Feed and bins."""
    posture: Posture | None = None
    """How the robot stands; None: it is not there."""

    @cached_property
    def bodies(self) -> dict[str, Body]:
        """All by name: items, then links, then fixtures."""
        return {body.name: body for body in (*self.items, *self.links, *self.fixtures)}

    @property
    def backdrop_key(self) -> Hashable:
        """What decides how table and fixtures look from here."""
        return (self.camera.content_id, *(body.place for body in self.fixtures))

    @cached_property
    def rays(self) -> Array:
        """A ray a pixel in the camera's frame, with z = -1, shape [h, w, 3]."""
        c = self.camera
        return camera_rays(c.width_px, c.height_px, c.focal_px, c.principal_px, c.distortion)

    @property
    def places(self) -> NDArray[np.int64]:
        """Place of each pixel in the row of all pixels, `row * width + column`, shape [h, w]."""
        return pixel_places(self.camera.height_px, self.camera.width_px)


class Viewer:
    """Places the bodies of one cell's scenes before cameras; a part's ray structure is built once.

    Args:
        cell: The cell.
        parts: Its parts.
        robot: Its robot, for views in which it is seen.
    """

    def __init__(self, cell: Cell, parts: Catalogue, *, robot: RobotShape | None = None) -> None:
        self._cell, self._parts, self._robot = cell, parts, robot
        self._shapes: dict[str, RayShape] = {}
        self.fixtures = {name: container_shape(box) for name, box in cell.containers.items()}
        """Feed and bins by name."""
        self._placed: tuple[Layout, _Placed] | None = None
        """The last layout: several cameras and lights look at it."""
        self._postures = Kept(1)
        """The robot in its last posture, likewise."""
        self._kept: dict[str, View] = {}
        self._depths, self._backdrops = Kept(DEPTHS), Kept(BACKDROPS)

    def view(self, scenario: Scenario, camera: str, posture: Posture | None = None) -> View:
        """Place all bodies before a scenario's camera; the last view of each camera is kept.

        Args:
            scenario: The scene.
            camera: The camera's name.
            posture: How the robot stands; None: it is not there.

        Raises:
            UnknownName: The scenario has no such camera.
        """
        chosen = next((c for c in scenario.cameras.cameras if c.name == camera), None)
        if chosen is None:
            raise UnknownName("camera", camera, [c.name for c in scenario.cameras.cameras])
        kept = self._kept.get(camera)
        now = (scenario.layout, chosen, posture)
        if kept is None or kept.layout is not now[0] or kept.camera is not now[1] or kept.posture != posture:
            kept = self._kept[camera] = self.look(*now)
        return kept

    def look(self, layout: Layout, camera: Camera, posture: Posture | None = None) -> View:
        """Place all bodies before any camera."""
        if self._placed is None or self._placed[0] is not layout:
            self._placed = layout, _Placed.of(self._bodies(layout))
        bodies, count = self._placed[1].before(camera), len(layout.items)
        return View(layout, camera, bodies[:count], self._links(posture, camera), bodies[count:], posture)

    def _bodies(self, layout: Layout) -> list[_Shaped]:
        """Name the bodies of a layout: items in its order, then feed and bins."""
        items = [_Shaped(one.name, one.part, one.pose_to_world, self._shape(one.part)) for one in layout.items]
        fixtures = [one for one in layout.fixtures if one.name in self.fixtures]
        return items + [
            _Shaped(one.name, f"/{one.name}", one.pose_to_world, self.fixtures[one.name]) for one in fixtures
        ]

    def _links(self, posture: Posture | None, camera: Camera) -> list[Body]:
        """Place the robot's links before a camera; none where it is not there."""
        robot = self._robot
        if posture is None or robot is None:
            return []

        def place() -> _Placed:
            links = robot.placed(posture)
            return _Placed.of([_Shaped(one.name, f"//{one.name}", one.pose_to_world, one.shape) for one in links])

        return self._postures.get(posture, place).before(camera)

    def feed_region(self, layout: Layout) -> FeedRegion:
        """Return the space in and over a layout's feed."""
        pose = next((f.pose_to_world for f in layout.fixtures if f.name == "feed"), self._cell.feed.pose_to_world)
        return FeedRegion.of(self._cell.feed, pose)

    def depths(self, view: View, bodies: Sequence[Body]) -> Sequence[NDArray[np.floating]]:
        """Depths [m] of bodies in their windows, infinite where they are not met, shape [h, w]; each kept."""

        def meet(new: list[int]) -> list[NDArray[np.float32]]:
            chosen = [bodies[index] for index in new]
            rays = window_rays(view.camera, [body.window for body in chosen])
            beams = [body.beam(one.reshape(-1, 3)) for body, one in zip(chosen, rays, strict=True)]
            found = zip(beam_distances(beams), rays, strict=True)
            return [depths.reshape(one.shape[:2]) for depths, one in found]

        camera = view.camera.content_id
        return self._depths.each([(camera, body.place) for body in bodies], meet)

    def depth(self, view: View) -> Array:
        """Depth [m] of the nearest body, the table apart, infinite where there is none, shape [h, w]."""
        backdrop = self._backdrops.get(view.backdrop_key, lambda: self._nearest(view, view.fixtures, None))
        return self._nearest(view, (*view.items, *view.links), backdrop)

    def _nearest(self, view: View, bodies: Sequence[Body], backdrop: Array | None) -> Array:
        """Return the depths of what is nearest, of bodies and a backdrop, shape [h, w]."""
        size = (view.camera.height_px, view.camera.width_px)
        nearest = np.full(size, np.inf) if backdrop is None else backdrop.copy()
        for body, depths in zip(bodies, self.depths(view, bodies), strict=True):
            here = nearest[body.window]
            np.minimum(here, depths, out=here)
        return nearest

    def table_depth(self, view: View) -> Array:
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

    def _shape(self, part: str) -> RayShape:
        shape = self._shapes.get(part)
        if shape is None:
            mesh = self._parts[part].mesh
            shape = self._shapes[part] = RayShape(mesh.vertices, mesh.faces, mesh.normals)
        return shape


class _Shaped(NamedTuple):
    """A shape at its place."""

    name: str
    kind: str
    """As `Body.kind`."""
    pose_to_world: Pose
    shape: RayShape


class _Placed(NamedTuple):
    """Bodies at their places, n of them, with their poses in arrays."""

    bodies: Sequence[_Shaped]
    position: Array
    """Their origins, world frame [m], shape [n, 3]."""
    inverse: Array
    """From the world's to the shapes' frames, shape [n, 3, 3]."""
    corners: Array
    """Corners of their bounding boxes in their own frames [m], shape [n, 8, 3]."""

    @classmethod
    def of(cls, bodies: Sequence[_Shaped]) -> _Placed:
        """Bring poses into arrays."""
        poses = [one.pose_to_world for one in bodies]
        return cls(
            bodies,
            position=np.array([pose.position_m for pose in poses]).reshape(-1, 3),
            inverse=quat_to_matrix(quat_conjugate(np.array([pose.quat_xyzw for pose in poses]).reshape(-1, 4))),
            corners=np.array([one.shape.corners for one in bodies]).reshape(-1, 8, 3),
        )

    def before(self, camera: Camera) -> list[Body]:
        """See them from a camera."""
        if not self.bodies:
            return []
        eye, turn = camera.pose_to_world.position, camera.pose_to_world.rotation
        origins = np.einsum("nij,nj->ni", self.inverse, eye - self.position)
        rotations = self.inverse @ turn
        seen = windows(camera, (self.corners - origins[:, None]) @ rotations)
        each = zip(self.bodies, rotations, origins, seen, strict=True)
        return [Body(*body, rotation, origin, window) for body, rotation, origin, window in each]
