import numpy as np
import pytest

from scenegen.errors import UnknownName
from scenegen.imaging.render import Painter, overview
from scenegen.imaging.sheet import (
    ASPECT,
    BAD,
    CAPTION_PX,
    GAP_PX,
    GOOD,
    HEADLINE_PX,
    HEIGHT_PX,
    PAPER,
    SheetEntry,
    contact_sheet,
    sheet_picture,
)


@pytest.fixture(scope="module")
def entry(cell, catalogue, base_scenario):
    def make(**fields):
        return SheetEntry(cell, catalogue, base_scenario, **{"title": "pose 3", **fields})

    return make


@pytest.fixture(scope="module")
def draw(cell, catalogue):
    painter = Painter(cell, catalogue)

    def quickly(scenario, _cell, _parts, camera):
        return painter.picture(scenario, camera, oversampling=1)

    return quickly


def pixels(sheet):
    return np.asarray(sheet)


def test_scenes_are_laid_out_in_rows(entry, draw):
    sheet = contact_sheet([entry() for _ in range(5)], draw, camera="overhead", columns=2)
    assert sheet.size == (GAP_PX + 2 * (HEIGHT_PX + GAP_PX), GAP_PX + 3 * (HEIGHT_PX + CAPTION_PX + GAP_PX))
    image = pixels(sheet)
    assert (image[-CAPTION_PX - GAP_PX - 20, -GAP_PX - 20] == PAPER).all()
    assert (image[-CAPTION_PX - GAP_PX - 20, GAP_PX + 20] != PAPER).any()


def test_verdicts_are_marked(entry, draw):
    entries = [entry(passed=True), entry(passed=False, text="overlap 1.2 mm"), entry()]
    strip = pixels(contact_sheet(entries, draw, camera="overhead"))[GAP_PX + HEIGHT_PX + 1]
    marks = [tuple(strip[GAP_PX + 5 + index * (HEIGHT_PX + GAP_PX)].tolist()) for index in range(3)]
    assert marks == [GOOD, BAD, PAPER]


def test_the_view_shows_overview_and_first_camera(entry, draw):
    image = pixels(contact_sheet([entry()], draw))
    alone = pixels(contact_sheet([entry()], draw, camera="overhead"))
    assert (
        image[GAP_PX : GAP_PX + HEIGHT_PX, -GAP_PX - HEIGHT_PX : -GAP_PX]
        == alone[GAP_PX : -CAPTION_PX - GAP_PX, GAP_PX:-GAP_PX]
    ).all()


def test_long_captions_stay_within_their_column(entry, draw):
    long = contact_sheet([entry(title="words " * 80), entry()], draw, camera="overhead")
    image = pixels(long)[GAP_PX + HEIGHT_PX :, GAP_PX + HEIGHT_PX : GAP_PX + HEIGHT_PX + GAP_PX]
    assert (image == PAPER).all()


def test_a_headline_makes_room_for_itself(entry, draw):
    plain = contact_sheet([entry()], draw, camera="overhead")
    titled = contact_sheet([entry()], draw, camera="overhead", headline="24 of 300 scenes")
    assert titled.height - plain.height == HEADLINE_PX - GAP_PX
    assert (pixels(titled)[:HEADLINE_PX] != PAPER).any()


def test_the_overview_is_there_alone_too(entry, draw, cell, base_scenario, catalogue):
    seen = sheet_picture(entry(), "overview", draw, height_px=40)
    assert (seen == draw(base_scenario, cell, catalogue, overview(cell, width_px=int(40 * ASPECT), height_px=40))).all()
    assert (sheet_picture(entry(), "view", draw, height_px=40)[:, : seen.shape[1]] == seen).all()


def test_an_unknown_camera_is_named(entry, draw):
    with pytest.raises(UnknownName, match="unknown camera 'overhad' - did you mean 'overhead'"):
        contact_sheet([entry()], draw, camera="overhad")
