"""What each pixel of a simulator's camera shows, and how: one thread a pixel."""

# Warp compiles the functions of this file: types and operators are its own.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# pyright: reportAssignmentType=false, reportReturnType=false

from __future__ import annotations

import warp as wp

from evaluator.isaac.coat_kernel import Coat, coat_layer
from scenegen.imaging.caster import LEAN
from scenegen.imaging.gbuffer import NOTHING

FAR_M = 100.0
"""How far a ray is followed through a part's own mesh [m]: beyond all that a cell holds."""


@wp.struct
class Drawn:
    """What a camera drew of all worlds; see `pixels.Frames` and `pixels.PixelFiller`."""

    rays: wp.array[wp.vec3f]
    index: wp.array[wp.int32]
    ids: wp.array2d[wp.int32]
    depths: wp.array2d[wp.float32]
    normals: wp.array2d[wp.vec3f]
    eyes: wp.array[wp.vec3f]
    quats: wp.array[wp.quatf]


@wp.struct
class Meshes:
    """Meshes of the slots' parts, then of the robot's links; see `pixels.WorldMeshes`."""

    slots: wp.int32
    mesh: wp.array[wp.uint64]
    start: wp.array[wp.int32]
    normals: wp.array[wp.vec3f]
    open: wp.array[wp.float32]
    outward: wp.array[wp.vec3f]


@wp.struct
class Hit:
    """Where a ray meets a mesh."""

    distance: wp.float32
    normal: wp.vec3f
    open: wp.float32


@wp.func
def meet(meshes: Meshes, which: int, pose: wp.transformf, eye: wp.vec3f, ray: wp.vec3f) -> Hit:
    """Follow a ray to a mesh at its place; a distance of 0 says that it is missed."""
    found = Hit()
    inverse = wp.transform_inverse(pose)
    ahead = wp.normalize(wp.transform_vector(inverse, ray))
    hit = wp.mesh_query_ray(meshes.mesh[which], wp.transform_point(inverse, eye), ahead, wp.static(FAR_M))
    if hit.result:
        face = meshes.start[which] + hit.face
        mixed = (
            meshes.normals[3 * face] * hit.u
            + meshes.normals[3 * face + 1] * hit.v
            + meshes.normals[3 * face + 2] * (1.0 - hit.u - hit.v)
        )
        local = wp.normalize(mixed)
        lean = wp.static(LEAN) * wp.clamp(3.0 * (1.0 - meshes.open[face]), 0.0, 1.0)
        found.distance = hit.t
        found.normal = wp.transform_vector(pose, wp.normalize(local + lean * (meshes.outward[face] - local)))
        found.open = meshes.open[face]
    return found


@wp.func
def meet_robot(meshes: Meshes, poses: wp.array2d[wp.transformf], row: int, eye: wp.vec3f, ray: wp.vec3f) -> Hit:
    """Follow a ray to the nearest of a robot's links, whose poses are the last ones."""
    nearest = Hit()
    links = meshes.mesh.shape[0] - meshes.slots
    for link in range(links):
        hit = meet(meshes, meshes.slots + link, poses[row, poses.shape[1] - links + link], eye, ray)
        if hit.distance > 0.0 and (nearest.distance == 0.0 or hit.distance < nearest.distance):
            nearest.distance = hit.distance
            nearest.normal = hit.normal
            nearest.open = hit.open
    return nearest


@wp.func
def meet_shown(
    meshes: Meshes, poses: wp.array2d[wp.transformf], row: int, shown: int, robot: int, eye: wp.vec3f, ray: wp.vec3f
) -> Hit:
    """Follow a ray to what it is known to show, if that has a mesh."""
    if shown >= 0 and shown < meshes.slots:
        return meet(meshes, shown, poses[row, shown], eye, ray)
    if shown == robot:
        return meet_robot(meshes, poses, row, eye, ray)
    return Hit()


@wp.func
def coat_at(coats: wp.array3d[wp.float32], row: int, which: int) -> Coat:
    """Read what lies over a surface; see `coat_set.CoatSet`."""
    coat = Coat()
    coat.kind = coats[row, which, 0]
    coat.cosine = coats[row, which, 1]
    coat.sine = coats[row, which, 2]
    coat.patch_m = coats[row, which, 3]
    coat.level = coats[row, which, 4]
    coat.phase = wp.vec3f(coats[row, which, 5], coats[row, which, 6], coats[row, which, 7])
    return coat


@wp.kernel(enable_backward=False)
def fill_pixels(
    worlds: wp.array[wp.int32],
    drawn: Drawn,
    meshes: Meshes,
    poses: wp.array2d[wp.transformf],
    coats: wp.array3d[wp.float32],
    instance: wp.array2d[wp.int32],
    planes: wp.array3d[wp.float32],
):
    """Fill a G-buffer's pixels, see `pixels.PixelFiller`.

    Planes are three for the normal, three for the position, the depth, and what the instance leaves open.
    """
    row, pixel = wp.tid()
    world = worlds[row]
    eye = drawn.eyes[world]
    ray = wp.quat_rotate(drawn.quats[world], drawn.rays[pixel])
    depth = drawn.depths[world, pixel]
    shown = drawn.index[drawn.ids[world, pixel]]
    if depth <= 0.0:
        shown = wp.static(NOTHING)
    reach = depth
    normal = drawn.normals[world, pixel]
    open_share = 1.0
    if shown < 0:
        depth = wp.inf
        reach = 1.0
        normal = -wp.normalize(ray)
    # Triangles of the simulator's camera are flat: the meshes themselves know their normals and their grooves.
    robot = coats.shape[1] - 1
    hit = meet_shown(meshes, poses, row, shown, robot, eye, ray)
    if hit.distance > 0.0:
        normal = hit.normal
        open_share = hit.open
    if wp.dot(normal, ray) > 0.0:
        normal = -normal
    point = eye + ray * reach
    if shown >= 0 and shown < robot:
        spot = wp.transform_point(wp.transform_inverse(poses[row, shown]), point)
        shown += coats.shape[1] * coat_layer(coat_at(coats, row, shown), spot)
    instance[row, pixel] = shown
    for axis in range(3):
        planes[axis, row, pixel] = normal[axis]
        planes[3 + axis, row, pixel] = point[axis]
    planes[6, row, pixel] = depth
    planes[7, row, pixel] = open_share
