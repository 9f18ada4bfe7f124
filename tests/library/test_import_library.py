"""One library into another: everything proved, nothing twice, and libraries that lie are refused by name."""

import os

import pytest

from library import lance_table
from library.commit import FileFacts
from library.curated import DROPPED, RESTORED, Action, decision
from library.import_library import LibraryImport, open_foreign
from library.row import Row, sealed
from library.tables import CURATION
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.errors import InvalidRecord, LibraryError, UnknownName
from scenegen.usd import untrusted


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Parts of these libraries are our own: they are inspected in tests of the rules, and once below."""
    asked = []
    monkeypatch.setattr("library.import_structures.refuse_unsafe", lambda path, *, root: asked.append(path))
    return asked


@pytest.fixture
def empty(tmp_path):
    return VersionedLibrary.create(tmp_path / "mine")


def merge(library, source, revision="main", **options):
    merging = LibraryImport(library, *open_foreign(source.folder, revision), **options)
    return merging, merging.run("merge")


def sign():
    return Signature("by hand")


def test_everything_comes_along_and_a_second_time_adds_nothing(kept, empty):
    merging, commit = merge(empty, kept)
    theirs, ours = kept.at(), empty.at()
    assert merging.added == {"scenarios": 8, "facets": 15, "verdicts": 8, "meters": 16, "attempts": 7, "curation": 2}
    assert commit.fingerprint == theirs.commit.fingerprint
    assert [row.scenario_id for row in ours.rows()] == [row.scenario_id for row in theirs.rows()]
    for path in theirs.commit.files:
        if not path.startswith("tables/"):
            assert ours.commit.files[path] == theirs.commit.files[path]
    for row in ours.rows():
        name = f"usd/v1/scenes/{row.scenario_id[:2]}/{row.scenario_id}.usda"
        assert (empty.folder / name).read_bytes() == (kept.folder / name).read_bytes()
        assert ours.scenario(row) == theirs.scenario(row)
    again, nothing = merge(empty, kept)
    assert nothing is None
    assert not again.added


def test_a_version_and_then_the_rest(kept, empty):
    merging, _ = merge(empty, kept, "v1")
    assert merging.added["scenarios"] == 5
    merging, _ = merge(empty, kept)
    assert merging.added["scenarios"] == 3
    merging, _ = merge(empty, kept, "trial")
    assert merging.added["scenarios"] == 1
    assert len(list(empty.at().rows())) == 9


def test_a_branch_of_the_same_library(kept):
    merging, commit = merge(kept, kept, "trial")
    assert merging.added["scenarios"] == 1
    assert commit.branch == "main"


def test_a_branch_that_is_not_there(kept, empty):
    with pytest.raises(UnknownName, match=r"^unknown branch 'side'"):
        merge(empty, kept, branch="side")


def test_parts_are_inspected_before_they_are_read(kept, empty, quick):
    merge(empty, kept)
    parts = sorted((kept.usd / "assets").iterdir())
    assert sorted(quick) == parts
    quick.clear()
    merge(VersionedLibrary.create(empty.folder.with_name("other")), empty, "main")
    merge(empty, kept)
    assert len(quick) == len(parts)


def test_decisions_made_here_stay(kept, empty, scene_maker):
    ours = decision(Action.DROP, scene_maker.scenario(5).id, DROPPED, note="mine", author="tests", time="2025-01-01")
    empty.publish(Changes({CURATION.name: [ours]}), sign())
    merging, _ = merge(empty, kept)
    assert merging.conflicts == 1  # the other library dropped it, too, and then restored it
    assert empty.at().curated.value(Action.DROP, scene_maker.scenario(5).id) == DROPPED
    assert kept.at().curated.value(Action.DROP, scene_maker.scenario(5).id) == RESTORED


@pytest.mark.parametrize("folder", ["tables/scenarios.lance/data", "records", "usd/v1/assets", "usd/v1/cells"])
def test_damage_is_named_and_nothing_is_committed(kept, empty, folder):
    path = kept.folder / sorted(name for name in kept.at().commit.files if name.startswith(folder))[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    lance_table._checked.clear()
    with pytest.raises((LibraryError, InvalidRecord), match=path.name):
        merge(empty, kept)
    assert all(row.kind == "none" for row in empty.at().rows())


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "usd/../../secret.txt", "usd\\secret.txt"])
def test_a_commit_that_names_files_elsewhere(kept, tmp_path, name):
    (tmp_path / "secret.txt").write_text("secret")
    kept.publish(Changes(files={name: FileFacts(size=6, sha256="0" * 64)}), sign())
    with pytest.raises(LibraryError) as caught:
        open_foreign(kept.folder)
    assert str(caught.value) == (
        f"{kept.folder}: it names {name!r}, which is no plain file in its folder - take a library you trust"
    )


def test_a_file_that_is_a_link_to_elsewhere(kept, tmp_path):
    path = next((kept.folder / "records").iterdir())
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(LibraryError, match=rf"it names 'records/{path.name}', which is no plain file in its folder"):
        open_foreign(kept.folder)


def test_a_file_that_is_a_pipe(kept):
    path = next((kept.folder / "records").iterdir())
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(LibraryError, match=r"which is no plain file in its folder"):
        open_foreign(kept.folder)


@pytest.mark.parametrize("name", ["library.json", "branches/main/00000001.json", "tags/v1.json"])
def test_json_bombs(kept, name):
    (kept.folder / name).write_bytes(b"[" * 500_000)
    with pytest.raises(InvalidRecord, match=rf"^{kept.folder / name}: not JSON \(it is nested too deeply\)$"):
        open_foreign(kept.folder)


def test_a_folder_that_is_no_library(tmp_path):
    with pytest.raises(LibraryError, match="no library there"):
        open_foreign(tmp_path)


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("facets", {"facet_id": "a" * 24, "facet": "lights", "json": "{}"}),
        ("facets", {"facet_id": "a" * 24, "facet": "lights", "json": "[" * 200_000}),
        ("verdicts", {"scenario_id": "a", "plan_id": "b", "ok": True, "statuses": "{", "findings": "[]"}),
        ("verdicts", {"scenario_id": "a", "plan_id": "b", "ok": True, "statuses": "[" * 200_000, "findings": "[]"}),
        (
            "curation",
            {"subject": "a", "action": "delete everything", "value": "x", "note": "", "author": "", "time": ""},
        ),
        ("scenarios", {"scenario_id": "a", "kind": "other", "cell_id": "c", "assets": "{}"}),
        ("scenarios", {"scenario_id": "a", "kind": "base", "cell_id": "c", "assets": "[" * 200_000}),
    ],
)
def test_rows_that_later_readers_would_stumble_over(kept, empty, table, row):
    wrong = sealed(row)
    kept.publish(Changes({table: [wrong]}), sign())
    with pytest.raises(LibraryError) as caught:
        merge(empty, kept)
    path = kept.folder / "tables" / f"{table}.lance"
    reason = f"damaged: the row {wrong['row_hash']!r} holds what it must not"
    assert str(caught.value).startswith(f"{path}: {reason}")


def test_a_row_that_is_not_the_one_its_hash_says(kept, empty):
    row = sealed({"subject": "a", "action": "drop", "value": "dropped", "note": "", "author": "", "time": ""})
    kept.publish(Changes({"curation": [{**row, "value": "restored"}]}), sign())
    with pytest.raises(LibraryError, match=rf"the row '{row['row_hash']}' does not match its own hash"):
        merge(empty, kept)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"scene_sha256": "0" * 64}, "its layers are not the ones that this scenegen writes - export it as USD and"),
        ({"scenario_id": "0" * 24}, "its facets make another scenario than 000000000000000000000000"),
    ],
)
def test_scenes_that_are_not_what_their_rows_say_are_left_out(kept, empty, fields, reason):
    row = next(kept.at().rows()).replaced(**fields)
    kept.publish(Changes({"scenarios": [row.columns()]}), sign())
    merging, _ = merge(empty, kept)
    assert list(merging.refused) == [row.scenario_id]
    assert reason in merging.refused[row.scenario_id]
    assert len(list(empty.at().rows())) == 8
    assert Row.of(row.columns()) not in list(empty.at().rows())


def test_a_part_under_a_name_that_is_not_its_own(kept, empty, scene_maker):
    asset, other = scene_maker.base.assets[:2]
    names = [f"usd/v1/assets/{one.part}_{one.content}.usdc" for one in (asset, other)]
    data = (kept.folder / names[1]).read_bytes()
    commit = kept.history.find("main")
    (kept.folder / names[0]).write_bytes(data)
    lance_table._checked.clear()
    files = {**commit.files, names[0]: commit.files[names[1]]}
    forged = commit.replaced(number=commit.number + 1, parent=commit.ref, files=files)
    kept.files.create(forged.path, forged.to_file())
    with pytest.raises(LibraryError, match=rf"{names[0]}: damaged: it holds another part than its name says"):
        merge(empty, kept)


def test_the_rules_for_untrusted_input_stand_behind_it(kept, empty, monkeypatch, tmp_path):
    monkeypatch.setattr("library.import_structures.refuse_unsafe", untrusted.refuse_unsafe)
    asset = sorted((kept.usd / "assets").iterdir())[0]
    evil = b'#usda 1.0\ndef Xform "x" (\n    references = @/etc/hostname.usda@\n)\n{\n}\n'
    commit = kept.history.find("main")
    name = str(asset.relative_to(kept.folder))
    asset.write_bytes(evil)
    facts = kept.keep_file(f"{name}.copy", evil)[f"{name}.copy"]
    forged = commit.replaced(number=commit.number + 1, parent=commit.ref, files={**commit.files, name: facts})
    kept.files.create(forged.path, forged.to_file())
    lance_table._checked.clear()
    with pytest.raises(untrusted.UnsafeStage, match=rf"{asset.name}: refused \((absolute|syntax)\)"):
        merge(empty, kept)
