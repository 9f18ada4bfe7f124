"""Compares what a line says with Isaac Lab's own data, in a process of its own: `python state_trial.py RESULT.json`."""

import json
import sys
from pathlib import Path

import numpy as np
from isaaclab_newton.physics import NewtonManager

from evaluator.isaac.line import open_line
from evaluator.isaac.state_kernels import BODY, FINGER
from evaluator.isaac.state_reader import _owner
from scenegen.base import sample_base
from scenegen.cells.loader import load_cell
from scenegen.geometry import Pose
from scenegen.parts.builtin import builtin_catalogue
from scenegen.robot import Arm
from scenegen.streams import stream

WORLDS, TICKS = 5, 12
AS_IS, AT_FINGER, AT_HAND, INTO_TABLE, FLUNG = range(WORLDS)
FIELDS = ("joint_pos", "joint_vel", "joint_torque", "opening", "slot_pose", "slot_vel", "fixture_force")
EXACT = ("finger_touch", "body_touch", "slot_fixture")


def small_cell():
    cell = load_cell("fasteners")
    return cell.replaced(inventory=tuple(item.replaced(count=1) for item in cell.inventory[:3]), fill=(3, 3))


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
    """A part as sampled, one at a finger, one in the hand, an arm that goes into the table, a part that is flung."""
    position, rotation = (one[0] for one in Arm(cell.robot).tcp(np.array([cell.robot.start_joints_rad])))
    gripper = cell.robot.gripper
    finger = position + rotation @ [0.0, gripper.opening_m / 2 + gripper.finger_thickness_m / 2, 0.0]
    hand = position - 0.08 * rotation[:, 2]
    item = base.layout.items[0]

    def moved(place):
        items = (item.replaced(pose_to_world=Pose.of(place, item.pose_to_world.quat_xyzw)), *base.layout.items[1:])
        return base.replaced(layout=base.layout.replaced(items=items))

    return {AS_IS: base, AT_FINGER: moved(finger), AT_HAND: moved(hand), INTO_TABLE: base, FLUNG: base}


def compare(line):
    """Greatest difference of each field, and whether forces are whole."""
    wanted, found = expected(line), line.state()
    same = {name: bool(np.array_equal(getattr(found, name), wanted[name])) for name in EXACT}
    gaps = {name: float(np.abs(getattr(found, name) - wanted[name]).max()) for name in FIELDS}
    gaps["fixture_force"] /= 1 + float(wanted["fixture_force"].max())
    return same, gaps, found


def fling(line):
    import torch  # only now: Isaac Lab starts first

    slots = line._worlds._scene["slots"]
    fast = torch.zeros((1, len(line.slots), 6), device=slots.device)
    fast[..., 2] = 50.0
    ids = torch.tensor([FLUNG], dtype=torch.int32, device=slots.device)
    slots.write_body_com_velocity_to_sim_index(body_velocities=fast, env_ids=ids)


def main():
    cell = small_cell()
    parts = builtin_catalogue([item.part for item in cell.inventory])
    base = sample_base(cell, parts, rng=stream("state-trial"))
    same, gaps, seen, kinds = dict.fromkeys(EXACT, True), dict.fromkeys(FIELDS, 0.0), dict.fromkeys(EXACT, False), {}
    force = 0.0
    joints = np.tile(cell.robot.start_joints_rad, (WORLDS, 1))
    with open_line(cell, parts, count=WORLDS) as line:
        line.tick()
        line.put(scenes(cell, parts, base))
        put = line.state()
        shown = base.layout.items[0]
        row = line.slots.index(shown.name)
        result = {"put_m": float(np.abs(put.slot_pose[AS_IS, row, :3] - shown.pose_to_world.position).max())}
        result["put_idle"] = not (put.finger_touch.any() or put.fixture_force.any() or (put.slot_fixture >= 0).any())
        before = put.slot_pose.copy()
        for _ in range(TICKS):
            joints[INTO_TABLE, 1] += 0.15
            line.command(joints, np.ones(WORLDS))
            line.tick()
            now, gap, state = compare(line)
            print(line._stepped, state.sound, now, state.finger_touch.any(1), state.body_touch.any(1), state.fixture_force, state.joint_pos[INTO_TABLE], Arm(cell.robot).tcp(state.joint_pos)[0][[0,3]], state.slot_pose[[1,2], 0, :3],state.slot_pose[[1,2], 1, :3])
            same = {name: same[name] and now[name] for name in EXACT}
            gaps = {name: max(gaps[name], gap[name]) for name in FIELDS}
            seen["finger_touch"] |= bool(state.finger_touch[AT_FINGER].any())
            seen["body_touch"] |= bool(state.body_touch[AT_HAND].any())
            seen["slot_fixture"] |= bool((state.slot_fixture[AS_IS] >= 0).any())
            force = max(force, float(state.fixture_force[INTO_TABLE]))
        wanted = line._worlds._scene["robot"].actuators.target_command.position.torch.numpy()
        result["command_rad"] = float(np.abs(wanted[:, line._worlds.arms.arm] - joints).max())
        result["kept"] = bool(np.array_equal(before, put.slot_pose))
        kinds = {name: str(getattr(state, name).dtype) for name in (*FIELDS, *EXACT, "sound")}
        result["sound"] = state.sound.tolist()
        fling(line)
        line.tick()
        flung = line.state()
        result["flung_sound"] = flung.sound.tolist()
        result["flung_speed"] = float(np.abs(flung.slot_vel[FLUNG]).max())
        result["flung_idle"] = bool((flung.slot_fixture[FLUNG] == -1).all() and not flung.joint_torque[FLUNG].any())
        line._worlds._overflow[AS_IS] = 1
        lost = line._worlds._overflow.numpy().any()
        line._state = None
        line.state()
        result["marks_forgotten"] = bool(lost and not line._worlds._overflow.numpy().any())
    result |= {"same": same, "gaps": gaps, "seen": seen, "kinds": kinds, "force_n": force}
    Path(sys.argv[1]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
