"""Shadows of parts and cards: where they fall, how soft they are, and that they only darken."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scenegen.axes.lamp import shaded_share
from scenegen.geometry import Pose, quat_between
from scenegen.imaging.card_shadow import card_lit_share
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.shadow_map import ShadowMap, cast_shadow_map, lit_share, map_size_px
from scenegen.imaging.view import Viewer
from scenegen.nominal import nominal_fixtures, nominal_scenario
from scenegen.scenario import Item, Layout, Lights, RectLight, ShadowCaster, Task

DOWN = quat_between((0, 0, 1), (0, 0, 1))


@pytest.fixture(scope="module")
def viewer(cell, catalogue):
    return Viewer(cell, catalogue)


@pytest.fixture(scope="module")
def one_nut(cell, catalogue):
    """A nut that hangs 0.1 m above the middle of the feed."""
    part = cell.slots["hex_nut_m10_00"].part if "hex_nut_m10_00" in cell.slots else cell.slots["hex_nut_m8_00"].part
    middle = cell.feed.pose_to_world.position
    item = Item(name=f"{part}_00", part=part, zone="feed", pose_to_world=Pose.of(middle + np.array([0.0, 0.0, 0.1])))
    layout = Layout(fixtures=nominal_fixtures(cell), items=(item,))
    return nominal_scenario(cell, catalogue, layout, Task(rules=cell.rules, instruction="Sort."))


def _square(middle, side, height=1.0):
    return RectLight(
        name="key",
        luminance_nit=1000,
        size_m=(side, side),
        pose_to_world=Pose.of(np.asarray(middle) + np.array([0.0, 0.0, height]), DOWN),
    )


def _area(scenario, light, cards=()):
    return scene_lights(scenario.varied(lights=Lights(lights=(light,), shadow_casters=cards)))


def _plane(middle, half, count):
    """Points of a level square, and their normals."""
    steps = np.linspace(-half, half, count)
    x, y = (values.ravel() for values in np.meshgrid(steps, steps))
    points = np.stack([middle[0] + x, middle[1] + y, np.full(len(x), middle[2] + 1e-4)], axis=1)
    position = tuple(values[None].astype(np.float32) for values in points.T)
    up = tuple(np.full((1, len(x)), value, np.float32) for value in (0, 0, 1))
    return points, position, up


def _shares(viewer, scenario, side):
    middle = next(f.pose_to_world.position for f in scenario.layout.fixtures if f.name == "feed")
    points, position, up = _plane(middle, 0.04, 81)
    light = _area(scenario, _square(middle, side)).areas[0]
    shadow = cast_shadow_map(viewer, scenario.layout, light, points)
    return lit_share(shadow, position, up, xp=np)[0].reshape(81, 81), points - middle, shadow, position, up


def test_a_small_light_casts_the_sharp_outline_of_a_nut(viewer, one_nut, catalogue):
    """Seen from 1 m above, a nut that hangs at 0.1 m is cast 1 / 0.9 as large."""
    lit, spots, *_ = _shares(viewer, one_nut, 0.002)
    part = catalogue[one_nut.layout.items[0].part]
    reach = np.abs(part.mesh.vertices[:, 0]).max() / 0.9
    dark = lit.ravel() < 0.5
    assert np.abs(spots[dark, 0]).max() == pytest.approx(reach, abs=2e-3)
    far = np.linalg.norm(spots[:, :2], axis=1) > 1.5 * reach
    assert (lit.ravel()[far] == 1).all()
    assert np.isin(lit.ravel(), (0, 1)).mean() > 0.9


def test_maps_of_larger_images_are_finer():
    assert [map_size_px(side**2) for side in (112, 224, 448, 896, 2400)] == [192, 192, 381, 762, 1024]


def test_a_wide_light_casts_a_wide_soft_shadow(viewer, one_nut):
    sharp, soft = (_shares(viewer, one_nut, side)[0] for side in (0.002, 0.2))
    partial = [((lit > 0.1) & (lit < 0.9)).sum() for lit in (sharp, soft)]
    assert partial[1] > 3 * partial[0]
    assert soft.min() > sharp.min()
    # A shadow moves light about; the light it takes in all stays the same as the lamp grows.
    assert (1 - soft).sum() == pytest.approx((1 - sharp).sum(), rel=0.3)


def test_a_plane_does_not_shade_itself(viewer, one_nut, cell):
    empty = one_nut.layout.replaced(items=())
    middle = cell.feed.pose_to_world.position
    points, position, up = _plane(middle, 0.05, 41)
    slanted = RectLight(
        name="key",
        luminance_nit=1000,
        size_m=(0.3, 0.3),
        pose_to_world=Pose.of(middle + np.array([0.5, 0.4, 0.6]), quat_between((0, 0, 1), (0.5, 0.4, 0.6))),
    )
    light = _area(one_nut, slanted).areas[0]
    shadow = cast_shadow_map(viewer, empty, light, points)
    assert (lit_share(shadow, position, up, xp=np) == 1).all()


def test_one_image_is_looked_up_as_a_batch_is(viewer, one_nut):
    """For one image the places on the light are looked up only where something hides some of them."""
    lit, _, shadow, position, up = _shares(viewer, one_nut, 0.2)

    def twice(value):
        return np.repeat(value, 2, axis=0)

    fields = {
        name: value if name == "size_px" else tuple(map(twice, value)) if isinstance(value, tuple) else twice(value)
        for name, value in vars(shadow).items()
    }
    found = lit_share(ShadowMap(**fields), tuple(map(twice, position)), tuple(map(twice, up)), xp=np)
    assert 0 < (found < 1).mean() < 1
    for row in found:
        np.testing.assert_array_equal(row, lit.ravel())


def test_torch_finds_the_same_shadows_for_a_batch(viewer, one_nut):
    lit, _, shadow, position, up = _shares(viewer, one_nut, 0.2)

    def twice(value):
        return torch.from_numpy(np.repeat(value, 2, axis=0))

    fields = {
        name: tuple(twice(v) for v in value)
        if isinstance(value, tuple)
        else value
        if name == "size_px"
        else twice(value)
        for name, value in vars(shadow).items()
    }
    found = lit_share(ShadowMap(**fields), tuple(map(twice, position)), tuple(map(twice, up)), xp=torch)
    for row in found.numpy():
        assert (np.abs(row - lit.ravel()) > 1e-5).mean() < 0.002  # a tap on the very edge of a pixel may fall beside it


@given(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3), st.floats(0.02, 0.6), st.floats(0.2, 0.8))
def test_a_card_hides_the_share_that_counting_finds(base_scenario, x, y, width, height):
    key = _square((0.0, 0.0, 0.0), 0.4)
    card = ShadowCaster(name="card", size_m=(width, 0.3), pose_to_world=Pose.of((x, y, height)))
    found = _area(base_scenario, key, (card,))
    point = tuple(np.zeros((1, 1), np.float32) for _ in range(3))
    share = card_lit_share(found.areas[0], found.cards[0], point, xp=np)[0, 0]
    expected = 1 - shaded_share(key, (card,), np.zeros((1, 3)))[0]
    assert 0 <= share <= 1
    assert share == pytest.approx(expected, abs=0.1)


def test_a_card_behind_the_light_or_below_the_point_hides_nothing(base_scenario):
    key = _square((0.0, 0.0, 0.0), 0.4)
    point = tuple(np.zeros((1, 1), np.float32) for _ in range(3))
    for height, hidden in ((1.2, False), (-0.2, False), (0.5, True)):
        card = ShadowCaster(name="card", size_m=(2.0, 2.0), pose_to_world=Pose.of((0.0, 0.0, height)))
        found = _area(base_scenario, key, (card,))
        assert card_lit_share(found.areas[0], found.cards[0], point, xp=np)[0, 0] == (0 if hidden else 1)
