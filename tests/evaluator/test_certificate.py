"""Certificates: the oracle's episodes say which scenes can be solved, in SQL and for choosing scenes."""

import pytest
from typer.testing import CliRunner

from library.certificate import Certificate, certificates, certified
from library.query import ask
from scenegen.cli import app
from scenegen.errors import LibraryError


@pytest.fixture
def played(ground, always):
    """The oracle sorts two scenes and fails on one; another policy sorts a fourth."""
    runs = {"oracle": ground.run("oracle"), "noop": ground.run("noop")}
    rows = ground.rows
    episodes = ground.play_all(runs["oracle"], rows[:2], always("good"))
    ground.keep(runs["oracle"], episodes + ground.play_all(runs["oracle"], rows[2:3], always("slip")))
    ground.keep(runs["noop"], ground.play_all(runs["noop"], rows[3:4], always("good")))
    return ground


def test_what_the_oracle_did_is_what_certificates_say(played):
    rows = played.rows
    found = list(certificates(played.snapshot))
    assert [(one.scenario_id, one.solved) for one in found] == [
        (rows[0].scenario_id, True),
        (rows[1].scenario_id, True),
        (rows[2].scenario_id, False),
    ]
    run = played.run("oracle", version=found[0].run_id)
    assert {one.simulator == run.simulator for one in found} == {True}
    assert found[0].takt_s == pytest.approx(3.6, abs=0.5)
    assert found[2].takt_s is None
    assert list(certificates(played.snapshot, scenario_id=rows[1].scenario_id)) == [found[1]]
    answer = ask(played.snapshot, "SELECT * FROM certificates WHERE solved")
    assert set(answer.columns) == set(Certificate.model_fields)
    assert len(list(answer.rows)) == 2


def test_scenes_are_chosen_by_certificates_of_the_same_simulator(played):
    rows, simulator = played.rows, played.run("oracle").simulator
    assert certified(rows[1:], played.snapshot, simulator=simulator) == [rows[1]]
    sentence = (
        f"{played.store.folder}: the oracle has sorted none of the chosen scenes under this simulator - "
        "run `scenegen evaluate --policy oracle` on them first"
    )
    for chosen, other in ((rows, {**simulator, "newton": "9"}), (rows[2:], simulator), ([], simulator)):
        with pytest.raises(LibraryError) as raised:
            certified(chosen, played.snapshot, simulator=other)
        assert str(raised.value) == sentence


def test_twins_certify_nothing(ground, always):
    run = ground.run("oracle", explains="another run")
    ground.keep(run, ground.play_all(run, ground.rows[:1], always("good")))
    assert list(certificates(ground.snapshot)) == []


def test_a_scene_is_shown_with_its_certificate(played):
    row = played.rows[0]
    done = CliRunner().invoke(app, ["show", row.scenario_id, "--library", str(played.store.folder)])
    assert f"the oracle sorts it, 3.6 s a part (run {played_run(played)}, cpu)" in done.output
    row = played.rows[2]
    done = CliRunner().invoke(app, ["show", row.scenario_id, "--library", str(played.store.folder)])
    assert f"the oracle does not sort it (run {played_run(played)}, cpu)" in done.output


def played_run(played):
    return next(certificates(played.snapshot)).run_id[:12]
