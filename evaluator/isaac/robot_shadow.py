"""Robots cast shadows: their links, as they stand, drawn into the shadow maps of many worlds."""

from __future__ import annotations

from dataclasses import replace

import torch
import warp as wp

from evaluator.isaac.pixels import WorldMeshes
from evaluator.isaac.shadow_kernel import Light, draw_robot
from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.shadow_map import ShadowMap


def with_robot(shadow: ShadowMap, meshes: WorldMeshes, poses: torch.Tensor) -> ShadowMap:
    """Return maps in which robots are, too.

    Args:
        shadow: What a light sees without them, b maps.
        meshes: Meshes of slots and links.
        poses: Poses of which the links' are the last, position [m] and quaternion xyzw, shape [b, n, 7].
    """
    light = Light()
    light.size = shadow.size_px
    light.eye, light.right, light.down = _planes(shadow.eye), _planes(shadow.right), _planes(shadow.down)
    light.ahead, light.middle = _planes(shadow.ahead), _planes(shadow.middle_px)
    light.focal = wp.from_torch(shadow.focal_px[:, 0].contiguous())
    drawn = shadow.inverse_depth.clone()
    wp.launch(
        draw_robot,
        dim=tuple(drawn.shape),
        inputs=[light, meshes.record, wp.from_torch(poses.contiguous(), dtype=wp.transformf), wp.from_torch(drawn)],
        device=str(drawn.device),
    )
    return replace(shadow, inverse_depth=drawn)


def _planes(vector: Vector) -> wp.array:
    return wp.from_torch(torch.stack([values[:, 0] for values in vector]).contiguous())
