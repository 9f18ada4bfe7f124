"""A cell's camera as an Isaac Lab sensor that draws depths, normals and what each pixel shows."""

from __future__ import annotations

from isaaclab.sensors import CameraCfg
from isaaclab.sim import PinholeCameraCfg
from isaaclab.sim.spawners.sensors import OpenCvPinholeDistortionCfg
from isaaclab_newton.renderers import NewtonWarpRendererCfg

from evaluator.isaac.shape_numbers import IDS, NumberRenderer
from scenegen.cell import CellCamera

RANGE_M = (1e-3, 10.0)
"""Nearest and farthest that a camera sees [m]: beyond that lies nothing of a cell."""


def camera_cfg(camera: CellCamera, prim: str) -> CameraCfg:
    """Describe a camera: its pinhole and its distortion; where it stands is written later, world by world.

    Args:
        camera: The camera.
        prim: Name of its prim.
    """
    k1, k2, p1, p2, k3 = camera.distortion
    lens = OpenCvPinholeDistortionCfg(
        fx=camera.focal_px[0],
        fy=camera.focal_px[1],
        cx=camera.principal_px[0],
        cy=camera.principal_px[1],
        image_size=(camera.width_px, camera.height_px),
        k1=k1,
        k2=k2,
        k3=k3,
        p1=p1,
        p2=p2,
    )
    return CameraCfg(
        prim_path=f"{{ENV_REGEX_NS}}/{prim}",
        width=camera.width_px,
        height=camera.height_px,
        data_types=["depth", "normals", IDS],
        spawn=PinholeCameraCfg(clipping_range=RANGE_M, distortion=lens),
        # It is asked for depths and numbers alone: no light, no textures.
        renderer_cfg=NewtonWarpRendererCfg(
            class_type=NumberRenderer,
            colorize_instance_segmentation=False,
            create_default_light=False,
            enable_textures=False,
            enable_ambient_lighting=False,
        ),
    )
