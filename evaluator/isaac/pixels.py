"""From a simulator's camera to a G-buffer: one kernel, a pixel a thread, on the device that drew the images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import warp as wp
from numpy.typing import NDArray

from evaluator.isaac.pixel_kernel import Drawn, Slots, fill_pixels
from scenegen.geometry import Array
from scenegen.imaging.coat_set import LAYERS, CoatSet
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.ray_shape import RayShape
from scenegen.parts.catalogue import Catalogue


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


class PartMeshes:
    """The parts' meshes on a device, with what flat triangles do not tell: smooth normals, and depths of grooves.

    Args:
        parts: The parts.
        slots: The part in each slot.
        device: The simulator's device.
    """

    def __init__(self, parts: Catalogue, slots: Sequence[str], *, device: str) -> None:
        used = list(dict.fromkeys(slots))
        meshes = [parts[name].mesh for name in used]
        grooves = [RayShape(mesh.vertices, mesh.faces, mesh.normals).grooves for mesh in meshes]
        self._kept = [_mesh(mesh.vertices, mesh.faces, device) for mesh in meshes]
        rows = [used.index(name) for name in slots]
        starts = np.concatenate([[0], np.cumsum([len(mesh.faces) for mesh in meshes])[:-1]])
        made = Slots()
        made.mesh = wp.array([self._kept[row].id for row in rows], dtype=wp.uint64, device=device)
        made.start = wp.array(starts[rows].astype(np.int32), dtype=wp.int32, device=device)
        made.normals = _vectors(np.concatenate([mesh.normals.reshape(-1, 3) for mesh in meshes]), device)
        made.open = wp.array(np.concatenate([one.open for one in grooves]), dtype=wp.float32, device=device)
        made.outward = _vectors(np.concatenate([one.outward for one in grooves]), device)
        self.slots = made
        """For each slot its mesh and where that mesh's triangles begin; for all triangles, mesh after mesh, normals at
        their corners, the share of its surroundings that the part leaves open, and the way out of its groove."""


class PixelFiller:
    """Fills G-buffers from what one camera drew.

    Args:
        names: What instances are: the slots' first, the robot last.
        rays: The ray of each pixel in the camera's frame, with z = -1, shape [h, w, 3].
        index: Place among the names of each of the simulator's numbers, `NOTHING` for none, shape [numbers].
        meshes: The slots' meshes.
        device: The simulator's device.
    """

    def __init__(self, names: tuple[str, ...], rays: Array, index: Array, meshes: PartMeshes, *, device: str) -> None:
        self._names, self._meshes, self._device = names, meshes, device
        self._height, self._width = rays.shape[:2]
        self._rays = _vectors(rays.reshape(-1, 3), device)
        self._index = wp.array(index.astype(np.int32), dtype=wp.int32, device=device)

    def fill(self, frames: Frames, poses: torch.Tensor, coats: CoatSet, worlds: torch.Tensor) -> GBuffer:
        """Return what the camera sees of some worlds.

        Args:
            frames: What it drew of all worlds.
            poses: Where the instances are but the last, position [m] and quaternion xyzw, shape [b, m - 1, 7].
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
                self._meshes.slots,
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


def _mesh(vertices: Array, faces: NDArray[np.int32], device: str) -> wp.Mesh:
    corners = wp.array(np.asarray(faces, np.int32).ravel(), dtype=wp.int32, device=device)
    return wp.Mesh(points=_vectors(vertices, device), indices=corners)


def _vectors(rows: NDArray[Any], device: str) -> wp.array:
    return wp.array(np.ascontiguousarray(rows, np.float32), dtype=wp.vec3f, device=device)
