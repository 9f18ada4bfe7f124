"""Each event from an episode in which it happens, and none from one in which it does not."""

import numpy as np
import pytest

from evaluator.judging.event import MISHAPS, EventKind
from evaluator.judging.strain import STAGNATION_S
from evaluator.judging.timeline import mishaps_of

BOLT, LONG, NUT, WASHER = "hex_bolt_m6x20_00", "hex_bolt_m8x20_00", "hex_nut_m6_00", "flat_washer_m8_00"
BESIDE = (0.45, 0.4)
"""A place on the table, far from every bin."""
NORMAL = ["approach", "contact", "grasp", "lift", "release", "placed"]


def kinds(events, item=None):
    return [event.kind.value for event in events if item is None or item in event.items]


def only(events, kind):
    (event,) = (event for event in events if event.kind is kind)
    return event


@pytest.fixture
def one(play, job_of):
    return play(job_of(BOLT))


@pytest.fixture
def two(play, job_of):
    """A bolt and, right beside it, a nut."""
    return play(job_of(BOLT, NUT, places={NUT: (0.46, -0.05)}))


def on_table(spot, name):
    return spot(name, BESIDE, floor_m=0.0)


def test_a_sorted_part_has_its_six_events_in_order(one):
    events = one.sort(BOLT, "bin_a").wait(0.3).events()
    assert kinds(events) == NORMAL
    assert {event.items for event in events} == {(BOLT,)}
    approach, contact, grasp, lift, release, placed = (event.time_s for event in events)
    # reach 0.6 + 0.4 s, close 0.2 s, lift 0.4 s, carry 1.2 s, open 0.2 s, fall 0.1 s
    assert 0.6 < approach < 1.0 < contact <= grasp == pytest.approx(1.2, abs=0.03)
    assert 1.2 < lift < 1.4
    assert (release, placed) == pytest.approx((2.9, 3.12), abs=0.03)
    assert only(events, EventKind.PLACED).zone == "bin_a"


def test_every_part_of_a_whole_task_has_them(script):
    script.sort(BOLT, "bin_a").sort(LONG, "bin_b").sort(NUT, "bin_c").wait(0.3)
    assert kinds(script.events()) == NORMAL * 3


def test_nothing_happens_while_nothing_happens(one):
    assert one.wait(1).events() == ()


def test_closing_on_air_near_a_part_is_a_miss(one):
    events = one.reach(BOLT).close().move((0.45, -0.06, 0.2)).events()
    assert kinds(events) == ["approach", "miss"]
    assert events[1].items == (BOLT,)


def test_a_part_that_is_squeezed_and_not_lifted_is_a_miss(one):
    events = one.reach(BOLT).close(touch=(BOLT,)).let_go(BOLT).move((0.45, -0.06, 0.2)).open().events()
    assert kinds(events) == ["approach", "contact", "grasp", "miss"]


def test_closing_far_from_every_part_is_no_miss(one):
    assert kinds(one.close().wait(1).open().events()) == []


def test_a_part_that_is_only_raised_a_little_is_not_lifted(one):
    one.reach(BOLT).close(BOLT).move((0.45, -0.06, 0.0145)).move((0.45, -0.06, 0.0085)).open().wait(0.3)
    assert kinds(one.events()) == ["approach", "contact", "grasp", "miss"]


def test_a_part_that_is_heaved_aside_is_not_lifted(two, spot):
    """The nut lies a centimetre higher for a moment, while a finger touches the bolt beside it."""
    two.reach(BOLT).close(BOLT)
    two._play(
        0.3, lambda share: two.places.__setitem__(NUT, spot(NUT, (0.46, -0.05)) + np.array([0, 0, 0.011 * share]))
    )
    assert kinds(two.wait(0.1).events(), NUT) == []


def test_an_episode_that_ends_in_a_grasp_has_missed_nothing_yet(one):
    assert "miss" not in kinds(one.reach(BOLT).close(BOLT).wait(0.3).events())
    assert "miss" in kinds(one.wait(0.4).events())


def test_a_part_that_comes_off_by_itself_slips_and_drops(one, spot):
    one.pick(BOLT).move((*BESIDE, 0.2)).let_go(BOLT).fall(BOLT, on_table(spot, BOLT)).wait(0.3)
    events = one.events()
    assert kinds(events) == ["approach", "contact", "grasp", "lift", "slip", "drop"]
    assert events[-1].zone == "off-bins"


def test_a_part_that_comes_off_over_the_feed_drops_too(one, spot):
    one.pick(BOLT).let_go(BOLT).fall(BOLT, spot(BOLT, (0.45, -0.06))).wait(0.3)
    assert kinds(one.events())[-2:] == ["slip", "drop"]


def test_a_part_that_falls_beside_the_tool_is_no_longer_carried(two, spot):
    """The bolt stays in the grip, and the nut falls past it."""
    two.pick(BOLT, NUT).wait(0.2).let_go(NUT).fall(NUT, spot(NUT, (0.46, -0.05))).wait(0.3)
    slip = only(two.events(), EventKind.SLIP)
    assert slip.items == (NUT,)
    assert slip.time_s == pytest.approx(1.8, abs=0.06)


def test_a_part_that_falls_soon_after_the_gripper_opened_was_let_go(one, spot):
    one.pick(BOLT).bring("bin_a")
    one._play(0.1, lambda share: setattr(one, "opening", 0.2 + 0.1 * share))
    one.wait(0.2).let_go(BOLT).fall(BOLT, spot(BOLT, "bin_a")).wait(0.3)
    assert kinds(one.events())[-2:] == ["release", "placed"]


def swing(script, name, seconds=1.0, *, size_m=0.01, rate_hz=3.5):
    """Let a part that is held by one end swing between the fingers, at up to 0.2 m/s."""
    hangs = script.places[name].copy()

    def change(share):
        script.places[name] = hangs + np.array([size_m * np.sin(2 * np.pi * rate_hz * seconds * share), 0, 0])

    return script._play(seconds, change)


def test_a_part_that_swings_between_the_fingers_is_carried_on(one, spot):
    swing(one.pick(BOLT).bring("bin_a"), BOLT).open().fall(BOLT, spot(BOLT, "bin_a")).wait(0.3)
    assert kinds(one.events()) == NORMAL


def test_a_swinging_part_that_the_fingers_snap_together_behind_has_slipped(one, spot):
    """As it turned, it had pushed the fingers apart: they had not opened by themselves."""
    swing(one.pick(BOLT).bring("bin_a"), BOLT)
    one._play(0.3, lambda share: setattr(one, "opening", 0.2 + 0.03 * share))
    one.wait(0.1).let_go(BOLT)
    one.opening = 0.1
    one.fall(BOLT, spot(BOLT, "bin_a")).wait(0.3)
    assert kinds(one.events())[-3:] == ["slip", "placed", "recovery"]


def test_a_part_that_leans_on_a_finger_after_it_was_let_go_is_released(one, spot):
    """Its bin stands higher than the feed, and the fingers stay with it for half a second."""
    one.pick(BOLT).bring("bin_a")
    one._play(0.2, lambda share: setattr(one, "opening", 0.2 + 0.2 * share))
    one.grip.clear()
    one.fall(BOLT, (0.42, 0.235, 0.03)).wait(0.5).let_go(BOLT).move((0.42, 0.235, 0.2), 0.4)
    events = kinds(one.events())
    assert events[:5] == NORMAL[:5]
    assert "slip" not in events


def test_fingers_that_creep_on_had_grasped_what_they_lifted(one, spot):
    one.pick(BOLT)
    one._play(1.0, lambda share: setattr(one, "opening", 0.2 - 0.03 * share))
    one.bring("bin_a").open().fall(BOLT, spot(BOLT, "bin_a")).wait(0.3)
    assert kinds(one.events()) == NORMAL


def test_a_part_that_slips_into_its_bin_is_placed_all_the_same(one, spot):
    one.pick(BOLT).bring("bin_a").let_go(BOLT).fall(BOLT, spot(BOLT, "bin_a")).wait(0.3)
    assert kinds(one.events())[-3:] == ["slip", "placed", "recovery"]


def test_a_part_that_is_let_go_over_the_table_drops(one, spot):
    one.pick(BOLT).move((*BESIDE, 0.2)).open().fall(BOLT, on_table(spot, BOLT)).wait(0.3)
    assert kinds(one.events())[-2:] == ["release", "drop"]


def test_a_part_that_is_let_go_over_the_feed_is_put_back(one, spot):
    one.pick(BOLT).move((0.5, 0.0, 0.05)).open().fall(BOLT, spot(BOLT, (0.5, 0.0))).wait(0.3)
    events = one.events()
    assert kinds(events)[-2:] == ["release", "put_back"]
    assert not MISHAPS & {event.kind for event in events}


def test_a_part_that_leaves_its_bin_again_bounces_out(one):
    one.pick(BOLT).bring("bin_a").open()
    one.fall(BOLT, (0.47, 0.235, 0.01)).fall(BOLT, (0.5, 0.3, 0.06)).fall(BOLT, (0.5, 0.35, 0.0045)).wait(0.3)
    assert kinds(one.events())[-2:] == ["release", "bounce_out"]


def test_a_part_in_another_bin_is_in_a_wrong_bin(one):
    events = one.sort(BOLT, "bin_d").wait(0.3).events()
    assert kinds(events)[-2:] == ["release", "wrong_bin"]
    assert events[-1].zone == "bin_d"


def test_a_foreign_part_is_a_wrong_part_and_every_bin_is_wrong(play, job_of):
    events = play(job_of(WASHER)).sort(WASHER, "bin_a").wait(0.3).events()
    assert kinds(events) == ["approach", "contact", "grasp", "lift", "wrong_part", "release", "wrong_bin"]


def test_a_part_that_lay_in_its_bin_is_a_wrong_part(play, job_of):
    events = play(job_of(BOLT, places={BOLT: "bin_a"})).sort(BOLT, "bin_a").wait(0.3).events()
    assert kinds(events) == ["contact", "grasp", "lift", "wrong_part", "release", "placed", "recovery"]


def test_two_parts_in_one_grip_are_a_double_pick(two, spot):
    two.pick(BOLT, NUT).bring("bin_a").open()
    two.fall(BOLT, spot(BOLT, "bin_a"), **{NUT: spot(NUT, (0.43, 0.25))}).wait(0.3)
    events = two.events()
    assert only(events, EventKind.DOUBLE_PICK).items == (BOLT, NUT)
    assert kinds(events, NUT)[-2:] == ["release", "wrong_bin"]
    assert kinds(events, BOLT)[-3:] == ["release", "placed", "recovery"]


def test_a_part_that_hangs_on_another_is_carried_too(two, spot):
    """No finger touches the nut, which rides on the bolt."""
    two.reach(BOLT).close(BOLT)
    two.grip.add(NUT)
    two.move((0.45, -0.06, 0.2)).wait(0.5).bring("bin_a")
    events = two.events()
    assert only(events, EventKind.DOUBLE_PICK).items == (BOLT, NUT)
    assert [event.items for event in events if event.kind is EventKind.LIFT] == [(BOLT,), (NUT,)]


def test_a_part_that_is_pushed_out_of_the_feed_is_displaced(one, spot):
    events = one.push(BOLT, on_table(spot, BOLT)).wait(0.3).events()
    assert kinds(events) == ["contact", "displaced"]


def test_a_part_that_is_pushed_about_in_the_feed_is_not(one, spot):
    assert kinds(one.push(BOLT, spot(BOLT, (0.48, 0.0))).wait(0.3).events()) == ["contact"]


def test_striking_a_fixture_is_one_collision_with_its_peak(one):
    one.wait(0.1).strike(5.0, 0.1).strike(30.0, 0.1).wait(0.04).strike(12.0, 0.1).wait(1).strike(0.5, 0.3)
    event = only(one.events(), EventKind.COLLISION)
    assert event.time_s == pytest.approx(0.12, abs=1e-6)
    assert event.value == 30.0


def test_hitting_a_part_with_the_arm_is_told(one):
    one.body.add(BOLT)
    one.wait(0.1)
    one.body.clear()
    assert kinds(one.wait(0.3).events()) == ["body_hit"]


def test_a_carried_part_strikes_what_it_does_not_belong_to(one):
    """The feed that it came from and its own bin it may touch."""
    one.struck = {BOLT: 1}
    one.pick(BOLT)
    one.struck = {}
    one.move((0.45, 0.0, 0.2))
    one.struck = {BOLT: 3}
    one.wait(0.1)
    one.struck = {BOLT: 2}
    event = only(one.wait(0.1).events(), EventKind.CARRIED_HIT)
    assert (event.items, event.zone) == ((BOLT,), "bin_b")


@pytest.mark.parametrize("how", ["force", "torque"])
def test_pushing_without_moving_is_a_jam(one, how):
    one.wait(0.2)
    one.force, one.torque_share = (60.0, 0.1) if how == "force" else (0.0, 0.95)
    one.wait(0.4)
    assert "jam" not in kinds(one.events())
    one.wait(0.2)
    assert kinds(one.events()).count("jam") == 1


def test_pushing_while_moving_is_no_jam(one):
    one.torque_share = 0.95
    assert "jam" not in kinds(one.move((0.5, 0.2, 0.2), 3.0).events())


def test_what_was_not_recorded_is_not_told(one):
    one.force, one.torque_share, one.struck = 60.0, 0.95, {BOLT: 3}
    one.body.add(BOLT)
    one.wait(1)
    unknown = dict.fromkeys(("fixture_force", "joint_torque", "body_touch", "item_fixture"))
    assert kinds(one.events(**unknown)) == []


def test_standing_still_with_something_left_is_stagnation(one):
    one.move((0.4, 0.1, 0.3)).wait(STAGNATION_S - 0.2)
    assert kinds(one.events()) == []
    event = only(one.wait(1).move((0.5, 0, 0.3)).events(), EventKind.STAGNATION)
    assert event.time_s == pytest.approx(0.6, abs=0.15)
    assert event.value == pytest.approx(STAGNATION_S + 0.8, abs=0.3)


def test_a_gripper_that_moves_is_not_standing_still(one):
    one._play(STAGNATION_S + 1, lambda share: setattr(one, "opening", 1 - share))
    assert "stagnation" not in kinds(one.events())


def test_standing_still_when_all_is_sorted_is_not(one):
    assert "stagnation" not in kinds(one.sort(BOLT, "bin_a").wait(STAGNATION_S + 1).events())


def test_a_second_try_recovers(one, spot):
    one.reach(BOLT).close().move((0.45, -0.06, 0.2)).open().sort(BOLT, "bin_a").wait(0.3)
    events = one.events()
    assert kinds(events)[:2] == ["approach", "miss"]
    assert kinds(events)[-2:] == ["placed", "recovery"]
    assert mishaps_of(events, BOLT) == ()
    before = [event for event in events if event.time_s < events[-2].time_s]
    assert [event.kind for event in mishaps_of(before, BOLT)] == [EventKind.MISS]


def test_interventions_are_told(one):
    event = only(one.wait(1).events(interventions_s=(0.5,)), EventKind.INTERVENTION)
    assert event.time_s == 0.5


def test_flickering_contact_is_one_contact_and_one_carry(one):
    one.sort(BOLT, "bin_a").wait(0.3)
    touch = one.trace().finger_touch
    flicker = touch.copy()
    held = np.flatnonzero(touch[:, 0])[3:-1]
    flicker[held[held % 3 == 0]] = False
    assert kinds(one.events(finger_touch=flicker)) == NORMAL


def test_events_are_in_order_of_time(script, spot):
    script.sort(BOLT, "bin_b").sort(BOLT, "bin_a").strike(50).pick(LONG).bring("bin_b").let_go(LONG)
    events = script.fall(LONG, spot(LONG, "bin_b")).wait(0.3).events()
    assert [event.time_s for event in events] == sorted(event.time_s for event in events)
