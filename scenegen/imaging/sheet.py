"""Draw many scenes on one page, each with its caption: scenes -> contact sheet."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from scenegen.cell import Cell
from scenegen.errors import UnknownName
from scenegen.imaging.render import Image, enlarged, overview
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Scenario

VIEW, OVERVIEW = "view", "overview"
"""What is asked for like a camera of a cell: an overview with what the first camera sees beside it; it alone."""
VIEW_HEADLINE = "On the left from above the robot, on the right as the scene's first camera sees it"
ASPECT = 1.6
"""Width of an overview over its height."""
HEIGHT_PX = 250
"""Height of every scene's picture [px]."""
GAP_PX, SEAM_PX, CAPTION_PX, HEADLINE_PX = 14, 3, 42, 40
PAPER, INK, FAINT = (250, 250, 248), (28, 30, 33), (110, 114, 120)
_PLAIN = str.maketrans({"ß": "ss", "–": "-", "×": "x"})
GOOD, BAD = (24, 128, 72), (190, 40, 36)


@dataclass(frozen=True, eq=False)
class SheetEntry:
    """One scene of a contact sheet."""

    cell: Cell
    parts: Catalogue
    scenario: Scenario
    title: str
    """What sets the scene apart, for example `tilt 3`."""
    text: str = ""
    """A second, fainter line, for example the severity in units, or what a check found."""
    passed: bool | None = None
    """Whether the checks passed; None where that is not told."""


Draw = Callable[[Scenario, Cell, Catalogue, Camera], Image]
"""From a scene, its cell and parts, and one of its cameras or a free view to what that sees, sRGB, shape [h, w, 3]."""
Remember = Callable[[Scenario, str, Callable[[], Image]], Image]
"""From a scenario, a camera and a way to draw the picture to the picture, shape [HEIGHT_PX, w, 3]."""


def drawn_anew(_scenario: Scenario, _camera: str, draw: Callable[[], Image]) -> Image:
    """Remember nothing: draw."""
    return draw()


def contact_sheet(
    entries: Sequence[SheetEntry],
    draw: Draw,
    *,
    camera: str = VIEW,
    headline: str = "",
    columns: int = 3,
    remember: Remember = drawn_anew,
) -> Picture.Image:
    """Draw scenes in rows.

    Args:
        entries: The scenes with their captions; they may belong to different cells.
        draw: Draws a scene.
        camera: `view`, `overview` or one camera by name; see `sheet_picture`.
        headline: Written over the page.
        columns: Most scenes a row.
        remember: Returns a scene's picture from wherever pictures are kept, or draws it.

    Raises:
        UnknownName: A scene has no such camera.
    """
    pictures = [
        remember(entry.scenario, camera, partial(sheet_picture, entry, camera, draw, height_px=HEIGHT_PX))
        for entry in entries
    ]
    columns = max(min(columns, len(entries)), 1)
    width = max((picture.shape[1] for picture in pictures), default=0)
    step_x, step_y = width + GAP_PX, HEIGHT_PX + CAPTION_PX + GAP_PX
    top_px = HEADLINE_PX if headline else GAP_PX
    page = Picture.new("RGB", (GAP_PX + columns * step_x, top_px + ceil(len(entries) / columns) * step_y), PAPER)
    pen = ImageDraw.Draw(page)
    write_line(pen, (GAP_PX, HEADLINE_PX // 2), headline, page.width - 2 * GAP_PX, size=20, ink=INK)
    for index, (entry, picture) in enumerate(zip(entries, pictures, strict=True)):
        left, top = GAP_PX + index % columns * step_x, top_px + index // columns * step_y
        page.paste(Picture.fromarray(picture), (left, top))
        _caption(pen, entry, left, top + HEIGHT_PX, width)
    return page


def sheet_picture(entry: SheetEntry, camera: str, draw: Draw, *, height_px: float) -> Image:
    """Draw one scene as it stands on a sheet.

    Args:
        entry: The scene.
        camera: `view` for an overview and, beside it, what the scene's first camera sees; `overview` for that alone; or
            one camera by name.
        draw: Draws a scene.
        height_px: Height of the picture [px], rounded.

    Returns:
        sRGB, shape [height_px, w, 3].

    Raises:
        UnknownName: The scene has no such camera.
    """
    cameras = {seen.name: enlarged(seen, height_px / seen.height_px) for seen in entry.scenario.cameras.cameras}
    cameras[OVERVIEW] = overview(entry.cell, width_px=round(height_px * ASPECT), height_px=round(height_px))
    if camera != VIEW:
        if camera not in cameras:
            raise UnknownName("camera", camera, [*cameras, VIEW])
        return draw(entry.scenario, entry.cell, entry.parts, cameras[camera])
    wide, near = cameras[OVERVIEW], next(iter(cameras.values()))
    left, right = (draw(entry.scenario, entry.cell, entry.parts, seen) for seen in (wide, near))
    return np.concatenate([left, np.full((len(left), SEAM_PX, 3), PAPER, np.uint8), right], axis=1)


def _caption(pen: ImageDraw.ImageDraw, entry: SheetEntry, left: int, top: int, width: int) -> None:
    if entry.passed is not None:
        pen.rectangle((left, top, left + width - 1, top + 2), fill=GOOD if entry.passed else BAD)
    write_line(pen, (left, top + 14), entry.title, width, size=14, ink=INK)
    write_line(pen, (left, top + 31), entry.text, width, size=12, ink=BAD if entry.passed is False else FAINT)


def write_line(
    pen: ImageDraw.ImageDraw, at: tuple[int, int], text: str, width: int, *, size: int, ink: tuple[int, int, int]
) -> None:
    """Write one line with its middle's left end at a spot, shortened until it fits a width [px].

    Letters lose their accents: the font that is always there has none.
    """
    letters = unicodedata.normalize("NFD", text.translate(_PLAIN))
    text = "".join(letter for letter in letters if not unicodedata.combining(letter))
    font, shown = ImageFont.load_default(size), text
    while shown and pen.textlength(shown, font=font) > width:
        text = text[:-1]
        shown = f"{text}…" if text else ""
    pen.text(at, shown, fill=ink, font=font, anchor="lm")
