import numpy as np

from scenegen.imaging.page import BLANK, ROW_PX, Panel, page
from scenegen.imaging.sheet import HEADLINE_PX, PAPER

RED = Panel(np.full((20, 30, 3), (200, 0, 0), np.uint8))


def test_panels_stand_in_rows_and_columns():
    sheet = page([[RED, RED], [RED, None]], gap_px=5)
    assert sheet.size == (5 + 2 * 35, 5 + 2 * 25)
    image = np.asarray(sheet)
    assert (image[5:25, 5:35] == (200, 0, 0)).all()
    assert (image[30:50, 40:70] == BLANK).all()
    assert (image[:5] == PAPER).all()


def test_a_column_is_as_wide_as_its_widest_picture_and_an_empty_one_as_the_page_s():
    narrow = Panel(RED.image[:, :10])
    sheet = page([[narrow, RED, None], [narrow, narrow, None]], gap_px=5)
    assert sheet.size == (5 + 15 + 35 + 35, 5 + 2 * 25)


def test_the_further_lines_of_a_row_s_name_stand_below_it():
    one, two = (np.asarray(page([[RED]], row_names=[name], gap_px=5)) for name in ("row", "row\nfaint"))
    left = one.shape[1] - 35
    assert one.shape[1] < two.shape[1]
    assert (one[26:, :left] == PAPER).all()
    assert (two[26:, :left] != PAPER).any()


def test_captions_names_and_headline_make_room_for_themselves():
    plain = page([[RED]], gap_px=5)
    told = page([[Panel(RED.image, "t", "x")]], row_names=["row"], column_names=["c"], headline="h", gap_px=5)
    assert told.height == plain.height - 5 + HEADLINE_PX + 24 + ROW_PX
    assert told.width > plain.width


def test_long_captions_stay_under_their_panel():
    image = np.asarray(page([[Panel(RED.image, "words " * 30), RED]], gap_px=5))
    assert (image[25:, 35:40] == PAPER).all()
