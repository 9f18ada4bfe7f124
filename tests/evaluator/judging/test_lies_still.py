"""When an item lies released and at rest: at any rate of samples, for the whole window."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judging.rest import SPEED_M_S, WINDOW_S, lies_still, speeds, window_start
from evaluator.judging.trace import EndReason, Trace

BOLT = "hex_bolt_m6x20_00"


def lying_trace(job, rate_hz, samples, *, speed=None, spin=None, touch=None):
    """A bolt that does not move from where it lies, with speeds and touches as given."""
    pose = np.array([*job.scenario.layout.items[0].pose_to_world.position_m, 0, 0, 0, 1.0])
    velocity = np.zeros((samples, 1, 6))
    velocity[:, 0, 0] = 0 if speed is None else speed
    velocity[:, 0, 4] = 0 if spin is None else spin
    return Trace(
        items=(BOLT,),
        end=EndReason.DONE,
        time_s=np.arange(samples) / rate_hz,
        joint_pos=np.zeros((samples, 7)),
        joint_vel=np.zeros((samples, 7)),
        gripper_opening=np.ones(samples),
        tcp_pose=np.tile([0.4, 0, 0.3, 1, 0, 0, 0.0], (samples, 1)),
        item_pose=np.tile(pose, (samples, 1, 1)),
        item_vel=velocity,
        finger_touch=np.zeros((samples, 1), bool) if touch is None else np.array(touch, bool)[:, None],
    )


@given(st.sampled_from([10, 20, 25, 50, 60, 120, 500]), st.integers(0, 30), st.sampled_from(["touch", "speed", "spin"]))
def test_still_is_what_has_been_quiet_for_the_window(job_of, rate_hz, last, what):
    """The sample after the last disturbance begins the window."""
    job = job_of(BOLT)
    samples = last + 2 + round(1.5 * WINDOW_S * rate_hz)
    quiet = np.arange(samples) > last
    disturbed = {"touch": ~quiet, "speed": ~quiet * 0.02, "spin": ~quiet * 0.02 / job.radii_m[0]}
    still = lies_still(lying_trace(job, rate_hz, samples, **{what: disturbed[what]}), job)[:, 0]
    first = last + 1 + int(np.ceil(WINDOW_S * rate_hz - 1e-6))
    assert np.flatnonzero(still).tolist() == list(range(first, samples))


def test_what_is_undisturbed_lies_still_from_the_start(job_of):
    assert lies_still(lying_trace(job_of(BOLT), 50, 3), job_of(BOLT)).all()


@pytest.mark.parametrize(("speed", "expected"), [(SPEED_M_S * 0.99, True), (SPEED_M_S * 1.01, False)])
def test_the_limit_of_speed_is_exact(job_of, speed, expected):
    assert lies_still(lying_trace(job_of(BOLT), 50, 20, speed=speed), job_of(BOLT)).all() == expected


def test_speed_counts_rotation_at_the_radius(job_of):
    job = job_of(BOLT)
    found = speeds(lying_trace(job, 50, 2, speed=0.003, spin=0.1), job)
    assert found[1, 0] == pytest.approx(0.003 + 0.1 * job.radii_m[0])


def test_the_window_begins_at_its_first_sample():
    assert window_start(np.arange(12) / 50)[[0, 5, 10, 11]].tolist() == [0, 0, 0, 1]
