"""Scenes from elsewhere: read by the rules, checked, rewritten; what is bad is named and stops nothing."""

import os
import shutil
import time
from dataclasses import asdict

import pytest
from pxr import Sdf, Usd

from library import import_scenes
from library.export_scenes import export_folder, export_packages
from library.export_selection import Selection
from library.import_scenes import SceneImport, scene_files
from library.versioned import VersionedLibrary
from scenegen.errors import InvalidRecord
from scenegen.scenario import FACETS
from scenegen.usd.inspection import Inspector
from scenegen.usd.refused import Refused
from scenegen.verdict import CheckPlan, CheckResult, Finding, PlannedCheck, Status, Tier, Verdict

PLAN = CheckPlan(checks=(PlannedCheck(check="warm", version=1, tier=Tier.OPTICS),), engine="none")
HOT_K = 9000.0


def check(scenario):
    """Fail scenes whose light is too cold a white."""
    hot = any(getattr(light, "temperature_k", 0) > HOT_K for light in scenario.lights.lights)
    found = Finding(check="warm", code="hot", subjects=("key",), sentence="light of 9500 K - accepted: up to 9000 K")
    result = CheckResult(
        check="warm",
        version=1,
        status=Status.FAILED if hot else Status.PASSED,
        findings=(found,) if hot else (),
    )
    return Verdict(scenario_id=scenario.id, plan=PLAN, results=(result,))


def inspected(path, root, limits):
    """Inspect a file without a process of its own, which takes a second."""
    try:
        Inspector(path, root, asdict(limits)).run()
    except Refused as refused:
        return refused.answer
    return None


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Parts that no scene refers to are our own here; that they are inspected is tested by itself."""
    asked = []
    monkeypatch.setattr("scenegen.usd.untrusted._inspect", inspected)
    monkeypatch.setattr("scenegen.usd.reader._refuse_unsafe_part", lambda *facts: asked.append(facts[0]))
    return asked


@pytest.fixture(scope="module")
def exported(kept_folder, tmp_path_factory):
    """The USD files of three scenes of the library, the base among them."""
    library = VersionedLibrary.open(kept_folder)
    folder = tmp_path_factory.mktemp("exported")
    export_folder(library, library.at(), Selection(limit=3), folder, noted=lambda _: None)
    return folder


@pytest.fixture
def source(exported, tmp_path):
    """A copy of them to change."""
    folder = tmp_path / "source"
    shutil.copytree(exported, folder)
    return folder


@pytest.fixture
def empty(tmp_path):
    return VersionedLibrary.create(tmp_path / "mine")


def scene_of(folder, scenario):
    return folder / "scenes" / scenario.id[:2] / f"{scenario.id}.usda"


def only(folder, *scenarios):
    """Remove all scenes but some."""
    wanted = [scene_of(folder, scenario) for scenario in scenarios]
    for path in sorted((folder / "scenes").rglob("*.usda")):
        if path not in wanted:
            path.unlink()
    return wanted[0] if wanted else None


def warmed(path, kelvin, *, target=None):
    """Change the first light's colour as another tool would."""
    if target is not None:
        shutil.copy(path, target)
    stage = Usd.Stage.Open(str(target or path))
    lamp = next(
        p for p in stage.GetPrimAtPath("/World/Lights").GetChildren() if p.HasAttribute("inputs:colorTemperature")
    )
    lamp.GetAttribute("inputs:colorTemperature").Set(kelvin)
    stage.Save()
    return target or path


def taken(library, folder, checks=lambda *_: check):
    taking = SceneImport(library, checks)
    for path in scene_files(folder):
        taking.take(path, folder)
    return taking, taking.publish("import")


def reasons(taking, kind):
    return {one.file: one.reason for one in taking.left_out if one.kind == kind}


def test_scenes_are_rewritten_as_imported_ones(source, empty, kept, scene_maker):
    taking, commit = taken(empty, source)
    assert (taking.kept, taking.known) == (3, 0)
    assert commit.added == {"facets": 10, "scenarios": 3, "verdicts": 3}
    assert {kind.kind for kind in taking.left_out} == {"skipped"}
    snapshot = empty.at()
    for row in snapshot.rows():
        assert row.kind == "imported"
        assert row.provenance.generator == "import"
        assert row.plan_id == PLAN.content_id
        assert f"records/{PLAN.content_id}.json" in commit.files
        theirs = kept.at().find(row.scenario_id)
        assert snapshot.scenario(row) == kept.at().scenario(theirs)
        assert (row.layout_sha256, row.scene_sha256) == (theirs.layout_sha256, theirs.scene_sha256)
        assert set(row.facets) == set(FACETS)


def test_a_second_time_adds_nothing(source, empty):
    taken(empty, source)
    again, commit = taken(empty, source)
    assert commit is None
    assert (again.kept, again.known) == (0, 3)


def test_an_export_of_the_library_itself_adds_nothing(source, kept):
    taking, commit = taken(kept, source)
    assert commit is None
    assert (taking.kept, taking.known) == (0, 3)


def test_a_changed_scene_knows_its_base(source, kept, scene_maker):
    scene = only(source, scene_maker.scenario(0))
    warmed(scene, 4321.0)
    taking, _ = taken(kept, source)
    assert taking.kept == 1
    (row,) = (row for row in kept.at().rows() if row.kind == "imported")
    assert row.scenario_id != scene_maker.scenario(0).id
    assert row.provenance.base_id == scene_maker.base.id
    assert row.provenance.parent_id == scene_maker.scenario(0).id
    first = kept.at().scenario(row).lights.lights[0]
    assert first.temperature_k == 4321.0
    text = (kept.usd / "scenes" / row.scenario_id[:2] / f"{row.scenario_id}.usda").read_text()
    assert row.scenario_id in text  # our own writer's layer, not the tool's


def test_without_a_known_base_it_is_its_own(source, empty, scene_maker):
    warmed(only(source, scene_maker.base), 4321.0)
    taken(empty, source)
    (row,) = empty.at().rows()
    assert row.provenance.base_id == row.scenario_id
    assert row.provenance.parent_id is None


def test_bases_do_not_depend_on_the_order_of_files(source, tmp_path, scene_maker):
    scene = only(source, scene_maker.base)
    warmed(scene, 4321.0, target=scene.with_name("0.usda"))
    warmed(scene, 4322.0, target=scene.with_name("z.usda"))
    found = []
    for name, files in (("a", scene_files(source)), ("b", reversed(scene_files(source)))):
        library = VersionedLibrary.create(tmp_path / name)
        taking = SceneImport(library, lambda *_: check)
        for path in files:
            taking.take(path, source)
        taking.publish("import")
        found.append({row.scenario_id: row.provenance.base_id for row in library.at().rows()})
        assert set(found[-1].values()) == {scene_maker.base.id}
    assert found[0] == found[1]


def test_invalid_and_bad_ones_stop_nothing(source, empty, scene_maker, tmp_path):
    scene = only(source, scene_maker.base)
    folder = scene.parent
    warmed(scene, 9500.0, target=folder / "a_hot.usda")
    (folder / "b_broken.usda").write_text("#usda 1.0\n(")
    (folder / "c_cube.usda").write_text('#usda 1.0\ndef Cube "cube"\n{\n}\n')
    (folder / "d_secret.usda").write_text(
        scene.read_text() + 'def Xform "x" (\n    references = @/etc/hostname.usda@\n)\n{\n}\n'
    )
    os.mkfifo(folder / "e_pipe.usda")
    (tmp_path / "outside.usda").write_bytes(scene.read_bytes())
    (folder / "f_link.usda").symlink_to(tmp_path / "outside.usda")
    (folder / "g_notes.txt").write_text("notes")
    lost = scene.read_text().replace("layouts/", "lost/")
    (folder / "h_lost.usda").write_text(lost)
    start = time.monotonic()
    taking, commit = taken(empty, source)
    assert time.monotonic() - start < 60
    assert taking.kept == 1
    assert commit.added["scenarios"] == 1
    inside = f"scenes/{scene_maker.base.id[:2]}"
    assert reasons(taking, "invalid") == {f"{inside}/a_hot.usda": "warm: light of 9500 K - accepted: up to 9000 K"}
    refused = reasons(taking, "refused")
    assert set(refused) == {f"{inside}/{name}.usda" for name in ("b_broken", "d_secret", "f_link", "h_lost")}
    assert "refused (syntax)" in refused[f"{inside}/b_broken.usda"]
    assert "refused (absolute): asset '/etc/hostname.usda'" in refused[f"{inside}/d_secret.usda"]
    assert f"it leads to {tmp_path / 'outside.usda'}, which is not below" in refused[f"{inside}/f_link.usda"]
    skipped = reasons(taking, "skipped")
    assert skipped[f"{inside}/c_cube.usda"].startswith("no scene of scenegen (")
    assert skipped[f"{inside}/e_pipe.usda"] == "no plain file"
    assert skipped[f"{inside}/g_notes.txt"] == "no USD file"
    assert skipped["cells/" + scene_maker.cell.content_id + ".usda"] == (
        "a cell, a part or a layout that scenes are made of"
    )


def test_a_cell_that_is_a_bomb_is_refused_quickly(source, empty, scene_maker):
    only(source, scene_maker.base)
    path = source / "cells" / f"{scene_maker.cell.content_id}.json"
    path.write_bytes(b"[" * 100_000)
    taking, commit = taken(empty, source)
    assert commit is None
    assert list(reasons(taking, "refused").values()) == [f"{path}: not JSON (it is nested too deeply)"]


def test_an_unsound_cell_is_found_once(source, empty):
    calls = []

    def unsound(cell, parts, robots):
        calls.append(robots)
        raise InvalidRecord("cell fasteners", ["slots: none"])

    taking, commit = taken(empty, source, unsound)
    assert commit is None
    assert set(reasons(taking, "refused").values()) == {"cell fasteners: slots: none"}
    assert calls == [source / "cells"]


def test_parts_that_no_scene_refers_to_are_inspected(source, empty, scene_maker, quick):
    only(source, scene_maker.base)
    taken(empty, source)
    held = {f"{asset.part}_{asset.content}.usdc" for asset in scene_maker.base.assets}
    assert {os.path.basename(name) for name in quick} == {
        path.name for path in (source / "assets").iterdir() if path.name not in held
    }


def test_packages(kept, empty, tmp_path, scene_maker):
    folder, scratch = tmp_path / "packages", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    export_packages(kept, kept.at(), Selection(limit=1), folder, scratch=scratch, noted=lambda _: None)
    taking, _ = taken(empty, folder)
    assert (taking.kept, reasons(taking, "refused")) == (1, {})
    (row,) = empty.at().rows()
    assert row.scenario_id == next(kept.at().rows()).scenario_id
    evil = folder / "evil.usdz"
    evil.write_bytes(b"PK nothing")
    taking, _ = taken(empty, folder)
    assert "refused (syntax): no usdz package" in reasons(taking, "refused")["evil.usdz"]
    assert taking.known == 1


def test_a_circle_of_names_has_one_base(source, empty, scene_maker):
    scene = only(source, scene_maker.base)
    first = warmed(scene, 4321.0, target=scene.with_name("0.usda"))
    second = warmed(scene, 4322.0, target=scene.with_name("1.usda"))
    scene.unlink()
    ids = [import_scenes.read_scenario(path, trusted=True).id for path in (first, second)]
    for path, named in zip((first, second), reversed(ids), strict=True):
        layer = Sdf.Layer.FindOrOpen(str(path))
        facts = layer.customLayerData
        facts["scenegen"]["scenarioId"] = named
        layer.customLayerData = facts
        layer.Save()
    taken(empty, source)
    assert {row.provenance.base_id for row in empty.at().rows()} == {min(ids)}


def test_one_file_is_a_source_too(source, empty, scene_maker):
    taking = SceneImport(empty, lambda *_: check)
    path = scene_of(source, scene_maker.base)
    assert scene_files(path) == [path]
    taking.take(path, path)
    assert taking.kept == 1
