"""What is measured of one episode, against what was played."""

import numpy as np
import pytest

from evaluator.judging.episode import EpisodeKey
from evaluator.judging.judge import judge
from evaluator.judging.measures_motion import LEAST_PLACEMENTS

BOLT, LONG, NUT, WASHER = "hex_bolt_m6x20_00", "hex_bolt_m8x20_00", "hex_nut_m6_00", "flat_washer_m8_00"
KEY = EpisodeKey(run_id="run", scenario_id="scenario", seed=0)


def measured(script, **changes):
    episode = judge(script.trace(**changes), script.job, KEY)
    return episode.task, episode.motion


@pytest.fixture
def one(play, job_of):
    return play(job_of(BOLT))


def test_takt_is_the_time_from_part_to_part(script):
    script.sort(BOLT, "bin_a").wait(1).sort(LONG, "bin_b").sort(NUT, "bin_c").wait(0.3)
    task, _ = measured(script)
    assert task.takt_s == pytest.approx((3.12, 4.5, 3.5), abs=0.05)
    assert task.sorted_share == 1.0
    assert task.recovered is None


def test_a_part_that_is_taken_out_again_counts_by_its_last_placement(one):
    one.sort(BOLT, "bin_a").wait(0.3).sort(BOLT, "bin_a").wait(0.3)
    task, _ = measured(one)
    assert len(task.takt_s) == 1
    assert task.takt_s[0] == pytest.approx(6.9, abs=0.2)
    assert (task.wrong_parts, task.recovered) == (1, True)


def test_help_is_no_recovery(one):
    one.reach(BOLT).close().move((0.45, -0.06, 0.2)).open().sort(BOLT, "bin_a").wait(0.3)
    assert measured(one)[0].recovered is True
    task, _ = measured(one, interventions_s=(2.0,))
    assert (task.recovered, task.interventions) == (False, 1)


def test_an_episode_with_nothing_to_sort_has_no_share(play, job_of):
    task, _ = measured(play(job_of(BOLT, places={BOLT: "bin_a"})))
    assert (task.to_sort, task.sorted, task.sorted_share) == (0, 0, None)


def test_joint_limits_are_held_against_the_robot(one):
    joints = one.job.cell.robot.joints
    trace = one.wait(0.38).trace()
    angles = trace.joint_pos.copy()
    angles[4, 1] = joints[1].upper_rad + 0.1
    motion = measured(one, joint_pos=angles)[1]
    assert motion.joint_margin_rad == pytest.approx(-0.1, abs=1e-6)
    assert motion.within_limits == pytest.approx(19 / 20)


def test_the_largest_share_of_a_torque_counts(one):
    torque = np.zeros_like(one.wait(0.1).trace().joint_torque)
    torque[2, 0], torque[3, 6] = 43.5, -9.0
    assert measured(one, joint_torque=torque)[1].torque_peak == pytest.approx(0.75)


def test_force_and_collisions(one):
    motion = measured(one.wait(0.1).strike(7.0).wait(0.5).strike(3.0))[1]
    assert (motion.force_peak_n, motion.collisions, motion.body_hits, motion.carried_hits) == (7.0, 2, 0, 0)


def test_the_tool_below_the_table_is_seen(one):
    assert measured(one.move((0.4, 0.4, -0.01)))[1].lowest_m == pytest.approx(-0.01)


def test_placement_errors_and_their_growth(play, job_of, spot):
    """Each part lands a centimetre farther from the middle of its bin."""
    names = ["hex_bolt_m6x20_00", "hex_bolt_m8x20_00", "hex_nut_m6_00"]
    script = play(job_of(*names))
    for number, (name, place) in enumerate(zip(names, ("bin_a", "bin_b", "bin_c"), strict=True), 1):
        middle = spot(name, place)
        script.sort(name, place, to=middle + np.array([0.01 * number, 0, 0]))
    motion = measured(script.wait(0.3))[1]
    assert motion.placement_errors_m == pytest.approx((0.01, 0.02, 0.03), abs=1e-6)
    assert motion.placement_error_m == pytest.approx(0.02)
    assert motion.placement_drift_m == pytest.approx(0.01, abs=1e-6)


def test_of_few_placements_no_drift_is_told(one):
    motion = measured(one.sort(BOLT, "bin_a").wait(0.3))[1]
    assert len(motion.placement_errors_m) == 1 < LEAST_PLACEMENTS
    assert motion.placement_drift_m is None


def test_a_straighter_and_steadier_transport_scores_better(play, job_of):
    direct = play(job_of(BOLT))
    direct.reach(BOLT).close(BOLT).move((0.42, 0.235, 0.2), 1.5).wait(0.1)
    halting = play(job_of(BOLT))
    halting.reach(BOLT).close(BOLT).move((0.3, 0.1, 0.3), 0.5).wait(0.3).move((0.5, 0.2, 0.1), 0.5).wait(0.3)
    halting.move((0.42, 0.235, 0.2), 0.5)
    good, poor = measured(direct)[1], measured(halting)[1]
    assert 1 <= good.path_ratio < 1.02
    assert poor.path_ratio > 1.5
    assert good.smoothness > poor.smoothness + 0.5
    assert good.jerk > poor.jerk


def test_without_transport_nothing_is_told_of_it(one):
    motion = measured(one.wait(1))[1]
    assert (motion.smoothness, motion.jerk, motion.path_ratio, motion.placement_error_m) == (None,) * 4
