"""A run summed up: with intervals, by axis and level, and with what is missing in plain view."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.judging.machine_use import MachineUse
from evaluator.judging.measure_table import MEASURES
from evaluator.judging.measures_timing import Latencies
from evaluator.judging.scorecard import Scorecard, score
from scenegen.errors import UnknownName
from scenegen.streams import stream
from validators.intervals import wilson

CALLS = ("latency", "latency_p99", "latency_max", "latency_jitter")


@pytest.fixture(scope="module")
def summed(cell):
    return lambda episodes, origins, **options: score(episodes, origins, cell.limits, rng=stream("card"), **options)


def bases(origin, count):
    return {f"b{index:03}": origin(f"b{index:03}") for index in range(count)}


def numbers(card):
    """All numbers of a scorecard that may be infinite or no number."""
    for one in (*card.measures.values(), card.success.rate, *(level.success.rate for level in card.levels)):
        yield from (value for value in (one.value, one.low, one.high) if value is not None)
    yield from (card.success.worst_low, card.success.worst_high)


@pytest.mark.parametrize("count", [0, 1, 2, 30])
@pytest.mark.parametrize("outcome", ["success", "failure", "policy_error", "physics_invalid", "infra_error"])
def test_runs_that_are_empty_or_all_alike_give_finite_figures(summed, episode, origin, count, outcome):
    origins = bases(origin, count)
    card = summed([episode(scene, outcome) for scene in origins], origins)
    assert all(math.isfinite(number) for number in numbers(card))
    assert card.episodes == count
    assert list(card.measures) == [*(measure.name for measure in MEASURES), *CALLS]
    for measure in MEASURES:
        estimate = card.measures[measure.name]
        if measure.is_share:
            assert 0 <= estimate.low <= estimate.high <= 1
    if outcome != "infra_error" and count:
        expected = wilson(count if outcome == "success" else 0, count)
        assert (card.success.rate.low, card.success.rate.high) == pytest.approx(expected, abs=1e-6)
        assert card.refusal is None
    elif count:
        assert (card.success.rate.value, card.success.missing) == (None, count)
        assert (card.success.worst_low, card.success.worst_high) == (0.0, 1.0)
        assert card.refusal == f"{count} of {count} episodes are missing - accepted: at most 5% of them"
    else:
        assert card.refusal == "there are no episodes - accepted: one at least"
    assert Scorecard.from_json(card.canonical_json()) == card


def test_figures_of_a_small_run(summed, episode, origin):
    origins = bases(origin, 6)
    rows = [
        episode("b000", latencies=Latencies.of([0.1, 0.3])),
        episode("b001", task={"takt_s": (9.0,), "sorted": 2}, motion={"torque_peak": 1.5, "jerk": None}),
        episode("b002", task={"mishaps": 2, "drops": 2, "recovered": True}, motion={"collisions": 3}),
        episode(
            "b003", "failure", task={"mishaps": 1, "missorted": 4, "recovered": False}, motion={"force_peak_n": 99.0}
        ),
        episode("b004", "failure", category="collision", motion={"collisions": None, "force_peak_n": None}),
        episode("b005", "physics_invalid"),
    ]
    card = summed(rows, origins, machine=MachineUse(worlds=4))
    shown = {
        name: str(card.measures[name]) for name in ("sorted", "missorted", "recovered", "with_drop", "with_collision")
    }
    assert shown == {
        "sorted": "0.9 [0.4629, 0.9895] (n = 20)",  # five bases of four parts: Wilson of 4.5 in 5
        "missorted": "0.1818 [0.02681, 0.6419] (n = 22)",  # bases of 4, 2, 4, 8 and 4: worth 22 / 5.27 trials
        "recovered": "0.5 [0.09453, 0.9055] (n = 2)",
        "with_drop": "0.2 [0.03622, 0.6245] (n = 5)",
        "with_collision": "0.25 [0.04559, 0.6994] (n = 4)",
    }
    assert card.measures["within_torque"].value == pytest.approx(0.8)
    assert (card.measures["within_force"].value, card.measures["within_force"].unknown) == (0.75, 1)
    assert (card.measures["jerk"].count, card.measures["jerk"].unknown) == (4, 1)
    takt = card.measures["takt"]
    assert (takt.count, takt.groups) == (17, 5)
    assert takt.value == pytest.approx((4 * 20 + 9) / 17)
    assert takt.low < takt.value < takt.high
    assert card.measures["takt_kept"].value == pytest.approx(16 / 17)
    assert card.measures["mishaps"].value == pytest.approx(0.6)
    assert card.measures["latency"].value == pytest.approx(0.2)
    assert card.measures["latency_max"].value == pytest.approx(0.3)
    assert (card.measures["latency"].unknown, card.measures["latency"].low) == (4, None)
    assert card.outcomes == {"success": 3, "failure": 2, "physics_invalid": 1}
    assert card.categories == {"grasp_miss": 1, "collision": 1}
    assert card.success.rate.value == 0.5
    assert card.machine.worlds == 4


def test_success_by_axis_and_level(summed, episode, origin):
    origins = {
        "base": origin("base"),
        "dim": origin("base", "lighting", level=2),
        "dark": origin("base", "lighting", level=4),
        "darker": origin("base", "lighting", level=4),
        "both": origin("base", "lighting", "tilt", level=3),
    }
    rows = [episode(scene, "failure" if scene.startswith("dark") else "success") for scene in origins]
    found = {(row.axis, row.level): (row.success.rate.value, row.categories) for row in summed(rows, origins).levels}
    assert found == {
        ("", 0): (1, {}),
        ("lighting", 2): (1, {}),
        ("lighting", 4): (0, {"grasp_miss": 2}),
        ("lighting+tilt", 3): (1, {}),
    }


def test_what_is_missing_widens_the_result_and_refuses_it(summed, episode, origin):
    """Hard scenes that crash must not make a run look better."""
    origins = bases(origin, 40)
    rows = [episode(scene) for scene in origins]
    all_there = summed(rows, origins)
    lost = [episode(scene, "infra_error") for scene in list(origins)[:3]]
    card = summed([*lost, *rows[3:]], origins)
    assert card.refusal == "3 of 40 episodes are missing - accepted: at most 5% of them"
    assert card.success.rate.value == 1.0
    assert (card.success.worst_low, card.success.worst_high) == pytest.approx((wilson(37, 40)[0], 1.0), abs=1e-6)
    assert card.success.worst_low < all_there.success.rate.low
    assert all_there.refusal is None


def test_one_lost_episode_never_makes_a_result_surer(summed, episode, origin):
    """Where all agree groups count as one trial each; an episode that is taken as a failure must not undo that."""
    origins = {f"b{base}v{index}": origin(f"b{base}", "glare") for base in range(10) for index in range(20)}
    rows = [episode(scene) for scene in origins]
    card = summed([episode("b0v0", "infra_error"), *rows[1:]], origins)
    assert card.success.worst_low <= card.success.rate.low == pytest.approx(wilson(10, 10)[0], abs=2e-3)


def test_physics_that_broke_after_contact_counts_as_a_failure(summed, episode, origin):
    origins = bases(origin, 2)
    rows = [episode("b000", "physics_invalid", touched=True), episode("b001", "physics_invalid", touched=False)]
    card = summed(rows, origins)
    assert (card.success.rate.value, card.success.rate.count, card.success.missing) == (0.0, 1, 1)


def test_variants_of_one_base_widen_the_interval(summed, episode, origin):
    origins = {f"b{base}v{index}": origin(f"b{base}", "glare") for base in range(10) for index in range(20)}
    rows = [episode(scene, "failure" if scene < "b5" else "success") for scene in origins]
    rate = summed(rows, origins).success.rate
    assert (rate.count, rate.groups) == (200, 10)
    assert (rate.low, rate.high) == pytest.approx(wilson(5, 10), abs=1e-6)


outcomes = st.sampled_from(["success", "failure", "policy_error", "physics_invalid", "infra_error"])


@settings(max_examples=10)
@given(st.lists(outcomes, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_episodes_does_not_matter(summed, episode, origin, drawn, shuffle):
    origins = bases(origin, len(drawn))
    rows = [episode(scene, outcome) for scene, outcome in zip(origins, drawn, strict=True)]
    card = summed(rows, origins)
    mixed = [*rows, rows[0]]
    shuffle.shuffle(mixed)
    assert summed(mixed, origins) == card


def test_an_unknown_scenario_is_an_error(summed, episode):
    with pytest.raises(UnknownName, match=r"^unknown scenario 'stranger' - accepted: $"):
        summed([episode("stranger")], {})
