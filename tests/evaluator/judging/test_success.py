"""Success, exactly: each target lies released and at rest in its bin at the end, nothing is where it must not be."""

import numpy as np
import pytest

from evaluator.judging.observed import Observed
from evaluator.judging.rest import WINDOW_S
from evaluator.judging.success import item_ends, succeeds
from evaluator.judging.trace import EndReason

BOLT, LONG, NUT, WASHER = "hex_bolt_m6x20_00", "hex_bolt_m8x20_00", "hex_nut_m6_00", "flat_washer_m8_00"
SETTLED_S = WINDOW_S + 0.04


def ends(script, end=EndReason.DONE, **changes):
    found = item_ends(Observed.of(script.trace(end, **changes), script.job))
    return {one.name: one.ended for one in found}, succeeds(found)


@pytest.fixture
def one(play, job_of):
    """An episode with a single bolt, which belongs in bin_a."""
    return play(job_of(BOLT))


def test_a_part_that_is_dropped_into_its_bin_counts(one):
    assert ends(one.sort(BOLT, "bin_a")) == ({BOLT: "bin_a"}, True)


def test_a_part_that_is_still_held_over_its_bin_does_not_count(one, spot):
    one.pick(BOLT).bring("bin_a")
    one.move(spot(BOLT, "bin_a"), 0.4).wait(2)
    assert ends(one) == ({BOLT: "in-grip"}, False)


def test_a_part_counts_once_it_was_at_rest_and_untouched_for_the_whole_window(one, spot):
    one.pick(BOLT).bring("bin_a").move(spot(BOLT, "bin_a"), 0.4).open()
    released = 1 + max(i for i, row in enumerate(one.rows) if any(row["touch"]))
    one.wait(1)
    trace = one.trace()
    needed = released + round(WINDOW_S * 50)
    for samples, expected in ((needed, "in-grip"), (needed + 1, "bin_a"), (trace.samples, "bin_a")):
        found = item_ends(Observed.of(trace.until(samples), one.job))
        assert found[0].ended == expected, samples


def test_a_part_that_bounces_out_does_not_count(one):
    one.pick(BOLT).bring("bin_a").open()
    one.fall(BOLT, (0.47, 0.235, 0.01)).fall(BOLT, (0.5, 0.3, 0.06)).fall(BOLT, (0.5, 0.35, 0.0045)).wait(SETTLED_S)
    assert ends(one) == ({BOLT: "off-bins"}, False)


def test_a_part_that_rolls_in_its_bin_when_time_is_up_does_not_count_yet(one):
    one.pick(BOLT).bring("bin_a").open()
    one.fall(BOLT, (0.42, 0.235, 0.0085))
    one._play(0.5, lambda share: one.places.__setitem__(BOLT, np.array([0.42 + 0.02 * share, 0.235, 0.0085])))
    assert ends(one, EndReason.TIMEOUT) == ({BOLT: "in-motion"}, False)
    assert ends(one.wait(SETTLED_S), EndReason.TIMEOUT) == ({BOLT: "bin_a"}, True)


def test_a_part_that_spins_on_the_spot_is_not_at_rest(one):
    one.sort(BOLT, "bin_a")
    spin = np.zeros((len(one.rows), 1, 6))
    spin[:, 0, 5] = 1.0
    assert ends(one, item_vel=spin) == ({BOLT: "in-motion"}, False)


def test_two_parts_in_one_grip_are_judged_each_by_itself(play, job_of, spot):
    script = play(job_of(BOLT, NUT, places={NUT: (0.46, -0.05)}))
    script.pick(BOLT, NUT).bring("bin_a").open()
    script.fall(BOLT, spot(BOLT, "bin_a"), **{NUT: spot(NUT, (0.43, 0.25))}).wait(SETTLED_S)
    assert ends(script) == ({BOLT: "bin_a", NUT: "bin_a"}, False)


def test_a_part_in_a_wrong_bin_does_not_count(one, spot):
    assert ends(one.sort(BOLT, "bin_b")) == ({BOLT: "bin_b"}, False)


def test_a_part_on_the_rim_does_not_count(one):
    one.pick(BOLT).bring("bin_a").open()
    one.fall(BOLT, (0.42 + 0.066, 0.235, 0.0485)).wait(SETTLED_S)
    assert ends(one) == ({BOLT: "on-rim"}, False)


@pytest.mark.parametrize("end", [EndReason.DONE, EndReason.TIMEOUT])
def test_a_timeout_in_the_very_step_of_success_changes_nothing(one, end):
    """The first sample at which the part counts is the last one of the episode."""
    trace = one.sort(BOLT, "bin_a").trace(end)
    good = [n for n in range(1, trace.samples + 1) if succeeds(item_ends(Observed.of(trace.until(n), one.job)))]
    assert good == list(range(good[0], trace.samples + 1))
    assert item_ends(Observed.of(trace.until(good[0] - 1), one.job))[0].ended == "in-motion"


def test_what_lay_in_its_bin_at_the_start_counts_and_is_not_to_be_sorted(play, job_of):
    script = play(job_of(BOLT, NUT, places={BOLT: "bin_a"})).sort(NUT, "bin_c")
    found = item_ends(Observed.of(script.trace(), script.job))
    assert succeeds(found)
    assert [(one.placed, one.to_sort) for one in found] == [(True, False), (True, True)]


def test_what_lay_in_a_wrong_bin_at_the_start_must_be_moved(play, job_of):
    script = play(job_of(BOLT, places={BOLT: "bin_b"}))
    assert ends(script.wait(1)) == ({BOLT: "bin_b"}, False)
    assert ends(script.sort(BOLT, "bin_a")) == ({BOLT: "bin_a"}, True)


def test_a_foreign_part_may_lie_anywhere_but_in_a_bin(play, job_of):
    script = play(job_of(BOLT, WASHER)).sort(BOLT, "bin_a")
    assert ends(script) == ({BOLT: "bin_a", WASHER: "feed"}, True)
    assert ends(script.sort(WASHER, "bin_d")) == ({BOLT: "bin_a", WASHER: "bin_d"}, False)


def test_a_foreign_part_that_lay_in_a_bin_may_stay_there(play, job_of):
    script = play(job_of(BOLT, WASHER, places={WASHER: "bin_d"})).sort(BOLT, "bin_a")
    assert ends(script) == ({BOLT: "bin_a", WASHER: "bin_d"}, True)


def test_on_a_shaking_table_parts_rest_as_the_table_moves(play, job_of):
    """As fast as the table, they are at rest; faster, or carried off by it, they are not."""
    shaking = {"vibration_amplitude_m": 0.0003, "vibration_frequency_hz": 20.0}
    script = play(job_of(BOLT, places={BOLT: "bin_a"}, motion=shaking)).wait(1)
    calm = script.trace()
    swing = 2 * np.pi * 20 * calm.time_s

    def shaken(amplitude_m, creep_m_s=0.0):
        pose, velocity = calm.item_pose.copy(), calm.item_vel.copy()
        pose[:, 0, 0] += amplitude_m * np.sin(swing) + creep_m_s * calm.time_s
        velocity[:, 0, 0] = amplitude_m * 2 * np.pi * 20 * np.cos(swing) + creep_m_s
        return ends(script, item_pose=pose, item_vel=velocity)[1]

    assert shaken(0.0003)
    assert not shaken(0.0006)
    assert not shaken(0.0, creep_m_s=0.03)


def test_an_episode_of_one_sample_is_judged_by_how_it_began(play, job_of):
    assert ends(play(job_of(BOLT, places={BOLT: "bin_a"}))) == ({BOLT: "bin_a"}, True)
    assert ends(play(job_of(BOLT))) == ({BOLT: "feed"}, False)


def test_without_targets_there_is_nothing_that_could_fail(play, job_of):
    assert ends(play(job_of())) == ({}, True)
