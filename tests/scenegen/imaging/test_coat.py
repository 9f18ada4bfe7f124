"""Patterns and stains: they cover the share that they promise, move with their surface, and reach the pixels."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scenegen.geometry import Pose, quat_yaw
from scenegen.imaging.coat import Coat, pattern_mask, stain_mask
from scenegen.imaging.render import Painter
from scenegen.imaging.renderer import Renderer
from scenegen.optical import SECOND_SHARE, Pattern, PatternKind, Stain
from scenegen.scenario import Look, Surface

SPOTS = tuple(np.random.default_rng(0).uniform(-2.0, 2.0, (3, 1, 40_000)))
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def pattern(kind: PatternKind, angle: float = 0.3) -> Pattern:
    return Pattern(kind=kind, color=BLUE, size_m=0.05, angle_rad=angle)


@pytest.mark.parametrize("kind", PatternKind)
def test_a_pattern_covers_its_share(kind):
    mask = pattern_mask(pattern(kind), SPOTS, xp=np)
    assert set(np.unique(mask)) == {0.0, 1.0}
    assert mask.mean() == pytest.approx(SECOND_SHARE[kind], abs=0.02)


@given(st.floats(0.05, 0.95))
def test_a_stain_covers_its_share(share):
    stain = Stain(color=BLUE, share=share, patch_m=0.03, phase=(0.2, 5.0, -3.0))
    assert stain_mask(stain, SPOTS, xp=np).mean() == pytest.approx(stain.share, abs=0.03)


def test_more_stain_covers_what_less_covers():
    less, more = (stain_mask(Stain(color=BLUE, share=s, patch_m=0.03), SPOTS, xp=np) for s in (0.2, 0.5))
    assert (more >= less).all()


@pytest.mark.parametrize("kind", PatternKind)
def test_numpy_and_torch_agree(kind):
    surface = Surface(
        subject="table", look=Look(color=RED), pattern=pattern(kind), stain=Stain(color=BLUE, share=0.3, patch_m=0.1)
    )
    coat = Coat(surface, Pose())
    (_, _, blue), metallic, roughness = coat.looks(SPOTS, xp=np)
    (_, _, blue_too), metallic_too, roughness_too = coat.looks(tuple(torch.asarray(one) for one in SPOTS), xp=torch)
    for one, other in ((blue, blue_too), (metallic, metallic_too), (roughness, roughness_too)):
        assert np.mean(one != other.numpy()) < 1e-4


def test_a_coat_moves_with_its_surface():
    surface = Surface(subject="feed", look=Look(color=RED), pattern=pattern(PatternKind.CHECKER))
    pose = Pose.of([0.1, -0.2, 0.3], quat_yaw(0.7))
    placed = tuple(pose.apply(np.stack(SPOTS, axis=-1)).transpose(2, 0, 1))
    (_, _, here), _, _ = Coat(surface, Pose()).looks(SPOTS, xp=np)
    (_, _, there), _, _ = Coat(surface, pose).looks(placed, xp=np)
    assert np.mean(here != there) < 1e-3


def test_a_pattern_reaches_the_pixels_of_both_renderers(cell, catalogue, base_scenario):
    plain = base_scenario.surfaces.surfaces
    checked = [
        one.replaced(pattern=Pattern(kind=PatternKind.CHECKER, color=(0.9, 0.9, 0.9), size_m=0.02))
        if one.subject == "feed"
        else one
        for one in plain
    ]
    scene = base_scenario.varied(surfaces=base_scenario.surfaces.replaced(surfaces=tuple(checked)))
    for draw in (Renderer(cell, catalogue).radiance, _painted(cell, catalogue)):
        before, after = (np.asarray(draw(one, "overhead"), float) for one in (base_scenario, scene))
        middle = (slice(60, 160), slice(60, 160))
        assert after[middle].std() > 1.5 * before[middle].std()


def _painted(cell, catalogue):
    painter = Painter(cell, catalogue)

    def draw(scenario, name):
        camera = next(one for one in scenario.cameras.cameras if one.name == name)
        return painter.picture(scenario, camera, oversampling=1)

    return draw
