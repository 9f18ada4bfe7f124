"""From a simulator's camera to a G-buffer: one kernel, a pixel a thread, on the device that drew the images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import warp as wp

from evaluator.isaac.coat_kernel import Coat, coat_layer
from scenegen.geometry import Array
from scenegen.imaging.caster import LEAN
from scenegen.imaging.coat_set import LAYERS, CoatSet
from scenegen.imaging.gbuffer import NOTHING, GBuffer
from scenegen.imaging.ray_shape import RayShape
from scenegen.parts.catalogue import Catalogue

_FAR_M = 100.0
"""How far a ray is followed through a part's own mesh [m]: beyond all that a cell holds."""


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
        faces = [len(mesh.faces) for mesh in meshes]
        self.normals = _vectors(np.concatenate([mesh.normals.reshape(-1, 3) for mesh in meshes]), device)
        """Unit normals at the corners of all triangles, part after part, shape [3 * faces]."""
        self.open = wp.array(np.concatenate([one.open for one in grooves]), dtype=wp.float32, device=device)
        """Share of its surroundings that the part leaves open to each triangle, shape [faces]."""
        self.outward = _vectors(np.concatenate([one.outward for one in grooves]), device)
        """Way out of its groove, shape [faces]."""
        rows = [used.index(name) for name in slots]
        starts = np.concatenate([[0], np.cumsum(faces)[:-1]])
        self.mesh = wp.array([self._kept[row].id for row in rows], dtype=wp.uint64, device=device)
        """The mesh in each slot."""
        self.start = wp.array(starts[rows].astype(np.int32), dtype=wp.int32, device=device)
        """Where its triangles begin, for each slot."""


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
        wp.launch(
            _fill_pixels,
            dim=(count, size),
            inputs=[
                wp.from_torch(worlds.to(torch.int32).contiguous()),
                wp.from_torch(frames.ids.contiguous()),
                wp.from_torch(frames.depth.contiguous()),
                wp.from_torch(frames.normals.contiguous(), dtype=wp.vec3f),
                wp.from_torch(frames.eye.contiguous(), dtype=wp.vec3f),
                wp.from_torch(frames.quat.contiguous(), dtype=wp.quatf),
                wp.from_torch(poses.contiguous(), dtype=wp.transformf),
                wp.from_torch(torch.stack(tuple(coats), dim=2)),
                self._rays,
                self._index,
                self._meshes.mesh,
                self._meshes.start,
                self._meshes.normals,
                self._meshes.open,
                self._meshes.outward,
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


def _mesh(vertices: Array, faces: Array, device: str) -> wp.Mesh:
    corners = wp.array(np.asarray(faces, np.int32).ravel(), dtype=wp.int32, device=device)
    return wp.Mesh(points=_vectors(vertices, device), indices=corners)


def _vectors(rows: Array, device: str) -> wp.array:
    return wp.array(np.ascontiguousarray(rows, np.float32), dtype=wp.vec3f, device=device)


@wp.kernel(enable_backward=False)
def _fill_pixels(
    worlds: wp.array(dtype=wp.int32),
    ids: wp.array2d(dtype=wp.int32),
    depths: wp.array2d(dtype=wp.float32),
    flat: wp.array2d(dtype=wp.vec3f),
    eyes: wp.array(dtype=wp.vec3f),
    quats: wp.array(dtype=wp.quatf),
    poses: wp.array2d(dtype=wp.transformf),
    coats: wp.array3d(dtype=wp.float32),
    rays: wp.array(dtype=wp.vec3f),
    index: wp.array(dtype=wp.int32),
    mesh: wp.array(dtype=wp.uint64),
    start: wp.array(dtype=wp.int32),
    normals: wp.array(dtype=wp.vec3f),
    opens: wp.array(dtype=wp.float32),
    outward: wp.array(dtype=wp.vec3f),
    instance: wp.array2d(dtype=wp.int32),
    planes: wp.array3d(dtype=wp.float32),
):
    row, pixel = wp.tid()
    world = worlds[row]
    eye = eyes[world]
    ray = wp.quat_rotate(quats[world], rays[pixel])
    depth = depths[world, pixel]
    shown = index[ids[world, pixel]]
    if depth <= 0.0:
        shown = wp.static(NOTHING)
    reach = depth
    normal = flat[world, pixel]
    open_share = 1.0
    if shown < 0:
        depth = wp.inf
        reach = 1.0
        normal = -wp.normalize(ray)
    if shown >= 0 and shown < mesh.shape[0]:
        # Triangles of the simulator's camera are flat: the part's own mesh knows its normals and its grooves.
        pose = poses[row, shown]
        inverse = wp.transform_inverse(pose)
        origin = wp.transform_point(inverse, eye)
        ahead = wp.normalize(wp.transform_vector(inverse, ray))
        hit = wp.mesh_query_ray(mesh[shown], origin, ahead, wp.static(_FAR_M))
        if hit.result:
            face = start[shown] + hit.face
            local = wp.normalize(
                normals[3 * face] * hit.u
                + normals[3 * face + 1] * hit.v
                + normals[3 * face + 2] * (1.0 - hit.u - hit.v)
            )
            open_share = opens[face]
            lean = wp.static(LEAN) * wp.clamp(3.0 * (1.0 - open_share), 0.0, 1.0)
            normal = wp.transform_vector(pose, wp.normalize(local + lean * (outward[face] - local)))
    if wp.dot(normal, ray) > 0.0:
        normal = -normal
    point = eye + ray * reach
    if shown >= 0 and shown < poses.shape[1]:
        coat = Coat()
        coat.kind = coats[row, shown, 0]
        coat.cosine = coats[row, shown, 1]
        coat.sine = coats[row, shown, 2]
        coat.patch_m = coats[row, shown, 3]
        coat.level = coats[row, shown, 4]
        coat.phase = wp.vec3f(coats[row, shown, 5], coats[row, shown, 6], coats[row, shown, 7])
        spot = wp.transform_point(wp.transform_inverse(poses[row, shown]), point)
        shown += coats.shape[1] * coat_layer(coat, spot)
    instance[row, pixel] = shown
    for axis in range(3):
        planes[axis, row, pixel] = normal[axis]
        planes[3 + axis, row, pixel] = point[axis]
    planes[6, row, pixel] = depth
    planes[7, row, pixel] = open_share
