"""The renderer gives what its parts give, remembers what does not change, and follows what does."""

import numpy as np
import pytest

from scenegen.axes.lamp import dimmed, warmed
from scenegen.errors import UnknownName
from scenegen.geometry import Pose
from scenegen.imaging import renderer as under_test
from scenegen.imaging.mask import MaskCaster
from scenegen.imaging.render import Painter
from scenegen.imaging.renderer import Renderer
from scenegen.scenario import Lights, RectLight, ShadowCaster

WEIGHTS = np.array([0.2126, 0.7152, 0.0722])


@pytest.fixture(scope="module")
def renderer(cell, catalogue):
    return Renderer(cell, catalogue)


@pytest.fixture(scope="module")
def base(renderer, base_scenario):
    return renderer.radiance(base_scenario, "overhead")


def _relit(scenario, change, cards=()):
    lights = tuple(change(light) for light in scenario.lights.lights)
    return scenario.varied(lights=Lights(lights=lights, shadow_casters=cards))


def test_half_the_light_gives_half_the_luminance(renderer, base_scenario, base):
    camera = base_scenario.cameras.cameras[0]
    assert base.shape == (camera.height_px, camera.width_px, 3)
    assert base.dtype == np.float32
    dim = renderer.radiance(_relit(base_scenario, lambda light: dimmed(light, 0.5)), "overhead")
    np.testing.assert_allclose(dim, base / 2, rtol=1e-4)


def test_lights_that_only_change_colour_are_not_shaded_again(monkeypatch, renderer, base_scenario, base):
    monkeypatch.setattr(under_test, "area_response", None)
    monkeypatch.setattr(under_test, "points_of", None)
    warm = renderer.radiance(_relit(base_scenario, lambda light: warmed(light, -1500)), "overhead")
    assert (warm[..., 0] / warm[..., 2]).mean() > 1.2 * (base[..., 0] / base[..., 2]).mean()


def test_a_fresh_renderer_gives_the_same_bytes(cell, catalogue, renderer, base_scenario, base):
    warm = _relit(base_scenario, lambda light: warmed(light, -1500))
    remixed = renderer.radiance(warm, "overhead")
    fresh = Renderer(cell, catalogue)
    assert fresh.radiance(warm, "overhead").tobytes() == remixed.tobytes()
    assert fresh.radiance(base_scenario, "overhead").tobytes() == base.tobytes()


def test_chosen_pixels_are_those_of_the_image(renderer, base_scenario, base):
    gbuffer = renderer.gbuffer(base_scenario, "overhead")
    target = np.flatnonzero(gbuffer.instance[0] == 0)
    some = renderer.radiance_at(base_scenario, {"wrist": target[:3], "overhead": target})
    assert list(some) == ["wrist", "overhead"]
    np.testing.assert_allclose(some["overhead"].T, base.reshape(-1, 3)[target], rtol=1e-5)


def test_a_layout_that_changes_is_rendered_anew(cell, catalogue, renderer, base_scenario):
    moved = base_scenario.varied(layout=base_scenario.layout.replaced(items=base_scenario.layout.items[1:]))
    mask, names = MaskCaster(cell, catalogue).instance_mask(moved, "overhead")
    found = renderer.gbuffer(moved, "overhead")
    assert found.names == names
    np.testing.assert_array_equal(found.plane(found.instance)[0], mask)
    assert renderer.gbuffer(base_scenario, "overhead") is renderer.gbuffer(base_scenario, "overhead")


def test_a_card_over_the_feed_darkens_it_and_nothing_gets_brighter(renderer, base_scenario, base):
    key = next(light for light in base_scenario.lights.lights if isinstance(light, RectLight))
    feed = next(f.pose_to_world.position for f in base_scenario.layout.fixtures if f.name == "feed")
    place = Pose.of((feed + key.pose_to_world.position) / 2, key.pose_to_world.quat)
    card = ShadowCaster(name="card", size_m=(0.3, 0.3), pose_to_world=place)
    shaded = renderer.radiance(_relit(base_scenario, lambda light: light, cards=(card,)), "overhead")
    assert (shaded <= base * (1 + 1e-5)).all()
    assert shaded.mean() < 0.8 * base.mean()


@pytest.mark.parametrize("camera", ["overhead", "wrist"])
def test_pictures_agree_with_followed_rays(cell, catalogue, renderer, base_scenario, camera):
    """The same scene by rays (`Painter`): mean luminance within a tenth, and the same order of parts."""
    seen = renderer.radiance(base_scenario, camera) @ WEIGHTS
    chosen = next(c for c in base_scenario.cameras.cameras if c.name == camera)
    followed = Painter(cell, catalogue).radiance(base_scenario, chosen, oversampling=1) @ WEIGHTS
    assert seen.mean() == pytest.approx(followed.mean(), rel=0.1)
    shown = renderer.gbuffer(base_scenario, camera).instance[0].reshape(seen.shape)
    parts = [index for index in range(len(base_scenario.layout.items)) if (shown == index).sum() > 30]
    if camera == "overhead":
        assert len(parts) > 4
        ours, theirs = (np.array([image[shown == index].mean() for index in parts]) for image in (seen, followed))
        assert np.corrcoef(ours, theirs)[0, 1] > 0.9


def test_a_camera_that_is_not_there(renderer, base_scenario):
    with pytest.raises(UnknownName, match="unknown camera 'side'"):
        renderer.radiance(base_scenario, "side")
