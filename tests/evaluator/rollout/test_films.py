"""Films are made beside the rollout; a process that stops or dies costs its video, and nothing else."""

import importlib.util
import json
import multiprocessing
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from evaluator.judging.category import FailureCategory
from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.outcome import Outcome
from evaluator.judging.trace import EndReason
from evaluator.rollout import films as films_module
from evaluator.rollout.film_choice import FilmsOf
from evaluator.rollout.films import Films
from evaluator.rollout.stream import Finished
from scenegen.errors import MissingExtra

ROOT = Path(__file__).parents[3]
STALL_S = 6.0


@pytest.fixture
def drawer(small, catalogue, monkeypatch):
    """Writes files instead of films; the process that does so finds it by name."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    return importlib.import_module("film_drawer").Drawer(small, catalogue)


@pytest.fixture
def episode(scenes):
    """`episode(index, what, category)`: one that ended, with what its film will do; a failure with a category."""

    def episode(index, what, category=None):
        key = EpisodeKey(run_id="tests", scenario_id=scenes[0].id, seed=0)
        outcome = Outcome.FAILURE if category else Outcome.SUCCESS
        judged = Episode(key=key, outcome=outcome, end=EndReason.DONE, category=category)
        return Finished(index, scenes[0], what, EndReason.DONE, None), judged

    return episode


def filmed(drawer, folder, *episodes, count=9, of=FilmsOf.FAILURES_FIRST):
    with Films(drawer, folder, count, of=of, stall_s=STALL_S) as films:
        for one in episodes:
            films.add(*one)
    assert (multiprocessing.active_children(), films.waiting) == ([], 0)
    name = episodes[0][0].scenario.id[:12]
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in films.written)
    written = [path.stem.removeprefix(f"{name}-") for path in films.written]
    return written, {path.stem.removeprefix(f"{name}-"): reason for path, reason in films.left_out.items()}


@pytest.mark.parametrize(
    ("of", "videos"),
    [
        (FilmsOf.FAILURES_FIRST, ["5-stagnation", "7-drop", "3-success"]),
        (FilmsOf.FAILURES, ["5-stagnation", "7-drop"]),
        (FilmsOf.SUCCESSES, ["3-success", "4-success", "6-success"]),
        (FilmsOf.ANY, ["3-success", "4-success", "5-stagnation"]),
    ],
)
def test_the_episodes_that_are_asked_for_are_filmed(drawer, episode, tmp_path, of, videos):
    how = {5: FailureCategory.STAGNATION, 7: FailureCategory.DROP}
    ends = [episode(index, "well", how.get(index)) for index in (3, 4, 5, 6, 7)]
    assert filmed(drawer, tmp_path / "deep" / "videos", *ends, count=3, of=of) == (videos, {})


def test_what_may_yet_be_filmed_waits_and_is_no_more_than_is_asked_for(drawer, episode, tmp_path):
    with Films(drawer, tmp_path, 2, stall_s=STALL_S) as films:
        for index in range(5):
            films.add(*episode(index, "well"))
        assert films.waiting == 2
        films.add(*episode(5, "well", FailureCategory.JAM))
        assert films.waiting == 2
    assert [path.name.partition("-")[2] for path in films.written] == ["5-jam.mp4", "0-success.mp4"]
    films.add(*episode(6, "well", FailureCategory.JAM))
    assert films.waiting == 0


def test_one_that_is_slow_is_waited_for(drawer, episode, tmp_path):
    assert filmed(drawer, tmp_path, episode(0, "slow")) == (["0-success"], {})


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("dies", "its process ended with exit code -9"),
        ("stops", "its process drew no picture for 6 s"),
        ("no room", "OSError: [Errno 28] No space left on device"),
    ],
)
def test_one_that_fails_is_left_out_with_a_reason_and_the_others_are_written(drawer, episode, tmp_path, what, reason):
    ends = episode(0, "well"), episode(1, what), episode(2, "well")
    assert filmed(drawer, tmp_path, *ends) == (["0-success", "2-success"], {"1-success": reason})


def test_after_some_processes_it_gives_up(drawer, episode, tmp_path):
    ends = [episode(index, "dies") for index in range(4)]
    ended, before = "its process ended with exit code -9", "processes before it were lost"
    assert filmed(drawer, tmp_path, *ends) == (
        [],
        {f"{index}-success": reason for index, reason in enumerate((ended, ended, before, before))},
    )


def test_after_an_error_nothing_is_waited_for(drawer, episode, tmp_path):
    begun = time.monotonic()
    with suppress(KeyError), Films(drawer, tmp_path, 1, of=FilmsOf.ANY) as films:
        films.add(*episode(0, "stops"))
        raise KeyError("interrupted")
    assert time.monotonic() - begun < films_module.STALL_S / 2
    assert multiprocessing.active_children() == []


def test_without_films_there_is_no_folder_and_without_pyav_a_reason(drawer, episode, tmp_path, monkeypatch):
    with Films(drawer, tmp_path / "videos", 0) as films:
        films.add(*episode(0, "well"))
    assert (films.written, films.left_out, list(tmp_path.iterdir())) == ([], {}, [])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"^Writing videos needs the extra 'isaac' - run: pip install"):
        Films(drawer, tmp_path, 1)


def test_a_run_ends_whole_although_its_film_was_stopped(library, tmp_path):
    pytest.importorskip("av", reason="needs the extra isaac")
    script = (
        "import evaluator.rollout.films as films, scenegen.cli, os, signal, threading, time, multiprocessing\n"
        "films.Films.__init__.__kwdefaults__['stall_s'] = 3.0\n"
        "def stop():\n"
        "    while not multiprocessing.active_children(): time.sleep(0.01)\n"
        "    os.kill(multiprocessing.active_children()[0].pid, signal.SIGSTOP)\n"
        "threading.Thread(target=stop, daemon=True).start()\n"
        "scenegen.cli.main()\n"
    )
    options = ["--policy", "oracle", "--simulator", "kinematic", "--latency", "0", "--videos", "1", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", script, "evaluate", library, *options], cwd=tmp_path, check=False, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "all episodes are kept; videos left to draw: 1, a minute or more each\n" in done.stderr
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("video")]
    assert said.startswith("video left out: videos/")
    assert said.endswith(": its process drew no picture for 3 s")
    assert json.loads(done.stdout.splitlines()[-1])["outcomes"] == {"success": 5}
    again = subprocess.run(
        [sys.executable, "-m", "scenegen", "evaluate", library, *options], cwd=tmp_path, check=False, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert again.stderr.endswith("no videos: all episodes were kept before, and an episode is filmed as it ends\n")
