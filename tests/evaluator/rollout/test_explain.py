"""Causes of a run's failures: which twins there are, that they are kept apart, and what follows from them."""

import pytest

from evaluator.judging.attribution import Cause, Rule
from evaluator.policies.registry import KINDS, Kind
from evaluator.report.run_report import run_report
from evaluator.rollout.explain import Explainer
from evaluator.rollout.kept import find_run, kept_runs, own_runs
from evaluator.rollout.run import Run
from evaluator.rollout.twins import Twin
from scenegen.errors import LibraryError
from scenegen.facet import Facet


@pytest.fixture(autouse=True)
def seeing(monkeypatch):
    """A policy that can be given the truth."""
    monkeypatch.setitem(KINDS, "seeing", Kind("nowhere", "seeing", truth="perception=truth"))


class Roller:
    """Rolls twins out: what happens in each is said by the run's policy."""

    def __init__(self, ground, ways):
        self.ground, self.ways, self.rolled = ground, ways, []

    def __call__(self, run: Run, scenarios, count):
        episodes = []
        for scenario in scenarios:
            self.rolled.append((run.policy, scenario))
            episodes.append(self.ground.play(run, scenario, lambda index, rng: self.ways[run.policy]))
        assert len(episodes) == count
        self.ground.keep(run, episodes)
        yield from episodes


def failing(ground, always, policy, how, rows):
    run = ground.run(policy)
    ground.keep(run, ground.play_all(run, rows, always(how)))
    return run


def explainer(ground, run, **options):
    return Explainer(ground.store, ground.snapshot, run.content_id, **options)


def of_axis(ground, axis):
    return [row for row in ground.rows if [one.axis for one in row.provenance.axes] == [axis]]


def bases_of(ground, rows):
    ids = {row.provenance.base_id for row in rows}
    return [row for row in ground.rows if row.scenario_id in ids]


def test_a_failure_in_other_light_has_the_truth_and_its_base_as_twins(ground, always):
    rows = of_axis(ground, "lighting")
    run = failing(ground, always, "seeing", "miss", rows)
    found = explainer(ground, run)
    by_twin = {twin: [one for one in found.twins if one.twin is twin] for twin in Twin}
    assert {twin: len(ones) for twin, ones in by_twin.items()} == dict.fromkeys(Twin, len(rows))
    # Light is all that differs from the base: in nominal light the scene is the base.
    assert {one.scenario_id for one in by_twin[Twin.NOMINAL_LIGHT]} == {row.provenance.base_id for row in rows}
    roller = Roller(ground, {"seeing?perception=truth": "good", "seeing": "good"})
    found.roll(roller)
    assert len(roller.rolled) == len(rows) + len(bases_of(ground, rows))
    explained = found.explained()
    assert {(one.attribution.cause, one.attribution.rule, one.attribution.perturbed) for one in explained} == {
        (Cause.PERCEPTION, Rule.IMAGE, True)
    }
    assert explainer(ground, run).missing == {}
    assert explainer(ground, run).explained() == explained


def test_the_truth_tells_perception_from_what_else_fails(ground, always):
    rows = of_axis(ground, "pose")
    for policy, way, expected in (
        ("seeing", "good", (Cause.PERCEPTION, Rule.TRUTH)),
        ("seeing?fast=1", "miss", (Cause.CONTROL, Rule.SAME_FAILURE)),
        ("seeing?fast=2", "wrong_bin", (Cause.UNKNOWN, Rule.OTHER_FAILURE)),
    ):
        run = failing(ground, always, policy, "miss", rows)
        found = explainer(ground, run)
        # Nothing but poses differs: no twin in nominal light.
        assert {one.twin for one in found.twins} == {Twin.TRUTH, Twin.UNPERTURBED}
        separator = "&" if "?" in policy else "?"
        found.roll(Roller(ground, {f"{policy}{separator}perception=truth": way, policy: "miss"}))
        assert {
            (one.attribution.cause, one.attribution.rule, one.attribution.perturbed) for one in found.explained()
        } == {(*expected, False)}


def test_bases_of_the_run_itself_are_not_rolled_out_again(ground, always):
    rows = of_axis(ground, "lighting")
    run = ground.run("seeing")
    bases = bases_of(ground, rows)
    ground.keep(run, ground.play_all(run, rows, always("slip")) + ground.play_all(run, bases, always("good")))
    found = explainer(ground, run)
    assert {one.run.policy for ones in found.missing.values() for one in ones} == {"seeing?perception=truth"}
    assert {one.attribution.rule for one in found.explained()} == {Rule.IMAGE}


def test_what_always_knows_the_truth_needs_no_twin_but_its_base(ground, always):
    rows = of_axis(ground, "lighting")
    run = ground.run("oracle")
    bases = bases_of(ground, rows)
    ground.keep(run, ground.play_all(run, rows, always("slip")) + ground.play_all(run, bases, always("good")))
    found = explainer(ground, run)
    assert found.missing == {}
    assert {(one.attribution.cause, one.attribution.perturbed) for one in found.explained()} == {(Cause.CONTROL, True)}


def test_twins_stand_apart_from_the_run_that_they_explain(ground, always):
    rows = of_axis(ground, "pose")
    run = failing(ground, always, "seeing", "miss", rows)
    before = run_report(ground.store, ground.snapshot, find_run(kept_runs(ground.store, ground.snapshot), "latest",
                        library="lib"))  # fmt: skip
    explainer(ground, run).roll(Roller(ground, {"seeing?perception=truth": "good", "seeing": "good"}))
    runs = kept_runs(ground.store, ground.snapshot)
    assert [one.id for one in own_runs(runs)] == [run.content_id]
    assert {one.run.explains for one in runs} == {None, run.content_id}
    after = run_report(ground.store, ground.snapshot, find_run(runs, "latest", library="lib"))
    assert after.card == before.card
    assert before.causes.rules == {Rule.NO_TWIN: len(rows)}
    assert after.causes.shares[Cause.PERCEPTION].hits == len(rows)


def test_a_limited_number_of_failures_is_explained_whatever_the_order(ground, always):
    rows = of_axis(ground, "pose") + of_axis(ground, "lighting")
    run = failing(ground, always, "seeing", "miss", rows[::-1])
    found = explainer(ground, run, most=2)
    assert [one.key.scenario_id for one in found.failures] == sorted(row.scenario_id for row in rows)[:2]
    assert len(found.explained()) == 2


def test_nominal_light_leaves_every_pose_as_it_is(ground, always):
    rows = of_axis(ground, "lighting")
    run = failing(ground, always, "seeing", "miss", rows[:1])
    found = explainer(ground, run)
    roller = Roller(ground, {"seeing?perception=truth": "good", "seeing": "good"})
    found.roll(roller)
    scene = ground.snapshot.scenario(rows[0])
    changed = {policy: scene.changed(twin) for policy, twin in roller.rolled}
    assert changed == {"seeing?perception=truth": frozenset(), "seeing": frozenset({Facet.LIGHTS})}


def test_a_run_that_is_not_there_is_named(ground):
    with pytest.raises(LibraryError, match="no run 'abc' - list runs with `scenegen report`"):
        Explainer(ground.store, ground.snapshot, "abc")


def test_a_run_comes_back_from_its_row_and_old_ones_keep_their_ids(ground):
    run = ground.run("seeing")
    assert Run.of(run.columns()) == run
    assert "explains" not in run.columns()["conditions"]
    twin = run.replaced(explains=run.content_id)
    assert Run.of(twin.columns()) == twin
    assert twin.content_id != run.content_id
