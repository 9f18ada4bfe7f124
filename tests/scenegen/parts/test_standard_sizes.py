"""Size tables against the published tables of their standards, row by row, and what the drawings make of them.

Of ISO 4379 (bushings) and DIN 2098-1 (springs) no published table was at hand; own drawings have none.
"""

import numpy as np
import pytest

from scenegen.parts.builtin import FAMILIES
from scenegen.parts.spur_gear import tooth_outline

PUBLISHED = {
    "hex_bolt": (  # ISO 4017 (k, s), ISO 261 (P)
        ("thread", "pitch", "across_flats", "head_height", "length"),
        {
            "hex_bolt_m5x16": (5, 0.8, 8, 3.5, 16),
            "hex_bolt_m6x16": (6, 1, 10, 4, 16),
            "hex_bolt_m6x20": (6, 1, 10, 4, 20),
            "hex_bolt_m8x20": (8, 1.25, 13, 5.3, 20),
            "hex_bolt_m8x25": (8, 1.25, 13, 5.3, 25),
        },
    ),
    "socket_screw": (  # ISO 4762 (dk max, k max, s, t min)
        ("thread", "pitch", "head_diameter", "head_height", "socket", "socket_depth", "length"),
        {
            "socket_screw_m5x16": (5, 0.8, 8.5, 5, 4, 2.5, 16),
            "socket_screw_m6x20": (6, 1, 10, 6, 5, 3, 20),
            "socket_screw_m8x20": (8, 1.25, 13, 8, 6, 4, 20),
        },
    ),
    "hex_nut": (  # ISO 4032 (s, m max)
        ("thread", "pitch", "across_flats", "height"),
        {
            "hex_nut_m5": (5, 0.8, 8, 4.7),
            "hex_nut_m6": (6, 1, 10, 5.2),
            "hex_nut_m8": (8, 1.25, 13, 6.8),
            "hex_nut_m10": (10, 1.5, 16, 8.4),
        },
    ),
    "flat_washer": (  # ISO 7089 (d1 min, d2 max, h)
        ("bore", "outer_diameter", "thickness"),
        {
            "flat_washer_m5": (5.3, 10, 1),
            "flat_washer_m6": (6.4, 12, 1.6),
            "flat_washer_m8": (8.4, 16, 1.6),
            "flat_washer_m10": (10.5, 20, 2),
        },
    ),
    "ball_bearing": (  # ISO 15, diameter series 0 (d, D, B, rs min)
        ("bore", "outer_diameter", "width", "chamfer"),
        {
            "ball_bearing_608": (8, 22, 7, 0.3),
            "ball_bearing_6000": (10, 26, 8, 0.3),
            "ball_bearing_6001": (12, 28, 8, 0.3),
        },
    ),
    "dowel_pin": (  # ISO 2338 (d, c)
        ("diameter", "chamfer"),
        {"dowel_pin_5x20": (5, 0.8), "dowel_pin_6x20": (6, 1.2), "dowel_pin_8x20": (8, 1.6)},
    ),
    "stepped_shaft": (  # DIN 748-1 (d, short l), DIN 6885-1 for the seat's diameter (b, t1)
        ("end_diameter", "end_length", "seat_diameter", "keyway_width", "keyway_depth"),
        {"stepped_shaft_d10": (10, 15, 12, 4, 2.5), "stepped_shaft_d12": (12, 18, 14, 5, 3)},
    ),
    "l_bracket": (("hole",), {"l_bracket_left": (5.5,), "l_bracket_right": (5.5,)}),  # ISO 273, medium, M5
    "flange": (  # ISO 9409-1 (d1, d2, d3, N), ISO 273, medium
        ("bolt_circle", "outer_diameter", "bore", "bolts_count", "bolt_hole"),
        {
            "flange_31_5_4_m5": (31.5, 40, 20, 4, 5.5),
            "flange_40_4_m6": (40, 50, 25, 4, 6.6),
            "flange_50_4_m6": (50, 63, 31.5, 4, 6.6),
        },
    ),
    "retaining_ring": (  # DIN 471 (d1, d3, s, a max, b, d5 min)
        ("for_diameter", "free_diameter", "thickness", "lug", "band", "plier_hole"),
        {
            "retaining_ring_10": (10, 9.3, 1, 3.3, 1.8, 1.5),
            "retaining_ring_12": (12, 11, 1, 3.3, 1.8, 1.7),
            "retaining_ring_15": (15, 13.8, 1, 3.6, 2.2, 1.7),
            "retaining_ring_20": (20, 18.5, 1.2, 4, 2.6, 2),
        },
    ),
    "retaining_ring_bore": (  # DIN 472 (d1, d3, s, a max, b, d5 min)
        ("for_diameter", "free_diameter", "thickness", "lug", "band", "plier_hole"),
        {"retaining_ring_bore_22": (22, 23.5, 1, 4.2, 2.5, 2)},
    ),
    "spur_gear": (  # ISO 53 (angle), ISO 54 (module)
        ("teeth_count", "module", "pressure_angle_deg"),
        {"spur_gear_z20_m1": (20, 1, 20), "spur_gear_z24_m1": (24, 1, 20)},
    ),
}
"""By family: names of dimensions, and their published values [mm] of every size."""

BY_NAME = {family.name: family for family in FAMILIES}


def corners(family, part_id):
    """Vertices [mm] of a part in its drawing's own frame."""
    return np.asarray(BY_NAME[family].draw(BY_NAME[family].sizes[part_id]).solid.to_mesh64().vert_properties)[:, :3]


@pytest.mark.parametrize("family", PUBLISHED)
def test_size_tables_are_the_published_ones(family):
    names, rows = PUBLISHED[family]
    table = {part_id: tuple(size[name] for name in names) for part_id, size in BY_NAME[family].sizes.items()}
    assert table == rows


def test_a_family_without_a_published_table_says_what_is_drawn_by_hand():
    assert all("own drawing" in family.standard for family in FAMILIES if family.name not in PUBLISHED)


@pytest.mark.parametrize(("size", "minor"), [("m5", 4.134), ("m6", 4.917), ("m8", 6.647), ("m10", 8.376)])
def test_nuts_have_the_minor_diameter_of_iso_724(size, minor):
    radii = np.linalg.norm(corners("hex_nut", f"hex_nut_{size}")[:, :2], axis=1)
    assert 2 * radii.min() == pytest.approx(minor, abs=1e-3)


@pytest.mark.parametrize(("size", "root"), [("m5x16", 4.019), ("m6x20", 4.773), ("m8x25", 6.466)])
def test_bolts_have_the_root_diameter_of_the_metric_thread(size, root):
    """The diameter d3 = d - 1.2269 P."""
    points = corners("hex_bolt", f"hex_bolt_{size}")
    radii = np.linalg.norm(points[points[:, 2] < -1e-6, :2], axis=1)
    assert 2 * radii[radii > 0.1].min() == pytest.approx(root, abs=1e-3)


@pytest.mark.parametrize(
    ("part_id", "floor", "across_flats"),
    [("socket_screw_m5x16", 2.5, 4), ("socket_screw_m6x20", 3, 5), ("socket_screw_m8x20", 4, 6)],
)
def test_sockets_are_as_wide_and_deep_as_in_iso_4762(part_id, floor, across_flats):
    points = corners("socket_screw", part_id)
    socket = points[np.isclose(points[:, 2], floor, atol=1e-6)]
    assert np.ptp(socket[:, 0]) == pytest.approx(across_flats, abs=1e-6)


@pytest.mark.parametrize(
    ("part_id", "rest", "width"), [("stepped_shaft_d10", 12 - 2.5, 4), ("stepped_shaft_d12", 14 - 3, 5)]
)
def test_keyways_are_as_wide_and_deep_as_in_din_6885_1(part_id, rest, width):
    points, radius = corners("stepped_shaft", part_id), BY_NAME["stepped_shaft"].sizes[part_id]["seat_diameter"] / 2
    floor = points[np.isclose(points[:, 0] + radius, rest, atol=1e-6) & (abs(points[:, 1]) <= width)]
    assert np.ptp(floor[:, 1]) == pytest.approx(width, abs=1e-6)


@pytest.mark.parametrize(
    ("size", "free", "band"), [("10", 9.3, 1.8), ("12", 11, 1.8), ("15", 13.8, 2.2), ("20", 18.5, 2.6)]
)
def test_shaft_rings_are_as_wide_as_in_din_471(size, free, band):
    points = corners("retaining_ring", f"retaining_ring_{size}")
    far = points[points[:, 0] < 0]  # from the gap
    assert 2 * np.linalg.norm(far[:, :2], axis=1).min() == pytest.approx(free, abs=1e-6)
    assert np.ptp(far[np.isclose(far[:, 1], 0, atol=1e-6), 0]) == pytest.approx(band, abs=1e-6)


@pytest.mark.parametrize(("factor", "rating", "size"), [(12, 1370, "608"), (12.4, 1960, "6000"), (13.2, 2390, "6001")])
def test_balls_carry_the_static_load_of_catalogues(factor, rating, size):
    """Number and diameter of balls give the rating C0 = f0 Z Dw² [N] of ISO 76; catalogues print f0 and C0 rounded."""
    row = BY_NAME["ball_bearing"].sizes[f"ball_bearing_{size}"]
    assert factor * row["balls_count"] * row["ball_diameter"] ** 2 == pytest.approx(rating, rel=0.04)


@pytest.mark.parametrize(("teeth", "root", "tip"), [(20, 17.5, 22), (24, 21.5, 26)])
def test_teeth_reach_from_root_to_tip_of_iso_53(teeth, root, tip):
    radii = np.linalg.norm(tooth_outline(1, teeth, 20), axis=1)
    np.testing.assert_allclose([2 * radii.min(), 2 * radii.max()], [root, tip], atol=1e-9)
