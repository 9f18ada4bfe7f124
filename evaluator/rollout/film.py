"""Videos of episodes, drawn from what was recorded: whatever simulated them, and without holding it up."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from evaluator.rollout.recorded import Recorded
from evaluator.rollout.robot_picture import robot_picture
from scenegen.cell import Cell
from scenegen.geometry import Pose
from scenegen.imaging.photographer import Photographer
from scenegen.imaging.presentation import presentation
from scenegen.imaging.render import Image
from scenegen.imaging.robot_shape import Posture
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Scenario

RATE_HZ = 10.0
"""Pictures a second: each takes most of a second of one processor."""
KEPT = 2
"""Results of each kind that are kept: nothing stays as it was but what the last picture showed."""
FONT_PX, CAPTION_LINES = 14, 2
CAPTION_PX = 42
"""Height of what is written below the picture."""
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


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

    def write(
        self, scenario: Scenario, recorded: Recorded, path: Path, *, drawn: Callable[[], None] = lambda: None
    ) -> Path:
        """Write an episode's video.

        Args:
            scenario: What was played.
            recorded: What happened.
            path: Where it goes, an `.mp4` file.
            drawn: Called after each picture.
        """

        def told() -> Iterator[Image]:
            for frame in self.frames(scenario, recorded):
                drawn()
                yield frame

        # PyAV comes with an extra.
        video = importlib.import_module("evaluator.rollout.video")
        return video.write_video(told(), path, rate_hz=RATE_HZ)

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
            yield _captioned(picture, f"{recorded.time_s[index]:.1f} s: {scenario.task.instruction}")

    @cached_property
    def _photographer(self) -> Photographer:
        return Photographer(self.cell, self.parts, robot=robot_picture(self.cell, self.robot), keep=KEPT)

    @cached_property
    def _camera(self) -> Camera:
        return presentation(self.cell)


def _as_now(scenario: Scenario, items: dict[str, NDArray[np.floating]]) -> Scenario:
    """Put a scenario's items to where they are now."""
    layout = scenario.layout
    moved = tuple(
        item.replaced(pose_to_world=Pose.of(items[item.name][:3], items[item.name][3:])) for item in layout.items
    )
    return scenario.varied(layout=layout.replaced(items=moved))


def _captioned(picture: Image, text: str) -> Image:
    """Add text below a picture, in `CAPTION_LINES` at most."""
    height, width = picture.shape[:2]
    whole = Pillow.new("RGB", (width, height + CAPTION_PX), (16, 16, 16))
    whole.paste(Pillow.fromarray(picture), (0, 0))
    font = ImageFont.load_default(FONT_PX)
    lines = "\n".join(_wrapped(text, font, width - 16))
    ImageDraw.Draw(whole).multiline_text((8, height + 3), lines, fill=(230, 230, 230), font=font, spacing=2)
    return np.asarray(whole)


def _wrapped(text: str, font: Font, width_px: int) -> list[str]:
    """Break a text into lines that fit; what has no room in the last one ends with an ellipsis."""
    lines: list[str] = []
    for word in text.split():
        if lines and font.getlength(f"{lines[-1]} {word}") <= width_px:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    if len(lines) > CAPTION_LINES:
        last = lines[CAPTION_LINES - 1]
        while " " in last and font.getlength(f"{last} …") > width_px:
            last = last.rpartition(" ")[0]
        lines = [*lines[: CAPTION_LINES - 1], f"{last} …"]
    return lines
