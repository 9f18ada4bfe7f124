"""Make the pictures to learn from, and keep them until the net has learnt, so that nothing is photographed twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluator.vision.batches import PictureSet
from evaluator.vision.pictures import Picture, PictureMaker
from evaluator.vision.subject import Subject
from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.pool import Demand, Worker, run_ordered

CHUNK = 50
"""Pictures that are made together and kept in one file."""
_FIELDS = ("images", "regions", "rows")


@dataclass(frozen=True)
class Shoot:
    """Makes pictures in a process of its own; picklable."""

    cell: Cell
    parts: Catalogue
    seed: int

    def __call__(self) -> Worker:
        """Build the worker: from indices to pictures."""
        maker = PictureMaker(self.cell, self.parts)
        return lambda indices: [maker.nominal(self.seed, index)[1] for index in indices]


def gathered(shoot: Shoot, folder: Path, *, count: int, processes: int) -> Iterator[int]:
    """Make the pictures that are missing in a folder; yields how many are there, after each file.

    Args:
        shoot: What makes them.
        folder: Where they are kept; it holds pictures of this shoot alone.
        count: How many are wanted.
        processes: Processes that make them.
    """
    files = _files(folder, count)
    missing = next((index for index, file in enumerate(files) if not file.exists()), len(files))
    there = min(missing * CHUNK, count)
    yield there
    demand = Demand(wanted=count - there, end=count, skip=frozenset(range(there)))
    some: list[Picture] = []
    with closing(run_ordered(shoot, demand, processes=processes, chunk=10)) as made:
        for index, picture in made:
            some.append(picture)
            demand.wanted -= 1
            if (index + 1) % CHUNK == 0 or index + 1 == count:
                _write(files[index // CHUNK], some)
                some = []
                yield index + 1


def read_pictures(folder: Path, *, count: int, subject: Subject) -> PictureSet:
    """Read gathered pictures.

    Args:
        folder: Where they are.
        count: How many.
        subject: What they show.
    """
    columns: dict[str, list[np.ndarray]] = {name: [] for name in _FIELDS}
    for file in _files(folder, count):
        with np.load(file) as known:
            for name in _FIELDS:
                columns[name].append(known[name])
    images, regions, rows = (np.concatenate(columns[name]) for name in _FIELDS)
    return PictureSet(images, regions, rows, classes=len(subject.classes))


def _files(folder: Path, count: int) -> list[Path]:
    """Return the files that hold so many pictures together; each is named after the number of its pictures, too."""
    starts = range(0, count, CHUNK)
    return [folder / f"pictures_{start:06d}_{min(CHUNK, count - start)}.npz" for start in starts]


def _write(file: Path, pictures: list[Picture]) -> None:
    known = PictureSet.of(pictures, classes=0)
    fresh = file.with_suffix(".new")
    with fresh.open("wb") as opened:
        np.savez_compressed(opened, **{name: getattr(known, name) for name in _FIELDS})
    fresh.replace(file)
