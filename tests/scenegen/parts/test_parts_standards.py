"""Dimensions of built-in parts against the tables of their standards, measured on the meshes."""

import numpy as np
import pytest

from scenegen.parts.builtin import builtin_part


def extents_mm(part_id):
    return np.ptp(builtin_part(part_id).mesh.vertices, axis=0) * 1e3


def radii_mm(part_id):
    radii = np.linalg.norm(builtin_part(part_id).mesh.vertices[:, :2], axis=1) * 1e3
    return radii.min(), radii.max()


@pytest.mark.parametrize(
    ("part_id", "across_flats", "head", "length"),
    [("hex_bolt_m5x16", 8, 3.5, 16), ("hex_bolt_m6x20", 10, 4, 20), ("hex_bolt_m8x25", 13, 5.3, 25)],
)
def test_hex_bolts_follow_iso_4017(part_id, across_flats, head, length):
    np.testing.assert_allclose(extents_mm(part_id)[[0, 2]], [across_flats, head + length], atol=1e-3)
    assert builtin_part(part_id).dimensions["head_height"] == pytest.approx(head * 1e-3, rel=1e-6)


@pytest.mark.parametrize(
    ("part_id", "head_diameter", "head_height", "length"),
    [("socket_screw_m5x16", 8.5, 5, 16), ("socket_screw_m6x20", 10, 6, 20), ("socket_screw_m8x20", 13, 8, 20)],
)
def test_socket_screws_follow_iso_4762(part_id, head_diameter, head_height, length):
    np.testing.assert_allclose(extents_mm(part_id)[[0, 2]], [head_diameter, head_height + length], atol=1e-3)


@pytest.mark.parametrize(
    ("part_id", "across_flats", "height"),
    [("hex_nut_m5", 8, 4.7), ("hex_nut_m6", 10, 5.2), ("hex_nut_m8", 13, 6.8), ("hex_nut_m10", 16, 8.4)],
)
def test_hex_nuts_follow_iso_4032(part_id, across_flats, height):
    np.testing.assert_allclose(extents_mm(part_id)[[0, 2]], [across_flats, height], atol=1e-3)


@pytest.mark.parametrize(
    ("part_id", "bore", "outer", "thickness"),
    [
        ("flat_washer_m5", 5.3, 10, 1),
        ("flat_washer_m6", 6.4, 12, 1.6),
        ("flat_washer_m8", 8.4, 16, 1.6),
        ("flat_washer_m10", 10.5, 20, 2),
    ],
)
def test_flat_washers_follow_iso_7089(part_id, bore, outer, thickness):
    np.testing.assert_allclose(np.multiply(radii_mm(part_id), 2), [bore, outer], atol=1e-3)
    assert extents_mm(part_id)[2] == pytest.approx(thickness, abs=1e-3)


@pytest.mark.parametrize(
    ("part_id", "bore", "outer", "width"),
    [("ball_bearing_608", 8, 22, 7), ("ball_bearing_6000", 10, 26, 8), ("ball_bearing_6001", 12, 28, 8)],
)
def test_ball_bearings_follow_iso_15(part_id, bore, outer, width):
    np.testing.assert_allclose(np.multiply(radii_mm(part_id), 2), [bore, outer], atol=3e-3)
    assert extents_mm(part_id)[2] == pytest.approx(width, abs=1e-3)


@pytest.mark.parametrize(("part_id", "tip"), [("spur_gear_z20_m1", 22), ("spur_gear_z24_m1", 26)])
def test_spur_gears_follow_iso_53(part_id, tip):
    assert radii_mm(part_id)[1] * 2 == pytest.approx(tip, abs=1e-3)


def test_a_gear_has_as_many_teeth_as_its_name_says():
    for part_id, teeth in (("spur_gear_z20_m1", 20), ("spur_gear_z24_m1", 24)):
        vertices = builtin_part(part_id).mesh.vertices * 1e3
        radii, angles = np.linalg.norm(vertices[:, :2], axis=1), np.arctan2(vertices[:, 1], vertices[:, 0])
        tips = np.unique(np.round(angles[radii > radii.max() - 1e-3], 4))
        assert len(tips) == 2 * teeth  # two corners a tooth


@pytest.mark.parametrize(("part_id", "diameter"), [("dowel_pin_5x20", 5), ("dowel_pin_6x20", 6), ("dowel_pin_8x20", 8)])
def test_dowel_pins_follow_iso_2338(part_id, diameter):
    np.testing.assert_allclose(extents_mm(part_id), [diameter, diameter, 20], atol=1e-3)


@pytest.mark.parametrize(
    ("part_id", "bore", "outer"), [("bushing_8x11x10", 8, 11), ("bushing_8x12x10", 8, 12), ("bushing_10x14x10", 10, 14)]
)
def test_bushings_have_the_diameters_of_their_names(part_id, bore, outer):
    np.testing.assert_allclose(np.multiply(radii_mm(part_id), 2), [bore, outer], atol=1e-3)


@pytest.mark.parametrize(
    ("part_id", "thickness"), [("retaining_ring_10", 1), ("retaining_ring_15", 1), ("retaining_ring_20", 1.2)]
)
def test_retaining_rings_follow_din_471(part_id, thickness):
    assert extents_mm(part_id)[2] == pytest.approx(thickness, abs=1e-3)


def test_brackets_are_mirror_images_that_no_turn_makes_equal():
    left, right = (builtin_part(f"l_bracket_{hand}").mesh for hand in ("left", "right"))
    mirrored = left.vertices * [-1, 1, 1]
    assert same_points(mirrored, right.vertices)
    for x, y, z in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)):  # the turns that keep the box's axes
        assert not same_points(left.vertices * [x, y, z], right.vertices)


def same_points(first, second):
    gaps = np.linalg.norm(first[:, None] - second[None], axis=2)
    return max(gaps.min(axis=0).max(), gaps.min(axis=1).max()) < 1e-6


def test_masses_are_near_to_what_catalogues_say():
    catalogue_g = {"hex_nut_m8": 5.2, "flat_washer_m8": 1.83, "ball_bearing_608": 12, "dowel_pin_6x20": 4.4}
    for part_id, mass_g in catalogue_g.items():
        assert builtin_part(part_id).mass.mass_kg * 1e3 == pytest.approx(mass_g, rel=0.15)
