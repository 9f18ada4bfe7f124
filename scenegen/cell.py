"""The specification of one workcell: what a person writes once, and every scene of the cell shares."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from functools import cached_property, partial
from operator import eq
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from scenegen.geometry import Pose, Vec2, Vec3
from scenegen.record import Name, NonNegative, Positive, Real, Record, Share, Text
from scenegen.scenario import Light, Look, SortRule

MAX_SLOTS = 32
"""Most items that one cell can hold at once: the size of the one compiled simulator model."""


class JointSpec(Record):
    """One revolute joint of a serial arm, by its Denavit-Hartenberg row."""

    a_m: Real
    d_m: Real
    alpha_rad: Real
    theta_rad: Real = 0.0
    """Offset that is added to the joint's angle [rad]."""
    lower_rad: Real
    upper_rad: Real
    torque_n_m: Positive
    """Largest torque that the joint may give [N m]."""


class Gripper(Record):
    """A parallel-jaw gripper; its fingers close along the tool's Y and reach along the tool's +Z."""

    opening_m: Positive
    """Clear distance between the open pads [m]."""
    finger_width_m: Positive
    """Pad size across the closing direction, along the tool's X [m]."""
    finger_thickness_m: Positive
    """Finger size along the closing direction [m]; what needs room beside a part."""
    finger_depth_m: Positive
    """Length of a finger below the palm [m]: the tallest part that fits between the fingers."""
    min_grasp_height_m: Positive
    """Least height of a part above its support that the pads can hold [m]."""
    force_n: Positive
    """Grasp force [N]."""
    tip_beyond_tcp_m: NonNegative = Field(default=0.0, exclude_if=partial(eq, 0.0))
    """How far the fingers reach beyond the tool centre [m]; zero where the tool centre is at their tips."""


class Robot(Record):
    """A serial arm with a gripper."""

    model: Text
    convention: Literal["modified", "standard"]
    """Which Denavit-Hartenberg convention `joints` follows: Craig's (modified) or the original (standard)."""
    joints: Annotated[tuple[JointSpec, ...], Field(min_length=6, max_length=8)]
    pose_base_to_world: Pose = Pose()
    pose_tcp_to_flange: Pose
    """The tool centre point between the finger tips, in the frame after the last joint."""
    start_joints_rad: tuple[Real, ...]
    gripper: Gripper
    usd: Text | None = None
    """A USD file of the robot, whole in itself, relative to the cell file; without one a marker stands at the base."""

    @model_validator(mode="after")
    def _start_within_limits(self) -> Self:
        if len(self.start_joints_rad) != len(self.joints):
            raise ValueError(
                f"start_joints_rad has {len(self.start_joints_rad)} values - accepted: one a joint ({len(self.joints)})"
            )
        for index, (angle, joint) in enumerate(zip(self.start_joints_rad, self.joints, strict=True)):
            if not joint.lower_rad <= angle <= joint.upper_rad:
                raise ValueError(
                    f"start_joints_rad.{index} is {angle} rad - accepted: {joint.lower_rad} to {joint.upper_rad} rad"
                )
        return self


class Table(Record):
    """The table top: a box whose upper face carries everything."""

    pose_top_to_world: Pose
    """Centre of the upper face."""
    size_m: Vec3
    """Length along X, along Y, thickness [m]."""


class Container(Record):
    """An open box with a floor and four walls; its frame sits at the centre of the floor's upper face."""

    size_m: Vec2
    """Inner length along X and along Y [m]."""
    wall_height_m: NonNegative
    """Height of the walls above the floor [m]."""
    wall_thickness_m: Positive
    floor_thickness_m: Positive = 0.002

    def boxes(self) -> dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]]:
        """Floor and walls as boxes by name: half sizes and centres in the container's frame [m].

        The walls along X reach over the corners; all walls stand beside the floor's edge and reach to its underside.
        """
        half_x, half_y = self.size_m[0] / 2, self.size_m[1] / 2
        wall, floor = self.wall_thickness_m / 2, self.floor_thickness_m / 2
        boxes = {"floor": ((half_x, half_y, floor), (0.0, 0.0, -floor))}
        if self.wall_height_m == 0:
            return boxes
        tall, middle = self.wall_height_m / 2 + floor, self.wall_height_m / 2 - floor
        for side, sign in (("low", -1.0), ("high", 1.0)):
            boxes[f"wall_x_{side}"] = ((wall, half_y, tall), (sign * (half_x + wall), 0.0, middle))
            boxes[f"wall_y_{side}"] = ((half_x + 2 * wall, wall, tall), (0.0, sign * (half_y + wall), middle))
        return boxes


class Tray(Container):
    """A feed tray that stands still."""

    kind: Literal["tray"] = "tray"
    pose_to_world: Pose


class Belt(Container):
    """A feed belt; its surface runs along the frame's +X."""

    kind: Literal["belt"] = "belt"
    pose_to_world: Pose
    speed_m_s: NonNegative = 0.0


class Bin(Container):
    """A bin that receives sorted parts."""

    name: Name
    label: Text
    """What is printed on it: what an instruction may call it."""
    pose_to_world: Pose
    look: Look
    capacity: Annotated[int, Field(ge=1)]
    """Most parts that it may hold."""


class CellCamera(Record):
    """A camera of the cell: its mounting, its pinhole model and its distortion."""

    name: Name
    mount: Literal["world", "flange"] = "world"
    pose_to_mount: Pose
    """Camera pose in the world, or in the robot's flange frame (the hand-eye transform)."""
    width_px: Annotated[int, Field(ge=16, le=8192)]
    height_px: Annotated[int, Field(ge=16, le=8192)]
    focal_px: Vec2
    """Focal lengths fx, fy [px]."""
    principal_px: Vec2
    """Principal point cx, cy [px], from the upper left corner of the image."""
    distortion: tuple[Real, Real, Real, Real, Real] = (0.0, 0.0, 0.0, 0.0, 0.0)
    """Brown-Conrady coefficients k1, k2, p1, p2, k3 (OpenCV's order)."""


class Datum(Record):
    """A reference whose true place may differ from the nominal one."""

    name: Name
    fixture: Name
    """`feed` or the name of a bin."""


class Role(StrEnum):
    """What an item is to the task."""

    TARGET = "target"
    FOREIGN = "foreign"
    OCCLUDER = "occluder"


class InventoryItem(Record):
    """How many of one part can be present at once."""

    part: Name
    role: Role = Role.TARGET
    count: Annotated[int, Field(ge=1, le=MAX_SLOTS)]

    def slots(self) -> tuple[str, ...]:
        """Names of its simulator slots, which are also the names of items in scenarios."""
        return tuple(f"{self.part}_{index:02d}" for index in range(self.count))


class PhysicsModel(Record):
    """The one physics model behind the settle check and Isaac Lab's rollouts."""

    timestep_s: Positive = 0.0025
    gravity_m_s2: Positive = 9.81
    cone: Literal["elliptic", "pyramidal"] = "elliptic"
    impratio: Positive = 10.0
    iterations: Annotated[int, Field(ge=1, le=1000)] = 50
    contact_stiffness: Positive = 40000.0
    """Newton's `ke`; MuJoCo's damping ratio is kd / (2 sqrt(ke))."""
    contact_damping: Positive = 400.0
    """Newton's `kd`; MuJoCo's time constant is 2 / kd [s]."""
    contact_gap_m: NonNegative = 0.001
    friction_rule: Literal["max"] = "max"
    """How the friction of two surfaces combines: MuJoCo's and Newton's rule is the larger one."""
    fixture_friction: Positive = 0.6
    """Sliding friction of table, tray and bins."""
    spin_decay_s: NonNegative = Field(default=0.0, exclude_if=partial(eq, 0.0))
    """Time in which a loose part loses most of its rotation [s], as rolling on real floors takes it; 0: never.

    A viscous torque: the part's own mean moment of inertia by this time. Without it a bolt in a bin rolls for
    ever, since contacts resist sliding alone.
    """

    @property
    def solref(self) -> tuple[float, float]:
        """MuJoCo's contact time constant [s] and damping ratio."""
        return 2.0 / self.contact_damping, self.contact_damping / (2.0 * float(np.sqrt(self.contact_stiffness)))


class Limits(Record):
    """What the line asks of an episode and of a scene.

    From `saturated_share` on: what a person needs in one of the cameras to sort a target by its picture.
    """

    takt_s: Positive
    contact_force_n: Positive
    """Largest contact force that the robot may apply [N]."""
    hidden_share: Share = 0.9
    """Largest share of a target's outline that may be hidden from the overhead camera."""
    saturated_share: Share = Field(default=0.95, exclude_if=partial(eq, 0.95))
    """Largest share of a target's pixels that may be saturated where the feed under it is saturated, too.

    A white part on a ground that is not white is sorted by its outline: of washers that mirror the lamp, 97 % may be
    saturated. 5 % of the 60 to 80 pixels of a small part are the 4 that are seen at all (Johnson 1958).
    """
    luminance: Share = Field(default=0.002, exclude_if=partial(eq, 0.002))
    """Least mean luminance of a target; 1 is saturated white [1].

    0.002 is 7 of 255 steps above black, and a fifth of the flare on a screen (1 % of white where sRGB is meant to be
    viewed, IEC 61966-2-1): what is darker drowns in it.
    """
    snr_db: Real = Field(default=3.0, exclude_if=partial(eq, 3.0))
    """Least signal-to-noise ratio of a target's pixels at its mean luminance [dB].

    3 dB, 1.41, is what 50 pixels need that differ from their ground by half of their luminance, to be seen for certain:
    five times the noise of their mean (Rose 1948, The sensitivity performance of the human eye).
    """


class Cell(Record):
    """One workcell: robot, fixtures, cameras, lights, parts, rules and the ranges within which they vary."""

    name: Name
    robot: Robot
    table: Table
    feed: Annotated[Tray | Belt, Field(discriminator="kind")]
    bins: Annotated[tuple[Bin, ...], Field(min_length=1, max_length=16)]
    rules: Annotated[tuple[SortRule, ...], Field(min_length=1)]
    cameras: Annotated[tuple[CellCamera, ...], Field(min_length=1, max_length=8)]
    lights: Annotated[tuple[Light, ...], Field(min_length=1, max_length=16)]
    table_look: Look
    feed_look: Look
    datums: tuple[Datum, ...] = ()
    inventory: Annotated[tuple[InventoryItem, ...], Field(min_length=1)]
    fill: tuple[Annotated[int, Field(ge=1, le=MAX_SLOTS)], Annotated[int, Field(ge=1, le=MAX_SLOTS)]]
    """Fewest and most targets in the feed of a nominal scene."""
    instructions: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Instruction templates; `{parts}` and `{rules}` are filled in."""
    allowed_causes: tuple[Name, ...]
    """Causes of anomalies that happen in this plant (see `Cause`)."""
    envelope: dict[Name, dict[Name, tuple[Real, Real]]] = {}
    """For each axis and quantity the least and the greatest value that the plant allows; axes have own defaults."""
    physics: PhysicsModel = PhysicsModel()
    limits: Limits

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        self._unique("bins", [b.name for b in self.bins])
        self._unique("cameras", [c.name for c in self.cameras])
        self._unique("lights", [light.name for light in self.lights])
        self._unique("inventory", [i.part for i in self.inventory])
        bins = [b.name for b in self.bins]
        for rule in self.rules:
            if rule.bin not in bins:
                raise ValueError(f"rules: bin {rule.bin!r} does not exist - accepted: {', '.join(bins)}")
        for datum in self.datums:
            if datum.fixture not in ["feed", *bins]:
                raise ValueError(f"datums: fixture {datum.fixture!r} - accepted: feed, {', '.join(bins)}")
        return self

    @model_validator(mode="after")
    def _slots_suffice(self) -> Self:
        total = sum(item.count for item in self.inventory)
        if total > MAX_SLOTS:
            raise ValueError(f"inventory holds {total} items - accepted: at most {MAX_SLOTS} in all")
        targets = sum(item.count for item in self.inventory if item.role is Role.TARGET)
        if not self.fill[0] <= self.fill[1] <= targets:
            raise ValueError(f"fill is {list(self.fill)} - accepted: fewest <= most <= {targets} targets in inventory")
        return self

    @staticmethod
    def _unique(field: str, names: list[str]) -> None:
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ValueError(f"{field}: name {twice[0]!r} is used twice - accepted: unique names")

    @cached_property
    def slots(self) -> dict[str, InventoryItem]:
        """Every simulator slot by name, in inventory order."""
        return {slot: item for item in self.inventory for slot in item.slots()}

    @cached_property
    def containers(self) -> dict[str, Container]:
        """Feed and bins by fixture name (`feed`, then each bin's name)."""
        return {"feed": self.feed, **{b.name: b for b in self.bins}}
