"""Measures where a robot's fingers are, in a process of its own: `python robot_trial.py CELL RESULT.json`."""

import json
import sys
from pathlib import Path

import numpy as np
from isaaclab_newton.physics import NewtonManager

from evaluator.isaac.line import open_line
from scenegen.base import sample_base
from scenegen.cells.loader import load_cell
from scenegen.parts.builtin import builtin_catalogue
from scenegen.robot import Arm
from scenegen.streams import stream

WORLDS = 4
SIDES = ("left", "right")
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def small_cell(name):
    """The cell with one part of each of its first two kinds."""
    cell = load_cell(name)
    return cell.replaced(inventory=tuple(item.replaced(count=1) for item in cell.inventory[:2]), fill=(1, 2))


def finger_corners(world, side):
    """Corners of a finger's boxes in the world frame [m], shape [n, 3]."""
    solver = NewtonManager._solver
    places, turns = solver.mjw_data.geom_xpos.numpy()[world], solver.mjw_data.geom_xmat.numpy()[world]
    found = []
    for index in range(solver.mj_model.ngeom):
        body = solver.mj_model.body(solver.mj_model.geom_bodyid[index]).name
        if body.endswith(f"{side}finger") or body.endswith(f"{side}_finger"):
            half = solver.mj_model.geom_size[index]
            found.append(places[index] + (CORNERS * half) @ turns[index].reshape(3, 3).T)
    return np.concatenate(found)


def main():
    cell = small_cell(sys.argv[1])
    parts = builtin_catalogue([item.part for item in cell.inventory])
    arm, rng = Arm(cell.robot), stream("robot-trial")
    start = np.array(cell.robot.start_joints_rad)
    base = sample_base(cell, parts, rng=rng)
    starts = [tuple((start + rng.uniform(-0.3, 0.3, len(start)) * (world > 0)).tolist()) for world in range(WORLDS)]
    scenes = {w: base.varied(motion=base.motion.replaced(robot_start_rad=one)) for w, one in enumerate(starts)}
    result = []
    with open_line(cell, parts, count=WORLDS) as line:
        line.tick()
        line.put(scenes)
        first = line.state()
        line.command(np.array(starts), np.ones(WORLDS))
        line.tick()
        state = line.state()
        positions, rotations = arm.tcp(state.joint_pos)
        for world in range(WORLDS):
            sides = [(finger_corners(world, side) - positions[world]) @ rotations[world] for side in SIDES]
            both = np.concatenate(sides)
            tips = [side[side[:, 2] > side[:, 2].max() - 1e-4] for side in sides]
            inner = sorted(float(np.abs(tip[:, 1]).min() * np.sign(tip[:, 1].mean())) for tip in tips)
            result.append(
                {
                    "tip_m": float(both[:, 2].max()),
                    "middle_m": [float((both[:, axis].max() + both[:, axis].min()) / 2) for axis in (0, 1)],
                    "pads_m": inner,
                    "thickness_m": float(np.ptp(tips[0][:, 1])),
                    "width_m": float(np.ptp(tips[0][:, 0])),
                    "force_n": float(max(first.fixture_force[world], state.fixture_force[world])),
                    "torque_n_m": float(np.abs(first.joint_torque[world]).max()),
                    "touches": bool(first.finger_touch[world].any() or (first.slot_fixture[world] >= 0).any()),
                    "sound": bool(state.sound[world]),
                }
            )
    Path(sys.argv[2]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
