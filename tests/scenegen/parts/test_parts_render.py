"""Pictures of parts: what they show, and that they are the same every time."""

import numpy as np

from scenegen.parts.builtin import builtin_part
from scenegen.parts.render import contact_sheet, render_part


def picture_of(part_id, size_px=64):
    part = builtin_part(part_id)
    return render_part(part.mesh, part.look, quat_xyzw=part.stable_poses[0].quat_xyzw, size_px=size_px)


def test_a_picture_is_the_same_every_time():
    picture = picture_of("hex_nut_m8")
    assert picture.shape == (64, 64, 3)
    assert picture.dtype == np.uint8
    assert np.array_equal(picture, picture_of("hex_nut_m8"))


def test_a_part_shows_its_colour_and_stands_out_from_the_bench():
    picture = picture_of("bushing_8x12x10").astype(float)
    middle, corner = picture[40:52, 28:36].mean(axis=(0, 1)), picture[:6, :6].mean(axis=(0, 1))
    assert middle[0] > 1.3 * middle[2]  # bronze
    assert np.ptp(corner) < 6  # the bench is grey


def test_a_washer_shows_the_bench_through_its_hole():
    picture = picture_of("flat_washer_m10").astype(float).mean(axis=2)
    row = picture[32]
    steps = np.abs(np.diff(row)) > 12
    assert steps.sum() >= 2


def test_a_contact_sheet_holds_every_picture():
    pictures = [picture_of(part_id, 32) for part_id in ("glove", "cable", "chip")]
    sheet = contact_sheet(pictures, ["glove", "cable", "chip"], columns=2)
    assert sheet.shape == (2 * (32 + 22), 64, 3)
    assert np.array_equal(sheet[:32, :32], pictures[0])
    assert np.array_equal(sheet[54:86, :32], pictures[2])
