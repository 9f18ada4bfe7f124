"""What is cut out of the log is what each world did, wherever blocks begin and whatever was forgotten."""

import numpy as np
import pytest

from evaluator.rollout.line import LineState
from evaluator.rollout.log import BLOCK, FIELDS, Log
from scenegen.streams import stream

WORLDS, SLOTS, JOINTS = 3, 4, 7


def state_at(tick, *, seed=0):
    """A state that differs from tick to tick."""
    rng = stream("tests", "log", seed, tick)
    shapes = {
        "joint_pos": (JOINTS,), "joint_vel": (JOINTS,), "joint_torque": (JOINTS,), "opening": (), "fixture_force": (),
        "slot_pose": (SLOTS, 7), "slot_vel": (SLOTS, 6),
    }  # fmt: skip
    numbers = {name: rng.normal(size=(WORLDS, *shape)) for name, shape in shapes.items()}
    flags = {name: rng.random((WORLDS, SLOTS)) < 0.5 for name in ("finger_touch", "body_touch")}
    fixture = rng.integers(-1, 5, (WORLDS, SLOTS))
    return LineState(**numbers, **flags, slot_fixture=fixture, sound=np.ones(WORLDS, bool))


@pytest.mark.parametrize(
    ("first", "last"), [(0, 0), (5, 20), (60, 70), (BLOCK - 1, BLOCK), (40, 3 * BLOCK), (150, 199)]
)
def test_a_cut_is_what_one_world_did(first, last):
    log, states = Log(), [state_at(tick) for tick in range(200)]
    for tick, state in enumerate(states):
        log.add(tick, state)
    slots = np.array([2, 0])
    found = log.cut(1, slots, first, last)
    assert set(found) == set(FIELDS.values())
    for name, called in FIELDS.items():
        rows = np.stack([getattr(state, name)[1] for state in states[first : last + 1]])
        wanted = rows[:, slots] if rows.shape[1:2] == (SLOTS,) else rows
        np.testing.assert_array_equal(found[called], wanted.astype(found[called].dtype))


def test_a_world_that_begins_anew_has_its_own_last_tick():
    log = Log()
    for tick in range(70):
        log.add(tick, state_at(tick))
    log.replace(69, [2], state_at(69, seed=1))
    for world, seed in ((0, 0), (1, 0), (2, 1)):
        found = log.cut(world, np.arange(SLOTS), 69, 69)["item_pose"][0]
        np.testing.assert_array_equal(found, state_at(69, seed=seed).slot_pose[world].astype(np.float32))


def test_memory_is_used_again_once_it_is_forgotten():
    log = Log()
    for tick in range(20 * BLOCK):
        log.add(tick, state_at(tick % 7))
        log.forget(tick - BLOCK)
    assert len(log._blocks) + len(log._free) <= 4
    last = 20 * BLOCK - 1
    found = log.cut(0, np.arange(SLOTS), last - BLOCK, last)["joint_pos"]
    wanted = [state_at(tick % 7).joint_pos[0] for tick in range(last - BLOCK, last + 1)]
    np.testing.assert_array_equal(found, np.array(wanted, np.float32))
