"""Colours, stains, patterns and sensors of the axes: differences are met, contrasts kept, every camera is affected."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scenegen.axes.aim import Aim
from scenegen.axes.appearance import appearance_of
from scenegen.axes.axis import LEVELS
from scenegen.axes.background import BACKGROUND, COLORS, LEAST_CONTRAST
from scenegen.axes.color_shift import COLOR_SHIFT, DIFFERENCE, MOST_STAINED, PALETTE, SEEN
from scenegen.axes.colors import along, color_difference, differences, share_at, surface_difference
from scenegen.axes.items import targets_in, with_surfaces
from scenegen.axes.sensor import FIELDS, SENSOR
from scenegen.axes.shown import judging_camera, target_pixels
from scenegen.errors import VariationFailed
from scenegen.optical import SECOND_SHARE, Pattern, PatternKind, Stain, mixed
from scenegen.scenario import Look, Surface
from scenegen.streams import stream

shares = st.floats(0, 1)
colors = st.tuples(shares, shares, shares)
STEEL = Surface(subject="part", look=Look(color=(0.55, 0.55, 0.56), metallic=1.0, roughness=0.25))


def many(axis, base, ctx, level, count=30):
    found = []
    for index in range(count):
        try:
            found.append(axis.vary(base, level, ctx=ctx, rng=stream("many", axis.name, level, index)))
        except VariationFailed:
            continue
    return found


# --- colours ---


def test_known_differences():
    assert color_difference((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)) == pytest.approx(100.0, abs=1e-3)
    assert color_difference((0.3, 0.2, 0.1), (0.3, 0.2, 0.1)) == 0.0
    assert differences(np.zeros((4, 3)), (1.0, 1.0, 1.0)) == pytest.approx(np.full(4, 100.0), abs=1e-3)


@given(colors, colors, st.floats(0.5, 30))
def test_the_way_to_a_difference_is_found_or_there_is_none(start, end, difference):
    share = share_at(start, np.subtract(end, start), difference=difference)
    if share is None:
        ways = [color_difference(start, along(start, end, t)) for t in np.linspace(0, 1, 9)]
        assert max(ways) < difference
    else:
        assert 0 <= share <= 1
        assert color_difference(start, along(start, end, share)) == pytest.approx(difference, rel=2e-3)


@given(colors, colors, shares)
def test_a_stain_counts_by_the_share_that_it_covers(look, patch, share):
    clean = STEEL.replaced(look=STEEL.look.replaced(color=look))
    stained = clean.replaced(stain=Stain(color=patch, share=share, patch_m=0.003))
    whole = color_difference(clean.look.color, stained.stain.color)
    assert surface_difference(clean, stained) == pytest.approx(stained.stain.share * whole, abs=1e-9)
    assert surface_difference(stained, stained) == 0.0


@given(colors, colors, colors, st.sampled_from(PatternKind), shares)
def test_the_mean_color_is_that_of_the_areas(plain, second, patch, kind, share):
    surface = Surface(
        subject="feed",
        look=Look(color=plain),
        pattern=Pattern(kind=kind, color=second, size_m=0.01),
        stain=Stain(color=patch, share=share, patch_m=0.01),
    )
    by_area = (1 - share) * ((1 - SECOND_SHARE[kind]) * np.array(plain) + SECOND_SHARE[kind] * np.array(second))
    assert surface.mean_color == pytest.approx(by_area + share * np.array(patch), abs=1e-6)
    assert mixed(plain, second, 0.0) == plain


# --- parts ---


def test_coats_and_stains_occur_and_hit_the_level(ctx, bases):
    targets = {item.name: item for item in targets_in(bases[0], ctx.cell)}
    before = {surface.subject: surface for surface in bases[0].surfaces.surfaces}
    kinds = set()
    for level in LEVELS:
        scenes = many(COLOR_SHIFT, bases[0], ctx, level)
        assert len(scenes) == 30
        for scene in scenes:
            changed = [surface for surface in scene.surfaces.surfaces if surface != before[surface.subject]]
            assert {surface.subject for surface in changed} <= set(targets)
            assert max(surface_difference(before[one.subject], one) for one in changed) <= DIFFERENCE.high + 0.01
            stained = [surface.stain for surface in changed if surface.stain is not None]
            kinds.add("stain" if stained else "coat")
            assert len(stained) in (0, len(changed))
            assert all(stain.share <= MOST_STAINED for stain in stained)
            if not stained:
                batch = {targets[surface.subject].part for surface in changed}
                assert len(batch) == 1
                assert len(changed) == sum(item.part in batch for item in targets.values())
    assert kinds == {"stain", "coat"}


def test_colors_hit_what_was_asked_of_them(ctx, scenes):
    for level in LEVELS:
        for base, scene, name in scenes(COLOR_SHIFT)[level]:
            aim = Aim.drawn(SEEN, level, cell=ctx.cell, axis=COLOR_SHIFT.name, rng=stream(*name))
            seen, surface = COLOR_SHIFT.measure(base, scene, ctx=ctx)
            assert aim.hit(seen.value)
            before = {one.subject: one for one in base.surfaces.surfaces}
            largest = max(surface_difference(before[one.subject], one) for one in scene.surfaces.surfaces)
            assert surface.value == pytest.approx(largest)


def test_the_color_that_is_seen_is_the_meter_s(ctx, scenes):
    """Shadows and neighbours are left out; what is left of them is a few hundredths of a difference."""
    for level in LEVELS:
        for base, scene, _ in scenes(COLOR_SHIFT)[level]:
            read = ctx.metered.read(scene)[judging_camera(ctx.cell)].only(target_pixels(scene, ctx).names)
            seen, _ = COLOR_SHIFT.measure(base, scene, ctx=ctx)
            assert seen.value == pytest.approx(float(read.color_difference.max()), rel=0.1)


def test_looks_of_the_palette_are_those_that_are_shaded_alone(ctx, bases):
    base = bases[0]
    seen = appearance_of(base, ctx, palette=PALETTE)
    plain = appearance_of(base, ctx, palette=PALETTE[:1])
    assert appearance_of(base, ctx, palette=PALETTE) is seen
    before = {surface.subject: surface for surface in base.surfaces.surfaces}
    for look in PALETTE:
        painted = {name: before[name].replaced(look=look) for name in seen.shown.names}
        np.testing.assert_allclose(seen.colors_in(look), plain.colors(painted), atol=1e-6)
        np.testing.assert_array_equal(seen.colors_in(look), seen.colors(painted))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_stains_show_over_the_share_that_they_cover(ctx, bases, share):
    seen = appearance_of(bases[0], ctx, palette=PALETTE)
    before = {surface.subject: surface for surface in bases[0].surfaces.surfaces}
    look, bare = PALETTE[0], seen.colors(before)
    stain = Stain(**vars(look), share=share, patch_m=0.001)
    stained = seen.colors({name: before[name].replaced(stain=stain) for name in seen.shown.names})
    mixed = bare + share * (seen.colors_in(look) - bare)
    np.testing.assert_allclose(stained.mean(axis=0), mixed.mean(axis=0), atol=1e-6 if share in (0.0, 1.0) else 0.03)


def test_no_two_stains_lie_alike(ctx, bases):
    phases = [
        surface.stain.phase
        for scene in many(COLOR_SHIFT, bases[0], ctx, 3)
        for surface in scene.surfaces.surfaces
        if surface.stain is not None
    ]
    assert len(set(phases)) == len(phases) > 10


def test_a_scene_without_targets_has_no_part_to_color(ctx, bases):
    fixtures = bases[0].surfaces.surfaces[: 2 + len(ctx.cell.bins)]
    empty = bases[0].replaced(
        assets=(),
        layout=bases[0].layout.replaced(items=()),
        matter=bases[0].matter.replaced(items=()),
        surfaces=bases[0].surfaces.replaced(surfaces=fixtures),
    )
    with pytest.raises(VariationFailed) as caught:
        COLOR_SHIFT.vary(empty, 2, ctx=ctx, rng=stream("empty"))
    assert str(caught.value) == (
        "axis 'color_shift' found no scene at level 2 (no_target): the camera shows no target in the feed"
    )


# --- grounds ---


def test_table_and_feed_get_colors_and_patterns_and_targets_stand_out(ctx, bases):
    base = bases[0]
    before = {surface.subject: surface for surface in base.surfaces.surfaces}
    seen = set()
    for level in LEVELS:
        for scene in many(BACKGROUND, base, ctx, level):
            (ground,) = (surface for surface in scene.surfaces.surfaces if surface != before[surface.subject])
            seen.add((ground.subject, None if ground.pattern is None else ground.pattern.kind))
            colors = [ground.look.color] + ([ground.pattern.color] if ground.pattern else [])
            if ground.pattern is not None:
                assert ground.mean_color == pytest.approx(before[ground.subject].look.color, abs=1e-5)
            for item in targets_in(scene, ctx.cell, zone=ground.subject):
                color = before[item.name].look.color
                least = min(LEAST_CONTRAST, color_difference(color, before[ground.subject].look.color))
                assert min(color_difference(color, one) for one in colors) >= least - 1e-3
    assert {subject for subject, _ in seen} == {"table", "feed"}
    assert {kind for _, kind in seen} == {None, *PatternKind}


def test_where_every_ground_would_hide_a_target_there_is_none(ctx, bases, monkeypatch):
    """Targets in every colour that grounds come in: whichever the feed turns to, one of them is nearer than before."""
    monkeypatch.setattr("scenegen.axes.background.GROUNDS", ("feed",))
    monkeypatch.setattr("scenegen.axes.background.LEAST_CONTRAST", 200.0)
    targets = targets_in(bases[0], ctx.cell)
    assert len(targets) >= len(COLORS)
    painted = [Surface(subject=item.name, look=Look(color=color)) for item, color in zip(targets, COLORS, strict=False)]
    plain = replace(ctx, cell=ctx.cell.replaced(envelope={"background": {"pattern_contrast": (0.0, 0.0)}}))
    with pytest.raises(VariationFailed, match=r"\(no_ground\): \d+ grounds [\d.]+ dE2000 away, \d+ of them too near"):
        BACKGROUND.vary(with_surfaces(bases[0], painted), 2, ctx=plain, rng=stream("hidden"))
    assert BACKGROUND.vary(bases[0], 2, ctx=plain, rng=stream("hidden")) != bases[0]


# --- cameras ---


def test_one_thing_changes_at_every_camera_alike(ctx, bases):
    base = bases[0]
    seen = set()
    for scene in many(SENSOR, base, ctx, 4, count=60):
        fields = set()
        for old, new in zip(base.sensor.sensors, scene.sensor.sensors, strict=True):
            assert new.camera == old.camera
            changed = [field for _, field in FIELDS if getattr(new, field) != getattr(old, field)]
            assert len(changed) == 1
            fields.add((changed[0], math.copysign(1, getattr(new, changed[0]) - getattr(old, changed[0]))))
        assert len(fields) == 1
        seen |= fields
        directions = {sensor.motion_rad for sensor in scene.sensor.sensors}
        assert len(directions) == 1
    assert {field for field, _ in seen} == {field for _, field in FIELDS}
    assert {("exposure_ev", 1.0), ("exposure_ev", -1.0)} <= seen


@given(level=st.sampled_from(LEVELS), index=st.integers(0, 200))
def test_the_wrist_camera_is_never_left_clean(ctx, bases, level, index):
    scene = SENSOR.vary(bases[1], level, ctx=ctx, rng=stream("wrist", level, index))
    wrist = [one for one in scene.sensor.sensors if one.camera == "wrist"]
    assume(wrist)
    assert wrist[0] not in bases[1].sensor.sensors
