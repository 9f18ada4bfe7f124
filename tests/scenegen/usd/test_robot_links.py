"""A robot's links are read where its joints put them, and open fingers stand apart."""

import numpy as np
import pytest

pytest.importorskip("urdf_usd_converter", reason="needs the extra isaac")

from evaluator.isaac.robot_asset import robot_asset
from evaluator.rollout.robot_picture import robot_picture
from scenegen.errors import UnreadableStage
from scenegen.imaging.robot_shape import Posture
from scenegen.robot import Arm
from scenegen.streams import stream
from scenegen.usd.robot_links import robot_body


@pytest.fixture(params=["fasteners", "rings"])
def any_cell(request, cell, rings):
    return {"fasteners": cell, "rings": rings}[request.param]


def test_fingers_close_at_the_tool_centre(any_cell):
    robot = any_cell.robot
    asset = robot_asset(robot)
    body = robot_body(asset.usd)
    moving = [index for index, link in enumerate(body.links) if link.joint in asset.joints.fingers]
    assert len(moving) == 2
    start = np.array(robot.start_joints_rad)
    for turn in stream("links").uniform(-0.3, 0.3, (3, len(start))):
        joints = start + turn
        (tool,), (rotation,) = Arm(robot).tcp(joints[None])
        for opening in (0.0, 1.0):
            travel = dict(zip(asset.joints.arm, joints.tolist(), strict=True))
            travel |= dict.fromkeys(asset.joints.fingers, opening * robot.gripper.opening_m / 2)
            poses = body.placed(asset.pose_root_to_world, travel)
            tips = [poses[index].apply(body.links[index].triangles).reshape(-1, 3) for index in moving]
            local = [(points - tool) @ rotation for points in tips]
            near = [points[np.abs(points[:, 2]) < 0.02] for points in local]
            gap = max(near[0][:, 1].min() - near[1][:, 1].max(), near[1][:, 1].min() - near[0][:, 1].max())
            assert gap == pytest.approx(opening * robot.gripper.opening_m, abs=0.003)


def test_what_is_seen_of_a_link_moves_with_it(any_cell):
    shape = robot_picture(any_cell)
    start = np.array(any_cell.robot.start_joints_rad)
    before = {link.name: link.pose_to_world for link in shape.placed(Posture(tuple(start.tolist())))}
    turned = start.copy()
    turned[-1] += 0.5
    after = {link.name: link.pose_to_world for link in shape.placed(Posture(tuple(turned.tolist())))}
    moved = [name for name in before if np.abs(before[name].rotation - after[name].rotation).max() > 1e-6]
    assert 0 < len(moved) < len(before)
    assert all(name.startswith("robot/") for name in before)


def test_a_file_without_links_is_refused(tmp_path):
    with pytest.raises(UnreadableStage, match="cannot be opened as USD"):
        robot_body(tmp_path / "none.usd")
    empty = tmp_path / "empty.usda"
    empty.write_text('#usda 1.0\n(\n    defaultPrim = "a"\n)\ndef Xform "a"\n{\n}\n', encoding="utf-8")
    with pytest.raises(UnreadableStage, match="its links show nothing"):
        robot_body(empty)
