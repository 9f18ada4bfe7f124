"""The command line as a user types it: output, errors in one sentence, exit codes."""

import ast
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from library.files import USD
from library.row import Row
from library.versioned import VersionedLibrary


def scenegen(*arguments: str, cwd: Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scenegen", *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def rows(folder: Path) -> list[Row]:
    """All scenes of a library's newest version, sorted."""
    return sorted(VersionedLibrary.open(folder).at().rows(), key=Row.canonical_json)


def waiting(folder: Path) -> int:
    """How many lines the journals of a library hold."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("staging/*.jsonl"))


def until_it_writes(folder: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not waiting(folder):
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["expand", "--axis", "lighting", "--n", "0"], "--n 0 - accepted: a whole number of at least 1"),
        (["expand", "--axis", "lightning", "--n", "5"], "unknown axis 'lightning' - did you mean 'lighting'?"),
        (
            ["expand", "--axis", "pose", "--n", "5", "--cell", "fastener"],
            "unknown cell 'fastener' - did you mean 'fasteners'?",
        ),
        (
            ["expand", "--axis", "pose", "--n", "5", "--cell", "my.yaml"],
            "my.yaml: no such file - write one with `scenegen init`",
        ),
        (
            ["expand", "--axis", "pose", "--n", "5", "--levels", "0-9"],
            "--levels 0-9 - accepted: levels 1 to 5, for example 3, 3-5 or 1,3",
        ),
        (
            ["expand", "--axis", "pose", "--n", "5", "--placement", "dense"],
            "--placement dense - accepted: sequential or uniform",
        ),
        (["schema", "cel"], "unknown record 'cel' - did you mean 'cell'?"),
        (["show", "abc"], "scenarios: no library there - make one with `scenegen expand`"),
        (["library", "list"], "scenarios: no library there - make one with `scenegen expand`"),
        (["init", "c.yaml", "--like", "ring"], "unknown cell 'ring' - did you mean 'rings'?"),
        (
            ["check", "nothing"],
            "WHAT nothing - accepted: a cell file or name, a .usda/.usdc/.usdz scene, or a library",
        ),
    ],
)
def test_wrong_use_gets_one_sentence_and_exit_code_2(arguments, sentence, tmp_path):
    done = scenegen(*arguments, cwd=tmp_path, expect=2)
    assert done.stderr == f"scenegen: {sentence}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_library_where_a_file_is_in_the_way(tmp_path):
    (tmp_path / "scenarios").write_text("mine")
    done = scenegen("expand", "--axis", "pose", "--n", "2", cwd=tmp_path, expect=2)
    assert done.stderr == (
        "scenegen: scenarios: a file of that name is in the way - choose another folder with --library\n"
    )
    assert (tmp_path / "scenarios").read_text() == "mine"


def test_init_check_and_schema(tmp_path):
    scenegen("init", "cell.yaml", cwd=tmp_path)
    again = scenegen("init", "cell.yaml", cwd=tmp_path, expect=2)
    assert again.stderr == (
        "scenegen: FILE cell.yaml - accepted: a file that does not exist yet, or --force to overwrite it\n"
    )
    assert scenegen("check", "cell.yaml", cwd=tmp_path).stdout.startswith("cell.yaml: ok - 32 slots, 4 bins")
    text = (tmp_path / "cell.yaml").read_text().replace("opening_m: 0.08", "opening_m: 0.004")
    (tmp_path / "narrow.yaml").write_text(text)
    found = scenegen("check", "narrow.yaml", cwd=tmp_path, expect=1)
    assert "hex_bolt_m8x20" in found.stdout
    refused = scenegen("expand", "--axis", "pose", "--n", "2", "--cell", "narrow.yaml", cwd=tmp_path, expect=2)
    assert refused.stderr.startswith("scenegen: narrow.yaml: ")
    schema = json.loads(scenegen("schema", cwd=tmp_path).stdout)
    assert schema["title"] == "Cell"


def test_expand_keeps_n_scenes_whatever_the_processes_and_the_interruptions(tmp_path):
    scenegen("expand", "--axis", "pose", "--axis", "lighting", "--n", "44", "--library", "a", cwd=tmp_path)
    scenegen(
        "expand",
        "--axis",
        "pose",
        "--axis",
        "lighting",
        "--n",
        "13",
        "--library",
        "b",
        "--processes",
        "1",
        cwd=tmp_path,
    )
    scenegen("expand", "--axis", "pose", "--axis", "lighting", "--n", "44", "--library", "b", cwd=tmp_path)
    assert rows(tmp_path / "a") == rows(tmp_path / "b")
    kept = rows(tmp_path / "a")
    assert sum(row.kind == "variant" for row in kept) == 44
    files = {path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("scenes/*/*.usda")}
    assert len(files) == len({row.scenario_id for row in kept})
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert scenegen("check", "a", cwd=tmp_path).stdout.endswith(f"{len(kept)} scenes checked, 0 bad\n")
    done = scenegen(
        "expand", "--axis", "pose", "--axis", "lighting", "--n", "44", "--library", "a", "--json", cwd=tmp_path
    )
    report = json.loads(done.stdout.splitlines()[-1])
    assert (report["kept"], report["n"]) == (44, 44)
    assert rows(tmp_path / "a") == rows(tmp_path / "b")


def test_a_robot_that_the_cell_names_travels_with_the_library(tmp_path):
    scenegen("init", "cell.yaml", cwd=tmp_path)
    text = (tmp_path / "cell.yaml").read_text().replace("robot:\n", "robot:\n  usd: arm.usda\n", 1)
    (tmp_path / "cell.yaml").write_text(text)
    arguments = ["expand", "--axis", "lighting", "--n", "2", "--cell", "cell.yaml"]
    missing = scenegen(*arguments, cwd=tmp_path, expect=2)
    assert missing.stderr == "scenegen: cell.yaml: robot.usd: arm.usda - accepted: a file beside the cell file\n"
    (tmp_path / "arm.usda").write_text('#usda 1.0\n(\n    defaultPrim = "Arm"\n)\n\ndef Xform "Arm"\n{\n}\n')
    scenegen(*arguments, cwd=tmp_path)
    assert (tmp_path / "scenarios" / USD / "cells" / "arm.usda").is_file()
    scene = next(tmp_path.glob(f"scenarios/{USD}/scenes/*/*.usda"))
    assert scenegen("check", str(scene.relative_to(tmp_path)), cwd=tmp_path).stdout.startswith(
        f"scenarios/{USD}/scenes/"
    )


def test_a_killed_run_loses_nothing_that_was_written(tmp_path):
    command = [sys.executable, "-m", "scenegen", "expand", "--axis", "lighting", "--n", "4000", "--library", "lib"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    until_it_writes(tmp_path / "lib")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    journal = next(tmp_path.glob("lib/staging/*.jsonl"))
    written = [line[25:] for line in journal.read_text().splitlines(keepends=True) if line.endswith("\n")]
    assert written
    n = len(written) + 40
    scenegen("expand", "--axis", "lighting", "--n", str(n), "--library", "lib", cwd=tmp_path)
    kept = rows(tmp_path / "lib")
    known = {row.columns()["row_hash"] for row in kept}
    assert {row["row_hash"] for line in written for row in json.loads(line)["rows"]["scenarios"]} <= known
    assert sorted(row.provenance.index for row in kept if row.kind == "variant") == list(range(n))


def test_an_interrupted_run_commits_what_it_has_and_says_how_to_continue(tmp_path):
    command = [sys.executable, "-m", "scenegen", "expand", "--axis", "lighting", "--n", "100000", "--library", "lib"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until_it_writes(tmp_path / "lib")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "scenegen: interrupted - run the same command again to continue"
    assert any(row.kind == "variant" for row in rows(tmp_path / "lib"))
    assert waiting(tmp_path / "lib") == 0


def test_layers_are_written_when_they_are_asked_for(tmp_path):
    expand = ["expand", "--axis", "lighting", "--n", "6", "--processes", "1"]
    scenegen(*expand, "--library", "all", cwd=tmp_path)
    scenegen(*expand, "--library", "lazy", "--usd", "lazy", cwd=tmp_path)
    assert not list(tmp_path.glob(f"lazy/{USD}/scenes/*/*.usda"))
    assert scenegen("check", "lazy", cwd=tmp_path).stdout.endswith("7 scenes checked, 0 bad\n")
    written = [path.relative_to(tmp_path / "lazy") for path in tmp_path.glob(f"lazy/{USD}/scenes/*/*.usda")]
    assert len(written) == 7
    for path in written:
        assert (tmp_path / "lazy" / path).read_bytes() == (tmp_path / "all" / path).read_bytes()


def test_an_expansion_that_cannot_reach_n_says_why(tmp_path):
    scenegen("init", "full.yaml", cwd=tmp_path)
    text = (tmp_path / "full.yaml").read_text().replace("fill: [8, 14]", "fill: [22, 22]")
    text = text.replace("size_m: [0.2, 0.2] # inner", "size_m: [0.06, 0.06]")
    (tmp_path / "full.yaml").write_text(text)
    done = scenegen(
        "expand", "--axis", "pose", "--n", "5", "--cell", "full.yaml", "--processes", "1", cwd=tmp_path, expect=1
    )
    assert "only 0 of 5 scenes" in done.stderr
    assert "place:" in done.stdout


def test_scenes_are_listed_shown_and_drawn(tmp_path):
    scenegen("expand", "--axis", "pose", "--n", "3", cwd=tmp_path)
    listed = scenegen("library", "list", "--json", cwd=tmp_path).stdout.splitlines()
    row = json.loads(listed[-1])
    shown = scenegen("show", row["scenario_id"][:10], "-o", "one.png", cwd=tmp_path).stdout
    assert row["provenance"]["base_id"] in shown
    scenegen("library", "sheet", "-o", "sheet.png", "--count", "3", cwd=tmp_path)
    for picture in ("one.png", "sheet.png"):
        assert (tmp_path / picture).stat().st_size > 10_000


def test_a_scene_that_a_person_moved_things_in_is_checked_and_mended(tmp_path):
    scenegen("expand", "--axis", "lighting", "--n", "1", cwd=tmp_path)
    layer = next(tmp_path.glob(f"scenarios/{USD}/layouts/*/*.usda"))
    places = re.findall(r"double3 xformOp:translate = (\(.*\))", layer.read_text())
    x, y, z = ast.literal_eval(places[-2])
    layer.write_text(layer.read_text().replace(places[-1], f"({x + 0.004}, {y}, {z})"))
    scene = next(tmp_path.glob(f"scenarios/{USD}/scenes/*/*.usda")).relative_to(tmp_path)
    found = scenegen("check", str(scene), cwd=tmp_path, expect=1)
    assert " overlaps " in " ".join(found.stdout.split())
    mended = scenegen("check", str(scene), "--repair", cwd=tmp_path).stdout.splitlines()[-1]
    again = scenegen("check", mended.removeprefix("repaired: "), cwd=tmp_path)
    assert ": ok - " in again.stdout
    whole = scenegen("check", "scenarios", cwd=tmp_path, expect=1)
    assert f"{layer.relative_to(tmp_path)}: damaged: its SHA-256 is not " in whole.stdout


def test_axes_are_described(tmp_path):
    table = scenegen("axes", cwd=tmp_path).stdout
    assert "lighting" in table
    described = json.loads(scenegen("axes", "--json", cwd=tmp_path).stdout)
    assert len(described) == 16
