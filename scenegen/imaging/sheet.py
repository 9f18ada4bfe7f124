"""Draw many scenes on one page, each with its caption: scenes -> contact sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from scenegen.cell import Cell
from scenegen.errors import UnknownName
from scenegen.imaging.render import Image, Painter, enlarged, overview
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario

VIEW = "view"
"""Name of the overview beside the cameras of a cell."""
HEIGHT_PX = 250
"""Height of every scene's picture [px]."""
GAP_PX, SEAM_PX, CAPTION_PX, HEADLINE_PX = 14, 3, 42, 40
PAPER, INK, FAINT = (250, 250, 248), (28, 30, 33), (110, 114, 120)
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


Remember = Callable[[Scenario, str, Callable[[], Image]], Image]
"""From a scenario, a camera and a way to draw the picture to the picture, shape [HEIGHT_PX, w, 3]."""


def drawn_anew(_scenario: Scenario, _camera: str, draw: Callable[[], Image]) -> Image:
    """Remember nothing: draw."""
    return draw()


def contact_sheet(
    entries: Sequence[SheetEntry],
    *,
    camera: str = VIEW,
    headline: str = "",
    columns: int = 3,
    oversampling: int = 2,
    remember: Remember = drawn_anew,
) -> Picture.Image:
    """Draw scenes in rows.

    Args:
        entries: The scenes with their captions; they may belong to different cells.
        camera: `view` shows an overview and, beside it, what the scene's first camera sees; or one camera by name.
        headline: Written over the page.
        columns: Most scenes a row.
        oversampling: Rays a pixel along each direction.
        remember: Returns a scene's picture from wherever pictures are kept, or draws it.

    Raises:
        UnknownName: A scene has no such camera.
    """
    painters: dict[str, Painter] = {}

    def draw(entry: SheetEntry) -> Image:
        cell_id = entry.scenario.cell_id
        if cell_id not in painters:
            painters[cell_id] = Painter(entry.cell, entry.parts)
        return sheet_picture(painters[cell_id], entry, camera, oversampling=oversampling)

    pictures = [remember(entry.scenario, camera, partial(draw, entry)) for entry in entries]
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


def sheet_picture(
    painter: Painter, entry: SheetEntry, camera: str, *, oversampling: int = 2, height_px: int = HEIGHT_PX
) -> Image:
    """Draw one scene as it stands on a sheet.

    Args:
        painter: Draws scenes of the entry's cell.
        entry: The scene.
        camera: `view` for an overview and, beside it, what the first camera sees; or one camera by name.
        oversampling: Rays a pixel along each direction.
        height_px: Height of the picture [px].

    Returns:
        sRGB, shape [height_px, w, 3].

    Raises:
        UnknownName: The scene has no such camera.
    """
    cameras = {seen.name: enlarged(seen, height_px / seen.height_px) for seen in entry.scenario.cameras.cameras}
    wide = overview(entry.cell, width_px=height_px * 8 // 5, height_px=height_px)
    if camera != VIEW:
        if camera not in cameras:
            raise UnknownName("camera", camera, [*cameras, VIEW])
        return painter.picture(entry.scenario, cameras[camera], oversampling=oversampling)
    near = next(iter(cameras.values()))
    left, right = (painter.picture(entry.scenario, seen, oversampling=oversampling) for seen in (wide, near))
    return np.concatenate([left, np.full((height_px, SEAM_PX, 3), PAPER, np.uint8), right], axis=1)


def _caption(pen: ImageDraw.ImageDraw, entry: SheetEntry, left: int, top: int, width: int) -> None:
    if entry.passed is not None:
        pen.rectangle((left, top, left + width - 1, top + 2), fill=GOOD if entry.passed else BAD)
    write_line(pen, (left, top + 14), entry.title, width, size=14, ink=INK)
    write_line(pen, (left, top + 31), entry.text, width, size=12, ink=BAD if entry.passed is False else FAINT)


def write_line(
    pen: ImageDraw.ImageDraw, at: tuple[int, int], text: str, width: int, *, size: int, ink: tuple[int, int, int]
) -> None:
    """Write one line with its middle's left end at a spot, shortened until it fits a width [px]."""
    font, shown = ImageFont.load_default(size), text
    while shown and pen.textlength(shown, font=font) > width:
        text = text[:-1]
        shown = f"{text}…" if text else ""
    pen.text(at, shown, fill=ink, font=font, anchor="lm")
