"""The contract of all axes, over every axis that is registered."""

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from scenegen.axes.axis import LEVELS, Severity, band, count_at, degree, directions, draw, limits
from scenegen.axes.registry import AXES, axis_named
from scenegen.base import sample_base
from scenegen.errors import UnknownName, VariationFailed
from scenegen.scenario import Facet, Scenario
from scenegen.streams import stream
from scenegen.units import Unit
from scenegen.verdict import Tier
from validators.check import CheckContext
from validators.plan import all_checks
from validators.run import Checker

TOLERANCE = 1e-4
"""Rounding to 32-bit floats, as a share of the way to a limit."""


@pytest.fixture(scope="session")
def specification(cell, catalogue):
    checks = [check for check in all_checks() if check.tier is Tier.SPECIFICATION]
    return Checker(CheckContext.of(cell, catalogue), checks)


def test_there_are_sixteen_axes_with_names_of_their_own():
    assert len(AXES) == 16
    assert all(name == axis.name for name, axis in AXES.items())
    assert axis_named("tilt") is AXES["tilt"]
    with pytest.raises(UnknownName, match=r"^unknown axis 'lightning' - did you mean 'lighting'"):
        axis_named("lightning")


def test_an_axis_says_what_it_is(axis):
    assert axis.aliases
    assert all(axis.aliases)
    assert axis.doc.endswith(".")
    assert axis.touches
    assert any(severity.graded for severity in axis.severities)
    names = [severity.name for severity in axis.severities]
    assert len(set(names)) == len(names)
    for severity in axis.severities:
        assert severity.low <= severity.nominal <= severity.high
        assert severity.low < severity.high
        assert severity.doc


def test_level_zero_is_the_identity(axis, ctx, bases):
    assert axis.vary(bases[0], 0, ctx=ctx, rng=stream("zero")) is bases[0]
    quantities = axis.measure(bases[0], bases[0], ctx=ctx)
    assert degree(axis, quantities, cell=ctx.cell) == pytest.approx(0.0, abs=TOLERANCE)


def test_measures_name_every_severity_with_its_unit(axis, ctx, scenes):
    for base, scene, _ in scenes(axis)[3]:
        measured = [(quantity.name, quantity.unit) for quantity in axis.measure(base, scene, ctx=ctx)]
        assert measured == [(severity.name, severity.unit) for severity in axis.severities]


def test_measured_severity_lies_in_its_level_and_so_grows(axis, ctx, scenes):
    for level in LEVELS:
        for base, scene, _ in scenes(axis)[level]:
            reached = degree(axis, axis.measure(base, scene, ctx=ctx), cell=ctx.cell)
            assert (level - 1) / 5 - TOLERANCE < reached <= level / 5 + TOLERANCE


def test_only_what_the_axis_touches_changes(axis, scenes):
    changed = [scene.changed(base) for level in LEVELS for base, scene, _ in scenes(axis)[level]]
    assert all(facets and facets <= axis.touches for facets in changed)
    assert frozenset().union(*changed) == axis.touches
    assert axis.keeps_layout == (Facet.LAYOUT not in axis.touches)


def test_the_same_stream_gives_the_same_bytes(axis, ctx, scenes):
    for level in (1, 4):
        base, scene, name = scenes(axis)[level][0]
        again = axis.vary(base, level, ctx=ctx, rng=stream(*name))
        assert again.canonical_json() == scene.canonical_json()
        assert again.id == scene.id


def test_streams_give_different_scenes(axis, ctx, bases, find):
    ids = {find(axis, bases[0], 3, ctx, f"other {key}")[0].id for key in range(3)}
    assert len(ids) > 1


def test_the_scene_is_a_scenario_that_passes_the_specification_checks(axis, scenes, specification):
    for level in LEVELS:
        for _, scene, _ in scenes(axis)[level]:
            assert Scenario.from_json(scene.canonical_json()) == scene
            verdict = specification.check(scene)
            assert verdict.ok, [finding.sentence for finding in verdict.findings]


def test_facets_and_assets_list_exactly_the_items(axis, ctx, scenes):
    for base, scene, _ in scenes(axis)[5]:
        names = [item.name for item in scene.layout.items]
        order = list(ctx.cell.slots)
        assert names == sorted(names, key=order.index)
        assert [entry.name for entry in scene.matter.items] == names
        fixtures = len(base.surfaces.surfaces) - len(base.layout.items)
        old, new = base.surfaces.surfaces[:fixtures], scene.surfaces.surfaces[:fixtures]
        assert [surface.subject for surface in new] == [surface.subject for surface in old]
        assert new == old or axis.name == "background"
        assert [surface.subject for surface in scene.surfaces.surfaces[fixtures:]] == names
        used = sorted({item.part for item in scene.layout.items})
        assert [(asset.part, asset.content) for asset in scene.assets] == [(p, ctx.parts[p].content_id) for p in used]
        assert all(item.cause.value in ctx.cell.allowed_causes for item in scene.layout.items)


def test_items_that_stay_keep_their_matter_and_their_looks(axis, scenes):
    for base, scene, _ in scenes(axis)[2]:
        if Facet.LAYOUT in axis.touches:
            kept = {entry.name: entry for entry in base.matter.items}
            assert all(entry == kept[entry.name] for entry in scene.matter.items if entry.name in kept)
            looks = {surface.subject: surface for surface in base.surfaces.surfaces}
            assert all(s == looks[s.subject] for s in scene.surfaces.surfaces if s.subject in looks)


def narrowed(cell, axis):
    """The cell with an envelope that allows about half of each quantity's range."""
    ranges = {}
    for severity in axis.severities:
        low, high = (severity.nominal + share for share in _halves(severity))
        ranges[severity.name] = (low, high)
    return cell.replaced(envelope={axis.name: ranges})


def _halves(severity):
    start = severity.least
    down, up = severity.low - severity.nominal, severity.high - severity.nominal
    if severity.unit is Unit.COUNT:
        return down, np.ceil(up / 2)
    return (down + start) / 2 - start if down else 0.0, (up - start) / 2 + start if up else 0.0


def test_a_narrower_envelope_is_kept(axis, ctx, bases, find):
    cell = narrowed(ctx.cell, axis)
    inside = replace(ctx, cell=cell)
    base = sample_base(cell, ctx.parts, rng=stream("narrow"))
    for level in (1, 5):
        scene, _ = find(axis, base, level, inside, "narrow")
        quantities = axis.measure(base, scene, ctx=inside)
        counted = [s for s in axis.severities if s.graded and s.unit is Unit.COUNT]
        if counted:
            assert quantities[0].value == count_at(counted[0], level, cell=cell, axis=axis.name)
        else:
            assert (level - 1) / 5 - TOLERANCE < degree(axis, quantities, cell=cell) <= level / 5 + TOLERANCE
        for severity, quantity in zip(axis.severities, quantities, strict=True):
            if severity.graded:
                low, high = limits(severity, cell=cell, axis=axis.name)
                assert low - 1e-6 <= quantity.value <= high + 1e-6


def test_an_envelope_that_leaves_no_room_is_refused(axis, ctx, bases):
    pinned = {s.name: (s.nominal, s.nominal) for s in axis.severities}
    nothing = replace(ctx, cell=ctx.cell.replaced(envelope={axis.name: pinned}))
    with pytest.raises(VariationFailed) as caught:
        axis.vary(bases[0], 3, ctx=nothing, rng=stream("pinned"))
    assert str(caught.value) == (
        f"axis {axis.name!r} found no scene at level 3 (outside_envelope): the cell's envelope leaves it no room"
    )


def test_an_empty_scene_varies_or_fails_as_variations_do(axis, ctx, bases, catalogue):
    empty = bases[0].replaced(
        assets=(),
        layout=bases[0].layout.replaced(items=()),
        matter=bases[0].matter.replaced(items=()),
        surfaces=bases[0].surfaces.replaced(surfaces=bases[0].surfaces.surfaces[: 2 + len(ctx.cell.bins)]),
    )
    for level in LEVELS:
        with suppress(VariationFailed):
            assert axis.vary(empty, level, ctx=ctx, rng=stream("empty", level)).changed(empty) <= axis.touches


def test_another_cell_has_the_axis_too(axis, rings_ctx, find):
    base = sample_base(rings_ctx.cell, rings_ctx.parts, rng=stream("rings"))
    scene, _ = find(axis, base, 3, rings_ctx, "rings")
    assert (
        0.4 - TOLERANCE < degree(axis, axis.measure(base, scene, ctx=rings_ctx), cell=rings_ctx.cell) <= 0.6 + TOLERANCE
    )


def test_all_axes_together_make_one_scene(ctx, bases, find, specification):
    scene = bases[1]
    for axis in sorted(AXES.values(), key=lambda axis: (axis.keeps_layout, axis.name)):
        scene, _ = find(axis, scene, 2, ctx, "together")
    assert scene.changed(bases[1]) == frozenset(Facet)
    assert specification.check(scene).ok
    for name in (
        "background", "camera", "color_shift", "contact", "datum", "language", "robot_start", "sensor", "vibration",
    ):  # fmt: skip
        assert degree(AXES[name], AXES[name].measure(bases[1], scene, ctx=ctx), cell=ctx.cell) > 0.2 - TOLERANCE


# --- bands ---


ONE_SIDED = Severity("one", Unit.METRE, 0.0, 0.0, 0.1, "grows only")
TWO_SIDED = Severity("two", Unit.FACTOR, 1.0, 0.5, 2.0, "both ways")
FROM_LEAST = Severity("least", Unit.DEGREE, 0.0, 0.0, 50.0, "counts from ten degrees on", least=10.0)


def test_bands_divide_the_way_to_the_limit(cell):
    spans = [band(ONE_SIDED, level, cell=cell, axis="a", upward=True) for level in LEVELS]
    assert spans[0] == pytest.approx((0.0, 0.02))
    assert all(left[1] == pytest.approx(right[0]) for left, right in pairwise(spans))
    assert spans[-1][1] == pytest.approx(0.1)
    assert band(TWO_SIDED, 5, cell=cell, axis="a", upward=False) == pytest.approx((0.6, 0.5))
    assert band(FROM_LEAST, 1, cell=cell, axis="a", upward=True) == pytest.approx((10.0, 18.0))


def test_the_envelope_replaces_the_limits(cell):
    narrow = cell.replaced(envelope={"a": {"two": (1.0, 1.5)}})
    assert limits(TWO_SIDED, cell=narrow, axis="a") == (1.0, 1.5)
    assert directions(TWO_SIDED, cell=cell, axis="a") == (False, True)
    assert directions(TWO_SIDED, cell=narrow, axis="a") == (True,)
    assert limits(TWO_SIDED, cell=narrow, axis="other") == (0.5, 2.0)


def test_drawn_values_stay_inside_their_band(cell):
    rng = np.random.default_rng(0)
    for level in LEVELS:
        near, far = band(TWO_SIDED, level, cell=cell, axis="a", upward=False)
        values = [draw(TWO_SIDED, level, cell=cell, axis="a", rng=rng, upward=False) for _ in range(200)]
        assert far < min(values) < max(values) < near


def test_counts_are_whole_and_never_fall(cell):
    counted = Severity("n", Unit.COUNT, 0.0, 0.0, 5.0, "things")
    assert [count_at(counted, level, cell=cell, axis="a") for level in LEVELS] == [1, 2, 3, 4, 5]
    narrow = cell.replaced(envelope={"a": {"n": (0.0, 3.0)}})
    assert [count_at(counted, level, cell=narrow, axis="a") for level in LEVELS] == [1, 2, 2, 3, 3]
