"""Kills, full disks, failing disks and ambiguous commits at every call of a small writer, and what is left.

The short form takes calls spread over the whole work; `-m slow` takes every call, and kills a thousand times at random.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from library.versioned import VersionedLibrary

sys.path.insert(0, str(Path(__file__).parent / "crash"))

import crash_faults as faults

SHORT = 4
"""Calls that the short form disturbs, of each kind of fault."""


@pytest.fixture(scope="module")
def crashes():
    """A server of crashes; where there is no compiler, the tests are skipped, loudly.

    Libraries are in memory if that can be: what a kill leaves is the same, and nothing waits for a disk.
    """
    if faults.compiler() is None:
        pytest.skip(faults.NO_COMPILER)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        folder = Path(name)
        with faults.Crashes(folder, faults.build_shim(folder)) as started:
            yield started


@pytest.fixture(scope="module")
def undisturbed(crashes):
    """What the writer gives when nobody disturbs it."""
    return faults.Undisturbed(crashes)


def spread(count, wanted=SHORT):
    """Some of the numbers from 1 to count, evenly spread."""
    return sorted({1 + round(step * (count - 1) / (wanted - 1)) for step in range(wanted)})


def calls_of(crashes, calls):
    """How many calls of some kinds an undisturbed writer makes."""
    victim = crashes.library()
    count = victim.write({"at": 0, "calls": calls})["count"]
    victim.remove()
    return count


def test_the_shim_sees_what_lance_writes(crashes):
    victim = crashes.library()
    for name, calls in (("tables/scenarios.lance/data", "write"), ("tables/scenarios.lance/_versions", "rename,link")):
        assert victim.write({"at": 0, "calls": calls, "name": name})["count"] > 0
        shutil.rmtree(victim.folder)


@pytest.mark.parametrize("mode", ["kill", "torn"])
def test_a_writer_killed_at_a_call_leaves_the_old_or_the_new_version(crashes, undisturbed, mode):
    for at in spread(undisturbed.calls):
        assert faults.killed_at(crashes, undisturbed, at, mode=mode) == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["kill", "torn"])
def test_a_writer_killed_at_every_call_leaves_the_old_or_the_new_version(crashes, undisturbed, mode):
    problems = [
        one for at in range(1, undisturbed.calls + 1) for one in faults.killed_at(crashes, undisturbed, at, mode=mode)
    ]
    assert problems == []


def test_kills_at_random_times_lose_nothing(crashes, undisturbed):
    rng = np.random.default_rng(0)
    result = faults.killed_at_random(crashes, undisturbed, rng=rng, kills=5)
    assert result.problems == []
    assert result.kills > 0


@pytest.mark.slow
def test_a_thousand_kills_at_random_times_lose_nothing(crashes, undisturbed):
    rng, total = np.random.default_rng(1), faults.Kills()
    while total.kills < 1000:
        result = faults.killed_at_random(crashes, undisturbed, rng=rng, kills=10)
        total.kills += result.kills
        total.count(result.problems)
    assert (total.lost, total.torn, total.problems) == (0, 0, [])


FAULTS = {
    "full disk": ({"mode": "fail", "errno": errno.ENOSPC, "times": 0}, "the disk is full"),
    "read-only": ({"mode": "fail", "errno": errno.EROFS, "times": 0}, "the file system is read-only"),
    "no permission": (
        {"mode": "fail", "errno": errno.EACCES, "times": 0, "calls": "open,mkdir,rename,link"},
        "no permission to write",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_disk_that_takes_nothing_more_is_one_sentence_and_no_harm(crashes, undisturbed, name):
    fault, sentence = FAULTS[name]
    for at in spread(calls_of(crashes, fault.get("calls", "")))[:-1]:
        victim = crashes.library()
        answer = victim.write({**fault, "at": at})
        assert answer.get("kind") == "LibraryError", (at, answer)
        assert f": {sentence} - " in answer["error"]
        assert answer["error"].count("\n") == 0
        assert answer["error"].count(str(victim.folder)) == 1
        assert faults.settled(victim, undisturbed) == []
        victim.remove()


@pytest.mark.slow
def test_a_full_disk_at_every_call_is_one_sentence_and_no_harm(crashes, undisturbed):
    problems, fault = [], FAULTS["full disk"][0]
    for at in range(1, undisturbed.calls + 1):
        victim = crashes.library()
        answer = victim.write({**fault, "at": at})
        if "error" in answer and (answer["kind"] != "LibraryError" or "the disk is full - " not in answer["error"]):
            problems.append((at, answer["error"]))
        problems += [(at, one) for one in faults.settled(victim, undisturbed)]
        victim.remove()
    assert problems == []


@pytest.mark.parametrize("mode", ["fail", "after"])
def test_one_failing_call_leaves_the_old_or_the_new_version(crashes, undisturbed, mode):
    for at in spread(undisturbed.calls):
        victim = crashes.library()
        answer = victim.write({"mode": mode, "errno": errno.EIO, "times": 1, "at": at})
        assert answer.get("kind") in (None, "LibraryError"), (at, answer)
        assert faults.settled(victim, undisturbed, first="error" in answer) == []
        victim.remove()


@pytest.mark.parametrize("commit", ["branches/main/00000000.json", "branches/main/00000002.json"])
def test_a_commit_that_succeeds_and_reports_an_error_is_found_and_not_repeated(crashes, undisturbed, commit):
    victim = crashes.library()
    answer = victim.write({"mode": "after", "errno": errno.EIO, "times": 1, "at": 1, "calls": "link", "name": commit})
    assert answer["kind"] == "LibraryError"
    assert answer["error"] == (
        f"{victim.folder}/{commit}: the disk reports an error - "
        "check the disk; `scenegen library verify` tells what is damaged"
    )
    assert (victim.folder / commit).is_file()
    number = int(commit[-6])
    assert victim.check()["heads"]["main"] == [number, undisturbed.steps[number]]
    assert faults.settled(victim, undisturbed) == []
    assert victim.check()["heads"] == undisturbed.heads


def test_too_many_open_files_is_one_sentence(crashes, undisturbed):
    fault = {"mode": "fail", "errno": errno.EMFILE, "times": 0, "calls": "open,read"}
    for at in spread(calls_of(crashes, "open,read"), 5)[:-1]:
        victim = crashes.library()
        answer = victim.write({**fault, "at": at})
        assert answer["kind"] == "LibraryError"
        assert answer["error"].count("\n") == 0
        assert faults.settled(victim, undisturbed) == []
        victim.remove()


def test_an_error_of_the_disk_while_reading_is_one_sentence_and_the_library_stays(crashes, undisturbed):
    victim = crashes.library()
    victim.write()
    count = victim.read({"at": 0, "calls": "read"})["count"]
    for at in spread(count, 6):
        answer = victim.read({"mode": "fail", "errno": errno.EIO, "times": 0, "at": at, "calls": "read"})
        assert answer.get("kind") == "LibraryError", (at, answer)
        assert answer["error"].count("\n") == 0
    assert faults.settled(victim, undisturbed) == []


def test_a_limit_of_file_sizes_is_one_sentence_and_exit_code_2(tmp_path):
    command = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "import sys; sys.argv[1:] = ['expand', '--axis', 'lighting', '--n', '4', '--processes', '1'];"
        "from scenegen.cli import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, env=_environment(), check=False
    )
    assert run.returncode == 2, run.stderr
    assert run.stderr.splitlines()[-1].endswith(
        ": the file-size limit is reached - raise the limit and run the command again; what was kept stays"
    )


@pytest.mark.slow
def test_a_disk_that_gets_full_under_a_worker_process_is_one_sentence_and_exit_code_2(tmp_path):
    if faults.compiler() is None:
        pytest.skip(faults.NO_COMPILER)
    folder = tmp_path / "library"
    shim = {
        "LD_PRELOAD": str(faults.build_shim(tmp_path)),
        "SHIM_FOLDER": str(folder),
        "SHIM_NAME": "usd/v1/scenes",
        "SHIM_CALLS": "rename",
        "SHIM_AT": "3",
        "SHIM_MODE": "fail",
        "SHIM_ERRNO": str(errno.ENOSPC),
        "SHIM_TIMES": "0",
    }
    run = subprocess.run(_expand(folder, 60), env=_environment(**shim), capture_output=True, text=True, check=False)
    assert run.returncode == 2, run.stderr
    assert run.stderr.splitlines()[-1].startswith(f"scenegen: {folder}/usd/v1/scenes/")
    assert run.stderr.splitlines()[-1].endswith(
        ".usda: the disk is full - free some room and run the command again; what was kept stays"
    )
    subprocess.run(_expand(folder, 60), env=_environment(), capture_output=True, check=True)


def _environment(**more):
    paths = os.pathsep.join([str(faults.ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore", **more}


def _expand(folder, n):
    options = ["--axis", "lighting", "--n", str(n), "--processes", "2", "--library", str(folder), "--json"]
    return [sys.executable, "-m", "scenegen", "expand", *options]


def _fingerprint(folder):
    commit = VersionedLibrary.open(folder).history.head("main")
    return commit.fingerprint if commit else None


@pytest.mark.slow
def test_expand_killed_at_random_times_resumes_to_the_same_library(tmp_path):
    begin = time.monotonic()
    subprocess.run(_expand(tmp_path / "whole", 60), check=True, capture_output=True, env=_environment())
    seconds, rng, kills = time.monotonic() - begin, np.random.default_rng(2), 0
    for trial in range(4):
        folder = tmp_path / f"killed {trial}"
        for _ in range(2):
            run = subprocess.Popen(
                _expand(folder, 60), env=_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                run.wait(timeout=seconds * float(rng.uniform(0.2, 1.0)))
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                kills += 1
            run.wait()
        subprocess.run(_expand(folder, 60), check=True, capture_output=True, env=_environment())
        assert _fingerprint(folder) == _fingerprint(tmp_path / "whole")
    assert kills > 0
