"""Put finished pictures side by side, each with its caption: panels in rows and columns -> one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
        rows: The panels, row by row; None leaves a place blank. All rows have as many places; a column is as wide as
            its widest picture.
        row_names: Written left of the rows; further lines of a name are fainter.
        column_names: Written over the columns.
        headline: Written over the page.
        gap_px: Space between panels [px].
    """
    panels = [panel for row in rows for panel in row if panel is not None]
    in_column = [[panel for panel in places if panel is not None] or panels for places in zip(*rows, strict=True)]
    widths = [_widest(panel.image.shape[1] for panel in column) for column in in_column]
    height = _widest(panel.image.shape[0] for panel in panels)
    caption_px = ROW_PX if any(panel.title or panel.text for panel in panels) else 0
    names_px = 12 + _widest(_length(line) for name in row_names for line in name.split("\n")) if row_names else 0
    lefts = [gap_px + names_px + sum(widths[:index]) + index * gap_px for index in range(len(widths) + 1)]
    over_px = (HEADLINE_PX if headline else 0) or gap_px
    top_px = over_px + (24 if column_names else 0)
    step_y = height + caption_px + gap_px
    sheet = Picture.new("RGB", (lefts[-1], top_px + len(rows) * step_y), PAPER)
    pen = ImageDraw.Draw(sheet)
    write_line(pen, (gap_px, HEADLINE_PX // 2), headline, sheet.width - 2 * gap_px, size=18, ink=INK)
    for left, width, name in zip(lefts, widths, column_names, strict=False):
        write_line(pen, (left, over_px + 10), name, width, size=14, ink=INK)
    for number, row in enumerate(rows):
        top = top_px + number * step_y
        for index, line in enumerate(row_names[number].split("\n") if row_names else ()):
            at = (gap_px, top + height // 2 + 18 * index)
            write_line(pen, at, line, names_px, size=14, ink=FAINT if index else INK)
        for left, width, panel in zip(lefts[:-1], widths, row, strict=True):
            _place(sheet, pen, panel, left, top, size=(width, height))
    return sheet


def _widest(sizes: Iterable[int]) -> int:
    return max(sizes, default=1)


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
