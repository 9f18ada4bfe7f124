"""From a simulator's camera to a G-buffer: one kernel, a pixel a thread, on the device that drew the images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
import warp as wp
from numpy.typing import NDArray

from evaluator.isaac.pixel_kernel import Drawn, Meshes, fill_pixels
from scenegen.geometry import Array
from scenegen.imaging.coat_set import LAYERS, CoatSet
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.ray_shape import RayShape
from scenegen.imaging.robot_body import Link
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Mesh


@dataclass(frozen=True, eq=False)
class Frames:
    """What a camera of w worlds drew, and from where; p pixels."""

    ids: torch.Tensor
    """What each pixel shows, by the simulator's own numbers, int32, shape [w, p]."""
    depth: torch.Tensor
    """Depth along the optical axis [m], 0 where there is nothing, shape [w, p]."""
    normals: torch.Tensor
    """Normals of the flat triangles, world frame, shape [w, p, 3]."""
    eye: torch.Tensor
    """Camera centres, world frame [m], shape [w, 3]."""
    quat: torch.Tensor
    """Rotations from the camera's frame (-Z ahead, +Y up) to the world's, xyzw, shape [w, 4]."""


class WorldMeshes:
    """Meshes on a device: the slots' parts, with smooth normals and depths of grooves, and the robot's links.

    Args:
        parts: The parts.
        slots: The part in each slot.
        links: The robot's links that can be seen.
        device: The simulator's device.
    """

    def __init__(self, parts: Catalogue, slots: Sequence[str], links: Sequence[Link], *, device: str) -> None:
        used = list(dict.fromkeys(slots))
        shapes = [_part_shape(parts[name].mesh) for name in used] + [_link_shape(link) for link in links]
        rows = [*(used.index(name) for name in slots), *range(len(used), len(shapes))]
        starts = np.cumsum([0, *(len(shape.faces) for shape in shapes)])
        self._kept = [
            wp.Mesh(points=_vectors(shape.vertices, device), indices=_whole(shape.faces, device)) for shape in shapes
        ]
        made = Meshes()
        made.slots = len(slots)
        made.mesh = wp.array([self._kept[row].id for row in rows], dtype=wp.uint64, device=device)
        made.start = _whole(starts[rows], device)
        made.normals = _vectors(np.concatenate([shape.normals.reshape(-1, 3) for shape in shapes]), device)
        made.open = wp.array(np.concatenate([shape.open for shape in shapes]), dtype=wp.float32, device=device)
        made.outward = _vectors(np.concatenate([shape.outward for shape in shapes]), device)
        self.record = made
        """For each slot and link its mesh and where that mesh's triangles begin; for all triangles, mesh after mesh,
        normals at their corners, the share of its surroundings that the part leaves open, the way out of its groove."""


class PixelFiller:
    """Fills G-buffers from what one camera drew.

    Args:
        names: What instances are: the slots' first, the robot last.
        rays: The ray of each pixel in the camera's frame, with z = -1, shape [h, w, 3].
        index: Place among the names of each of the simulator's numbers, `NOTHING` for none, shape [numbers].
        meshes: Meshes of slots and links.
        device: The simulator's device.
    """

    def __init__(self, names: tuple[str, ...], rays: Array, index: Array, meshes: WorldMeshes, *, device: str) -> None:
        self._names, self._meshes, self._device = names, meshes, device
        self._height, self._width = rays.shape[:2]
        self._rays = _vectors(rays.reshape(-1, 3), device)
        self._index = _whole(index, device)

    def fill(self, frames: Frames, poses: torch.Tensor, coats: CoatSet, worlds: torch.Tensor) -> GBuffer:
        """Return what the camera sees of some worlds.

        Args:
            frames: What it drew of all worlds.
            poses: Where the instances are but the last, then the robot's links, position [m] and quaternion xyzw,
                shape [b, m - 1 + links, 7].
            coats: What lies over them, shape [b, m].
            worlds: Numbers of the worlds, shape [b].

        Returns:
            A G-buffer whose names come `LAYERS` times, for the looks of `layered_surfaces`.
        """
        count, size = len(worlds), self._height * self._width
        instance = torch.empty((count, size), dtype=torch.int32, device=self._device)
        planes = torch.empty((8, count, size), dtype=torch.float32, device=self._device)
        drawn = Drawn()
        drawn.rays, drawn.index = self._rays, self._index
        drawn.ids = wp.from_torch(frames.ids.contiguous())
        drawn.depths = wp.from_torch(frames.depth.contiguous())
        drawn.normals = wp.from_torch(frames.normals.contiguous(), dtype=wp.vec3f)
        drawn.eyes = wp.from_torch(frames.eye.contiguous(), dtype=wp.vec3f)
        drawn.quats = wp.from_torch(frames.quat.contiguous(), dtype=wp.quatf)
        wp.launch(
            fill_pixels,
            dim=(count, size),
            inputs=[
                wp.from_torch(worlds.to(torch.int32).contiguous()),
                drawn,
                self._meshes.record,
                wp.from_torch(poses.contiguous(), dtype=wp.transformf),
                wp.from_torch(torch.stack(tuple(coats), dim=2)),
                wp.from_torch(instance),
                wp.from_torch(planes),
            ],
            device=self._device,
        )
        eye = frames.eye[worlds]
        return GBuffer(
            names=self._names * LAYERS,
            height_px=self._height,
            width_px=self._width,
            instance=instance,
            normal=(planes[0], planes[1], planes[2]),
            position=(planes[3], planes[4], planes[5]),
            depth=planes[6],
            eye=(eye[:, 0:1], eye[:, 1:2], eye[:, 2:3]),
            alone=None,
            self_open=planes[7],
        )


class _Shape(NamedTuple):
    """A mesh, in its own frame."""

    vertices: NDArray[Any]
    faces: NDArray[np.int32]
    normals: NDArray[Any]
    open: NDArray[np.float32]
    outward: NDArray[np.float32]


def _part_shape(mesh: Mesh) -> _Shape:
    grooves = RayShape(mesh.vertices, mesh.faces, mesh.normals).grooves
    return _Shape(mesh.vertices, mesh.faces, mesh.normals, grooves.open, grooves.outward)


def _link_shape(link: Link) -> _Shape:
    count = len(link.triangles)
    faces = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    nowhere = np.zeros((count, 3), np.float32)
    return _Shape(link.triangles.reshape(-1, 3), faces, link.normals, np.ones(count, np.float32), nowhere)


def _whole(values: NDArray[Any], device: str) -> wp.array:
    return wp.array(np.asarray(values, np.int32).ravel(), dtype=wp.int32, device=device)


def _vectors(rows: NDArray[Any], device: str) -> wp.array:
    return wp.array(np.ascontiguousarray(rows, np.float32), dtype=wp.vec3f, device=device)
