"""A cell as USD prims: physics scene, table, robot, fixtures, nominal looks, lights, cameras, motion and rules."""

from __future__ import annotations

from pathlib import PurePosixPath

from scenegen.cell import Cell, Container
from scenegen.errors import InvalidRecord
from scenegen.geometry import Pose
from scenegen.nominal import nominal_cameras, nominal_motion, nominal_sensor
from scenegen.scenario import Look, Motion, Task
from scenegen.usd.camera_prims import camera_prim
from scenegen.usd.light_prims import light_prim
from scenegen.usd.prim import Attribute, Prim, Relationship
from scenegen.usd.shared_prims import (
    LABELS_SCHEMA,
    box_attributes,
    label_attribute,
    material,
    pose_attributes,
    seen_as,
    touched_as,
)

WORLD = "/World"
LOOKS = f"{WORLD}/Looks"
_COLLIDER_SCHEMAS = ("PhysicsCollisionAPI", "MaterialBindingAPI", LABELS_SCHEMA)


def fixture_looks(cell: Cell) -> dict[str, Look]:
    """Nominal look of table, feed and each bin."""
    return {"table": cell.table_look, "feed": cell.feed_look, **{b.name: b.look for b in cell.bins}}


def cell_world(cell: Cell) -> tuple[Prim, ...]:
    """Everything below `/World` that all scenes of the cell share."""
    looks = fixture_looks(cell)
    friction = cell.physics.fixture_friction
    return (
        _physics_scene(cell),
        Prim("Cell", "Xform", kind="group", children=(_table(cell), _robot(cell))),
        Prim("Fixtures", "Xform", kind="group", children=_fixtures(cell)),
        Prim("Lights", "Xform", kind="group", children=tuple(light_prim(light) for light in cell.lights)),
        Prim("Cameras", "Xform", kind="group", children=nominal_camera_prims(cell)),
        Prim("Looks", "Scope", children=tuple(material(n, look, friction, scope=LOOKS) for n, look in looks.items())),
        Prim("Motion", "Scope", attributes=motion_attributes(nominal_motion(cell))),
        Prim("Task", "Scope", attributes=rule_attributes(cell.rules)),
    )


def nominal_camera_prims(cell: Cell) -> tuple[Prim, ...]:
    """The cell's cameras as they stand while the robot is at its nominal start pose."""
    cameras = nominal_cameras(cell, nominal_motion(cell)).cameras
    return tuple(camera_prim(c, s) for c, s in zip(cameras, nominal_sensor(cell).sensors, strict=True))


def motion_attributes(motion: Motion) -> tuple[Attribute, ...]:
    """What moves by itself at the start."""
    return (
        Attribute("scenegen:robotStartRad", "float[]", motion.robot_start_rad),
        Attribute("scenegen:vibrationAmplitudeM", "float", motion.vibration_amplitude_m),
        Attribute("scenegen:vibrationFrequencyHz", "float", motion.vibration_frequency_hz),
        Attribute("scenegen:vibrationDirection", "float3", motion.vibration_direction),
        Attribute("scenegen:beltSpeedMS", "float", motion.belt_speed_m_s),
    )


def rule_attributes(rules: tuple) -> tuple[Attribute, ...]:
    """Sort rules: the i-th match goes into the i-th bin."""
    return (
        Attribute("scenegen:ruleMatches", "token[]", tuple(rule.match for rule in rules)),
        Attribute("scenegen:ruleBins", "token[]", tuple(rule.bin for rule in rules)),
    )


def task_attributes(task: Task) -> tuple[Attribute, ...]:
    """What the robot is asked to do."""
    return (
        *rule_attributes(task.rules),
        Attribute("scenegen:instruction", "string", task.instruction),
        Attribute("scenegen:language", "token", task.language),
    )


def _physics_scene(cell: Cell) -> Prim:
    physics = cell.physics
    return Prim(
        "PhysicsScene",
        "PhysicsScene",
        schemas=("NewtonSceneAPI",),
        attributes=(
            Attribute("physics:gravityDirection", "vector3f", (0.0, 0.0, -1.0)),
            Attribute("physics:gravityMagnitude", "float", physics.gravity_m_s2),
            Attribute("newton:timeStepsPerSecond", "int", round(1 / physics.timestep_s)),
            Attribute("newton:maxSolverIterations", "int", physics.iterations),
        ),
    )


def _table(cell: Cell) -> Prim:
    table = cell.table
    center = table.pose_top_to_world.apply((0.0, 0.0, -table.size_m[2] / 2))
    return Prim(
        "table",
        "Cube",
        schemas=_COLLIDER_SCHEMAS,
        attributes=(
            label_attribute("table"),
            *box_attributes(Pose.of(center, table.pose_top_to_world.quat), table.size_m),
        ),
        relationships=_bindings("table"),
    )


def _robot(cell: Cell) -> Prim:
    """Reference the robot's own USD file, or stand a plain marker at its base."""
    robot = cell.robot
    pose = pose_attributes(robot.pose_base_to_world)
    label = label_attribute("robot")
    if robot.usd is not None:
        path = PurePosixPath(robot.usd)
        if path.is_absolute() or ".." in path.parts or any(mark in robot.usd for mark in "@:\\"):
            raise InvalidRecord(
                "cell", [f"robot.usd: {robot.usd!r} - accepted: a relative path without '..', ':', '@' or '\\\\'"]
            )
        return Prim("robot", "Xform", schemas=(LABELS_SCHEMA,), references=(f"./{path}",), attributes=(label, *pose))
    radius, height = 0.06, 0.02
    marker = Prim(
        "marker",
        "Cylinder",
        schemas=(LABELS_SCHEMA,),
        attributes=(
            label,
            *pose_attributes(Pose(position_m=(0.0, 0.0, height / 2))),
            Attribute("axis", "token", "Z", uniform=True),
            Attribute("radius", "double", radius),
            Attribute("height", "double", height),
            Attribute("extent", "float3[]", ((-radius, -radius, -height / 2), (radius, radius, height / 2))),
        ),
    )
    return Prim("robot", "Xform", schemas=(LABELS_SCHEMA,), attributes=(label, *pose), children=(marker,))


def _fixtures(cell: Cell) -> tuple[Prim, ...]:
    feed = cell.feed
    return (
        _fixture("feed", feed, feed.pose_to_world, f"feed_{feed.kind}"),
        *(_fixture(one.name, one, one.pose_to_world, "bin") for one in cell.bins),
    )


def _fixture(name: str, container: Container, pose: Pose, label: str) -> Prim:
    boxes = tuple(
        Prim(
            part,
            "Cube",
            schemas=_COLLIDER_SCHEMAS,
            attributes=(
                label_attribute(label),
                *box_attributes(Pose.of(center), (2 * half[0], 2 * half[1], 2 * half[2])),
            ),
            relationships=_bindings(name),
        )
        for part, (half, center) in container.boxes().items()
    )
    return Prim(
        name,
        "Xform",
        schemas=("PhysicsRigidBodyAPI", LABELS_SCHEMA),
        attributes=(
            label_attribute(label),
            Attribute("physics:kinematicEnabled", "bool", True),
            *pose_attributes(pose),
        ),
        children=boxes,
    )


def _bindings(subject: str) -> tuple[Relationship, ...]:
    path = f"{LOOKS}/{subject}"
    return seen_as(path), touched_as(path)
