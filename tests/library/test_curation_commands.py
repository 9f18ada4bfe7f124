"""Dropping, reviewing, quarantine, dedup, split and diff as commands: one commit each, refusals in one sentence."""

import json

import pytest
from typer.testing import CliRunner

from library.curated import Action, decision
from library.versioned import Changes, Signature
from scenegen.cli import app
from scenegen.errors import LibraryError


@pytest.fixture
def scenegen(kept):
    """Runs a command on a library of its own; returns what it prints, or raises what it raises."""

    def run(*arguments, expect=0):
        done = CliRunner().invoke(app, [str(one) for one in arguments])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == expect, done.output
        return done.output

    return run


@pytest.fixture
def ids(scene_maker):
    return [scene_maker.scenario(index).id for index in range(7)]


def visible(library):
    return {row.scenario_id for row in library.at().rows()}


def test_drop_leaves_scenes_out_and_restore_takes_them_back(scenegen, kept, ids):
    before = visible(kept)
    said = scenegen("library", "drop", ids[0][:10], ids[1], "--reason", "blurred", "--library", kept.folder)
    commit = kept.history.head("main")
    assert said == f"dropped 2 scenes; committed as main@{commit.number} ({commit.content_id[:12]})\n"
    assert commit.message == "dropped 2 scenes: blurred"
    assert before - visible(kept) == {ids[0], ids[1]}
    assert kept.at().curated.latest[Action.DROP][ids[0]]["note"] == "blurred"
    scenegen("library", "drop", ids[0], "--restore", "--reason", "it is good", "--library", kept.folder)
    assert before - visible(kept) == {ids[1]}
    assert {row.scenario_id for row in kept.at(f"main@{commit.number - 1}").rows()} == before


def test_what_is_so_already_makes_no_commit(scenegen, kept, ids):
    head = kept.history.head("main")
    said = scenegen("library", "drop", ids[0], "--restore", "--reason", "good", "--library", kept.folder)
    assert said == f"{ids[0][:12]} is not dropped\nnothing to commit\n"
    assert kept.history.head("main") == head


def test_quarantine_and_release(scenegen, kept, ids):
    scenegen("library", "quarantine", ids[2], "--reason", "looks odd", "--library", kept.folder)
    assert ids[2] not in visible(kept)
    scenegen("library", "quarantine", ids[2], "--release", "--library", kept.folder)
    assert ids[2] in visible(kept)


def test_reviews(scenegen, kept, ids):
    scenegen("library", "review", ids[3], "reject", "--note", "no part is in reach", "--library", kept.folder)
    assert ids[3] not in visible(kept)
    scenegen("library", "review", ids[3][:12], "label", "--label", "hard-light", "--library", kept.folder)
    assert kept.at().curated.value(Action.REVIEW, ids[3]) == "hard-light"
    assert ids[3] in visible(kept)
    scenegen("library", "review", ids[3], "accept", "--library", kept.folder)
    assert kept.history.head("main").message == f"review {ids[3][:12]}: accepted"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["drop", "ID"], "--reason '' - accepted: a sentence that says why"),
        (["drop", "ID", "--reason", " "], "--reason ' ' - accepted: a sentence that says why"),
        (["quarantine", "ID"], "--reason '' - accepted: a sentence that says why"),
        (["review", "ID", "reject"], "--note '' - accepted: a sentence that says why"),
        (
            ["review", "ID", "label", "--label", "two words"],
            "--label 'two words' - accepted: one word of letters, digits, _ and -, but not accepted or rejected",
        ),
        (
            ["review", "ID", "accept", "--label", "good"],
            "--label good - accepted: a label only with `label`, not with `accept`",
        ),
        (["drop", "fff0", "--reason", "x"], "FOLDER: no scenario 'fff0' - list ids with `scenegen library list`"),
        (["drop", "ID", "--reason", "x", "--branch", "trail"], "unknown branch 'trail' - did you mean 'trial'?"),
        (
            ["drop", "ID", "--reason", "x", "--library", "FOLDER@main@1"],
            "LIBRARY FOLDER@main@1 - accepted: a folder alone; decisions go to a branch: FOLDER --branch main@1",
        ),
    ],
)
def test_refusals_say_what_would_be_accepted(scenegen, kept, ids, arguments, sentence):
    head, folder = kept.history.head("main"), str(kept.folder)
    words = [ids[0] if one == "ID" else one.replace("FOLDER", folder) for one in arguments]
    with pytest.raises(Exception) as error:  # noqa: PT011 - whatever it is, the sentence is what counts
        scenegen("library", words[0], *([] if "--library" in words else ["--library", folder]), *words[1:])
    assert str(error.value) == sentence.replace("FOLDER", folder)
    assert kept.history.head("main") == head


def test_dedup_reports_and_drops_all_but_the_first(scenegen, kept, ids):
    facts = json.loads(scenegen("library", "dedup", kept.folder, "--threshold", "temperature=25K", "--json"))
    near = {group["first"]: [one["scenario_id"] for one in group["near"]] for group in facts["groups"]}
    assert near == {ids[0]: ids[1:3], ids[3]: ids[4:6]}
    assert facts["groups"][0]["near"][0]["by"] == "0.4: temperature 10 K"
    said = scenegen("library", "dedup", kept.folder, "--threshold", "temperature=25K", "--drop")
    assert "4 of 8 scenes are near-duplicates of 2 others" in said
    assert kept.at().curated.latest[Action.DROP][ids[1]]["note"] == (
        f"near-duplicate of {ids[0]} (distance 0.4: temperature 10 K)"
    )
    assert visible(kept).isdisjoint({*ids[1:3], *ids[4:6]})
    again = scenegen("library", "dedup", kept.folder, "--threshold", "temperature=25K", "--drop")
    assert again == "0 of 4 scenes are near-duplicates of 0 others\nnothing to commit\n"


def test_split_assigns_each_base_once(scenegen, kept, base_scenario):
    facts = json.loads(scenegen("library", "split", kept.folder, "--json"))
    assert facts["splits"] == {base_scenario.id: "train"}
    assert facts["strata"][0] == {
        "stratum": "bases",
        "level": None,
        "counts": {"train": 1},
        "deviation": {"train": 0.2, "hold-out": -0.2},
    }
    assert kept.at().curated.splits == facts["splits"]
    assert kept.history.head("main").message == "split 1 bases: train=0.8,hold-out=0.2"
    said = scenegen("library", "split", kept.folder, "--shares", "train=0.5,hold-out=0.5")
    assert said.endswith("nothing to commit\n")


def test_diff_prints_counts_and_what_changed(scenegen, kept, ids):
    said = scenegen("library", "diff", "main@0", "main@1", kept.folder, "--limit", "1")
    assert "lighting 1" in said
    assert "and 2 more scenes; --limit shows more" in said
    assert scenegen("library", "diff", "v1", "main@0", kept.folder) == "no difference between v1 and main@0\n"
    other = f"{kept.folder}@main@1"
    facts = json.loads(scenegen("library", "diff", "main@0", other, kept.folder, "--json"))
    assert {one["scenario_id"] for one in facts["added"]} == set(ids[4:7])


def test_a_split_is_not_published_over_what_came_meanwhile(kept, base_scenario):
    stale = kept.at().commit
    kept.publish(Changes(files=kept.keep_file("records/note.json", b"{}")), Signature("another writer"))
    row = decision(Action.SPLIT, base_scenario.id, "train", note="", author="tests", time="2026-03-01")
    with pytest.raises(LibraryError) as error:
        kept.publish(Changes({"curation": [row]}), Signature("split"), onto=stale)
    assert str(error.value) == f"{kept.folder}: branch main was changed meanwhile - run the command again"
    assert kept.publish(Changes({"curation": [row]}), Signature("split"), onto=kept.at().commit) is not None
