"""One category for each way to fail, and when it began."""

import pytest

from evaluator.judging.category import LINK_S, FailureCategory, failure_of
from evaluator.judging.observed import Observed
from evaluator.judging.success import item_ends, succeeds
from evaluator.judging.timeline import timeline
from evaluator.judging.trace import EndReason

BOLT, LONG, NUT, WASHER = "hex_bolt_m6x20_00", "hex_bolt_m8x20_00", "hex_nut_m6_00", "flat_washer_m8_00"
BESIDE = (0.45, 0.4)
DONE, TIMEOUT = EndReason.DONE, EndReason.TIMEOUT


def miss(script, spot):
    return script.reach(BOLT).close().move((0.45, -0.06, 0.2)).open()


def slip(script, spot):
    fallen = spot(BOLT, BESIDE, floor_m=0.0)
    return script.pick(BOLT).move((*BESIDE, 0.2)).let_go(BOLT).fall(BOLT, fallen).wait(0.3)


def drop(script, spot):
    return script.pick(BOLT).move((*BESIDE, 0.2)).open().fall(BOLT, spot(BOLT, BESIDE, floor_m=0.0)).wait(0.3)


def bounce_out(script, spot):
    script.pick(BOLT).bring("bin_a").open().fall(BOLT, (0.47, 0.235, 0.01))
    return script.fall(BOLT, (0.5, 0.3, 0.06)).fall(BOLT, (0.5, 0.35, 0.0045)).wait(0.3)


def wrong_bin(script, spot):
    return script.sort(BOLT, "bin_b").wait(0.3)


def displaced(script, spot):
    return script.push(BOLT, spot(BOLT, BESIDE, floor_m=0.0)).wait(0.3)


def double_pick(script, spot):
    script.pick(NUT, BOLT).bring("bin_c").open()
    return script.fall(NUT, spot(NUT, "bin_c"), **{BOLT: spot(BOLT, (0.43, -0.25))}).wait(0.3)


def crash(script, spot):
    return script.wait(0.5).strike(60.0)


def crash_then_miss(script, spot):
    script.reach(BOLT)
    return script.strike(60.0).close().move((0.45, -0.06, 0.2))


def touch_then_miss(script, spot):
    script.reach(BOLT)
    return script.strike(6.0).close().move((0.45, -0.06, 0.2))


def jam(script, spot):
    script.wait(0.2)
    script.torque_share = 0.95
    script.wait(0.6)
    script.torque_share = 0.1
    return script.move((0.3, 0.1, 0.3))


def stand(script, spot):
    return script.move((0.4, 0.1, 0.3)).wait(4)


def hover(script, spot):
    return script.move((0.45, -0.06, 0.2)).move((0.45, -0.06, 0.03)).move((0.45, -0.06, 0.2))


def wander(script, spot):
    return script.move((0.3, 0.3, 0.3)).move((0.3, -0.3, 0.3))


def under_way(script, spot):
    return script.pick(BOLT).move((0.42, 0.235, 0.2))


def miss_then_under_way(script, spot):
    return under_way(miss(script, spot), spot)


def miss_then_grasp(script, spot):
    return miss(script, spot).reach(BOLT).close(BOLT)


def wrong_bin_then_touch(script, spot):
    """The gripper closes on the part in the wrong bin, and leaves it there."""
    spoilt = wrong_bin(script, spot).move(spot(BOLT, "bin_b")).close(touch=(BOLT,)).let_go(BOLT).open()
    return spoilt.move((0.5, 0.0, 0.2))


def wait_then_intrude(script, spot):
    return script.sort(BOLT, "bin_a").sort(WASHER, "bin_a").wait(0.3)


def push_and_leave(script, spot):
    return script.push(BOLT, spot(BOLT, (0.48, 0.0))).move((0.3, 0.1, 0.3))


CASES = [
    (miss, DONE, "grasp_miss", 1.2),
    (slip, DONE, "grasp_slip", 2.2),
    (drop, DONE, "drop", 2.6),
    (bounce_out, DONE, "bounce_out", 3.3),
    (wrong_bin, DONE, "wrong_destination", 3.1),
    (displaced, DONE, "displaced", 0.5),
    (double_pick, DONE, "double_pick", 1.3),
    (crash, DONE, "collision", 0.5),
    (crash_then_miss, DONE, "collision", 1.0),
    (touch_then_miss, DONE, "grasp_miss", 1.3),
    (jam, DONE, "jam", 0.2),
    (stand, TIMEOUT, "stagnation", 0.6),
    (hover, TIMEOUT, "approach_failure", 1.0),
    (wander, DONE, "overlooked", None),
    (wander, TIMEOUT, "timeout", None),
    (under_way, TIMEOUT, "timeout", None),
    (miss_then_under_way, TIMEOUT, "recovery_failed", 1.2),
    (miss_then_grasp, TIMEOUT, "recovery_failed", 1.2),
    (wrong_bin_then_touch, DONE, "wrong_destination", 3.1),
    (wait_then_intrude, DONE, "wrong_object", 4.8),
    (push_and_leave, DONE, "unknown", None),
    (push_and_leave, TIMEOUT, "timeout", None),
]


def failure(script, end):
    seen = Observed.of(script.trace(end), script.job)
    items = item_ends(seen)
    assert not succeeds(items)
    return failure_of(items, timeline(seen), end, contact_force_n=script.job.cell.limits.contact_force_n)


@pytest.mark.parametrize(("act", "end", "category", "began_s"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_each_failure_has_its_category(play, job_of, spot, act, end, category, began_s):
    script = play(job_of(BOLT, NUT, WASHER, places={NUT: "bin_c"} if act is not double_pick else {NUT: (0.46, -0.05)}))
    found = failure(act(script, spot), end)
    assert found.category == category
    assert found.began_s == (None if began_s is None else pytest.approx(began_s, abs=0.15))


def test_the_cases_show_every_category():
    assert {category for _, _, category, _ in CASES} == set(FailureCategory)


def test_what_was_recovered_from_is_no_cause(play, job_of, spot):
    """The bolt was missed first, and sorted then; it is the nut that is in a wrong bin."""
    script = miss(play(job_of(BOLT, NUT)), spot).sort(BOLT, "bin_a").sort(NUT, "bin_d").wait(0.3)
    assert failure(script, DONE).category is FailureCategory.WRONG_DESTINATION


def test_the_first_error_that_was_not_recovered_from_is_the_cause(play, job_of, spot):
    script = wrong_bin(play(job_of(BOLT, NUT)), spot).reach(NUT).close().move((0.5, 0, 0.2))
    assert failure(script, DONE).category is FailureCategory.WRONG_DESTINATION


def test_an_error_that_a_lift_made_good_is_not_the_cause(play, job_of, spot):
    """Missed, picked at the second try, and then lost."""
    script = play(job_of(BOLT))
    assert failure(slip(miss(script, spot), spot), DONE).category is FailureCategory.GRASP_SLIP


def test_a_blow_long_before_an_error_is_not_its_cause(play, job_of, spot):
    script = play(job_of(BOLT)).strike(60.0).wait(LINK_S)
    assert failure(miss(script, spot), DONE).category is FailureCategory.GRASP_MISS


def test_a_jam_that_work_went_on_after_is_not_the_cause(play, job_of, spot):
    script = jam(play(job_of(BOLT, NUT)), spot).sort(BOLT, "bin_a").move((0.3, 0.2, 0.3)).wait(0.3)
    assert failure(script, DONE).category is FailureCategory.OVERLOOKED
