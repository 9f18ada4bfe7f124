"""The laws of light: energy, linearity, mirror images; numpy and torch agree."""

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scenegen.imaging.ambient import open_shares
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.gbuffer import NOTHING, GBuffer
from scenegen.imaging.light_set import Ambient, AreaLight, LightSet, SurfaceSet
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.scene_surfaces import scene_surfaces
from scenegen.imaging.shading import ambient_response, area_response, mixed, points_of, shade, shade_each

SIZE = 64


def _one(value):
    return np.full((1, 1), value, np.float32)


def _vector(values):
    return tuple(_one(value) for value in values)


def _plane(size=SIZE, height=1.0, tilt=0.0):
    """A level plane, seen from above (tilted: from aside), a pixel a place; all of one instance."""
    steps = (np.arange(size) + 0.5) / size - 0.5
    x, y = (values.reshape(1, -1).astype(np.float32) for values in np.meshgrid(steps, -steps))
    zero = np.zeros_like(x)
    return GBuffer(
        names=("plate",),
        height_px=size,
        width_px=size,
        instance=np.zeros(x.shape, np.int32),
        normal=(zero, zero, zero + 1),
        position=(x, y, zero),
        depth=zero + height,
        eye=_vector((-tilt, 0, height)),
        alone=np.array([[size * size]]),
    )


def _surface(color=(1.0, 1.0, 1.0), metallic=0.0, roughness=0.5):
    return SurfaceSet(color=_vector(color), metallic=_one(metallic), roughness=_one(roughness))


def _even(luminance=1.0):
    band = _vector((luminance,) * 3)
    return Ambient(floor=band, wall=band, ceiling=band)


DARK = _even(0.0)


def _lamp(center=(0.0, 0.0, 1.0), half=0.1, luminance=1000.0):
    """A level square that shines down."""
    return AreaLight(
        center=_vector(center),
        half_u=_vector((0, half, 0)),
        half_v=_vector((half, 0, 0)),
        radiance=_vector((luminance,) * 3),
    )


def _as_torch(value):
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(value))
    if isinstance(value, tuple):
        return tuple(_as_torch(one) for one in value)
    if is_dataclass(value):
        return replace(value, **{field.name: _as_torch(getattr(value, field.name)) for field in fields(value)})
    return value


@pytest.fixture(scope="module")
def scene(cell, catalogue, base_scenario):
    gbuffer = GBufferCaster.of(cell, catalogue).cast(base_scenario, "overhead")
    return gbuffer, scene_surfaces(base_scenario, gbuffer.names), scene_lights(base_scenario)


@pytest.mark.parametrize("metallic", [0.0, 1.0])
@pytest.mark.parametrize("roughness", [0.15, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("tilt", [0.0, 2.0])
def test_white_surfaces_vanish_in_a_white_furnace(metallic, roughness, tilt):
    """Under even light a surface that absorbs nothing is as bright as its surroundings."""
    gbuffer = _plane(tilt=tilt)
    surface = _surface(metallic=metallic, roughness=roughness)
    for value in shade(gbuffer, surface, LightSet((), (), _even(70.0)), xp=np):
        np.testing.assert_allclose(value, 70.0, rtol=0.01)


@pytest.mark.parametrize(("metallic", "roughness"), [(0.0, 0.3), (0.0, 0.6), (0.0, 0.9), (1.0, 0.3), (1.0, 0.5)])
def test_white_surfaces_return_what_a_closed_hemisphere_of_lamps_gives(metallic, roughness):
    """Five huge lamps, a lid and four walls, stand for the furnace: lobes and highlights add up to one."""
    gbuffer = _plane(size=4)
    far, shone = 1000.0, _vector((1.0, 1.0, 1.0))
    walls = [
        AreaLight(
            _vector((sx * far, sy * far, far / 2)), _vector((0, 0, far / 2)), _vector((-sy * far, sx * far, 0)), shone
        )
        for sx, sy in ((1, 0), (-1, 0), (0, 1), (0, -1))
    ]
    lid = AreaLight(_vector((0, 0, far)), _vector((0, far, 0)), _vector((far, 0, 0)), shone)
    lamps = LightSet((lid, *walls), tuple("abcde"), DARK)
    values = shade(gbuffer, _surface(metallic=metallic, roughness=roughness), lamps, xp=np)
    np.testing.assert_allclose(values[0], 1.0, atol=0.1)


def test_a_matt_plate_under_a_lamp_has_its_analytic_luminance():
    """Luminance = albedo * form factor * lamp's luminance; what the coat mirrors is missing from the albedo."""
    gbuffer, lights = _plane(size=4), LightSet((_lamp(half=0.5),), ("lamp",), DARK)
    spot = replace(gbuffer, position=tuple(0 * values for values in gbuffer.position))
    dull = shade(spot, _surface(color=(0.5, 0.5, 0.5), roughness=1.0), lights, xp=np)[0][0, 0]
    slope = 0.5 / np.sqrt(1.25)
    expected = 0.5 * 4 / np.pi * slope * np.arctan(slope) * 1000
    assert dull == pytest.approx(expected, rel=0.06)


@given(st.floats(0.0, 10.0), st.floats(0.0, 10.0))
def test_light_is_linear(first, second):
    gbuffer, surface = _plane(size=8), _surface(color=(0.6, 0.3, 0.1), metallic=0.5, roughness=0.3)
    lamps = (_lamp((0.2, 0.1, 0.8)), _lamp((-0.3, 0.0, 1.2), half=0.3))
    lights = LightSet(lamps, ("a", "b"), _even(30.0))
    one, two, around = shade_each(gbuffer, surface, lights, xp=np)
    factors = (first, second)
    brighter = LightSet(
        tuple(
            replace(lamp, radiance=tuple(np.float32(factor) * value for value in lamp.radiance))
            for lamp, factor in zip(lamps, factors, strict=True)
        ),
        ("a", "b"),
        _even(30.0),
    )
    whole = shade(gbuffer, surface, brighter, xp=np)
    for channel in range(3):
        expected = first * one[channel] + second * two[channel] + around[channel]
        np.testing.assert_allclose(whole[channel], expected, rtol=1e-5, atol=1e-4)


def test_responses_mix_to_what_shading_gives(scene):
    gbuffer, surfaces, lights = scene
    points = points_of(gbuffer, surfaces, xp=np)
    areas = [area_response(points, light, xp=np) for light in lights.areas]
    found = mixed(areas, ambient_response(points, xp=np), lights)
    for one, other in zip(found, shade(gbuffer, surfaces, lights, xp=np), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_shadows_only_darken(scene):
    gbuffer, surfaces, lights = scene
    half = [np.full(gbuffer.depth.shape, 0.5, np.float32) for _ in lights.areas]
    lit, shaded = (shade(gbuffer, surfaces, lights, xp=np, shadows=shadows)[1] for shadows in (None, half))
    assert (shaded <= lit * (1 + 1e-6)).all()
    assert shaded.mean() < 0.8 * lit.mean()


@pytest.mark.parametrize("roughness", [0.15, 0.3])
@pytest.mark.parametrize("x", [-0.2, 0.0, 0.25])
def test_a_highlight_lies_at_the_mirror_point_of_the_lamp(roughness, x):
    """On a level mirror between eye and lamp of equal height, it lies half way between them."""
    gbuffer = _plane(size=128)
    lights = LightSet((_lamp((2 * x, 0.3, 1.0), half=0.02),), ("lamp",), DARK)
    seen = gbuffer.plane(shade(gbuffer, _surface(metallic=1.0, roughness=roughness), lights, xp=np)[1])[0]
    bright = seen > 0.9 * seen.max()
    rows, columns = np.nonzero(bright)
    assert columns.mean() + 0.5 == pytest.approx((x + 0.5) * 128, abs=1)
    assert rows.mean() + 0.5 == pytest.approx((0.5 - 0.15) * 128, abs=1)


def test_chosen_pixels_are_those_of_the_whole_image(scene):
    gbuffer, surfaces, lights = scene
    chosen = np.flatnonzero(gbuffer.instance[0] < 3)[::2]
    assert len(chosen) > 20
    whole = shade(gbuffer, surfaces, lights, xp=np)
    some = shade(gbuffer, surfaces, lights, xp=np, pixels=chosen)
    for one, other in zip(some, whole, strict=True):
        np.testing.assert_allclose(one[0], other[0][chosen], rtol=1e-6)


def test_what_shows_nothing_shows_the_surroundings():
    gbuffer = _plane(size=4)
    nothing = replace(gbuffer, instance=gbuffer.instance + NOTHING)
    around = Ambient(floor=_vector((1, 2, 3)), wall=_vector((4, 5, 6)), ceiling=_vector((7, 8, 9)))
    lights = LightSet((_lamp(),), ("lamp",), around)
    for value, expected in zip(shade(nothing, _surface(), lights, xp=np), (1, 2, 3), strict=True):
        np.testing.assert_allclose(value, expected)


def test_torch_agrees_with_numpy_for_a_batch(scene):
    gbuffer, surfaces, lights = scene
    torch.set_num_threads(1)
    shares = open_shares(gbuffer, xp=np)
    expected = shade(gbuffer, surfaces, lights, xp=np, open_share=shares)
    twice = replace(
        _as_torch(gbuffer),
        instance=torch.from_numpy(np.repeat(gbuffer.instance, 2, axis=0)),
        depth=torch.from_numpy(np.repeat(gbuffer.depth, 2, axis=0)),
        normal=tuple(torch.from_numpy(np.repeat(v, 2, axis=0)) for v in gbuffer.normal),
        position=tuple(torch.from_numpy(np.repeat(v, 2, axis=0)) for v in gbuffer.position),
        eye=tuple(torch.from_numpy(np.repeat(v, 2, axis=0)) for v in gbuffer.eye),
    )
    looks = SurfaceSet(
        color=tuple(torch.from_numpy(np.repeat(v, 2, axis=0)) for v in surfaces.color),
        metallic=torch.from_numpy(np.repeat(surfaces.metallic, 2, axis=0)),
        roughness=torch.from_numpy(np.repeat(surfaces.roughness, 2, axis=0)),
    )
    open_share = open_shares(twice, xp=torch)
    np.testing.assert_allclose(open_share[0].numpy(), shares[0], rtol=1e-5, atol=1e-6)
    found = shade(twice, looks, _as_torch(lights), xp=torch, open_share=open_share)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == torch.float32
        for row in one.numpy():
            np.testing.assert_allclose(row, other[0], rtol=1e-5, atol=1e-5 * float(other.max()))
