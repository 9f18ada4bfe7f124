"""A parallel gripper for a robot whose file has none: a palm and two fingers, by the numbers of the cell's gripper."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

from scenegen.cell import Robot
from scenegen.errors import InvalidOption
from scenegen.geometry import Pose
from scenegen.usd.prim import Attribute, LayerTree, Prim, Relationship, over
from scenegen.usd.robot_mount import RobotMount
from scenegen.usd.sdf import author
from scenegen.usd.shared_prims import box_attributes, pose_attributes

PALM_DENSITY, FINGER_DENSITY = 1100.0, 2700.0
"""Mean densities [kg/m³]: a housing with motor and gears (0.9 kg of a Robotiq 2F-85), aluminium."""
PALM_WIDTH_M = 0.06
"""Least size of the palm across the closing direction [m]."""
PALM, FINGERS, JOINTS = "gripper_palm", ("left_finger", "right_finger"), ("left_finger_joint", "right_finger_joint")
"""Names of the links and of the joints that move the fingers."""
_FIXED = "gripper_joint"
_HALF_TURN_X = (1.0, 0.0, 0.0, 0.0)
"""Turns the closing axis around, xyzw."""

Size = tuple[float, float, float]
"""Edge lengths of a box, or a point [m]."""


def write_gripper(file: Path, robot: Robot, mount: RobotMount, target: Path) -> None:
    """Write a layer over a robot's file that adds a gripper to its flange.

    The palm reaches from the flange to the roots of the fingers. Both fingers slide along the tool's Y; the second one
    mirrors the first. The frame of palm and fingers is the tool's, at the tool centre.

    Args:
        file: The robot's file; it must stay where it is.
        robot: The cell's robot.
        mount: How file and robot fit together.
        target: Where the layer goes, a `.usdc` file.

    Raises:
        InvalidOption: The fingers are longer than the tool.
    """
    gripper, tool = robot.gripper, robot.pose_tcp_to_flange
    flange_z = float(tool.inverse().position[2])
    root_z = gripper.tip_beyond_tcp_m - gripper.finger_depth_m
    if root_z <= flange_z:
        accepted = f"less than from the flange to the finger tips, {gripper.tip_beyond_tcp_m - flange_z:.3f} m"
        raise InvalidOption("finger_depth_m", gripper.finger_depth_m, accepted)
    width = max(PALM_WIDTH_M, gripper.finger_width_m)
    palm: Size = (width, gripper.opening_m + 2 * gripper.finger_thickness_m, root_z - flange_z)
    finger: Size = (gripper.finger_width_m, gripper.finger_thickness_m, gripper.finger_depth_m)
    middle = gripper.tip_beyond_tcp_m - gripper.finger_depth_m / 2
    fingers = tuple(
        _body(name, Pose(), (0.0, side * gripper.finger_thickness_m / 2, middle), finger, FINGER_DENSITY)
        for name, side in zip(FINGERS, (1.0, -1.0), strict=True)
    )
    pose_tool = mount.pose_flange_to_link.after(tool)
    body = _body(PALM, pose_tool, (0.0, 0.0, (flange_z + root_z) / 2), palm, PALM_DENSITY, children=fingers)
    path = f"{mount.link}/{PALM}"
    joints = (
        _joint(_FIXED, "PhysicsFixedJoint", (mount.link, path), pose_tool, Pose()),
        _slide(0, path, gripper.opening_m / 2),
        _slide(1, path, gripper.opening_m / 2),
    )
    root, *inner = mount.link.strip("/").split("/")
    chain = reduce(lambda child, name: over(name, children=(child,)), reversed(inner), body)
    scope = Prim("GripperJoints", "Scope", children=joints)
    tree = LayerTree(root, (over(root, children=(chain, scope)),), sub_layers=(str(file),))
    author(tree, extension="usdc").Export(str(target))


def _body(
    name: str,
    pose: Pose,
    center: tuple[float, float, float],
    size: Size,
    density: float,
    children: tuple[Prim, ...] = (),
) -> Prim:
    """A rigid box."""
    x, y, z = size
    mass = density * x * y * z
    inertia = (mass * (y * y + z * z) / 12, mass * (x * x + z * z) / 12, mass * (x * x + y * y) / 12)
    masses = (
        Attribute("physics:mass", "float", mass),
        Attribute("physics:centerOfMass", "point3f", center),
        Attribute("physics:diagonalInertia", "float3", inertia),
        Attribute("physics:principalAxes", "quatf", (1.0, 0.0, 0.0, 0.0)),
    )
    box = Prim("box", "Cube", schemas=("PhysicsCollisionAPI",), attributes=box_attributes(Pose.of(center), size))
    return Prim(
        name,
        "Xform",
        schemas=("PhysicsRigidBodyAPI", "PhysicsMassAPI"),
        attributes=(*pose_attributes(pose), *masses),
        children=(box, *children),
    )


def _slide(index: int, palm: str, travel_m: float) -> Prim:
    """The joint of a finger, zero where it is closed."""
    turn = Pose() if index == 0 else Pose(quat_xyzw=_HALF_TURN_X)
    name = JOINTS[index]
    joint = _joint(name, "PhysicsPrismaticJoint", (palm, f"{palm}/{FINGERS[index]}"), turn, turn)
    limits = (
        Attribute("physics:axis", "token", "Y", uniform=True),
        Attribute("physics:lowerLimit", "float", 0.0),
        Attribute("physics:upperLimit", "float", travel_m),
    )
    if index == 0:
        return joint._replace(attributes=joint.attributes + limits)
    leader = f"/{palm.strip('/').split('/')[0]}/GripperJoints/{JOINTS[0]}"
    return joint._replace(
        schemas=("NewtonMimicAPI",),
        attributes=joint.attributes + limits,
        relationships=(*joint.relationships, Relationship("newton:mimicJoint", (leader,))),
    )


def _joint(name: str, kind: str, bodies: tuple[str, str], before: Pose, after: Pose) -> Prim:
    attributes = []
    for side, pose in enumerate((before, after)):
        x, y, z, w = pose.quat_xyzw
        attributes.append(Attribute(f"physics:localPos{side}", "point3f", pose.position_m))
        attributes.append(Attribute(f"physics:localRot{side}", "quatf", (w, x, y, z)))
    relationships = tuple(Relationship(f"physics:body{side}", (body,)) for side, body in enumerate(bodies))
    return Prim(name, kind, attributes=tuple(attributes), relationships=relationships)
