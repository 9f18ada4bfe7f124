import numpy as np
import pytest

from scenegen.errors import UnknownName
from scenegen.imaging.sheet import (
    BAD,
    CAPTION_PX,
    GAP_PX,
    GOOD,
    HEADLINE_PX,
    HEIGHT_PX,
    PAPER,
    SheetEntry,
    contact_sheet,
)


@pytest.fixture(scope="module")
def entry(cell, catalogue, base_scenario):
    def make(**fields):
        return SheetEntry(cell, catalogue, base_scenario, **{"title": "pose 3", **fields})

    return make


def pixels(sheet):
    return np.asarray(sheet)


def test_scenes_are_laid_out_in_rows(entry):
    sheet = contact_sheet([entry() for _ in range(5)], camera="overhead", columns=2, oversampling=1)
    assert sheet.size == (GAP_PX + 2 * (HEIGHT_PX + GAP_PX), GAP_PX + 3 * (HEIGHT_PX + CAPTION_PX + GAP_PX))
    image = pixels(sheet)
    assert (image[-CAPTION_PX - GAP_PX - 20, -GAP_PX - 20] == PAPER).all()
    assert (image[-CAPTION_PX - GAP_PX - 20, GAP_PX + 20] != PAPER).any()


def test_verdicts_are_marked(entry):
    entries = [entry(passed=True), entry(passed=False, text="overlap 1.2 mm"), entry()]
    strip = pixels(contact_sheet(entries, camera="overhead", oversampling=1))[GAP_PX + HEIGHT_PX + 1]
    marks = [tuple(strip[GAP_PX + 5 + index * (HEIGHT_PX + GAP_PX)].tolist()) for index in range(3)]
    assert marks == [GOOD, BAD, PAPER]


def test_the_view_shows_overview_and_first_camera(entry):
    image = pixels(contact_sheet([entry()], oversampling=1))
    alone = pixels(contact_sheet([entry()], camera="overhead", oversampling=1))
    assert (
        image[GAP_PX : GAP_PX + HEIGHT_PX, -GAP_PX - HEIGHT_PX : -GAP_PX]
        == alone[GAP_PX : -CAPTION_PX - GAP_PX, GAP_PX:-GAP_PX]
    ).all()


def test_long_captions_stay_within_their_column(entry):
    long = contact_sheet([entry(title="words " * 80), entry()], camera="overhead", oversampling=1)
    image = pixels(long)[GAP_PX + HEIGHT_PX :, GAP_PX + HEIGHT_PX : GAP_PX + HEIGHT_PX + GAP_PX]
    assert (image == PAPER).all()


def test_a_headline_makes_room_for_itself(entry):
    plain = contact_sheet([entry()], camera="overhead", oversampling=1)
    titled = contact_sheet([entry()], camera="overhead", headline="24 of 300 scenes", oversampling=1)
    assert titled.height - plain.height == HEADLINE_PX - GAP_PX
    assert (pixels(titled)[:HEADLINE_PX] != PAPER).any()


def test_an_unknown_camera_is_named(entry):
    with pytest.raises(UnknownName, match="unknown camera 'overhad' - did you mean 'overhead'"):
        contact_sheet([entry()], camera="overhad")
