"""A small vision-language model with random weights, from picture to checked scenes: here, and over a real socket."""

from contextlib import closing

import pytest
from typer.testing import CliRunner

from library.proposals import call_of, proposed_of
from library.verify import verify
from library.versioned import VersionedLibrary
from scenegen.cli import app
from scenegen.vlm.served import ModelServer

pytest.importorskip("outlines", reason="needs the extra `vlm-local`")
from scenegen.vlm.local import LocalModel


def expand(vlm, folder):
    arguments = ["expand", "--axis", "misplacement", "--vlm", vlm, "--n", "3", "--proposals", "1", "--seed", "1"]
    arguments += ["--per-base", "3", "--processes", "1", "--library", str(folder)]
    done = CliRunner().invoke(app, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def here(tiny_vlm, tmp_path_factory):
    """A library that the model made in this process."""
    folder = tmp_path_factory.mktemp("here") / "scenes"
    expand(f"local:{tiny_vlm}", folder)
    return VersionedLibrary.open(folder)


def variants(library):
    return {row.scenario_id: row for row in library.at().rows() if row.kind != "base"}


def test_a_picture_becomes_a_constrained_proposal_and_scenes(here, tiny_vlm):
    rows = variants(here)
    assert len(rows) == 3
    for row in rows.values():
        proposed = proposed_of(here, here.at(), row)
        call = call_of(here, here.at(), proposed)
        assert {edit.axis for edit in proposed.proposal.edits} == {"misplacement"}
        assert call.model == f"local:{tiny_vlm}"
        assert len(call.request.messages[1].pictures) == 1
    assert verify(here).damage == ()


def test_over_a_socket_it_gives_the_same_scenes(here, tiny_vlm, tmp_path):
    with closing(LocalModel(tiny_vlm)) as model, ModelServer(model, name=model.name, sees=model.sees) as server:
        expand(f"openai:{model.name}@{server.url}", tmp_path / "scenes")
    assert variants(VersionedLibrary.open(tmp_path / "scenes")).keys() == variants(here).keys()
