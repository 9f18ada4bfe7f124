"""The mirror's share of light against a quadrature of the model, and the laws of its terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.imaging.ggx import LEAST_ROUGHNESS, grazing, masking, mirrored_shares, width

COSINES = st.floats(0.05, 1.0)


def _quadrature(n_view, alpha, count=96):
    """Whole and grazing share, by half vectors drawn from the distribution times the cosine (Walter et al. 2007)."""
    steps = (np.arange(count) + 0.5) / count
    first, second = (values.ravel() for values in np.meshgrid(steps, steps))
    cosine = np.sqrt((1 - second) / (1 + (alpha**2 - 1) * second))
    sine = np.sqrt(1 - cosine**2)
    half = np.stack([sine * np.cos(2 * np.pi * first), sine * np.sin(2 * np.pi * first), cosine])
    view = np.array([np.sqrt(1 - n_view**2), 0, n_view])
    v_half = view @ half
    n_light = (2 * v_half * half - view[:, None])[2]
    seen = (n_light > 0) & (v_half > 0)
    n_light, v_half = np.maximum(n_light, 1e-6), np.maximum(v_half, 0)
    weight = np.where(seen, masking(n_light, n_view, alpha, np) * v_half / (cosine * n_view), 0)
    return weight.mean(), (weight * (1 - v_half) ** 5).mean()


@pytest.mark.parametrize("roughness", [0.15, 0.25, 0.4, 0.6, 0.8, 1.0])
@pytest.mark.parametrize("n_view", [0.1, 0.3, 0.6, 0.9, 1.0])
def test_mirrored_shares_are_those_of_a_quadrature(roughness, n_view):
    whole, edge = mirrored_shares(np.float64(n_view), np.float64(roughness), np)
    expected_whole, expected_edge = _quadrature(n_view, roughness**2)
    assert whole == pytest.approx(expected_whole, abs=0.04)
    assert edge == pytest.approx(expected_edge, abs=0.04)


@given(COSINES, COSINES, st.floats(0.0, 1.0))
def test_masking_is_a_share_and_symmetric(n_light, n_view, alpha):
    value = masking(n_light, n_view, alpha, np)
    assert 0 < value <= 1 + 1e-12
    assert value == pytest.approx(masking(n_view, n_light, alpha, np))


def test_reflectance_rises_to_one_at_grazing_angles():
    assert grazing(1.0) == 0
    assert grazing(0.0) == 1
    assert grazing(0.5) == pytest.approx(1 / 32)


def test_very_smooth_surfaces_are_as_smooth_as_shading_allows():
    assert width(np.array(0.02), np) == pytest.approx(LEAST_ROUGHNESS**2)
    assert width(np.array(0.5), np) == pytest.approx(0.25)
