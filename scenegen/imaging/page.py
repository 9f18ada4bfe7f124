"""Put finished pictures side by side, each with its caption: panels in rows and columns -> one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from scenegen.imaging.render import Image
from scenegen.imaging.sheet import FAINT, GAP_PX, HEADLINE_PX, INK, PAPER, write_line

ROW_PX = 34
"""Height of a caption of two lines [px]."""
BLANK = (236, 236, 233)
"""Colour of a place for which there is no picture."""


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture with its caption."""

    image: Image
    """sRGB, shape [h, w, 3]."""
    title: str = ""
    text: str = ""
    """A second, fainter line."""


def page(
    rows: Sequence[Sequence[Panel | None]],
    *,
    row_names: Sequence[str] = (),
    column_names: Sequence[str] = (),
    headline: str = "",
    gap_px: int = GAP_PX,
) -> Picture.Image:
    """Lay panels out in a grid.

    Args:
        rows: The panels, row by row; None leaves a place blank. All rows have as many places.
        row_names: Written left of the rows.
        column_names: Written over the columns.
        headline: Written over the page.
        gap_px: Space between panels [px].
    """
    panels = [panel for row in rows for panel in row if panel is not None]
    height, width = (max((panel.image.shape[axis] for panel in panels), default=1) for axis in (0, 1))
    caption_px = ROW_PX if any(panel.title or panel.text for panel in panels) else 0
    left_px = gap_px + (12 + max(_length(name) for name in row_names) if row_names else 0)
    names_px = (HEADLINE_PX if headline else 0) or gap_px
    top_px = names_px + (24 if column_names else 0)
    columns = max((len(row) for row in rows), default=0)
    step_x, step_y = width + gap_px, height + caption_px + gap_px
    sheet = Picture.new("RGB", (left_px + columns * step_x, top_px + len(rows) * step_y), PAPER)
    pen = ImageDraw.Draw(sheet)
    write_line(pen, (gap_px, HEADLINE_PX // 2), headline, sheet.width - 2 * gap_px, size=18, ink=INK)
    for index, name in enumerate(column_names):
        write_line(pen, (left_px + index * step_x, names_px + 10), name, width, size=14, ink=INK)
    for number, row in enumerate(rows):
        top = top_px + number * step_y
        if row_names:
            write_line(pen, (gap_px, top + height // 2), row_names[number], left_px, size=14, ink=INK)
        for index, panel in enumerate(row):
            _place(sheet, pen, panel, left_px + index * step_x, top, size=(width, height))
    return sheet


def _place(
    sheet: Picture.Image, pen: ImageDraw.ImageDraw, panel: Panel | None, left: int, top: int, *, size: tuple[int, int]
) -> None:
    width, height = size
    if panel is None:
        pen.rectangle((left, top, left + width - 1, top + height - 1), fill=BLANK)
        return
    sheet.paste(Picture.fromarray(panel.image), (left, top))
    write_line(pen, (left, top + height + 11), panel.title, width, size=13, ink=INK)
    write_line(pen, (left, top + height + 26), panel.text, width, size=11, ink=FAINT)


def _length(name: str) -> int:
    return round(ImageFont.load_default(14).getlength(name))
