"""What all worlds do is read in one piece, and says what Isaac Lab and MuJoCo-Warp say of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

wp = pytest.importorskip("warp", reason="needs the extra isaac")

from evaluator.isaac import state_kernels as kernels  # noqa: E402
from evaluator.isaac.shaking_kernel import shake  # noqa: E402

pytestmark = [pytest.mark.isaac]

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 900
SLOTS, FIXTURES, ROOM = 2, 2, 8
OWNERS = [kernels.NOTHING, kernels.FINGER, kernels.BODY, 0, 1, SLOTS, SLOTS + 1]
NOTHING, FINGER, BODY, FIRST, SECOND, TABLE, BIN = range(len(OWNERS))


def added(contacts, *, order=None, threads=3):
    """Forces on slots and on the robot of one world, in newtons, from contacts (one geom, other geom, force)."""
    rows = list(contacts) if order is None else [contacts[i] for i in order]
    geoms = np.zeros((ROOM, 2), np.int32)
    addresses, forces = np.zeros((ROOM, 1), np.int32), np.zeros((1, ROOM), np.float32)
    for i, (one, other, force) in enumerate(rows):
        geoms[i], addresses[i, 0] = (one, other), -1 if force is None else i
        forces[0, i] = force or 0.0
    # Beyond the count lies what earlier steps left.
    forces[0, len(rows) :], geoms[len(rows) :] = 9.0, (FINGER, FIRST)
    on_slot = wp.zeros((1, SLOTS, kernels.PRESSED_BY_FIXTURES + FIXTURES), dtype=wp.int64, device="cpu")
    on_robot = wp.zeros(1, dtype=wp.int64, device="cpu")
    given = [
        wp.array(np.array([len(rows)], np.int32), dtype=int, device="cpu"), ROOM, threads,
        wp.zeros(ROOM, dtype=int, device="cpu"), wp.array(geoms, dtype=wp.vec2i, device="cpu"),
        wp.array(addresses, dtype=int, device="cpu"), wp.array(forces, dtype=float, device="cpu"),
        wp.array(np.array(OWNERS, np.int32), dtype=int, device="cpu"),
    ]  # fmt: skip
    wp.launch(kernels.add_forces, threads, given, [on_slot, on_robot], device="cpu")
    return on_slot.numpy()[0] / kernels.UNITS_PER_N, float(on_robot.numpy()[0]) / kernels.UNITS_PER_N


def test_forces_are_added_by_who_presses_on_whom_in_either_order_of_a_pair():
    contacts = [
        (FINGER, FIRST, 1.5), (FIRST, FINGER, 0.25), (BODY, FIRST, 2.0), (TABLE, FIRST, 3.0), (SECOND, BIN, 4.0),
        (FINGER, TABLE, 5.0), (BIN, BODY, 6.0), (FIRST, SECOND, 7.0),
    ]  # fmt: skip
    on_slot, on_robot = added(contacts)
    np.testing.assert_array_equal(on_slot, [[1.75, 2.0, 3.0, 0.0], [0.0, 0.0, 0.0, 4.0]])
    assert on_robot == 11.0


def test_contacts_without_a_row_and_shapes_of_nobody_press_on_nothing():
    on_slot, on_robot = added([(FINGER, FIRST, None), (NOTHING, FIRST, 2.0), (NOTHING, BODY, 2.0), (FINGER, BODY, 1.0)])
    assert not on_slot.any()
    assert on_robot == 0.0


def test_the_order_of_contacts_makes_no_difference_to_the_last_bit():
    contacts = [(TABLE, FIRST, force) for force in (1e5, 0.1, 3.3e-7, 0.7, 1e-3, 12.34, 5e4)]
    first, _ = added(contacts)
    for order in ([6, 5, 4, 3, 2, 1, 0], [2, 0, 4, 1, 6, 3, 5]):
        np.testing.assert_array_equal(added(contacts, order=order, threads=1)[0], first)
    assert first[0, kernels.PRESSED_BY_FIXTURES] == pytest.approx(sum(force for *_, force in contacts), rel=1e-6)


def test_the_weakest_force_is_not_nothing_and_the_strongest_has_room():
    assert added([(FINGER, FIRST, 1e-30)])[0][0, kernels.PRESSED_BY_FINGER] > 0
    strong, _ = added([(TABLE, FIRST, 3e38)] * ROOM)
    assert strong[0, kernels.PRESSED_BY_FIXTURES] == ROOM * kernels.MOST_N


def read_slots(poses, velocities, on_slot):
    """What `read_slots` says of one world; it clears `on_slot`."""
    shape = (1, SLOTS)
    outs = [wp.zeros((*shape, width), dtype=float, device="cpu") for width in (7, 6)]
    flat = [wp.zeros(shape, dtype=float, device="cpu") for _ in range(3)]
    broken = wp.zeros((1, 1), dtype=float, device="cpu")
    given = [
        wp.array(poses[None].astype(np.float32), dtype=wp.transformf, device="cpu"),
        wp.array(velocities[None].astype(np.float32), dtype=wp.spatial_vectorf, device="cpu"), 20.0, on_slot,
    ]  # fmt: skip
    wp.launch(kernels.read_slots, shape, given, [*outs, *flat, broken], device="cpu")
    return *(one.numpy()[0] for one in (*outs, *flat)), bool(broken.numpy()[0, 0])


def pressed(*rows):
    return wp.array(np.array([rows], np.int64), dtype=wp.int64, device="cpu")


def test_slots_are_read_as_they_are_and_forces_on_them_forgotten():
    poses, velocities = np.arange(14.0).reshape(2, 7), np.arange(12.0).reshape(2, 6)
    on_slot = pressed([1, 0, 5, 5], [0, 2, 3, 4])
    pose, velocity, finger, body, fixture, broken = read_slots(poses, velocities, on_slot)
    np.testing.assert_array_equal(pose, poses)
    np.testing.assert_array_equal(velocity, velocities)
    assert finger.tolist() == [1.0, 0.0]
    assert body.tolist() == [0.0, 1.0]
    assert fixture.tolist() == [0.0, 1.0]
    assert not broken
    assert not on_slot.numpy().any()


@pytest.mark.parametrize(
    ("of", "column", "value", "is_broken"),
    [
        ("pose", 6, np.nan, True),
        ("pose", 0, np.inf, True),
        ("velocity", 2, -20.0, True),
        ("velocity", 1, 19.9, False),
        ("velocity", 3, 500.0, False),
        ("velocity", 5, np.nan, True),
    ],
)
def test_a_world_is_broken_where_numbers_are_none_or_a_part_flies(of, column, value, is_broken):
    given = {"pose": np.zeros((2, 7)), "velocity": np.zeros((2, 6))}
    given[of][1, column] = value
    *_, fixture, broken = read_slots(given["pose"], given["velocity"], pressed([0] * 4, [0] * 4))
    assert fixture.tolist() == [-1.0, -1.0]
    assert broken == is_broken


def test_a_table_that_shakes_gains_no_speed_and_another_feels_gravity():
    worlds, timestep_s, steps = 2, 0.0025, 160
    shaking = np.array([[0.0, 0.0, 1.0, 0.0, 0.0], [0.0004, 2 * np.pi * 25, 0.6, 0.0, 0.8]])
    still = np.tile([0.0, 0.0, -9.81], (worlds, 1)).astype(np.float32)
    gravity = wp.array(still, dtype=wp.vec3, device="cpu")
    given = [
        wp.array(still, dtype=wp.vec3, device="cpu"), wp.array(shaking, dtype=wp.float64, device="cpu"), timestep_s,
        wp.zeros(worlds, dtype=wp.float64, device="cpu"),
    ]  # fmt: skip
    felt = []
    for _ in range(steps):
        wp.launch(shake, worlds, given, [gravity], device="cpu")
        felt.append(gravity.numpy().copy())
    felt = np.array(felt)
    assert (felt[:, 0] == still[0]).all()
    times = timestep_s * np.arange(steps + 1)
    amplitude, omega = shaking[1, :2]
    mean = np.diff(-amplitude * omega * np.sin(omega * times)) / timestep_s
    np.testing.assert_allclose(felt[:, 1], still[1] - mean[:, None] * shaking[1, 2:], atol=1e-5)


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("states")
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("state_trial.py")), "result.json"], cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_states_are_what_isaac_lab_says_bit_by_bit(trial):
    exact = ("joint_pos", "joint_vel", "joint_torque", "slot_pose", "slot_vel")
    assert {name: trial["gaps"][name] for name in exact} == dict.fromkeys(exact, 0.0)
    assert trial["gaps"]["opening"] < 1e-6
    assert trial["gaps"]["fixture_force"] < 1e-6
    assert trial["command_rad"] < 1e-6


@pytest.mark.slow
def test_touches_are_what_the_contacts_say_one_by_one_and_some_were_seen(trial):
    assert trial["same"] == dict.fromkeys(trial["same"], True)
    assert trial["seen"] == dict.fromkeys(trial["seen"], True)
    assert trial["force_n"] > 10.0


@pytest.mark.slow
def test_kinds_of_numbers_stay_and_what_was_handed_out_is_not_overwritten(trial):
    floats = {name: "float32" for name in trial["gaps"]}
    others = {"finger_touch": "bool", "body_touch": "bool", "slot_fixture": "int64", "sound": "bool"}
    assert trial["kinds"] == floats | others
    assert trial["kept"]


@pytest.mark.slow
def test_what_was_put_is_shown_at_once_without_the_forces_of_before(trial):
    assert trial["put_m"] < 1e-6
    assert trial["put_idle"]


@pytest.mark.slow
def test_a_world_that_breaks_is_emptied_and_said_to_be_unsound(trial):
    assert trial["flung_sound"] == [True, True, True, True, False]
    assert trial["flung_speed"] == 0.0
    assert trial["flung_idle"]


@pytest.mark.slow
def test_a_lost_contact_makes_a_world_unsound_for_one_tick(trial):
    assert trial["lost_sound"] == [False, True, True, True, True]
    assert trial["later_sound"] == [True] * 5
