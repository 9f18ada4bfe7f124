"""Scenes of a library, read ahead: the worlds never wait for the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import batched

from evaluator.judging.episode import EpisodeKey
from evaluator.rollout.runner import Task
from library.row import Row
from library.snapshot import Snapshot

BATCH = 64
"""Scenes that are read together: half as long for each as one by one."""


def loaded(snapshot: Snapshot, tasks: Iterable[tuple[Row, EpisodeKey]]) -> Iterator[Task]:
    """Yield tasks with their scenes, in order; while some are used, another thread reads the next.

    Args:
        snapshot: The version that holds the scenes.
        tasks: Scenes and the keys of their episodes.

    Raises:
        LibraryError: A scene cannot be read.
    """

    def read(some: Sequence[tuple[Row, EpisodeKey]]) -> list[Task]:
        scenes = snapshot.scenarios(row for row, _ in some)
        return [Task(scene, key) for scene, (_, key) in zip(scenes, some, strict=True)]

    with ThreadPoolExecutor(1, thread_name_prefix="scenes") as reader:
        batches = batched(tasks, BATCH)
        coming = reader.submit(read, next(batches, ()))
        while found := coming.result():
            coming = reader.submit(read, next(batches, ()))
            yield from found
