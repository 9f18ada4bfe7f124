"""Glare: where the lamp hangs, how bright it is, and that the picture shows what was asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.axes.aim import HIT_PX, HIT_SHARE, Aim
from scenegen.axes.axis import LEVELS
from scenegen.axes.glare import GLARE, NAME, RANGE_NIT, SATURATED, VIEW_MARGIN_PX
from scenegen.axes.highlights import added_by, exposed, luminance_for, saturated_shares
from scenegen.axes.items import targets_in
from scenegen.axes.lamp import corners_of
from scenegen.axes.shown import TargetPixels, judging_camera, target_pixels
from scenegen.axes.view import out_of_view
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.measure import measure as read_meters
from scenegen.imaging.photo import expose
from scenegen.scenario import Lights
from scenegen.streams import stream
from scenegen.units import Unit


def bare(owners):
    """Pixels of targets of which nothing but the number matters."""
    row = np.zeros((1, len(owners)))
    names = tuple(f"target_{index}" for index in range(max(owners) + 1))
    rows = (row, row, row)
    plain = GBuffer(names, 1, len(owners), np.array(owners)[None], rows, rows, row, rows, np.zeros((1, len(names))))
    return TargetPixels(names, np.arange(len(owners)), np.array(owners), plain)


def asking(share, near=0.0, far=1.0):
    return Aim(SATURATED, 1, asked=share, band=(near, far), axis=NAME)


@given(
    st.lists(st.tuples(st.floats(0, 0.99), st.floats(1e-6, 1e-2)), min_size=20, max_size=60),
    st.floats(0.05, 0.6),
)
def test_the_luminance_makes_the_share_or_there_is_none(pixels, asked):
    lit = np.repeat([[one] for one, _ in pixels], 3, axis=1)
    added = np.repeat([[gain] for _, gain in pixels], 3, axis=1)
    slack = max(HIT_SHARE * asked, HIT_PX / len(pixels))
    luminance = luminance_for(lit, added, bare([0] * len(pixels)), asking(asked), range_nit=(1e-3, 1e9))
    if luminance is None:
        thresholds = np.sort((1 - lit[:, 0]) / added[:, 0])
        counts = np.searchsorted(thresholds, thresholds * (1 + 2e-6), side="right") / len(pixels)
        assert not (np.abs(counts - asked) <= slack).any() or thresholds[0] < 1e-3
    else:
        share = ((lit + luminance * added).max(axis=1) >= 1.0).mean()
        assert abs(share - asked) <= slack


def test_no_target_may_glare_more_than_asked():
    lit, shown = np.zeros((40, 3)), bare([0] * 20 + [1] * 20)
    added = np.full((40, 3), 1e-3)
    added[:3] = 1e-2
    asked = asking(0.15)
    assert luminance_for(lit, added, shown, asked, range_nit=(1, 1e4)) == pytest.approx(105.0)
    assert luminance_for(lit, added, shown, asking(0.4), range_nit=(1, 1e4)) is None
    assert luminance_for(lit, added, shown, asked, range_nit=(200, 1e4)) is None
    assert luminance_for(lit, added, shown, asking(0.15, near=0.16), range_nit=(1, 1e4)) is None
    assert luminance_for(lit, 0 * added, shown, asked, range_nit=(1, 1e4)) is None


def test_a_mirror_shows_the_lamp_where_the_angles_are_equal(ctx, bases):
    shown = target_pixels(bases[0], ctx)
    view = bases[0].cameras.cameras[0].pose_to_world.position - shown.positions()
    view /= np.linalg.norm(view, axis=1, keepdims=True)
    halfway = shown.mirrored() + view
    halfway /= np.linalg.norm(halfway, axis=1, keepdims=True)
    np.testing.assert_allclose(np.linalg.norm(shown.mirrored(), axis=1), 1.0, atol=1e-5)
    normals = np.concatenate(shown.gbuffer.normal).T
    np.testing.assert_allclose(np.abs(np.sum(halfway * normals, axis=1)), 1.0, atol=1e-4)
    np.testing.assert_allclose(shown.mirrored(7), shown.mirrored()[7])


def test_the_pixels_are_those_of_the_targets(ctx, bases):
    shown = target_pixels(bases[0], ctx)
    gbuffer = ctx.renderer.gbuffer(bases[0], judging_camera(ctx.cell))
    assert set(shown.names) <= {item.name for item in targets_in(bases[0], ctx.cell)}
    for index, name in enumerate(shown.names):
        assert (shown.owners == index).sum() == (gbuffer.instance == gbuffer.names.index(name)).sum()


def test_light_adds_up(ctx, bases, scenes):
    base, scene, _ = scenes(GLARE)[4][0]
    shown = target_pixels(base, ctx)
    alone = scene.varied(lights=Lights(lights=scene.lights.lights[-1:]))
    together = exposed(base, shown, ctx) + exposed(alone, shown, ctx)
    np.testing.assert_allclose(exposed(scene, shown, ctx), together, rtol=1e-4, atol=1e-6)


def test_the_first_guess_is_the_picture_s_where_nothing_shades_the_lamp(ctx, scenes):
    for base, scene, _ in scenes(GLARE)[4]:
        shown, lamp = target_pixels(base, ctx), scene.lights.lights[-1]
        guessed = lamp.luminance_nit * added_by(lamp, base, shown, ctx)
        true = exposed(scene, shown, ctx) - exposed(base, shown, ctx)
        bright = true.max(axis=1) > 0.2
        assert bright.sum() > 20
        assert np.median(guessed[bright] / true[bright]) == pytest.approx(1.0, abs=0.1)


def test_every_lamp_hits_what_was_asked_of_it(ctx, scenes):
    for level in LEVELS:
        for base, scene, name in scenes(GLARE)[level]:
            aim = Aim.drawn(SATURATED, level, cell=ctx.cell, axis=NAME, rng=stream(*name))
            (quantity,) = GLARE.measure(base, scene, ctx=ctx)
            slack = max(HIT_SHARE * aim.asked, HIT_PX / target_pixels(base, ctx).counts.min())
            assert abs(quantity.value - aim.asked) <= slack + 1e-6


def test_the_meter_on_the_picture_says_the_same(ctx, scenes):
    """The saturated share that is read from the whole exposed image is the one that the axis solved for."""
    nominal = nominal_gain(ctx.cell)
    for level in LEVELS:
        for _base, scene, _ in scenes(GLARE)[level]:
            camera = judging_camera(ctx.cell)
            gbuffer = ctx.renderer.gbuffer(scene, camera)
            red, green, blue = (plane[None] for plane in np.moveaxis(ctx.renderer.radiance(scene, camera), -1, 0))
            sensors = [one for one in scene.sensor.sensors if one.camera == camera]
            image = expose((red, green, blue), sensors, nominal=nominal, xp=np)
            readings = read_meters(gbuffer, image, image, sensors, xp=np)
            for name, share in saturated_shares(scene, ctx).items():
                assert readings.meters(name).saturated_share == pytest.approx(share, abs=1e-6)


def test_the_lamp_hangs_above_and_out_of_view(ctx, scenes):
    table_m = ctx.cell.table.pose_top_to_world.position_m[2]
    for level in LEVELS:
        for base, scene, _ in scenes(GLARE)[level]:
            *others, lamp = scene.lights.lights
            assert tuple(others) == base.lights.lights
            corners = corners_of(lamp.pose_to_world, lamp.size_m)
            assert corners[:, 2].min() > table_m + 0.1
            assert all(out_of_view(one, corners, margin_px=VIEW_MARGIN_PX - 1) for one in scene.cameras.cameras)
            assert RANGE_NIT[0] * 0.999 <= lamp.luminance_nit <= RANGE_NIT[1]


def test_severity_is_the_growth_of_the_worst_target(ctx, scenes):
    for base, scene, _ in scenes(GLARE)[3]:
        before, after = saturated_shares(base, ctx), saturated_shares(scene, ctx)
        (quantity,) = GLARE.measure(base, scene, ctx=ctx)
        assert quantity.unit is Unit.SHARE
        assert quantity.value == pytest.approx(max(after[name] - before[name] for name in after), abs=1e-6)
