"""Libraries of format 1 come over whole: made here as scenegen 0.1 wrote them."""

import hashlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from library import migrate as module
from library.format1 import OldLibrary, OldRow
from library.migrate import migrate
from library.tables import ATTEMPTS
from library.versioned import VersionedLibrary
from scenegen.commands import library_migrate
from scenegen.errors import LibraryError, SceneGenError
from scenegen.record import content_hash
from scenegen.scenario import Facet, Scenario
from scenegen.usd.files import asset_path, cell_path, cell_record_path, layout_path, scene_path
from scenegen.usd.part_file import part_bytes
from scenegen.usd.writer import SceneWriter
from scenegen.verdict import CheckPlan, Finding, PlannedCheck, Status, Tier

PLAN = CheckPlan(
    checks=(
        PlannedCheck(check="overlap", version=2, tier=Tier.GEOMETRY),
        PlannedCheck(check="judge", version=1, tier=Tier.JUDGE, required=False),
    ),
    engine="none",
)
FINDING = Finding(check="judge", code="odd", subjects=("table",), sentence="it looks odd")


class OldWriter:
    """Writes a library in the layout of format 1."""

    def __init__(self, folder: Path, maker) -> None:
        self.folder, self.maker = folder, maker
        self.writer = SceneWriter(maker.cell, maker.catalogue)
        self.write("library.json", json.dumps({"format": "scenegen-folder-library", "version": 1}).encode())
        for part in maker.catalogue.values():
            self.write(asset_path(part), part_bytes(part))
        self.write(cell_path(maker.cell.content_id), self.writer.cell_layer().encode())
        self.write(cell_record_path(maker.cell.content_id), maker.cell.canonical_json().encode())
        for record in (PLAN, maker.expansion):
            self.write(f"records/{record.content_id}.json", record.canonical_json().encode())

    def write(self, path: str, data: bytes) -> str:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return content_hash(data)

    def layers(self, scenario: Scenario) -> dict[str, str]:
        layout, scene = layout_path(scenario.key(Facet.LAYOUT)), scene_path(scenario.id)
        return {
            layout: self.write(layout, self.writer.layout_layer(scenario).encode()),
            scene: self.write(scene, self.writer.scene_layer(scenario).encode()),
        }

    def add(self, row: OldRow) -> None:
        with (self.folder / "manifest.jsonl").open("a") as file:
            file.write(row.canonical_json() + "\n")

    def add_index(self, index: int) -> None:
        """Add what an expansion made at one index; the base comes with the first."""
        outcome = self.maker.outcome(index)
        for made in (outcome.base, outcome.made) if index == 0 else (outcome.made,):
            row = OldRow(
                kind=made.kind,
                expansion=self.maker.expansion.content_id,
                index=made.provenance.index,
                scenario_id=made.scenario.id,
                cell_id=made.scenario.cell_id,
                facets=made.scenario.facet_ids,
                provenance=made.provenance,
                plan_id=PLAN.content_id,
                results={"overlap@2": Status.PASSED, "judge@1": Status.FAILED},
                findings=(FINDING,),
                files=self.layers(made.scenario),
                rejected={} if made.kind == "base" else dict(outcome.rejected),
            )
            self.add(row)

    def add_exhausted(self, index: int) -> None:
        expansion, rejected = self.maker.expansion.content_id, {"hidden:hidden": 20}
        row = OldRow(
            kind="exhausted", expansion=expansion, index=index, scenario_id=None, cell_id="", rejected=rejected
        )
        self.add(row)


@pytest.fixture
def old(tmp_path, scene_maker) -> OldLibrary:
    """A base, three variants, an exhausted index and a torn last line."""
    writer = OldWriter(tmp_path / "scenes", scene_maker)
    for index in range(3):
        writer.add_index(index)
    writer.add_exhausted(3)
    with (tmp_path / "scenes" / "manifest.jsonl").open("a") as file:
        file.write('{"kind":"variant"')
    return OldLibrary.open(tmp_path / "scenes")


@pytest.fixture
def new(tmp_path) -> VersionedLibrary:
    return VersionedLibrary.create(tmp_path / "scenes-v2")


def bring(old: OldLibrary, new: VersionedLibrary, **options):
    return migrate(old, new, progress=lambda: None, **options)


def hashes(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_everything_comes_over(old, new, scene_maker):
    before = hashes(old.folder)
    told = bring(old, new)
    assert (told.rows, told.before, told.damaged) == (5, 0, [])
    assert hashes(old.folder) == before
    snapshot = new.at()
    rows = list(snapshot.rows())
    assert [row.kind for row in rows] == ["base", "variant", "variant", "variant"]
    for row, index in zip(rows[1:], range(3), strict=True):
        outcome = scene_maker.outcome(index)
        assert snapshot.scenario(row) == outcome.made.scenario
        assert row.provenance == outcome.made.provenance
        assert (row.expansion, row.plan_id) == (scene_maker.expansion.content_id, PLAN.content_id)
        verdict = snapshot.verdict(row)
        assert verdict.ok  # the judge is not required
        assert verdict.statuses == {"overlap@2": Status.PASSED, "judge@1": Status.FAILED}
        assert verdict.findings == (FINDING,)
    assert snapshot.scenario(rows[0]) == scene_maker.base
    assert rows[0].expansion is None
    assert {row.provenance.base_id for row in rows} == {scene_maker.base.id}


def test_attempts_and_records_come_over(old, new, scene_maker):
    bring(old, new)
    snapshot = new.at()
    attempts = snapshot.table(ATTEMPTS.name).scan(columns=["index", "scenario_id", "rejected"]).to_pylist()
    assert attempts[2]["rejected"] == [{"reason": "overlap:hit", "times": 2}]
    assert attempts[3] == {"index": 3, "scenario_id": None, "rejected": [{"reason": "hidden:hidden", "times": 20}]}
    for record in (PLAN, scene_maker.expansion):
        path = f"records/{record.content_id}.json"
        assert path in snapshot.commit.files
        assert new.files.read(path) == record.canonical_json().encode()


def test_layers_are_the_ones_that_an_expansion_writes_now(old, new, scene_maker, kept_folder):
    bring(old, new)
    expanded = {row.scenario_id: row for row in VersionedLibrary.open(kept_folder).at("v1").rows()}
    for row in new.at().rows():
        twin = expanded[row.scenario_id]
        assert (row.layout_sha256, row.scene_sha256) == (twin.layout_sha256, twin.scene_sha256)
        data = (new.usd / scene_path(row.scenario_id)).read_bytes()
        assert hashlib.sha256(data).hexdigest() == row.scene_sha256


def test_again_brings_nothing_new(old, new):
    bring(old, new)
    head = new.history.find("main")
    told = bring(old, new)
    assert (told.rows, told.before) == (0, 5)
    assert new.history.find("main") == head


@pytest.mark.parametrize("stop", range(1, 6))
def test_an_interruption_costs_nothing_and_changes_nothing(stop, old, new, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PUBLISH_EVERY", 2)
    calls = []

    def interrupted() -> None:
        calls.append(1)
        if len(calls) == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(old, new, progress=interrupted)
    told = bring(old, new)
    assert (told.before, told.rows) == (stop, 5 - stop)
    whole = VersionedLibrary.create(tmp_path / "whole")
    bring(old, whole)
    assert new.history.find("main").fingerprint == whole.history.find("main").fingerprint


def test_a_damaged_file_is_named_and_what_came_before_is_kept(old, new, scene_maker):
    path = old.folder / scene_path(scene_maker.scenario(1).id)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"3010", b"3011"))
    with pytest.raises(LibraryError) as caught:
        bring(old, new)
    assert str(caught.value) == (
        f"{path}: the file does not match its hash - restore it from a copy and run the command again, "
        "or leave such scenes out with --skip-damaged"
    )
    assert new.at().scenes == 2
    path.write_bytes(whole)
    assert (bring(old, new).before, new.at().scenes) == (2, 4)


def test_damaged_scenes_can_be_left_out(old, new, scene_maker):
    scenario_id = scene_maker.scenario(1).id
    (old.folder / scene_path(scenario_id)).unlink()
    told = bring(old, new, skip_damaged=True)
    assert told.rows == 4
    [sentence] = told.damaged
    assert sentence.startswith(f"scene {scenario_id} was left out: ")
    assert "the file is missing" in sentence
    assert scenario_id not in {row.scenario_id for row in new.at().rows()}


@pytest.mark.parametrize("kind", ["record", "cell", "manifest"])
def test_other_damage_is_named(kind, old, new, scene_maker):
    cell = f"cells/{scene_maker.cell.content_id}.json"
    path = old.folder / {"record": f"records/{PLAN.content_id}.json", "cell": cell, "manifest": "manifest.jsonl"}[kind]
    changed = {"record": (b'"none"', b'"some"'), "cell": (b'"name":"', b'"name":"a'), "manifest": (b'{"cell_id"', b'"')}
    path.write_bytes(path.read_bytes().replace(*changed[kind], 1))
    with pytest.raises(SceneGenError) as caught:
        bring(old, new)
    assert str(path) in str(caught.value) or "cell" in str(caught.value)


def test_a_current_and_a_newer_library_are_refused(new, tmp_path):
    with pytest.raises(LibraryError) as caught:
        OldLibrary.open(new.folder)
    assert str(caught.value) == (f"{new.folder}: a library of format 2 already: nothing to migrate - use it as it is")
    newer = tmp_path / "newer"
    newer.mkdir()
    for form, version in (("scenegen-library", 3), ("scenegen-folder-library", 2)):
        (newer / "library.json").write_text(json.dumps({"format": form, "version": version}))
        with pytest.raises(LibraryError) as caught:
            OldLibrary.open(newer)
        assert str(caught.value) == (
            f"{newer}: format {version} is newer than this scenegen knows (2) - install a newer scenegen; "
            "nothing was changed"
        )


def test_what_is_no_library_is_refused(tmp_path):
    with pytest.raises(LibraryError, match="no library there - name the folder of a library"):
        OldLibrary.open(tmp_path)
    (tmp_path / "library.json").write_text('{"format": "calibre", "version": 1}')
    with pytest.raises(LibraryError, match="format 'calibre' version 1 is not a library's"):
        OldLibrary.open(tmp_path)


def test_the_command_writes_beside_the_old_library(old, scene_maker):
    done = CliRunner().invoke(library_migrate.app, [str(old.folder)])
    target = f"{old.folder}-v2"
    assert done.exit_code == 0, done.output
    assert done.stdout == f"brought 5 rows of {old.folder} to {target}: 4 scenes; {old.folder} is as it was\n"
    assert VersionedLibrary.open(target).at().find(scene_maker.base.id).kind == "base"
    done = CliRunner().invoke(library_migrate.app, [str(old.folder)])
    assert done.stdout == (
        f"brought 0 rows of {old.folder} to {target}, 5 were there already: 4 scenes; {old.folder} is as it was\n"
    )


def test_the_command_tells_what_it_left_out(old, scene_maker):
    (old.folder / scene_path(scene_maker.scenario(2).id)).write_bytes(b"#usda 1.0\n")
    done = CliRunner().invoke(library_migrate.app, [str(old.folder), "--skip-damaged"])
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0].startswith(f"scene {scene_maker.scenario(2).id} was left out: ")


def test_the_command_refuses_the_old_folder_as_the_new_one(old):
    done = CliRunner().invoke(library_migrate.app, [str(old.folder), str(old.folder)])
    assert str(done.exception) == f"NEW {old.folder} - accepted: another folder than the old library's"
