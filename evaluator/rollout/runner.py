"""Rolls scenes out under a run's conditions and keeps every episode in a library before it counts."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.judging.machine_use import MachineUse
from evaluator.policies.action_range import ActionRange
from evaluator.policies.checked import Checked
from evaluator.policies.context import PolicyContext
from evaluator.policies.latency import parse_latency
from evaluator.policies.registry import make_policy
from evaluator.rollout.films import Films
from evaluator.rollout.jury import Judge, Jury, Verdict, judges
from evaluator.rollout.kept_uses import use_columns
from evaluator.rollout.machine_watch import MachineWatch
from evaluator.rollout.pace import Pace
from evaluator.rollout.roomy import Lines, fewer, roomy
from evaluator.rollout.run import Run
from evaluator.rollout.simulators import Simulator
from evaluator.rollout.stream import Stream, wanted_cameras
from evaluator.rollout.watched import LIMIT_S, WatchedLine
from library.tables import EPISODES, RUNS, USES, Columns
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.cell import Cell
from scenegen.errors import PolicyError
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

PUBLISH_EVERY_S = 10.0
"""Time between commits of episodes [s]: what a kill can cost."""
EXIT_HUNG = 4
"""Exit code after a simulator hung."""


class Task(NamedTuple):
    """A scenario to be rolled out, and under which key its episode is kept."""

    scenario: Scenario
    key: EpisodeKey


@dataclass(frozen=True)
class Setting:
    """Where rollouts happen."""

    cell: Cell
    parts: Catalogue
    lines: Lines
    worlds: int
    """How many worlds run side by side at most."""
    device: str = "cpu"
    """Where they run."""


class Runner:
    """Rolls out and keeps.

    Args:
        store: The library.
        branch: Where episodes are committed.
        setting: Where rollouts happen.
        say: Told in sentences what a person should know.
        ticked: Told after each tick of the worlds how far they are.
        limit_s: How long a call of the simulator may take [s].
        films: Where some are filmed, if any are.
    """

    def __init__(
        self,
        store: VersionedLibrary,
        *,
        branch: str,
        setting: Setting,
        say: Callable[[str], None],
        ticked: Callable[[Pace], None],
        limit_s: float = LIMIT_S,
        films: Films | None = None,
    ) -> None:
        self._store, self._branch, self._setting, self._say, self._ticked = store, branch, setting, say, ticked
        self._limit_s, self._films = limit_s, films
        self._waiting: list[Episode] = []
        self._uses: list[MachineUse] = []
        self._published = time.monotonic()

    def roll(self, run: Run, tasks: Iterable[Task], total: int) -> Iterator[Episode]:
        """Roll scenarios out; yields episodes once they are kept.

        Args:
            run: The conditions.
            tasks: What to roll out.
            total: How many there are.

        Raises:
            PolicyError: The policy cannot be built or reached.
            OutOfMemory: Not even one world fits into memory.
        """
        if not total:
            return
        setting = self._setting
        worlds, left = max(1, min(setting.worlds, total)), iter(tasks)
        with (
            self._policy(run) as policy,
            Jury(Judge(setting.cell, setting.parts), processes=judges(worlds)) as jury,
        ):
            while worlds:
                taken: dict[int, Task] = {}
                try:
                    yield from self._stream(run, policy, jury, left, taken, worlds)
                    worlds = 0
                except (MemoryError, RuntimeError) as error:
                    worlds = fewer(worlds, error, self._say)
                    left = itertools.chain(taken.values(), left)
                finally:
                    self._take(jury.judged(wait=True))
                    kept = self._publish(run)
                yield from kept

    @contextmanager
    def _policy(self, run: Run) -> Iterator[Checked]:
        """Build the policy; that one which stalled cannot be closed does not spoil what it did before."""
        made = make_policy(run.policy, PolicyContext(self._setting.cell, self._setting.parts, run.seed))
        policy = Checked(made, ActionRange.of(made.spec.action, self._setting.cell.robot))
        try:
            yield policy
        finally:
            try:
                policy.close()
            except PolicyError as error:
                self._say(f"it was not closed: {error}")

    def _stream(
        self, run: Run, policy: Checked, jury: Jury, tasks: Iterator[Task], taken: dict[int, Task], worlds: int
    ) -> Iterator[Episode]:
        """Roll out with so many worlds; `taken` holds the tasks that are neither left nor finished."""
        setting = self._setting

        def numbered() -> Iterator[tuple[int, Scenario]]:
            for index, task in enumerate(tasks):
                taken[index] = task
                yield index, task.scenario

        def repeat(index: int) -> int:
            return taken[index].key.attempt

        cameras = wanted_cameras(policy.spec, setting.cell)
        lines = partial(setting.lines, cameras=cameras) if cameras else setting.lines
        # A dry run has no physics.
        timestep_s = None if Simulator.KINEMATIC in run.simulator else setting.cell.physics.timestep_s
        with (
            MachineWatch(setting.device, timestep_s=timestep_s) as watch,
            roomy(lines, worlds, say=self._say) as opened,
        ):
            line = WatchedLine(
                opened, lambda took: self._hung(run, jury, list(taken.values()), took), limit_s=self._limit_s
            )
            delay = parse_latency(run.latency, seed=run.seed)
            stream = Stream(line, policy, setting.cell, setting.parts, latency=delay)
            watch.opened(line)

            def ticked(pace: Pace) -> None:
                watch.tick(pace.worlds)
                self._ticked(pace)

            with closing(line):
                try:
                    for finished in stream.run(numbered(), ticked=ticked, repeat=repeat):
                        jury.add(finished, taken.pop(finished.index).key)
                        self._take(jury.judged())
                        if time.monotonic() > self._published + PUBLISH_EVERY_S:
                            yield from self._publish(run)
                finally:
                    self._uses.append(watch.use(stream.batches))

    def _take(self, verdicts: Iterable[Verdict]) -> None:
        """Let episodes that were judged wait for being kept, and film those that are to be filmed."""
        for episode, finished in verdicts:
            self._waiting.append(episode)
            if self._films is not None:
                self._films.add(finished, episode)

    def _publish(self, run: Run) -> list[Episode]:
        """Commit what waits; returns it."""
        kept, self._waiting, self._published = self._waiting, [], time.monotonic()
        uses, self._uses = self._uses, []
        if kept or uses:
            columns: list[Columns] = [episode.columns() for episode in kept]
            rows: dict[str, list[Columns]] = {EPISODES.name: columns, RUNS.name: [run.columns()]}
            rows[USES.name] = [use_columns(run.content_id, use) for use in uses]
            message = f"evaluate {run.policy}: {len(kept)} episodes"
            self._store.publish(Changes(rows=rows), Signature.here(message), branch=self._branch)
        return kept

    def _hung(self, run: Run, jury: Jury, lost: list[Task], took_s: float) -> None:
        """Keep what there is and end the process: a call that hangs cannot be stopped from within."""
        reason = f"the simulator did not come back within {took_s:.0f} s"
        self._take(jury.judged(wait=True))
        self._waiting += [Episode.lost(task.key, reason) for task in lost]
        kept = len(self._publish(run))
        sys.stderr.write(f"scenegen: {reason} - {kept} episodes are kept; run the same command again to continue\n")
        sys.stderr.flush()
        os._exit(EXIT_HUNG)
