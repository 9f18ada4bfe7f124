"""Robots in shadow maps: what a light sees of them, one thread a pixel of a map."""

# Warp compiles the functions of this file: types and operators are its own.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# pyright: reportAssignmentType=false, reportReturnType=false

from __future__ import annotations

import warp as wp

from evaluator.isaac.pixel_kernel import Meshes, meet_robot


@wp.struct
class Light:
    """The maps of one light in all rows; see `shadow_map.ShadowMap`."""

    size: wp.int32
    eye: wp.array2d[wp.float32]
    right: wp.array2d[wp.float32]
    down: wp.array2d[wp.float32]
    ahead: wp.array2d[wp.float32]
    focal: wp.array[wp.float32]
    middle: wp.array2d[wp.float32]


@wp.func
def vector(planes: wp.array2d[wp.float32], row: int) -> wp.vec3f:
    """Read a row's vector."""
    return wp.vec3f(planes[0, row], planes[1, row], planes[2, row])


@wp.kernel(enable_backward=False)
def draw_robot(light: Light, meshes: Meshes, poses: wp.array2d[wp.transformf], inverse_depth: wp.array2d[wp.float32]):
    """Draw robots into shadow maps: one over the depth [1/m] where they are nearer to the light than what is there."""
    row, pixel = wp.tid()
    column = float(pixel % light.size) + 0.5
    line = float(pixel / light.size) + 0.5
    x = (column - light.middle[0, row]) / light.focal[row]
    y = (line - light.middle[1, row]) / light.focal[row]
    ray = vector(light.ahead, row) + x * vector(light.right, row) + y * vector(light.down, row)
    hit = meet_robot(meshes, poses, row, vector(light.eye, row), ray)
    if hit.distance > 0.0:
        # A ray goes one along the axis of depth for its whole length.
        here = wp.length(ray) / hit.distance
        inverse_depth[row, pixel] = wp.max(inverse_depth[row, pixel], here)
