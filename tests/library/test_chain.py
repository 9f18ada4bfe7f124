"""Chains: from cell to scene, with what was not kept, and back to the very bytes."""

import re

import pytest
from typer.testing import CliRunner

from library.chain import chain_of, chain_text, expand_command, expansion_of
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.cli import app
from scenegen.commands.library_reproduce import replay
from scenegen.design import DesignKind
from scenegen.errors import LibraryError
from scenegen.expand import Expansion


def run(*arguments, expect=0):
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == expect, done.output
    return done.output


@pytest.fixture(scope="module")
def expanded(tmp_path_factory):
    """A library with scenes of one axis each, and of two axes together."""
    folder = tmp_path_factory.mktemp("expanded") / "scenes"
    common = ("--processes", "1", "--library", folder, "--seed", "5")
    run("expand", "--axis", "lighting", "--axis", "pose", "--n", "2", *common)
    run("expand", "--axis", "lighting", "--axis", "pose", "--design", "pairwise", "--n", "1", "--usd", "lazy", *common)
    return VersionedLibrary.open(folder)


def rows_by_axes(library):
    return {"+".join(setting.axis for setting in row.provenance.axes) or "base": row for row in library.at().rows()}


@pytest.mark.parametrize("axes", ["lighting", "pose", "pose+lighting", "base"])
def test_scenes_are_made_again_to_the_byte(expanded, axes):
    row = rows_by_axes(expanded)[axes]
    said = run("library", "reproduce", row.scenario_id[:12], expanded.folder)
    assert said.splitlines()[-1] == f"same bytes: {row.scenario_id} was made again from its chain"


def test_a_chain_leads_from_the_cell_to_the_scene(expanded):
    row = rows_by_axes(expanded)["pose"]
    chain = chain_of(expanded.at(), row)
    assert [(link.role, link.id) for link in chain] == [
        ("cell", row.cell_id),
        ("base", row.provenance.base_id),
        ("scene", row.scenario_id),
    ]
    assert chain[-1].axes == row.provenance.axes
    assert re.fullmatch(
        rf"   └─ scene {row.scenario_id}: pose 1 \(offset .* m, .*\) - procedural .*", chain_text(chain)[-1]
    )


def test_show_prints_the_chain_and_how_to_make_the_scene_again(expanded):
    row = rows_by_axes(expanded)["pose"]
    said = run("show", row.scenario_id, "--library", expanded.folder)
    command = "scenegen expand --axis lighting --axis pose --n 2 --seed 5 --library again"
    assert f"make it again: {command}\n" in said
    assert f"compare bytes: scenegen library reproduce {row.scenario_id} {expanded.folder}\n" in said


def test_parents_that_were_not_kept_are_shown_as_such(expanded):
    row = rows_by_axes(expanded)["pose"]
    mended = row.replaced(provenance=row.provenance.replaced(parent_id="f" * 24))
    lines = chain_text(chain_of(expanded.at(), mended))
    assert [line.split()[:3] for line in lines[2:]] == [
        ["└─", "parent", f"{'f' * 24}:"],
        ["└─", "scene", f"{row.scenario_id}:"],
    ]
    assert lines[2].endswith("not kept: rejected, then mended")


def test_a_chain_that_leads_round_ends(expanded):
    row = rows_by_axes(expanded)["pose"]
    round_ = row.replaced(provenance=row.provenance.replaced(parent_id=row.scenario_id))
    assert [link.role for link in chain_of(expanded.at(), round_)] == ["cell", "base", "scene"]


def test_other_versions_of_scenegen_are_refused(kept, scene_maker):
    older = scene_maker.expansion.replaced(version="0.0.9")
    row = next(row for row in kept.at().rows() if row.kind == "variant")
    one = row.replaced(expansion=older.content_id, provenance=row.provenance.replaced(index=99))
    kept.publish(Changes({"scenarios": [one.columns()]}, kept.record(older)), Signature("older"))
    with pytest.raises(LibraryError) as error:
        replay(kept, kept.at(), one)
    assert str(error.value).endswith("- install scenegen 0.0.9 to make it again")


def test_a_missing_record_is_named(kept):
    row = next(row for row in kept.at().rows() if row.kind == "variant").replaced(expansion="f" * 24)
    with pytest.raises(LibraryError) as error:
        expansion_of(kept, kept.at(), row)
    assert str(error.value) == (
        f"{kept.folder}: records/{'f' * 24}.json is not a file of this version"
        " - the scene cannot be made again without it"
    )


def test_what_no_expansion_made_is_refused(kept):
    row = next(row for row in kept.at().rows() if row.kind == "variant")
    foreign = row.replaced(
        expansion=None, scenario_id="e" * 24, provenance=row.provenance.replaced(generator="import", seed=77)
    )
    with pytest.raises(LibraryError) as error:
        expansion_of(kept, kept.at(), foreign)
    reason = f"no expansion made scene {'e' * 24} (import)"
    assert str(error.value) == f"{kept.folder}: {reason} - only scenes of `scenegen expand` can be made again"


def test_scenes_that_come_out_otherwise_are_told_apart(kept, scene_maker):
    row = kept.at().find(scene_maker.scenario(1).id)
    said = run("library", "reproduce", row.scenario_id, kept.folder, expect=1)
    assert f"differs: the scenario: {row.scenario_id} kept, " in said


def test_the_command_line_holds_every_option_that_is_not_the_default(kept, scene_maker):
    expansion = scene_maker.expansion.replaced(
        axes=("pose", "tilt"), levels=(1, 3), design=DesignKind.PAIRWISE, seed=4, per_base=7, repair=True,
        placement="uniform", strength=3,
    )  # fmt: skip
    assert expand_command(kept, expansion, 9) == (
        "scenegen expand --axis pose --axis tilt --n 10 --levels 1,3 --seed 4 --design pairwise --strength 3"
        " --per-base 7 --placement uniform --repair --library again"
    )
    other: Expansion = expansion.replaced(cell_id="c" * 24)
    assert f"--cell {kept.folder}/usd/v1/cells/{'c' * 24}.json" in expand_command(kept, other, 0)
