"""`gc`: what no version needs goes when it is old enough; everything else stays, whatever happens meanwhile."""

import os
import time

import pytest
from typer.testing import CliRunner

from library import gc
from library.gc import GRACE_S, clear
from library.journal import Journal
from library.layers import Layers
from library.verify import verify
from library.versioned import Signature, VersionedLibrary
from scenegen.commands.library_gc import app, parse_duration
from scenegen.errors import InvalidOption, LibraryError

DAY_S = 86_400.0
ORPHANS = ("usd/v1/scenes/ab/abc.usda", "usd/v1/assets/old_123.usdc", "records/123.json", "scratch/1-2")


def age(library: VersionedLibrary, seconds: float, folder: str = "") -> float:
    """Make all files that much older; return the time now."""
    now = time.time()
    for listed in library.files.list(folder):
        os.utime(library.files.local(listed.path), (now - seconds, now - seconds))
    return now


def add_orphans(library: VersionedLibrary) -> None:
    for path in ORPHANS:
        library.files.put(path, b"nobody needs this")


def contents(library: VersionedLibrary) -> dict[str, list[str]]:
    return {
        name: [row.canonical_json() for row in library.at(name).rows(everything=True)]
        for name in ("main", "v1", "trial")
    }


def test_only_old_files_of_no_version_go(kept):
    add_orphans(kept)
    before = contents(kept)
    assert clear(kept, now_s=time.time()).paths == ()
    loose = verify(kept).unreferenced
    now = age(kept, DAY_S + 1)
    cleared = clear(kept, now_s=now)
    assert set(cleared.paths) == set(loose) | {"scratch/1-2"}
    assert (cleared.young, cleared.bytes > 4 * len(b"nobody needs this")) == (0, True)
    report = verify(kept, deep=True)
    assert (report.ok, report.unreferenced) == (True, ())
    assert contents(kept) == before


def test_what_is_left_takes_more_scenes(kept, scene_maker):
    clear(kept, now_s=age(kept, DAY_S + 1))
    scene_maker.keep(kept, range(8, 10))
    assert len(list(kept.at().rows())) == 10
    assert verify(kept).ok


def test_a_dry_run_removes_nothing(kept):
    add_orphans(kept)
    now = age(kept, DAY_S + 1)
    before = {listed.path for listed in kept.files.list("")}
    planned = clear(kept, now_s=now, dry_run=True)
    assert {listed.path for listed in kept.files.list("")} == before
    assert clear(kept, now_s=now) == planned
    assert before - {listed.path for listed in kept.files.list("")} == set(planned.paths)


@pytest.mark.parametrize(("age_s", "goes"), [(GRACE_S + 1, True), (GRACE_S - 60, False), (-3 * DAY_S, False)])
def test_the_grace_protects_what_is_young_or_of_the_future(kept, age_s, goes):
    add_orphans(kept)
    now = age(kept, age_s)
    assert (set(ORPHANS) <= set(clear(kept, now_s=now).paths)) is goes
    assert kept.files.local(ORPHANS[0]).exists() is not goes


def test_closed_branches_expire_and_their_commits_stay(kept):
    trial = kept.history.find("trial")
    rows = list(kept.at("trial").rows())
    kept.branch("trial", trial, Signature("give up"), closed=True)
    assert verify(kept).ok
    cleared = clear(kept, now_s=age(kept, DAY_S + 1))
    assert any(path.startswith("tables/scenarios.lance/data/") for path in cleared.paths)
    report = verify(kept)
    assert report.ok
    assert report.expired == ("trial@2", "trial@3")  # trial@1 has the files of main@0
    with pytest.raises(LibraryError, match="damaged: the file is missing"):
        list(kept.at("trial").rows())
    layer = f"usd/v1/scenes/{rows[-1].scenario_id[:2]}/{rows[-1].scenario_id}.usda"
    assert layer in cleared.paths
    assert kept.history.find("trial").closed
    assert len(list(kept.at().rows())) == 8


def test_a_tag_keeps_a_closed_branch_alive(kept):
    trial = kept.history.find("trial")
    kept.tag("keep", trial)
    kept.branch("trial", trial, Signature("give up"), closed=True)
    clear(kept, now_s=age(kept, DAY_S + 1))
    assert verify(kept).expired == ()
    layers = Layers(kept, kept.at("keep"))
    assert [layers.scene(row).is_file() for row in kept.at("keep").rows()] == [True] * 6


def test_what_journals_name_stays(kept, scene_maker):
    path = scene_maker.journal(kept, range(8, 11))
    ids = [line.scenario_id for line in Journal(kept.folder, path.stem).lines()]
    record = f"records/{'0' * 24}.json"
    kept.files.put(record, b"{}")
    clear(kept, now_s=age(kept, DAY_S + 1))
    assert [kept.files.local(f"usd/v1/scenes/{one[:2]}/{one}.usda").exists() for one in ids] == [True] * 3
    assert kept.files.local(record).exists()  # what scenes in journals share is not looked at singly


def test_a_running_expansion_needs_a_grace(kept, scene_maker):
    with Journal(kept.folder, scene_maker.expansion.content_id) as journal:
        with pytest.raises(LibraryError) as error:
            clear(kept, now_s=time.time(), grace_s=0)
        assert str(error.value) == (
            f"{journal.path}: an expansion is running, and its newest files are named nowhere yet - "
            "wait for it, or take --grace 1h or longer"
        )
        clear(kept, now_s=time.time(), grace_s=3600)
    clear(kept, now_s=time.time(), grace_s=0)
    assert verify(kept).ok


@pytest.mark.parametrize("path", ["branches/main/00000001.json", "tags/v1.json", "tables"])
def test_nothing_is_removed_where_damage_hides_what_is_needed(kept, path):
    add_orphans(kept)
    now = age(kept, DAY_S + 1)
    if path == "tables":
        path = next(p for p in kept.history.find("main").files if "scenarios.lance/data" in p)
    kept.files.delete(path)
    before = {listed.path for listed in kept.files.list("")}
    with pytest.raises(LibraryError, match="damaged: the file is missing"):
        clear(kept, now_s=now)
    assert {listed.path for listed in kept.files.list("")} == before


def test_what_is_published_between_looking_and_removing_stays(kept, monkeypatch):
    add_orphans(kept)
    now, head, looked = age(kept, DAY_S + 1), kept.history.find("main"), []
    needed = gc._needed

    def needed_and_published(library):
        found = needed(library)
        if not looked:  # a commit that names old files comes just after the versions were read
            data = kept.files.read(ORPHANS[2])
            facts = kept.keep_file("records/fresh.json", data)
            facts[ORPHANS[2]] = facts["records/fresh.json"]
            commit = head.replaced(number=head.number + 1, parent=head.ref, files=head.files | facts)
            kept.files.create(commit.path, commit.to_file())
        looked.append(found)
        return found

    monkeypatch.setattr(gc, "_needed", needed_and_published)
    cleared = clear(kept, now_s=now)
    assert len(looked) == 2
    assert ORPHANS[2] not in cleared.paths
    assert ORPHANS[0] in cleared.paths
    assert kept.files.local(ORPHANS[2]).exists()


def test_what_is_written_again_meanwhile_stays(kept):
    add_orphans(kept)
    now, seen = age(kept, DAY_S + 1), []

    def write_again() -> None:
        if not seen:  # the first file goes: another one is used again
            seen.append(next(path for path in reversed(ORPHANS) if kept.files.local(path).exists()))
            kept.files.put(seen[0], b"somebody needs this now")

    cleared = clear(kept, now_s=now, progress=write_again)
    assert kept.files.read(seen[0]) == b"somebody needs this now"
    assert seen[0] not in cleared.paths


def test_shared_files_that_are_used_again_become_young(kept, scene_maker):
    asset = next(listed.path for listed in kept.files.list("usd/v1/assets"))
    now = age(kept, DAY_S + 1)
    scene_maker.keep(kept, range(30, 31))
    assert kept.files.local(asset).stat().st_mtime > now - 60


def test_the_command_counts_and_lists(kept):
    add_orphans(kept)
    age(kept, DAY_S + 1)
    run = CliRunner().invoke(app, [str(kept.folder), "--dry-run"])
    assert ORPHANS[0] in run.stdout.splitlines()
    assert "files would be removed, " in run.stdout
    run = CliRunner().invoke(app, [str(kept.folder), "--grace", "7d"])
    assert run.stdout.startswith("0 files removed, 0 bytes\n")
    assert "more belong to no version and are younger than 7d: they stay for now" in run.stdout
    run = CliRunner().invoke(app, [str(kept.folder), "--json"])
    assert ORPHANS[0] in run.stdout
    assert not kept.files.local(ORPHANS[0]).exists()


@pytest.mark.parametrize(("text", "seconds"), [("0", 0), ("90s", 90), ("30m", 1800), ("24h", DAY_S), ("1.5d", 129_600)])
def test_durations_are_read(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "-1h", "h", "1w", "1 day", "nan"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(InvalidOption, match="a duration such as 90s, 30m, 24h, 7d or 0"):
        parse_duration(text)
