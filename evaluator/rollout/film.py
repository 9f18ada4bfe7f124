"""Videos of episodes, drawn from what was recorded: whatever simulated them, and without holding it up."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from evaluator.rollout.recorded import Recorded
from evaluator.rollout.robot_picture import robot_picture
from evaluator.rollout.stream import Finished
from scenegen.cell import Cell
from scenegen.errors import MissingExtra
from scenegen.geometry import Pose
from scenegen.imaging.photographer import Photographer
from scenegen.imaging.presentation import presentation
from scenegen.imaging.render import Image
from scenegen.imaging.robot_shape import Posture
from scenegen.parts.catalogue import Catalogue
from scenegen.pool import end_with_parent, one_thread
from scenegen.scenario import Camera, Scenario

RATE_HZ = 10.0
"""Pictures a second: each takes most of a second of one processor."""
KEPT = 2
"""Results of each kind that are kept: nothing stays as it was but what the last picture showed."""
CAPTION_PX = 24
"""Height of the line below the picture."""


@dataclass
class FilmMaker:
    """Draws episodes of one cell; picklable until it draws the first.

    Example:
        >>> maker = FilmMaker(cell, parts)  # doctest: +SKIP
        >>> maker.write(scenario, recorded, Path("episode.mp4"))  # doctest: +SKIP
    """

    cell: Cell
    parts: Catalogue
    robot: Path | None = None
    """The robot's own USD file, if the cell names one."""

    def write(self, scenario: Scenario, recorded: Recorded, path: Path) -> Path:
        """Write an episode's video.

        Args:
            scenario: What was played.
            recorded: What happened.
            path: Where it goes, an `.mp4` file.
        """
        # PyAV comes with an extra.
        video = importlib.import_module("evaluator.rollout.video")
        return video.write_video(self.frames(scenario, recorded), path, rate_hz=RATE_HZ)

    def frames(self, scenario: Scenario, recorded: Recorded) -> Iterator[Image]:
        """Draw an episode, `RATE_HZ` pictures a second, up to where its numbers are finite.

        Args:
            scenario: What was played.
            recorded: What happened.

        Yields:
            sRGB, shape [h, w, 3].
        """
        poses, joints = recorded.arrays["item_pose"], recorded.arrays["joint_pos"]
        sound = np.isfinite(poses).all(axis=(1, 2)) & np.isfinite(joints).all(axis=1)
        count = len(sound) if sound.all() else int(np.argmin(sound))
        last_s = float(recorded.time_s[max(count, 1) - 1])
        wanted = np.arange(0.0, last_s + 0.5 / RATE_HZ, 1 / RATE_HZ)
        for index in np.minimum(np.searchsorted(recorded.time_s[:count], wanted), count - 1).tolist():
            now = dict(zip(recorded.items, poses[index], strict=True))
            posture = Posture(tuple(joints[index].tolist()), float(recorded.arrays["gripper_opening"][index]))
            picture = self._photographer.picture(_as_now(scenario, now), self._camera, oversampling=1, posture=posture)
            yield _captioned(picture, f"{recorded.time_s[index]:5.1f} s  {scenario.task.instruction}")

    @cached_property
    def _photographer(self) -> Photographer:
        return Photographer(self.cell, self.parts, robot=robot_picture(self.cell, self.robot), keep=KEPT)

    @cached_property
    def _camera(self) -> Camera:
        return presentation(self.cell)


@dataclass(frozen=True, eq=False)
class _Reel:
    """A video that is being written."""

    finished: Finished
    path: Path
    future: Future[Path]


class Films:
    """Writes videos of the first episodes that end, in a process of its own.

    Args:
        maker: Draws them.
        folder: Where they go; made with the first one.
        count: How many.

    Raises:
        MissingExtra: Some are wanted, and PyAV, which comes with the extra `isaac`, is not installed.

    Example:
        >>> with Films(FilmMaker(cell, parts), Path("videos"), 3) as films:  # doctest: +SKIP
        ...     for finished in stream.run(scenarios, ticked=ticked):
        ...         films.add(finished)
        >>> films.paths()  # doctest: +SKIP
    """

    def __init__(self, maker: FilmMaker, folder: Path, count: int) -> None:
        if count and importlib.util.find_spec("av") is None:
            raise MissingExtra("Writing videos", "isaac")
        self._maker, self._folder, self._left = maker, folder, count
        self._pool: ProcessPoolExecutor | None = None
        self._reels: list[_Reel] = []

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for what is being written; after an error, drop what waits."""
        self._left = 0
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=error is not None)

    def add(self, finished: Finished) -> None:
        """Hand over an episode that ended; those beyond the count are left out."""
        if self._left <= 0:
            return
        self._left -= 1
        if self._pool is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            one_thread()
            # Threads and CUDA do not survive a fork.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_start)
        path = self._folder / f"{finished.scenario.id[:12]}-{finished.index}.mp4"
        future = self._pool.submit(self._maker.write, finished.scenario, finished.recorded, path)
        self._reels.append(_Reel(finished, path, future))

    def paths(self) -> list[Path]:
        """Wait for the videos and return where they are."""
        return [self._path(reel) for reel in self._reels]

    def _path(self, reel: _Reel) -> Path:
        """Wait for one; where its process was ended from outside, write it here."""
        try:
            return reel.future.result()
        except BrokenProcessPool:
            return self._maker.write(reel.finished.scenario, reel.finished.recorded, reel.path)


def _start() -> None:
    end_with_parent()
    # Who interrupts the command interrupts its parent, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _as_now(scenario: Scenario, items: dict[str, NDArray[np.floating]]) -> Scenario:
    """Put a scenario's items to where they are now."""
    layout = scenario.layout
    moved = tuple(
        item.replaced(pose_to_world=Pose.of(items[item.name][:3], items[item.name][3:])) for item in layout.items
    )
    return scenario.varied(layout=layout.replaced(items=moved))


def _captioned(picture: Image, text: str) -> Image:
    """Add a line of text below a picture."""
    height, width = picture.shape[:2]
    whole = Pillow.new("RGB", (width, height + CAPTION_PX), (16, 16, 16))
    whole.paste(Pillow.fromarray(picture), (0, 0))
    font = ImageFont.load_default(14)
    ImageDraw.Draw(whole).text((8, height + 3), text, fill=(230, 230, 230), font=font)
    return np.asarray(whole)
