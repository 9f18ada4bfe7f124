"""Worlds in the real Isaac Lab keep to themselves; tables shake, robots fit, an oracle sorts rings."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scenegen.cell import Role
from scenegen.cells.loader import load_cell

pytest.importorskip("isaaclab", reason="needs the extra isaac")

pytestmark = [pytest.mark.slow, pytest.mark.isaac]

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 1800
NUT_HEIGHT_M = 0.0034
"""Half the height of a lying nut."""
TOLERANCE_M = 0.0003
SHAKEN_HZ, WEAK_M, STRONG_M, FRICTION, GRAVITY_M_S2 = 25.0, 0.00015, 0.0004, 0.6, 9.81


def python(folder, *arguments):
    run = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


def measured(folder, script, *arguments):
    python(folder, str(Path(__file__).with_name(script)), *arguments, "result.json")
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    return measured(tmp_path_factory.mktemp("worlds"), "worlds_trial.py")


def test_each_world_collides_with_its_own_contents(trial):
    heights, cell = trial["contents"], load_cell("fasteners")
    floor = cell.bins[0].pose_to_world.position_m[2]
    assert heights["bolt_over_nut"] > heights["bolt_alone"] + 0.005
    assert heights["nut_in_moved_bin"] == pytest.approx(floor + NUT_HEIGHT_M, abs=TOLERANCE_M)
    assert heights["nut_beside_bin"] == pytest.approx(NUT_HEIGHT_M, abs=TOLERANCE_M)
    assert heights["absent"] == pytest.approx(-5.0, abs=1e-6)


def test_a_put_leaves_the_other_worlds_as_they_are_bit_by_bit(trial):
    assert trial["disturbed"]["repeats"]
    assert trial["disturbed"]["put_leaves_others"]


def test_numbers_that_are_none_in_one_world_touch_no_other_and_heal(trial):
    assert trial["disturbed"]["broken"] == [False, True, False, False]
    assert trial["disturbed"]["nan_leaves_others"]
    assert trial["disturbed"]["healed"]


def test_what_is_derived_from_masses_is_what_newton_derives(trial):
    assert max(trial["derived"].values()) < 1e-4


def test_a_part_slides_on_a_shaking_table_from_the_acceleration_that_friction_holds(trial):
    still, weak, strong, _ = (np.array(way)[:, 0] for way in trial["shaken"])
    omega = 2 * math.pi * SHAKEN_HZ
    assert WEAK_M * omega**2 < 0.7 * FRICTION * GRAVITY_M_S2
    assert STRONG_M * omega**2 > 1.5 * FRICTION * GRAVITY_M_S2
    assert np.ptp(still) == 0.0
    assert np.ptp(weak) < 0.02 * WEAK_M
    period = round(1 / SHAKEN_HZ / load_cell("fasteners").physics.timestep_s)
    found = np.ptp(strong[-2 * period :])
    # Soft contacts hold a little less than the friction that they are given.
    assert sliding_way(FRICTION) - TOLERANCE_M / 10 < found < sliding_way(0.8 * FRICTION)
    assert found < 2 * STRONG_M


def sliding_way(friction):
    """How far a block slides to and fro on the strongly shaking table [m]: Coulomb friction, step by step."""
    omega, step, velocity, position, way = 2 * math.pi * SHAKEN_HZ, 1e-5, 0.0, 0.0, []
    for tick in range(100_000):
        push, hold = STRONG_M * omega**2 * math.cos(omega * tick * step), friction * GRAVITY_M_S2
        if velocity == 0.0:
            velocity = max(0.0, abs(push) - hold) * math.copysign(step, push)
        else:
            moving = velocity + (push - math.copysign(hold, velocity)) * step
            velocity = moving if moving * velocity > 0 else 0.0
        position += velocity * step
        way.append(position)
    return max(way[-8000:]) - min(way[-8000:])


@pytest.mark.parametrize("name", ["fasteners", "rings"])
def test_fingers_are_where_and_as_large_as_the_cell_says(name, tmp_path):
    gripper = load_cell(name).robot.gripper
    for world in measured(tmp_path, "robot_trial.py", name):
        assert world["sound"]
        assert (world["force_n"], world["torque_n_m"], world["touches"]) == (0.0, 0.0, False)
        assert world["tip_m"] == pytest.approx(gripper.tip_beyond_tcp_m, abs=1e-4)
        assert world["middle_m"] == pytest.approx([0.0, 0.0], abs=1e-4)
        assert world["pads_m"] == pytest.approx([-gripper.opening_m / 2, gripper.opening_m / 2], abs=1e-4)
        assert world["thickness_m"] == pytest.approx(gripper.finger_thickness_m, abs=1e-4)
        assert world["width_m"] == pytest.approx(gripper.finger_width_m, abs=1e-4)


def test_the_oracle_sorts_rings_with_the_second_robot_and_hits_nothing(tmp_path):
    cell = load_cell("rings")
    targets = tuple(item.replaced(count=1) for item in cell.inventory if item.role is Role.TARGET)
    small = cell.replaced(inventory=targets, fill=(1, 1))
    (tmp_path / "cell.yaml").write_text(small.canonical_json(), encoding="utf-8")
    command = ("-m", "scenegen")
    python(tmp_path, *command, "expand", "--axis", "lighting", "--n", "1", "--cell", "cell.yaml", "--library", "lib")
    options = ("--policy", "oracle", "--latency", "0", "--num-envs", "2", "--json")
    said = python(tmp_path, *command, "evaluate", "lib", *options)
    card = json.loads(said.strip().splitlines()[-1])
    assert card["outcomes"] == {"success": 2}
    assert card["measures"]["with_collision"]["value"] == 0.0
