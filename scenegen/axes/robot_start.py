"""Axis `robot_start`: the arm begins elsewhere."""

from __future__ import annotations

import numpy as np

from scenegen.axes.axis import Axis, AxisContext, Severity, draw
from scenegen.errors import VariationFailed
from scenegen.geometry import Array, Pose
from scenegen.robot import Arm
from scenegen.scenario import Cameras, Facet, Scenario
from scenegen.units import Quantity, Unit

NAME = "robot_start"
TRIES = 24
LOWEST_TOOL_M = 0.1
"""How far above the table the tool must begin [m]."""

OFFSET = Severity("joint_offset", Unit.RADIAN, 0.0, 0.0, 0.5, "norm of the joints' offset from the base's start")


def change(scenario: Scenario, level: int, *, ctx: AxisContext, rng: np.random.Generator) -> Scenario:
    """Offset the joints in a random direction; cameras on the flange go with it."""
    robot, arm = ctx.cell.robot, Arm(ctx.cell.robot)
    start = np.array(scenario.motion.robot_start_rad)
    lower, upper = np.array([(joint.lower_rad, joint.upper_rad) for joint in robot.joints]).T
    lowest_m = ctx.cell.table.pose_top_to_world.position_m[2] + LOWEST_TOOL_M
    for _ in range(TRIES):
        direction = rng.normal(size=len(start))
        norm = draw(OFFSET, level, cell=ctx.cell, axis=NAME, rng=rng)
        joints = start + norm * direction / np.linalg.norm(direction)
        flange = arm.pose_flange_to_world(joints)
        tool = flange.after(robot.pose_tcp_to_flange)
        if np.all((joints >= lower) & (joints <= upper)) and tool.position_m[2] >= lowest_m:
            return _started(scenario, joints, arm.pose_flange_to_world(start), flange, ctx)
    raise VariationFailed(NAME, level, "no_start", f"none of {TRIES} offsets stays within limits and above the table")


def _started(scenario: Scenario, joints: Array, before: Pose, after: Pose, ctx: AxisContext) -> Scenario:
    motion = scenario.motion.replaced(robot_start_rad=tuple(joints.tolist()))
    on_flange = {camera.name for camera in ctx.cell.cameras if camera.mount == "flange"}
    carried = after.after(before.inverse())
    cameras = tuple(
        camera.replaced(pose_to_world=carried.after(camera.pose_to_world)) if camera.name in on_flange else camera
        for camera in scenario.cameras.cameras
    )
    return scenario.varied(motion=motion, cameras=Cameras(cameras=cameras))


def measure(base: Scenario, varied: Scenario, *, ctx: AxisContext) -> tuple[Quantity, ...]:
    """Measure the norm of the joints' offset."""
    offset = np.subtract(varied.motion.robot_start_rad, base.motion.robot_start_rad)
    return (Quantity(name=OFFSET.name, value=float(np.linalg.norm(offset)), unit=OFFSET.unit),)


ROBOT_START = Axis(
    name=NAME,
    doc="The arm begins at other joint angles, and its wrist camera with it.",
    touches=frozenset({Facet.MOTION, Facet.CAMERAS}),
    severities=(OFFSET,),
    aliases=("LIBERO-Plus: Robot Initial States",),
    change=change,
    measure=measure,
)
