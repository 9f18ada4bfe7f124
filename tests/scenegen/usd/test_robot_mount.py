"""Robots' files fit to cells' robots whatever frames they are written in; grippers are made by the cell's numbers."""

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics

from scenegen.cells.loader import load_cell
from scenegen.errors import InvalidOption, UnreadableStage
from scenegen.geometry import Pose, angle_between, quat_about, quat_yaw
from scenegen.usd.gripper import FINGERS, PALM, write_gripper
from scenegen.usd.robot_joints import robot_joints
from scenegen.usd.robot_mount import robot_mount

SHIFT = Pose.of((0.3, -0.2, 0.1), quat_about((0.3, -0.5, 0.8), 2.0))
"""Where a file's frame is in the base's."""
LEAN = Pose.of((0.01, 0.02, -0.03), quat_about((1.0, 0.2, 0.0), 0.7))
"""How a file's links lie in the frames of the Denavit-Hartenberg rows."""


def link_pose(row, convention):
    """Fixed parts of the transform across a joint, before and after it turns."""
    turn = Pose.of((0, 0, row.d_m), quat_yaw(row.theta_rad))
    lean = Pose.of((row.a_m, 0, 0), quat_about((1.0, 0, 0), row.alpha_rad))
    return (lean, turn) if convention == "modified" else (Pose(), turn.after(lean))


def write_robot(file, robot, *, stretch_m=0.0):
    """Write a robot's links and joints, all frames tilted by `LEAN`, in a base frame moved by `SHIFT`."""
    stage = Usd.Stage.CreateNew(str(file))
    root = UsdGeom.Xform.Define(stage, "/arm")
    stage.SetDefaultPrim(root.GetPrim())
    for index in range(len(robot.joints) + 1):
        link = UsdGeom.Xform.Define(stage, f"/arm/link_{index}")
        UsdPhysics.RigidBodyAPI.Apply(link.GetPrim())
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/arm/link_0"))
    for index, row in enumerate(robot.joints):
        before, after = link_pose(row, robot.convention)
        joint = UsdPhysics.RevoluteJoint.Define(stage, f"/arm/joint_{index}")
        joint.CreateBody0Rel().SetTargets([f"/arm/link_{index}"])
        joint.CreateBody1Rel().SetTargets([f"/arm/link_{index + 1}"])
        joint.CreateAxisAttr("Z")
        stretched = Pose.of((stretch_m if index == 2 else 0.0, 0.0, 0.0))
        inner = SHIFT.inverse() if index == 0 else LEAN.inverse()
        set_frame(joint, 0, inner.after(stretched).after(before))
        set_frame(joint, 1, after.after(LEAN).inverse())
    stage.Save()


def set_frame(joint, side, pose):
    position = joint.CreateLocalPos0Attr() if side == 0 else joint.CreateLocalPos1Attr()
    turn = joint.CreateLocalRot0Attr() if side == 0 else joint.CreateLocalRot1Attr()
    x, y, z, w = pose.quat_xyzw
    position.Set(Gf.Vec3f(*pose.position_m))
    turn.Set(Gf.Quatf(w, x, y, z))


@pytest.fixture(params=["fasteners", "rings"])
def robot(request):
    return load_cell(request.param).robot


def test_it_finds_where_the_file_must_stand_and_where_its_flange_is(robot, tmp_path):
    write_robot(tmp_path / "arm.usda", robot)
    mount = robot_mount(tmp_path / "arm.usda", robot)
    for found, wanted in (
        (mount.pose_root_to_world, robot.pose_base_to_world.after(SHIFT)),
        (mount.pose_flange_to_link, LEAN.inverse()),
    ):
        assert found.position == pytest.approx(wanted.position, abs=1e-5)
        assert angle_between(found.quat, wanted.quat) < 1e-5
    assert mount.link == f"/arm/link_{len(robot.joints)}"


def test_a_file_that_moves_otherwise_is_refused(robot, tmp_path):
    write_robot(tmp_path / "arm.usda", robot, stretch_m=0.02)
    with pytest.raises(UnreadableStage, match=r"it turns \d+\.\d mm and 0\.\d{3} rad beside joint \d of the cell's"):
        robot_mount(tmp_path / "arm.usda", robot)


def test_a_file_with_other_joints_is_refused(robot, tmp_path):
    write_robot(tmp_path / "arm.usda", robot.model_copy(update={"joints": robot.joints[:4]}))
    with pytest.raises(UnreadableStage) as caught:
        robot_mount(tmp_path / "arm.usda", robot)
    file, joints = tmp_path / "arm.usda", len(robot.joints)
    assert str(caught.value) == f"{file}: /: it has 4 revolute joints, the cell's robot {joints}"


def test_a_gripper_has_the_cells_numbers(robot, tmp_path):
    write_robot(tmp_path / "arm.usda", robot)
    mount = robot_mount(tmp_path / "arm.usda", robot)
    write_gripper(tmp_path / "arm.usda", robot, mount, tmp_path / "both.usdc")
    joints = robot_joints(tmp_path / "both.usdc")
    assert len(joints.arm) == len(robot.joints)
    assert len(joints.fingers) == 2
    stage = Usd.Stage.Open(str(tmp_path / "both.usdc"))
    roots = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
    assert [str(prim.GetPath()) for prim in roots] == ["/arm/link_0"]
    gripper, palm = robot.gripper, f"{mount.link}/{PALM}"
    sides = [box_of(stage, f"{palm}/{name}/box", palm) for name in FINGERS]
    for low, high in sides:
        assert high - low == pytest.approx(
            [gripper.finger_width_m, gripper.finger_thickness_m, gripper.finger_depth_m], abs=1e-6
        )
        assert high[2] == pytest.approx(gripper.tip_beyond_tcp_m, abs=1e-6)
    assert sides[0][0][1] == pytest.approx(0.0, abs=1e-6)
    assert sides[1][1][1] == pytest.approx(0.0, abs=1e-6)
    low, high = box_of(stage, f"{palm}/box", palm)
    assert high[2] == pytest.approx(gripper.tip_beyond_tcp_m - gripper.finger_depth_m, abs=1e-6)
    assert low[2] == pytest.approx(robot.pose_tcp_to_flange.inverse().position[2], abs=1e-6)
    assert high[1] - low[1] >= gripper.opening_m
    tool = mount.pose_flange_to_link.after(robot.pose_tcp_to_flange)
    assert tuple(UsdGeom.XformCache().GetLocalTransformation(stage.GetPrimAtPath(palm))[0].ExtractTranslation()) == (
        pytest.approx(tool.position, abs=1e-6)
    )


def box_of(stage, path, frame):
    """Lowest and highest corner of a box of edge length one, in the frame of another prim."""
    cache, box, other = UsdGeom.XformCache(), stage.GetPrimAtPath(path), stage.GetPrimAtPath(frame)
    matrix = np.array(cache.ComputeRelativeTransform(box, other)[0])
    corners = np.array([[x, y, z, 1] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) @ matrix
    return corners[:, :3].min(axis=0), corners[:, :3].max(axis=0)


def test_fingers_that_are_longer_than_the_tool_are_refused(robot, tmp_path):
    write_robot(tmp_path / "arm.usda", robot)
    long = robot.replaced(gripper=robot.gripper.replaced(finger_depth_m=0.5))
    mount = robot_mount(tmp_path / "arm.usda", long)
    with pytest.raises(InvalidOption) as caught:
        write_gripper(tmp_path / "arm.usda", long, mount, tmp_path / "both.usdc")
    room = robot.pose_tcp_to_flange.position_m[2] + robot.gripper.tip_beyond_tcp_m
    accepted = f"less than from the flange to the finger tips, {room:.3f} m"
    assert str(caught.value) == f"finger_depth_m 0.5 - accepted: {accepted}"
