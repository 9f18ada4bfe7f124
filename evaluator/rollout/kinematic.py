"""A line without physics: arms go where they are told, parts follow closed fingers and fall straight down.

A dry run of policies, protocols and reports in seconds. Nothing slips, tips, collides or pushes; forces and torques are
zero; what succeeds here may fail in a simulator, and runs of the two are never compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluator.rollout.line import LineState
from evaluator.rollout.snapshots import Snapshots
from scenegen.cell import Cell
from scenegen.geometry import Array, Pose, quat_from_matrix, quat_multiply, quat_to_matrix
from scenegen.parts.catalogue import Catalogue
from scenegen.posed import hull_corners
from scenegen.robot import Arm
from scenegen.scenario import Scenario

RATE_HZ = 50.0
JOINT_RAD_S = 3.0
"""Highest speed of a joint [rad/s]: what arms of this size are rated for, and no policy here needs more."""
STROKE_S = 0.3
"""Time in which the fingers open or close all the way [s]."""
PAD_M = 0.009
"""Half of a finger's width along itself [m]: a part is held if its middle is no farther off."""
GRAVITY_M_S2 = 9.81
PARKED_M = -5.0
"""Height of absent parts [m]."""


class KinematicLine:
    """Worlds of a cell without physics; see `evaluator.rollout.line.Line`.

    Images show the parts as they lie and not the robot.

    Args:
        cell: The cell.
        parts: Its parts.
        count: Number of worlds.
    """

    def __init__(self, cell: Cell, parts: Catalogue, *, count: int) -> None:
        self._cell, self._parts, self._arm = cell, parts, Arm(cell.robot)
        self.count, self.rate_hz = count, RATE_HZ
        self.slots = tuple(cell.slots)
        self.fixtures = ("table", *cell.containers)
        self._hulls = [hull_corners(parts[item.part]) for item in cell.slots.values()]
        w, s, j = count, len(self.slots), len(cell.robot.joints)
        self._joints = np.tile(np.array(cell.robot.start_joints_rad, float), (w, 1))
        self._wanted, self._joint_vel = self._joints.copy(), np.zeros((w, j))
        self._opening, self._wanted_opening = np.ones(w), np.ones(w)
        self._pose, self._vel = np.zeros((w, s, 7)), np.zeros((w, s, 6))
        self._pose[..., 2], self._pose[..., 6] = PARKED_M, 1.0
        self._falls_to = np.full((w, s), np.nan)
        """Height at which the origin of a falling part's frame comes to rest [m]; NaN where nothing falls."""
        self._fixture = np.full((w, s), -1)
        self._held = np.full(w, -1)
        """Slot whose part the fingers hold, -1 for none."""
        self._grip = np.tile(np.eye(4), (w, 1, 1))
        """Pose of the held part in the tool's frame."""
        self._width = np.zeros(w)
        """Opening at which the fingers meet the held part."""
        self._scenarios: dict[int, Scenario] = {}
        self._snapshots = Snapshots(cell, parts)

    def put(self, scenarios: Mapping[int, Scenario]) -> None:
        """Put scenarios into some worlds."""
        rows = {name: row for row, name in enumerate(self.slots)}
        for world, scenario in scenarios.items():
            self._scenarios[world] = scenario
            self._joints[world] = self._wanted[world] = scenario.motion.robot_start_rad
            self._opening[world] = self._wanted_opening[world] = 1.0
            self._joint_vel[world], self._vel[world], self._falls_to[world] = 0.0, 0.0, np.nan
            self._held[world], self._fixture[world] = -1, -1
            self._pose[world] = (0.0, 0.0, PARKED_M, 0.0, 0.0, 0.0, 1.0)
            for item in scenario.layout.items:
                pose = item.pose_to_world
                self._pose[world, rows[item.name]] = (*pose.position_m, *pose.quat_xyzw)
                self._fixture[world, rows[item.name]] = self._fixture_of(item.zone)

    def command(self, joints_rad: Array, opening: Array) -> None:
        """Set the targets of all worlds."""
        self._wanted[:] = self._arm.clipped(np.asarray(joints_rad, float))
        self._wanted_opening[:] = np.clip(opening, 0.0, 1.0)

    def tick(self) -> None:
        """Move everything by one tick."""
        step = np.clip(self._wanted - self._joints, -JOINT_RAD_S / RATE_HZ, JOINT_RAD_S / RATE_HZ)
        self._joints = self._joints + step
        self._joint_vel = step * RATE_HZ
        tool = self._tool()
        self._fall()
        self._carry(tool)
        self._close(tool)

    def state(self) -> LineState:
        """Return what all worlds do."""
        touched = np.zeros((self.count, len(self.slots)), bool)
        holding = np.flatnonzero(self._held >= 0)
        touched[holding, self._held[holding]] = True
        zero = np.zeros(self.count)
        return LineState(
            joint_pos=self._joints.copy(),
            joint_vel=self._joint_vel.copy(),
            joint_torque=np.zeros_like(self._joints),
            opening=self._opening.copy(),
            slot_pose=self._pose.copy(),
            slot_vel=self._vel.copy(),
            finger_touch=touched,
            body_touch=np.zeros_like(touched),
            slot_fixture=self._fixture.copy(),
            fixture_force=zero,
            sound=np.ones(self.count, bool),
        )

    def images(self, worlds: Sequence[int], cameras: Sequence[str]) -> Mapping[str, Any]:
        """Photograph some worlds on the processor."""
        shot = [self._snapshots.take(self._scenarios[w], self._poses(w), self._joints[w], cameras) for w in worlds]
        return {f"{camera}_rgb": np.stack([one[camera] for one in shot]) for camera in cameras}

    def _poses(self, world: int) -> dict[str, Pose]:
        rows = dict(zip(self.slots, self._pose[world], strict=True))
        return {
            item.name: Pose.of(rows[item.name][:3], rows[item.name][3:]) for item in self._scenarios[world].layout.items
        }

    def _tool(self) -> Array:
        """Poses of the tool centres, world frame, shape [w, 4, 4]."""
        frames = np.tile(np.eye(4), (self.count, 1, 1))
        frames[:, :3, 3], frames[:, :3, :3] = self._arm.tcp(self._joints)
        return frames

    def _carry(self, tool: Array) -> None:
        """Let held parts follow the tool."""
        worlds = np.flatnonzero(self._held >= 0)
        if not len(worlds):
            return
        slots = self._held[worlds]
        frames = tool[worlds] @ self._grip[worlds]
        before = self._pose[worlds, slots]
        quats = quat_from_matrix(frames[:, :3, :3])
        self._vel[worlds, slots, :3] = (frames[:, :3, 3] - before[:, :3]) * RATE_HZ
        turn = quat_multiply(quats, before[:, 3:] * np.array([-1.0, -1.0, -1.0, 1.0]))
        self._vel[worlds, slots, 3:] = 2 * RATE_HZ * turn[:, :3] * np.sign(turn[:, 3:])
        self._pose[worlds, slots, :3], self._pose[worlds, slots, 3:] = frames[:, :3, 3], quats

    def _close(self, tool: Array) -> None:
        """Move the fingers: they stop at a part between them, and let go of it when they open."""
        step = 1 / (STROKE_S * RATE_HZ)
        opened = self._wanted_opening > self._width + 1e-6
        for world in np.flatnonzero((self._held >= 0) & opened).tolist():
            self._let_go(world)
        closing = (self._wanted_opening < self._opening) & (self._held < 0)
        reached = np.clip(self._wanted_opening, self._opening - step, self._opening + step)
        for world in np.flatnonzero(closing).tolist():
            self._meet(world, float(reached[world]), tool[world])
        free = self._held < 0
        self._opening[free] = reached[free]
        self._opening[~free] = self._width[~free]

    def _meet(self, world: int, opening: float, tool: Array) -> None:
        """Hold the part that is met by fingers which close to an opening, if there is one between them."""
        gripper = self._cell.robot.gripper
        whole, tip = gripper.opening_m, gripper.tip_beyond_tcp_m
        near = np.linalg.norm(self._pose[world, :, :3] - tool[:3, 3], axis=1) < whole
        for slot in np.flatnonzero(near).tolist():
            rotation = quat_to_matrix(self._pose[world, slot, 3:])
            corners = self._hulls[slot] @ rotation.T + self._pose[world, slot, :3]
            local = (corners - tool[:3, 3]) @ tool[:3, :3]
            low, high = local.min(axis=0), local.max(axis=0)
            # The tool looks along its Z axis, and closes along its Y axis (`oracle.downward`).
            between = abs(low[0] + high[0]) / 2 < PAD_M and low[2] < tip and high[2] > tip - gripper.finger_depth_m
            inside = abs(low[1] + high[1]) / 2 < PAD_M and low[1] > -whole / 2 and high[1] < whole / 2
            width = float(high[1] - low[1]) / whole
            if between and inside and opening <= width:
                part = np.eye(4)
                part[:3, :3], part[:3, 3] = rotation, self._pose[world, slot, :3]
                self._grip[world] = np.linalg.inv(tool) @ part
                self._held[world], self._width[world] = slot, width
                self._falls_to[world, slot], self._fixture[world, slot] = np.nan, -1
                return

    def _let_go(self, world: int) -> None:
        """Drop the held part onto what is below it."""
        slot = int(self._held[world])
        self._held[world] = -1
        pose = self._pose[world, slot]
        corners = self._hulls[slot] @ quat_to_matrix(pose[3:]).T
        zone, floor = self._floor(world, pose)
        below = self._top_below(world, slot, corners)
        rest = max(floor, below) - float(corners[:, 2].min())
        self._falls_to[world, slot] = min(rest, float(pose[2]))
        self._fixture[world, slot] = self._fixture_of(zone)
        self._vel[world, slot] = 0.0

    def _floor(self, world: int, pose: Array) -> tuple[str, float]:
        """Zone below a place, and the height of its floor [m]."""
        for fixture in self._scenarios[world].layout.fixtures:
            frame = fixture.pose_to_world
            local = frame.rotation.T @ (pose[:3] - frame.position)
            if np.all(np.abs(local[:2]) <= np.array(self._cell.containers[fixture.name].size_m) / 2):
                return fixture.name, float(frame.position[2])
        return "table", float(self._cell.table.pose_top_to_world.position[2])

    def _top_below(self, world: int, slot: int, corners: Array) -> float:
        """Height of what lies below a part [m]: of parts whose bounding rectangle meets its own."""
        at, top = self._pose[world, slot, :3], -np.inf
        low, high = corners.min(axis=0) + at, corners.max(axis=0) + at
        for other in range(len(self.slots)):
            if other == slot or self._pose[world, other, 2] < PARKED_M / 2:
                continue
            there = self._hulls[other] @ quat_to_matrix(self._pose[world, other, 3:]).T + self._pose[world, other, :3]
            first, last = there.min(axis=0), there.max(axis=0)
            if np.all(first[:2] < high[:2]) and np.all(last[:2] > low[:2]) and last[2] <= low[2] + 0.002:
                top = max(top, float(last[2]))
        return top

    def _fall(self) -> None:
        """Let parts fall that nothing holds."""
        falling = np.isfinite(self._falls_to)
        if not falling.any():
            return
        self._vel[falling, 2] -= GRAVITY_M_S2 / RATE_HZ
        height = self._pose[falling, 2] + self._vel[falling, 2] / RATE_HZ
        landed = height <= self._falls_to[falling]
        self._pose[falling, 2] = np.maximum(height, self._falls_to[falling])
        down = np.zeros_like(falling)
        down[falling] = landed
        self._vel[down], self._falls_to[down] = 0.0, np.nan

    def _fixture_of(self, zone: str) -> int:
        return self.fixtures.index(zone) if zone in self.fixtures else 0
