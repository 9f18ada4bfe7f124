"""CIE L*a*b* of known colours."""

import numpy as np
import pytest

from scenegen.imaging.lab import lab


def _lab(*rgb):
    return [float(value[0]) for value in lab(tuple(np.array([channel]) for channel in rgb), xp=np)]


def test_white_and_black_are_exact():
    assert _lab(1.0, 1.0, 1.0) == pytest.approx([100, 0, 0], abs=1e-12)
    assert _lab(0.0, 0.0, 0.0) == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("rgb", "known"),
    [
        ((1.0, 0.0, 0.0), (53.24, 80.09, 67.20)),
        ((0.0, 1.0, 0.0), (87.73, -86.18, 83.18)),
        ((0.0, 0.0, 1.0), (32.30, 79.19, -107.86)),
    ],
)
def test_primaries_are_where_tables_have_them(rgb, known):
    """Lindbloom's calculator, sRGB and D65."""
    assert _lab(*rgb) == pytest.approx(known, abs=0.03)


def test_grey_of_18_percent_is_half_as_light_as_white():
    assert _lab(0.18, 0.18, 0.18) == pytest.approx([49.496, 0, 0], abs=1e-3)


def test_the_line_near_black_meets_the_root():
    edge = (6 / 29) ** 3
    assert _lab(edge - 1e-9, 0.1, 0.1)[0] == pytest.approx(_lab(edge + 1e-9, 0.1, 0.1)[0], abs=1e-5)
    assert _lab(edge / 2, edge / 2, edge / 2)[0] == pytest.approx(903.2963 * edge / 2, rel=1e-6)
