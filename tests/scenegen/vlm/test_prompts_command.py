"""`scenegen prompts`: what a model is asked, and exactly what is sent about a scene."""

import json

import pytest
from typer.testing import CliRunner

from library.versioned import VersionedLibrary
from prompts.prompt import load_prompt, prompt_names
from scenegen.cli import app
from scenegen.errors import InvalidOption, LibraryError, UnknownName


def run(*arguments):
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """A library and one of its scenes."""
    folder = tmp_path_factory.mktemp("prompts") / "scenes"
    run("expand", "--axis", "lighting", "--n", 1, "--processes", 1, "--library", folder)
    return folder, next(row.scenario_id for row in VersionedLibrary.open(folder).at().rows() if row.kind == "base")


def test_all_prompts_are_listed_and_shown():
    listed = run("prompts", "list")
    for name in prompt_names():
        prompt = load_prompt(name)
        assert prompt.hash[:12] in listed
        shown = run("prompts", "show", name)
        assert shown.startswith(f"{name} {prompt.version} ({prompt.hash}): {prompt.doc}\n")
        assert prompt.user in shown
        assert all(f"{{{{ {field} }}}}: {doc}" in shown for field, doc in prompt.fields.items())


@pytest.mark.parametrize("name", ["propose", "judge"])
def test_a_prompt_is_tried_on_a_scene(scene, tmp_path, name):
    folder, scenario = scene
    said = run("prompts", "try", name, "--scene", scenario[:12], "--library", folder, "--picture", tmp_path / "it.png")
    assert "# system\nYou " in said
    assert "- [1] hex_bolt_m6x20_00: M6 hex bolt, target for bin_a, in feed at (" in said
    assert "# schema of the reply\n{\n" in said
    assert f"wrote {tmp_path / 'it.png'}" in said
    size = (tmp_path / "it.png").stat().st_size
    assert f"[picture: PNG of {size} bytes, sha256 " in said


def test_options_of_a_trial_are_those_of_an_expansion(scene):
    folder, scenario = scene
    said = run("prompts", "try", "propose", "--scene", scenario, "--library", folder, "--axis", "lighting",
               "--proposals", 2, "--text-only")  # fmt: skip
    schema = said.split("# schema of the reply\n")[1].rsplit("\n\n", 1)[0]
    assert json.loads(schema)["properties"]["proposals"]["maxItems"] == 2
    assert "- change_light: " in said
    assert "misplace" not in said
    assert "[picture" not in said


@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        (("repair",), InvalidOption, "NAME repair - accepted: propose or judge; repair answers a reply and cannot be "),
        (("propse",), UnknownName, "unknown prompt 'propse' - did you mean 'propose'?"),
        (("propose", "--axis", "sensor"), InvalidOption, "--axis sensor - accepted: with --vlm, axes that have edits"),
        (("propose", "--picture", "/nowhere/it.png"), LibraryError, "/nowhere/it.png: "),
    ],
)
def test_what_cannot_be_tried_is_refused(scene, arguments, kind, sentence):
    folder, scenario = scene
    with pytest.raises(kind) as refused:
        run("prompts", "try", *arguments, "--scene", scenario, "--library", folder)
    assert str(refused.value).startswith(sentence)
