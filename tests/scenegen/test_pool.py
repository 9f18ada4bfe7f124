"""Numbered work comes back in order, and no more is begun than is wanted."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scenegen.errors import ProcessLost
from scenegen.pool import Demand, run_ordered

ROOT = Path(__file__).parents[2]

WORKERS = """
import os

def odd(indices):
    return [index % 2 == 1 for index in indices]

def make_odd():
    return odd

def fail(indices):
    raise LookupError(f"index {indices[0]}")

def make_fail():
    return fail

def end(indices):
    os._exit(7)

def make_end():
    return end
"""


@pytest.fixture
def workers(tmp_path, monkeypatch):
    """A module that the spawned processes can import too."""
    (tmp_path / "pool_test_workers.py").write_text(WORKERS)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("pool_test_workers")


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where temporary files go."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def collect(workers, demand, processes):
    kept, begun = [], []
    for index, odd in run_ordered(workers.make_odd, demand, processes=processes, chunk=4):
        begun.append(index)
        if odd:
            demand.wanted -= 1
            kept.append(index)
    return kept, begun


@pytest.mark.parametrize("processes", [1, 2])
def test_the_first_wanted_results_are_found_in_order(workers, processes):
    kept, begun = collect(workers, Demand(wanted=5, end=100), processes)
    assert kept == [1, 3, 5, 7, 9]
    assert begun == list(range(10))


def test_done_indices_are_skipped(workers):
    kept, _ = collect(workers, Demand(wanted=3, end=100, skip=frozenset({1, 2, 5})), 1)
    assert kept == [3, 7, 9]


def test_the_end_bounds_the_search(workers):
    kept, begun = collect(workers, Demand(wanted=50, end=7), 1)
    assert kept == [1, 3, 5]
    assert begun == list(range(7))


def test_a_chunk_ends_at_multiples_of_its_size():
    demand = Demand(wanted=100, end=100)
    assert [demand.next_chunk(4, 0) for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_an_error_in_a_worker_reaches_the_caller(workers):
    with pytest.raises(LookupError, match="index 0"):
        list(run_ordered(workers.make_fail, Demand(wanted=2, end=9), processes=2, chunk=1))


@pytest.mark.parametrize("forks", [True, False])
def test_a_process_that_ends_is_told_in_a_sentence(workers, forks, scratch):
    with pytest.raises(ProcessLost) as caught:
        list(run_ordered(workers.make_end, Demand(wanted=2, end=9), processes=2, chunk=1, forks=forks))
    assert str(caught.value) == (
        "one of 2 processes ended before its work was done, as the system ends them when memory is full"
        " - run it again, with fewer processes if it happens again"
    )
    assert list(scratch.glob("scenegen-*")) == []


DIES = """
import multiprocessing.resource_tracker, multiprocessing.spawn
from functools import partial
from scenegen.errors import ProcessLost
from scenegen.pool import Demand, run_ordered

if __name__ == "__main__":
    multiprocessing.resource_tracker.ensure_running()
    multiprocessing.spawn.set_executable("/bin/false")
    try:
        list(run_ordered(partial(print, "x" * 1_000_000), Demand(wanted=2, end=9), processes=2, chunk=1, forks=False))
    except ProcessLost:
        print("lost")
"""


def test_processes_that_die_before_they_begin_keep_nobody_waiting(tmp_path):
    """What makes their workers is more than a pipe holds, and nobody empties the pipe."""
    (tmp_path / "dies.py").write_text(DIES)
    done = subprocess.run(
        [sys.executable, "dies.py"], env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("lost\n", 0), done.stderr
