"""A camera's picture in which each item carries its number."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from scenegen.axes.shown import judging_camera
from scenegen.cell import Cell
from scenegen.imaging.pinhole import project
from scenegen.imaging.render import Image, Painter, enlarged
from scenegen.imaging.sheet import INK, PAPER
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Camera, Scenario

WIDTH_PX = 768
"""Width of the picture: what many models are shown at full detail."""
LETTER_PX = 15
MARGIN_PX = 3
AWAY_PX = 32
"""How far above an item its number stands, so that it hides little of it [px]."""


class Photographer:
    """Photographs scenes of one cell for a model, by the camera whose image is judged.

    Args:
        cell: The cell.
        parts: Its parts.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._camera, self._painter = judging_camera(cell), Painter(cell, parts)

    def photo(self, scenario: Scenario, *, numbered: bool) -> bytes:
        """Return a PNG file of what the camera sees.

        Args:
            scenario: A scene of the cell.
            numbered: Whether each item that it sees carries its number, counted from 1 in the layout's order.
        """
        chosen = next(one for one in scenario.cameras.cameras if one.name == self._camera)
        view = enlarged(chosen, WIDTH_PX / chosen.width_px)
        return _png(self._painter.picture(scenario, view, oversampling=1), scenario, view, numbered=numbered)


def _png(image: Image, scenario: Scenario, view: Camera, *, numbered: bool) -> bytes:
    picture = Picture.fromarray(image)
    if numbered:
        pen = ImageDraw.Draw(picture)
        positions = [item.pose_to_world.position_m for item in scenario.layout.items]
        for number, (x, y) in enumerate(project(view, np.array(positions).reshape(-1, 3)).tolist(), 1):
            if 0 <= x < view.width_px and 0 <= y < view.height_px:
                _mark(pen, str(number), x, y)
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=False)
    return file.getvalue()


def _mark(pen: ImageDraw.ImageDraw, text: str, x: float, y: float) -> None:
    """Write a number above a spot, or below it where there is no room above, joined to it by a line."""
    middle = (x, y - AWAY_PX if y > 2 * AWAY_PX else y + AWAY_PX)
    font = ImageFont.load_default(LETTER_PX)
    left, top, right, bottom = pen.textbbox(middle, text, font=font, anchor="mm")
    pen.line((x, y, *middle), fill=PAPER, width=2)
    frame = (left - MARGIN_PX, top - MARGIN_PX, right + MARGIN_PX, bottom + MARGIN_PX)
    pen.rectangle(frame, fill=PAPER, outline=INK)
    pen.text(middle, text, fill=INK, font=font, anchor="mm")
