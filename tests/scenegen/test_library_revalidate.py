"""Re-validation: scenes whose checks have changed are checked again; what fails goes to quarantine and may return."""

import dataclasses

import pytest
from typer.testing import CliRunner

from library.curated import Action
from library.versioned import VersionedLibrary
from scenegen.cli import app
from scenegen.commands import recipe
from validators.check import finding
from validators.plan import CHECKS


def run(*arguments: str, expect: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == expect, done.output
    return done.stdout


def with_reach(monkeypatch, version: int, check) -> None:
    """Replace the reach check by another version of it."""
    changed = tuple(
        dataclasses.replace(one, version=version, run=check or one.run) if one.name == "reach" else one
        for one in CHECKS
    )
    monkeypatch.setattr(recipe, "all_checks", lambda: changed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    target = str(tmp_path_factory.mktemp("revalidate") / "lib")
    run("expand", "--axis", "lighting", "--n", "3", "--library", target, "--processes", "1", "--usd", "lazy")
    return target


def test_scenes_of_unchanged_checks_are_left_alone_and_changed_ones_go_to_quarantine_and_back(folder, monkeypatch):
    revalidate = ("library", "revalidate", folder, "--processes", "1")
    library = VersionedLibrary.open(folder)
    before = [row.scenario_id for row in library.at().rows()]
    assert run(*revalidate) == "every scene was checked by the checks of this version; nothing to do\n"

    with_reach(monkeypatch, 98, lambda *_: [finding("reach", "too_far", ["x"], "x is too far")])
    assert run(*revalidate, expect=1) == (
        "4 scenes checked again, 4 failed and are in quarantine\n  reach:too_far: 4\n"
    )
    assert list(library.at().rows()) == []
    assert library.at().curated.latest[Action.QUARANTINE][before[0]]["note"] == "revalidate: reach:too_far"
    verdict = library.at().verdict(next(iter(library.at().rows(everything=True))))
    assert verdict is not None
    assert (verdict.ok, verdict.statuses["reach@98"]) == (False, "failed")

    with_reach(monkeypatch, 99, None)
    assert run(*revalidate) == "4 scenes checked again, 0 failed and are in quarantine\n"
    assert [row.scenario_id for row in library.at().rows()] == before
    assert [row.scenario_id for row in library.at("main@0").rows()] == before
