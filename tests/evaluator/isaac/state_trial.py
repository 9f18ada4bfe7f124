"""Compares what a line says with Isaac Lab's own data, in a process of its own: `python state_trial.py RESULT.json`."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from isaaclab_newton.physics import NewtonManager
from mujoco_warp import OverflowType

from evaluator.isaac.line import open_line
from evaluator.isaac.state_kernels import BODY, FINGER
from evaluator.isaac.state_reader import _owner
from scenegen.base import sample_base
from scenegen.cells.loader import load_cell
from scenegen.geometry import Pose
from scenegen.parts.builtin import builtin_catalogue
from scenegen.robot import Arm
from scenegen.streams import stream

WORLDS, TICKS = 5, 20
BOLT, NUT, NUT_HEIGHT_M = "hex_bolt_m8x20", "hex_nut_m8", 0.0034
AS_IS, GRIPPED, AT_HAND, INTO_TABLE, FLUNG = range(WORLDS)
FIELDS = ("joint_pos", "joint_vel", "joint_torque", "opening", "slot_pose", "slot_vel", "fixture_force")
EXACT = ("finger_touch", "body_touch", "slot_fixture")


def small_cell():
    cell = load_cell("fasteners")
    inventory = tuple(item.replaced(count=1) for item in cell.inventory if item.part in (BOLT, NUT))
    return cell.replaced(inventory=inventory, fill=(2, 2))


def expected(line):
    """What all worlds do, from Isaac Lab's properties and MuJoCo-Warp's contacts one by one."""
    worlds, solver = line._worlds, NewtonManager._solver
    slots, robot = worlds._scene["slots"].data, worlds._scene["robot"].data
    arms, data, model = worlds.arms, solver.mjw_data, solver.mj_model
    positions = robot.joint_pos.torch.numpy().copy()
    found = {
        "slot_pose": slots.body_link_pose_w.torch.numpy().copy(),
        "slot_vel": slots.body_com_vel_w.torch.numpy().copy(),
        "joint_pos": positions[:, arms.arm],
        "joint_vel": robot.joint_vel.torch.numpy()[:, arms.arm].copy(),
        "joint_torque": data.qfrc_actuator.numpy()[:, arms.drives].copy(),
        "opening": positions[:, arms.fingers].mean(axis=1) / arms.finger_m,
    }
    count, fixtures = len(line.slots), len(line.fixtures)
    owners = [_owner(model.geom(row).name, count, line.fixtures) for row in range(model.ngeom)]
    geoms, addresses = data.contact.geom.numpy(), data.contact.efc_address.numpy()[:, 0]
    where, efc = data.contact.worldid.numpy(), data.efc.force.numpy()
    forces = np.zeros((line.count, 3 + count + fixtures, 3 + count + fixtures))
    for row in range(min(int(data.nacon.numpy()[0]), data.naconmax)):
        if addresses[row] >= 0:
            one, other = (owners[geom] + 3 for geom in geoms[row])
            forces[where[row], one, other] += efc[where[row], addresses[row]]
            forces[where[row], other, one] += efc[where[row], addresses[row]]
    items = forces[:, 3 : 3 + count]
    found["finger_touch"], found["body_touch"] = items[..., FINGER + 3] > 0, items[..., BODY + 3] > 0
    hardest = items[..., 3 + count :]
    found["slot_fixture"] = np.where(hardest.max(axis=2) > 0, hardest.argmax(axis=2), -1)
    found["fixture_force"] = forces[:, [FINGER + 3, BODY + 3], 3 + count :].sum(axis=(1, 2))
    # What was put, or broke and was emptied, was not simulated yet.
    idle = ~line._stepped
    for name in ("joint_torque", "finger_touch", "body_touch", "fixture_force"):
        found[name][idle] = 0
    found["slot_fixture"][idle] = -1
    return found


def scenes(cell, parts, base):
    """Parts as sampled, a nut between the fingers, one in the hand, an arm that goes into the table, parts to fling."""
    start = np.array([cell.robot.start_joints_rad])
    arm = Arm(cell.robot)
    positions, rotations = arm.tcp(start)
    hand = positions[0] - 0.08 * rotations[0, :, 2]
    lying = np.array([*positions[0, :2], NUT_HEIGHT_M])
    down = start
    for share in np.linspace(0.0, 1.0, 50):
        down = arm.follow(down, (1 - share) * positions + share * (lying + np.array([0.0, 0.0, 0.005])), rotations)

    def moved(place, joints):
        items = tuple(
            item.replaced(pose_to_world=Pose.of(place)) if item.name.startswith(NUT) else item
            for item in base.layout.items
        )
        motion = base.motion.replaced(robot_start_rad=tuple(joints.tolist()))
        return base.replaced(layout=base.layout.replaced(items=items), motion=motion)

    found = {AS_IS: base, GRIPPED: moved(lying, down[0]), AT_HAND: moved(hand, start[0]), INTO_TABLE: base, FLUNG: base}
    return found, np.concatenate([start, down, start, start, start])


def compare(line):
    """Greatest difference of each field, and whether forces are whole."""
    wanted, found = expected(line), line.state()
    same = {name: bool(np.array_equal(getattr(found, name), wanted[name])) for name in EXACT}
    gaps = {name: float(np.abs(getattr(found, name) - wanted[name]).max()) for name in FIELDS}
    gaps["fixture_force"] /= 1 + float(wanted["fixture_force"].max())
    return same, gaps, found


class Trial:
    """One line, step by step."""

    def __init__(self, line, cell, parts):
        self.line, self.cell = line, cell
        self.base = sample_base(cell, parts, rng=stream("state-trial"))
        self.given, self.joints = scenes(cell, parts, self.base)

    def put(self):
        """What is shown of scenes that were put into worlds with a past."""
        self.line.tick()
        self.line.put(self.given)
        state, item = self.line.state(), self.base.layout.items[0]
        place = state.slot_pose[AS_IS, self.line.slots.index(item.name), :3]
        touched = state.finger_touch.any() or state.body_touch.any() or (state.slot_fixture >= 0).any()
        return {
            "put_m": float(np.abs(place - item.pose_to_world.position).max()),
            "put_idle": not (touched or state.fixture_force.any() or state.joint_torque.any()),
        }

    def play(self):
        """Greatest differences on the way, what was seen, and what became of the first state."""
        line, opening, first = self.line, np.ones(WORLDS), self.line.state()
        before = first.slot_pose.copy()
        same, gaps, seen = dict.fromkeys(EXACT, True), dict.fromkeys(FIELDS, 0.0), dict.fromkeys(EXACT, False)
        force, opening[GRIPPED] = 0.0, 0.0
        for _ in range(TICKS):
            self.joints[INTO_TABLE, 1] += 0.15
            line.command(self.joints, opening)
            line.tick()
            now, gap, state = compare(line)
            same = {name: same[name] and now[name] for name in EXACT}
            gaps = {name: max(gaps[name], gap[name]) for name in FIELDS}
            seen["finger_touch"] |= bool(state.finger_touch[GRIPPED].any())
            seen["body_touch"] |= bool(state.body_touch[AT_HAND].any())
            seen["slot_fixture"] |= bool((state.slot_fixture[AS_IS] >= 0).any())
            force = max(force, float(state.fixture_force[INTO_TABLE]))
        wanted = line._worlds._scene["robot"].actuators.target_command.position.torch.numpy()
        return {
            "same": same,
            "gaps": gaps,
            "seen": seen,
            "force_n": force,
            "kinds": {name: str(getattr(state, name).dtype) for name in (*FIELDS, *EXACT, "sound")},
            "command_rad": float(np.abs(wanted[:, line._worlds.arms.arm] - self.joints).max()),
            "kept": bool(np.array_equal(before, first.slot_pose)),
        }

    def fling(self):
        """What is shown of a world whose part is flung."""
        slots = self.line._worlds._scene["slots"]
        fast = torch.zeros((1, len(self.line.slots), 6), device=slots.device)
        fast[..., 2] = 50.0
        ids = torch.tensor([FLUNG], dtype=torch.int32, device=slots.device)
        slots.write_body_com_velocity_to_sim_index(body_velocities=fast, env_ids=ids)
        self.line.tick()
        state = self.line.state()
        touched = (state.slot_fixture[FLUNG] >= 0).any() or state.joint_torque[FLUNG].any()
        return {
            "flung_sound": state.sound.tolist(),
            "flung_speed": float(np.abs(state.slot_vel[FLUNG]).max()),
            "flung_idle": not touched,
        }

    def lose(self):
        """Soundness in a tick in which a world loses contacts and another only does not find the deepest, and after."""
        worlds, found = self.line._worlds, {}
        marks, advance = worlds._overflow, worlds.advance

        def losing(steps):
            advance(steps)
            marks[AS_IS], marks[GRIPPED] = int(OverflowType.NEFC), int(OverflowType.EPA_HORIZON)

        for name, one in {"lost_sound": losing, "later_sound": advance}.items():
            worlds.advance = one
            self.line.tick()
            found[name] = self.line.state().sound.tolist()
        return found


def main():
    cell = small_cell()
    parts = builtin_catalogue([item.part for item in cell.inventory])
    with open_line(cell, parts, count=WORLDS) as line:
        trial = Trial(line, cell, parts)
        result = trial.put() | trial.play() | trial.fling() | trial.lose()
    Path(sys.argv[1]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
