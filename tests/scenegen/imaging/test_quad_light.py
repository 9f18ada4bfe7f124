"""Light of a rectangle: against analytic form factors and against many points of it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.imaging.ggx import masking
from scenegen.imaging.quad_light import corners_of, gloss, highlight, lambert, mirror_point
from scenegen.imaging.scene_lights import square_form_factor
from scenegen.imaging.vectors import cross, dot, unit


def _vector(values):
    return tuple(np.full((1, 1), value, np.float32) for value in values)


def _quad(center, half_u, half_v):
    corners = corners_of(_vector(center), _vector(half_u), _vector(half_v))
    return tuple(unit(corner, np) for corner in corners)


def _above(height, half_x, half_y, x=0.0):
    """A level rectangle that shines down: u along Y, v along X, so that u x v is -Z."""
    return (x, 0.0, height), (0.0, half_y, 0.0), (half_x, 0.0, 0.0)


def _points(center, half_u, half_v, count=200):
    """Directions to points of a rectangle, and their projected areas over the squared distance, in 64 bits."""
    steps = (np.arange(count) + 0.5) / count * 2 - 1
    u, v = (values.ravel()[:, None] for values in np.meshgrid(steps, steps))
    spots = np.array(center) + u * np.array(half_u) + v * np.array(half_v)
    normal = np.cross(half_u, half_v)
    square = np.einsum("ij,ij->i", spots, spots)
    directions = spots / np.sqrt(square)[:, None]
    area = 4 * np.linalg.norm(normal)
    facing = np.maximum(-(directions @ normal) / np.linalg.norm(normal), 0)
    return directions, facing * area / count**2 / square


@pytest.mark.parametrize("ratio", [0.001, 0.02, 0.05, 0.1, 0.3, 1.0, 3.0])
def test_a_square_overhead_has_its_analytic_form_factor(ratio):
    """The formula is Howell's B-3, times four; the smallest square tests the form for small ones."""
    found = lambert(_quad(*_above(1.0, ratio, ratio)), np)
    assert found[0, 0] == pytest.approx(square_form_factor(ratio), rel=2e-3)


def test_a_unit_square_overhead_golden():
    """4 / pi * sqrt(1/2) * atan(sqrt(1/2)) = 0.5541..., by hand."""
    assert square_form_factor(1.0) == pytest.approx(0.5541, abs=1e-4)


@given(st.floats(20, 1000))
def test_far_away_light_falls_with_the_square_of_the_distance(height):
    found = lambert(_quad(*_above(height, 0.3, 0.1)), np)[0, 0]
    assert found == pytest.approx(0.12 / (math.pi * height**2), rel=1e-3)


@given(st.floats(-1.5, 1.5), st.floats(0.3, 2.0), st.floats(0.05, 0.4), st.floats(0.05, 0.4))
def test_illuminance_is_that_of_many_points(x, height, half_x, half_y):
    rectangle = _above(height, half_x, half_y, x)
    directions, weights = _points(*rectangle)
    expected = float((directions[:, 2] * weights).sum()) / math.pi
    assert lambert(_quad(*rectangle), np)[0, 0] == pytest.approx(expected, rel=6e-3)


def test_a_light_that_the_horizon_cuts_gives_about_what_lies_before_it():
    center, half_u, half_v = (-1.0, 0.0, 0.1), (0.0, 0.0, -0.4), (0.0, 0.4, 0.0)
    directions, weights = _points(center, half_u, half_v)
    expected = float((np.maximum(directions[:, 2], 0) * weights).sum()) / math.pi
    assert lambert(_quad(center, half_u, half_v), np)[0, 0] == pytest.approx(expected, rel=0.25)


def test_a_light_does_not_shine_backwards_or_through_the_floor():
    center, half_u, half_v = _above(1.0, 0.3, 0.3)
    assert lambert(_quad(center, half_v, half_u), np)[0, 0] == 0
    assert lambert(_quad((0.0, 0.0, -1.0), half_v, half_u), np)[0, 0] == 0


@pytest.mark.parametrize("roughness", [0.2, 0.35, 0.6])
@pytest.mark.parametrize("tilt", [0.0, 0.4, 0.8])
def test_a_highlight_is_that_of_many_points(roughness, tilt):
    """GGX with Schlick's term, integrated over the light; the polygon keeps within an eighth of the peak."""
    alpha, rectangle = roughness**2, _above(1.0, 0.15, 0.05, x=0.3)
    view = np.array([-math.sin(tilt), 0.0, math.cos(tilt)])
    directions, weights = _points(*rectangle)
    half = directions + view
    half /= np.linalg.norm(half, axis=1)[:, None]
    spread = alpha**2 / (math.pi * (half[:, 2] ** 2 * (alpha**2 - 1) + 1) ** 2)
    seen = masking(directions[:, 2], view[2], alpha, np) / (4 * view[2])
    expected = float((spread * seen * weights).sum())
    quad, local = _quad(*rectangle), _vector(view)
    towards = mirror_point(*(_vector(values) for values in rectangle), local, np)
    inner, edge = gloss(highlight(quad, local, np.float32(alpha), np), local, towards, np.float32(alpha), np)
    assert (inner + edge)[0, 0] == pytest.approx(expected, rel=0.12, abs=0.004)


def test_the_mirror_point_is_where_the_mirror_ray_meets_the_light():
    rectangle = tuple(_vector(values) for values in _above(1.0, 0.5, 0.5))
    found = mirror_point(*rectangle, _vector(unit((-0.3, 0.2, 1.0), np)), np)
    assert found[0][0, 0] / found[2][0, 0] == pytest.approx(0.3, abs=1e-5)
    assert found[1][0, 0] / found[2][0, 0] == pytest.approx(-0.2, abs=1e-5)
    far = mirror_point(*rectangle, _vector(unit((-3.0, 0.0, 1.0), np)), np)
    assert far[0][0, 0] / far[2][0, 0] == pytest.approx(0.5, abs=1e-5)


def test_frames_of_corners_go_round_the_same_way_as_the_light_shines():
    corners = corners_of(*(_vector(values) for values in _above(1.0, 0.5, 0.5)))
    turn = cross(corners[0], corners[1])
    assert dot(turn, _vector((0.0, 0.0, 1.0)))[0, 0] > 0
