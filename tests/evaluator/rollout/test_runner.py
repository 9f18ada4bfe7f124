"""Rollouts are kept whatever happens: no memory, a simulator that hangs, judges and commands that are killed."""

import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest

from evaluator.judging.episode import EpisodeKey
from evaluator.judging.outcome import Outcome
from evaluator.policies.registry import KINDS, Kind
from evaluator.policy import ActionKind, PolicySpec
from evaluator.rollout.attempts import Attempts
from evaluator.rollout.jury import Judge, Jury
from evaluator.rollout.kept import episodes_of_run
from evaluator.rollout.kinematic import KinematicLine
from evaluator.rollout.run import Run
from evaluator.rollout.runner import EXIT_HUNG, Runner, Setting, Task
from evaluator.rollout.scene_set import scene_set
from library.layers import Layers
from library.versioned import VersionedLibrary
from scenegen.errors import OutOfMemory

ROOT = Path(__file__).parents[3]
CUDA = "CUDA out of memory. Tried to allocate 2.00 GiB."
PIPE_BYTES = 65536
"""What a pipe holds that nobody reads."""
WARP = "Failed to allocate 1234 bytes on device 'cuda:0'"


class Shop:
    """Rolls scenes of a library out on lines that a test makes."""

    def __init__(self, folder, lines=None, worlds=4):
        self.store = VersionedLibrary.open(folder)
        self.snapshot = self.store.at()
        self.rows = sorted({row.scenario_id: row for row in self.snapshot.rows()}.values(), key=lambda r: r.scenario_id)
        self.cell, self.parts = Layers(self.store, self.snapshot).cell_and_parts(self.rows[0])
        self.lines = lines or (lambda count: nullcontext(KinematicLine(self.cell, self.parts, count=count)))
        self.worlds, self.said = worlds, []

    def run(self, policy="noop"):
        simulator = {"kinematic": "tests"}
        version = scene_set(self.store, self.snapshot.commit).content_id
        return Run(policy=policy, version=version, latency="0", seed=0, device="cpu", simulator=simulator)

    def roll(self, run, **options):
        setting = Setting(self.cell, self.parts, self.lines, self.worlds)
        runner = Runner(
            self.store, branch="main", setting=setting, say=self.said.append, ticked=lambda pace: None, **options
        )
        keys = [EpisodeKey(run_id=run.content_id, scenario_id=row.scenario_id, seed=0) for row in self.rows]
        tasks = [Task(self.snapshot.scenario(row), key) for row, key in zip(self.rows, keys, strict=True)]
        return list(runner.roll(run, tasks, len(tasks)))

    def kept(self, run):
        return list(episodes_of_run(self.store.at(), run.content_id))


def without_times(episodes):
    return {one.key.scenario_id: one.replaced(latencies={}) for one in episodes}


@pytest.mark.parametrize("error", [RuntimeError(CUDA), RuntimeError(WARP), MemoryError()])
def test_worlds_are_halved_until_they_fit(library, error):
    tried = []

    def lines(count):
        tried.append(count)
        if count > 1:
            raise error
        return nullcontext(KinematicLine(shop.cell, shop.parts, count=count))

    @contextmanager
    def late(count):  # real simulators build when they are entered
        with lines(count) as line:
            yield line

    shop = Shop(library, late)
    assert len(shop.roll(shop.run())) == len(shop.rows) == len(shop.kept(shop.run()))
    assert tried == [4, 2, 1]
    assert shop.said == ["out of memory with 4 worlds: going on with 2", "out of memory with 2 worlds: going on with 1"]


def test_memory_that_runs_out_later_costs_no_episode(library, passed):
    class Greedy(passed):
        ticks = 0

        def tick(self):
            super().tick()
            Greedy.ticks += 1
            if self.count > 2 and Greedy.ticks == 30:
                raise RuntimeError(CUDA)

    shop = Shop(library, lambda count: nullcontext(Greedy(KinematicLine(shop.cell, shop.parts, count=count))))
    found, whole = shop.roll(shop.run("oracle")), Shop(library).roll(shop.run("oracle"))
    assert shop.said == ["out of memory with 4 worlds: going on with 2"]
    assert without_times(found) == without_times(whole)
    assert {one.outcome for one in found} == {Outcome.SUCCESS}


def test_a_world_that_does_not_fit_ends_in_one_sentence(library):
    def lines(count):
        raise RuntimeError(CUDA)

    with pytest.raises(OutOfMemory) as caught:
        Shop(library, lines).roll(Shop(library).run())
    detail = f"out of memory with a single world ({CUDA})"
    assert str(caught.value) == f"{detail} - close what else uses it, or use another device"


def test_other_errors_go_on(library):
    def lines(count):
        raise RuntimeError("the driver is too old")

    with pytest.raises(RuntimeError, match=r"^the driver is too old$"):
        Shop(library, lines).roll(Shop(library).run())


class Stuck:
    """Stalls in its first call."""

    def __init__(self):
        self.spec = PolicySpec("stuck", ActionKind.JOINT_POSITION)

    def reset(self, worlds, instructions):
        pass

    def act(self, observation):
        time.sleep(1.5)
        return np.zeros((len(observation.worlds), 1, 8), np.float32)

    def close(self):
        pass


def test_a_policy_that_stalls_costs_its_episodes_and_not_the_run(library, monkeypatch):
    monkeypatch.setattr("evaluator.policies.checked.Checked.__init__.__kwdefaults__", {"deadline_s": 0.1})
    monkeypatch.setitem(KINDS, "stuck", Kind(__name__, "stuck"))
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Stuck.__module__])
    monkeypatch.setattr(sys.modules[__name__], "build", lambda form, context: Stuck(), raising=False)
    shop = Shop(library)
    found = shop.roll(shop.run("stuck"))
    assert {one.outcome for one in found} == {Outcome.POLICY_ERROR}
    assert len(shop.kept(shop.run("stuck"))) == len(shop.rows)
    accepted = "an answer within 0.1 s"
    assert shop.said == [f"it was not closed: policy stuck: no answer in time - accepted: {accepted}"]


def test_judges_that_are_killed_lose_nothing(scenes, play, small, catalogue):
    found = list(play("noop", scenes).values())
    with Jury(Judge(small, catalogue), processes=1) as jury:
        for index, finished in enumerate(found):
            jury.add(finished, EpisodeKey(run_id="tests", scenario_id=finished.scenario.id, seed=0))
            if index == 0:
                first = [one.episode for one in jury.judged(wait=True)]
                for process in list(jury._pool._processes.values()):
                    os.kill(process.pid, signal.SIGKILL)
        rest = [one.episode for one in jury.judged(wait=True)]
    ids = [one.key.scenario_id for one in (*first, *rest)]
    assert ids == [one.scenario.id for one in found]


DIES = """
import multiprocessing.resource_tracker, multiprocessing.spawn, pickle, sys
from evaluator.judging.episode import EpisodeKey
from evaluator.rollout.jury import Jury

if __name__ == "__main__":
    finished, judge = pickle.load(open(sys.argv[1], "rb"))
    multiprocessing.resource_tracker.ensure_running()
    multiprocessing.spawn.set_executable("/bin/false")
    with Jury(judge, processes=2) as jury:
        for _ in range(3):
            jury.add(finished, EpisodeKey(run_id="tests", scenario_id=finished.scenario.id, seed=0))
        print(len(list(jury.judged(wait=True))))
"""


def test_judges_that_die_before_they_begin_keep_nobody_waiting(scenes, play, small, catalogue, tmp_path):
    """What a judge knows is more than a pipe holds, and nobody empties the pipe."""
    (finished,) = play("noop", scenes[:1]).values()
    judge = Judge(small, catalogue)
    assert len(pickle.dumps(judge)) > PIPE_BYTES
    (tmp_path / "case.pickle").write_bytes(pickle.dumps((finished, judge)))
    (tmp_path / "dies.py").write_text(DIES)
    done = subprocess.run(
        [sys.executable, "dies.py", "case.pickle"], env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("3\n", 0), done.stderr


HANGS = """
import sys, time
from contextlib import nullcontext
sys.path[:0] = [{tests!r}]
from test_runner import Shop
from evaluator.rollout.kinematic import KinematicLine

class Hanging(KinematicLine):
    ticks = 0
    def tick(self):
        super().tick()
        self.ticks += 1
        if self.ticks == 500:
            time.sleep(600)

shop = Shop({folder!r}, worlds=2)
shop.lines = lambda count: nullcontext(Hanging(shop.cell, shop.parts, count=count))
shop.roll(shop.run("oracle"), limit_s=1.0)
"""


def test_a_simulator_that_hangs_ends_the_command_and_what_was_finished_is_kept(library):
    code = HANGS.format(tests=str(Path(__file__).parent), folder=str(library))
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == EXIT_HUNG, done.stderr
    shop = Shop(library)
    run = shop.run("oracle")
    kept = shop.kept(run)
    lost = [one for one in kept if one.outcome is Outcome.INFRA_ERROR]
    assert len(lost) == 2 < len(kept), "two worlds were busy, and others had finished"
    assert done.stderr.startswith("scenegen: the simulator did not come back within ")
    assert done.stderr.endswith(f" s - {len(kept)} episodes are kept; run the same command again to continue\n")
    attempts = Attempts(run.content_id, seed=0, repeats=1, episodes=kept)
    missing = {row.scenario_id: attempts.missing(row.scenario_id) for row in shop.rows}
    lost_ids = {one.key.scenario_id for one in lost}
    judged_ids = {one.key.scenario_id for one in kept} - lost_ids
    assert all(missing[scene] == [] for scene in judged_ids)
    assert all(missing[scene][0].attempt == 1 for scene in lost_ids)
