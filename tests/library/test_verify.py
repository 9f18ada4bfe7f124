"""`verify`: a whole library passes, each damaged file is named once, with what it means and what can be done."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from library import lance_table
from library.commit import COPIES, FileFacts
from library.damage import shown_versions
from library.layers import Layers
from library.tables import SCENARIOS
from library.verify import open_damaged, verify
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.library_verify import app
from scenegen.errors import LibraryError, UnknownName


def rot(library: VersionedLibrary, path: str) -> None:
    """Flip a bit in the middle of a file; size and time stay, as when bits rot."""
    target = library.files.local(path)
    data, facts = bytearray(target.read_bytes()), target.stat()
    data[len(data) // 2] ^= 4
    with target.open("r+b") as file:
        file.write(data)
    os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    lance_table._checked.clear()


def data_file(library: VersionedLibrary, revision: str, table: str) -> str:
    """The table's data file that this version added."""
    commit = library.history.find(revision)
    before = library.history.read(commit.parent.branch, commit.parent.number).files if commit.parent else {}
    return next(path for path in commit.files if f"{table}.lance/data/" in path and path not in before)


def only(library: VersionedLibrary):
    (damage,) = verify(library).damage
    return damage


def test_a_whole_library_passes_and_says_what_was_checked(kept):
    report = verify(kept, deep=True)
    assert report.ok
    assert report.expired == ()
    assert {name: report.checked[name] for name in ("commits", "tags", "layers")} == {
        "commits": 6,
        "tags": 1,
        "layers": 10,
    }
    assert report.checked["fingerprints"] == 4 + 3  # each commit of main, and of trial back to main@0
    assert report.checked["scenarios built"] == 8 + 6
    assert report.checked["bytes"] > 100_000


def test_files_of_no_version_are_no_damage(kept):
    kept.files.put("usd/v1/scenes/ab/abc.usda", b"#usda 1.0")
    report = verify(kept)
    assert report.ok
    assert "usd/v1/scenes/ab/abc.usda" in report.unreferenced
    assert all("_transactions" in path or "_versions/d" in path or "abc" in path for path in report.unreferenced)


def test_a_damaged_scene_layer_concerns_one_scene(kept):
    rows = list(kept.at().rows())
    path = f"usd/v1/scenes/{rows[5].scenario_id[:2]}/{rows[5].scenario_id}.usda"
    rot(kept, path)
    damage = only(kept)
    assert (damage.path, damage.scenes) == (path, 1)
    assert damage.versions == ("main@1", "main@2", "main@3")  # rows 0 to 4 are those of main@0
    assert damage.sentence == (
        f"{path}: its SHA-256 is not {rows[5].scene_sha256[:12]}…; needed by main@1..3; 1 scenes affected - "
        "`scenegen library restore` makes it again from the tables; all other scenes stay usable"
    )
    layers = Layers(kept, kept.at())
    with pytest.raises(LibraryError, match=r"damaged: its SHA-256 is not"):
        layers.scene(rows[5])
    assert [layers.scene(row).is_file() for row in rows if row != rows[5]] == [True] * 7


def test_a_damaged_layout_concerns_all_scenes_that_share_it(kept):
    (path,) = (one.path for one in kept.files.list("usd/v1/layouts"))
    rot(kept, path)
    assert (only(kept).path, only(kept).scenes) == (path, 9)


@pytest.mark.parametrize(("folder", "suffix"), [("cells", ".usda"), ("cells", ".json"), ("assets", ".usdc")])
def test_a_damaged_shared_file_concerns_all_scenes_of_the_cell(kept, folder, suffix):
    path = next(one.path for one in kept.files.list(f"usd/v1/{folder}") if one.path.endswith(suffix))
    rot(kept, path)
    damage = only(kept)
    assert (damage.path, damage.scenes) == (path, 9)  # the eight of main, and the one that only trial has
    assert len(damage.versions) == 6


def test_a_damaged_table_leaves_the_other_versions_usable(kept):
    path = data_file(kept, "main@1", "scenarios")
    rot(kept, path)
    damage = only(kept)
    assert (damage.path, damage.versions, damage.scenes) == (path, ("main@1", "main@2", "main@3"), 8)
    with pytest.raises(LibraryError, match=r"damaged: its SHA-256 is not"):
        list(kept.at("main").rows())
    assert len(list(kept.at("v1").rows())) == 5
    assert len(list(kept.at("trial").rows())) == 6
    assert len(kept.at("main").table("verdicts").scan()) == 8


def test_a_damaged_table_keeps_nothing_else_from_being_checked(kept):
    broken = data_file(kept, "main@1", "scenarios")
    row = next(kept.at("v1").rows())
    layer = f"usd/v1/scenes/{row.scenario_id[:2]}/{row.scenario_id}.usda"
    record = next(one.path for one in kept.files.list("records"))
    for path in (broken, layer, record):
        rot(kept, path)
    assert [one.path for one in verify(kept).damage] == sorted([broken, layer, record])


def test_a_damaged_index_is_named_and_its_table_refused(kept):
    path = next(path for path in kept.history.find("main").files if "verdicts.lance/_indices" in path)
    rot(kept, path)
    assert (only(kept).path, only(kept).scenes) == (path, 0)
    with pytest.raises(LibraryError, match=r"_indices.*damaged: its SHA-256 is not"):
        kept.at().verdict(next(kept.at().rows()))


def test_a_missing_or_shortened_file_says_so(kept):
    one, two = sorted(listed.path for listed in kept.files.list("records"))
    kept.files.delete(one)
    size = kept.files.local(two).stat().st_size
    os.truncate(kept.files.local(two), 7)
    reasons = {damage.path: damage.reason for damage in verify(kept).damage}
    assert reasons == {one: "the file is missing", two: f"it has 7 bytes, not {size}"}


@pytest.mark.parametrize("number", [0, 2, 3])
def test_a_lost_commit_is_named_even_if_it_is_the_newest(kept, number):
    path = f"branches/main/{number:08d}.json"
    kept.files.delete(path)
    damage = only(kept)
    assert verify(kept).unreferenced == ()  # nobody knows what the lost commit needs
    assert (damage.path, damage.reason, damage.versions, damage.scenes) == (
        path,
        "the file is missing",
        (f"main@{number}",),
        None,
    )
    with pytest.raises(LibraryError, match=f"{number:08d}.json: damaged: the file is missing"):
        kept.at("main")


def test_a_lost_branch_is_named(kept):
    for listed in list(kept.files.list("branches/trial")):
        kept.files.delete(listed.path)
    assert [one.path for one in verify(kept).damage] == [f"branches/trial/{n:08d}.json" for n in (1, 2)]
    with pytest.raises(LibraryError, match="damaged: the file is missing"):
        kept.at("trial")


def test_a_replaced_commit_is_named(kept):
    head = kept.history.find("main@2")
    kept.files.put(head.path, head.replaced(message="another").to_file())
    kept.files.put(f"{COPIES}/{head.path}", head.replaced(message="another").to_file())
    damage = only(kept)
    assert (damage.path, damage.reason) == (head.path, "it is not the commit that main@3 names")


def test_a_commit_whose_fingerprint_is_wrong_is_named(kept):
    head = kept.history.find("main")
    false = head.replaced(number=head.number + 1, parent=head.ref, fingerprint="1" * 64)
    kept.files.create(false.path, false.to_file())
    damage = only(kept)
    assert (damage.path, damage.reason) == (false.path, "its fingerprint is not that of its rows")


def test_a_commit_that_counts_rows_wrongly_is_named(kept):
    head = kept.history.find("main")
    table = head.tables[SCENARIOS.name]
    tables = {**head.tables, SCENARIOS.name: table.replaced(rows=table.rows + 1)}
    false = head.replaced(number=head.number + 1, parent=head.ref, tables=tables)
    kept.files.create(false.path, false.to_file())
    assert "tables/scenarios.lance: it has 8 rows, not 9" in verify(kept).damage[-1].sentence


def test_rows_that_were_written_wrongly_are_named(kept):
    row = next(kept.at().rows())
    columns = {**row.columns(), "attempt": 77}
    other = row.replaced(scenario_id="0" * 24).columns()
    kept.publish(Changes({SCENARIOS.name: [columns | {"row_hash": "f" * 24}, other]}), Signature("wrong"))
    reasons = [one.reason for one in verify(kept).damage if one.path == SCENARIOS.path]
    assert reasons == ["1 rows are wrong: row 8 does not match its own hash"]


def test_a_damaged_tag_leaves_branches_and_other_tags_usable(kept):
    kept.tag("v2", kept.history.find("main"))
    rot(kept, "tags/v1.json")
    assert only(kept).path == "tags/v1.json"
    with pytest.raises(LibraryError, match=r"tags/v1.json: damaged: "):
        kept.at("v1")
    assert kept.at("v2").commit == kept.at("main").commit


def test_a_lost_tag_is_named(kept):
    kept.files.delete("tags/v1.json")
    assert (only(kept).path, only(kept).reason) == ("tags/v1.json", "the file is missing")


@pytest.mark.parametrize("path", ["library.json", "tags/v1.json", "branches/main/00000001.json"])
def test_a_damaged_second_copy_is_named_and_a_missing_one_counted(kept, path):
    rot(kept, f"{COPIES}/{path}")
    assert (only(kept).path, only(kept).reason) == (f"{COPIES}/{path}", f"it is not a copy of {path}")
    assert len(list(kept.at().rows())) == 8
    kept.files.delete(f"{COPIES}/{path}")
    report = verify(kept)
    assert (report.ok, report.checked["second copies missing"]) == (True, 1)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"format": "scenegen-library", "version": 0, "name": "scenes"}'])
def test_a_damaged_marker_is_named_and_the_rest_is_checked(kept, data):
    kept.files.put("library.json", data)
    library, fault = open_damaged(kept.folder)
    report = verify(library, marker_fault=fault)
    assert [one.path for one in report.damage] == ["library.json"]
    assert report.checked["commits"] == 6
    with pytest.raises(LibraryError):
        VersionedLibrary.open(kept.folder)


def test_what_is_no_library_is_refused(tmp_path):
    with pytest.raises(LibraryError, match="no library there - make one with `scenegen expand`"):
        open_damaged(tmp_path)


def test_damaged_lines_of_journals_are_named(kept, scene_maker):
    path = scene_maker.journal(kept, range(8, 12))
    lines = path.read_bytes().splitlines(keepends=True)
    assert (verify(kept).ok, verify(kept).checked["journal lines"]) == (True, 4)
    path.write_bytes(lines[0] + lines[1].replace(b"a", b"b") + lines[2] + lines[3][:-5])
    damage = only(kept)
    assert (damage.path, damage.reason) == (f"staging/{path.name}", "line 2 does not match its hash")
    path.rename(path.with_name("0" * 24 + ".jsonl"))
    assert only(kept).reason == "line 1 is of another expansion, and 2 more"


def test_verify_reads_again_what_this_process_has_read_before(kept):
    path = data_file(kept, "main@0", "scenarios")
    assert len(list(kept.at("v1").rows())) == 5
    before = dict(lance_table._checked)
    rot(kept, path)
    lance_table._checked.update(before)  # a process that trusts what it has read
    assert only(kept).path == path
    with pytest.raises(LibraryError, match="damaged: its SHA-256 is not"):
        list(kept.at("v1").rows())


def test_two_versions_that_name_one_file_differently_are_told_apart(kept):
    head = kept.history.find("main")
    path = next(path for path in head.files if path.startswith("records/"))
    false = head.replaced(
        number=head.number + 1, parent=head.ref, files={**head.files, path: FileFacts(size=1, sha256="0" * 64)}
    )
    kept.files.create(false.path, false.to_file())
    assert (only(kept).path, only(kept).versions) == (path, ("main@4",))


def test_one_version_is_checked_by_itself(kept):
    rot(kept, data_file(kept, "main@1", "scenarios"))
    assert verify(kept, revision="v1").ok
    assert verify(kept, revision="trial").ok
    assert len(verify(kept, revision="main").damage) == 1
    with pytest.raises(UnknownName, match="unknown version 'v9'"):
        verify(kept, revision="v9")
    kept.files.delete("branches/main/00000001.json")
    assert [one.path for one in verify(kept, revision="main").damage] == ["branches/main/00000001.json"]


def test_a_publisher_never_blesses_a_damaged_file(kept, scene_maker):
    path = next(one.path for one in kept.files.list("usd/v1/assets"))
    rot(kept, path)
    with pytest.raises(LibraryError, match=f"{Path(path).name}: damaged: its SHA-256 is not"):
        scene_maker.keep(kept, range(20, 21))


def test_the_command_tells_and_exits(kept):
    run = CliRunner().invoke(app, [str(kept.folder), "--deep"])
    assert run.exit_code == 0
    assert run.stdout.endswith("nothing is damaged\n")
    path = data_file(kept, "main@0", "facets")
    rot(kept, path)
    run = CliRunner().invoke(app, [str(kept.folder)])
    assert run.exit_code == EXIT_FINDINGS
    assert f"DAMAGED {path}: its SHA-256 is not" in run.stdout
    assert run.stdout.endswith("1 files are damaged\n")
    run = CliRunner().invoke(app, [str(kept.folder), "--json"])
    assert [one["path"] for one in json.loads(run.stdout.splitlines()[-1])["damage"]] == [path]


def test_versions_are_written_shortly():
    assert shown_versions(["main@0", "main@1", "main@2", "trial@4", "main@7"]) == "main@0..2, main@7, trial@4"
