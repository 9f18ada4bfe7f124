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
class Slots:
    """The parts' meshes; see `pixels.PartMeshes`."""

    mesh: wp.array[wp.uint64]
    start: wp.array[wp.int32]
    normals: wp.array[wp.vec3f]
    open: wp.array[wp.float32]
    outward: wp.array[wp.vec3f]


@wp.kernel(enable_backward=False)
def fill_pixels(
    worlds: wp.array[wp.int32],
    drawn: Drawn,
    slots: Slots,
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
    if shown >= 0 and shown < slots.mesh.shape[0]:
        # Triangles of the simulator's camera are flat: the part's own mesh knows its normals and its grooves.
        pose = poses[row, shown]
        inverse = wp.transform_inverse(pose)
        origin = wp.transform_point(inverse, eye)
        ahead = wp.normalize(wp.transform_vector(inverse, ray))
        hit = wp.mesh_query_ray(slots.mesh[shown], origin, ahead, wp.static(FAR_M))
        if hit.result:
            face = slots.start[shown] + hit.face
            local = wp.normalize(
                slots.normals[3 * face] * hit.u
                + slots.normals[3 * face + 1] * hit.v
                + slots.normals[3 * face + 2] * (1.0 - hit.u - hit.v)
            )
            open_share = slots.open[face]
            lean = wp.static(LEAN) * wp.clamp(3.0 * (1.0 - open_share), 0.0, 1.0)
            normal = wp.transform_vector(pose, wp.normalize(local + lean * (slots.outward[face] - local)))
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
