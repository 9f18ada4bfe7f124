"""Distances between scenes: a metric, in physical units, blind to which of equal parts is which."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from library.distance import Features, distance, facet_numbers, features_of
from library.scales import SCALES, parse_scales
from scenegen.errors import InvalidOption, UnknownName
from scenegen.geometry import Pose, quat_multiply, quat_yaw
from scenegen.optical import Pattern, PatternKind, Stain
from scenegen.scenario import FACETS, Facet, Surfaces


def features(scenario, facets=FACETS, scales=SCALES):
    return features_of([facet_numbers(one, scenario.facet(one).model_dump(mode="json"), scales) for one in facets])


def apart(a, b, **options):
    found = distance(features(a, **options), features(b, **options))
    return None if found is None else {name: value for name, value in found.items() if value > 1e-9}


def moved(scenario, shift_m=(0.0, 0.0, 0.0), yaw_rad=0.0, item=0):
    """The scenario with one item shifted and turned."""
    items = list(scenario.layout.items)
    pose = items[item].pose_to_world
    turned = Pose.of(pose.position + shift_m, quat_multiply(quat_yaw(yaw_rad), pose.quat))
    items[item] = items[item].replaced(pose_to_world=turned)
    return scenario.varied(layout=scenario.layout.replaced(items=tuple(items)))


def lit(scenario, **fields):
    """The scenario with its first light changed."""
    first, *others = scenario.lights.lights
    return scenario.varied(lights=scenario.lights.replaced(lights=(first.replaced(**fields), *others)))


def test_a_scene_is_at_no_distance_of_itself(base_scenario):
    assert apart(base_scenario, base_scenario) == {}


def test_distances_come_in_units(base_scenario):
    light = base_scenario.lights.lights[0]
    assert apart(base_scenario, moved(base_scenario, (0.003, 0.004, 0))) == {"position": pytest.approx(2.5, rel=1e-4)}
    assert apart(base_scenario, moved(base_scenario, yaw_rad=math.radians(4))) == {"angle": pytest.approx(2, rel=1e-3)}
    brighter = lit(base_scenario, luminance_nit=light.luminance_nit * 1.05)
    assert apart(base_scenario, brighter) == {"light": pytest.approx(1, rel=1e-4)}
    warmer = lit(base_scenario, temperature_k=light.temperature_k - 50)
    assert apart(base_scenario, warmer) == {"temperature": pytest.approx(0.5, rel=1e-4)}
    item = base_scenario.matter.items[0]
    heavier = base_scenario.matter.replaced(
        items=(item.replaced(mass_kg=item.mass_kg * 1.02), *base_scenario.matter.items[1:])
    )
    assert apart(base_scenario, base_scenario.varied(matter=heavier)) == {"mass": pytest.approx(1, rel=1e-3)}


def test_facets_that_are_left_out_are_not_compared(base_scenario):
    assert apart(base_scenario, moved(base_scenario, (0.1, 0, 0)), facets=(Facet.LIGHTS, Facet.MATTER)) == {}


def test_other_words_and_other_parts_are_not_near(base_scenario):
    task = base_scenario.task.replaced(instruction="Sort.")
    assert apart(base_scenario, base_scenario.varied(task=task)) is None
    fewer = base_scenario.layout.replaced(items=base_scenario.layout.items[:-1])
    matter = base_scenario.matter.replaced(items=base_scenario.matter.items[:-1])
    assert apart(base_scenario, base_scenario.varied(layout=fewer, matter=matter)) is None


def test_parts_of_one_kind_are_interchangeable(base_scenario):
    items = list(base_scenario.layout.items)
    a, b = next((i, j) for i, j in itertools.combinations(range(len(items)), 2) if items[i].part == items[j].part)
    items[a], items[b] = (
        items[a].replaced(pose_to_world=items[b].pose_to_world),
        items[b].replaced(pose_to_world=items[a].pose_to_world),
    )
    swapped = base_scenario.varied(layout=base_scenario.layout.replaced(items=tuple(items)))
    assert apart(base_scenario, swapped) == {}


def test_parts_of_different_kinds_are_not(base_scenario):
    items = list(base_scenario.layout.items)
    a, b = next((i, j) for i, j in itertools.combinations(range(len(items)), 2) if items[i].part != items[j].part)
    items[a], items[b] = (
        items[a].replaced(pose_to_world=items[b].pose_to_world),
        items[b].replaced(pose_to_world=items[a].pose_to_world),
    )
    swapped = base_scenario.varied(layout=base_scenario.layout.replaced(items=tuple(items)))
    assert apart(base_scenario, swapped)["position"] > 1


def scenes(points):
    """Features of items of one part at points [mm], 2 mm being the scale."""
    array = np.array(points, float) / 2
    return Features("key", (), np.zeros(0), {"nut": ((("position", 0, 2),), array)})


points = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=3)


@given(points, points, points)
def test_distance_is_a_metric(a, b, c):
    ab, bc, ac = (distance(scenes(one), scenes(other))["position"] for one, other in ((a, b), (b, c), (a, c)))
    assert distance(scenes(b), scenes(a))["position"] == pytest.approx(ab)
    assert ac <= ab + bc + 1e-9
    assert (ab == 0) == (sorted(a) == sorted(b))


@given(points, points)
def test_items_are_matched_so_that_the_farthest_is_nearest(a, b):
    tried = [max(math.dist(p, q) for p, q in zip(a, order, strict=True)) / 2 for order in itertools.permutations(b)]
    assert distance(scenes(a), scenes(b))["position"] == pytest.approx(min(tried))


@given(points, points)
def test_bounds_never_exceed_the_distance(a, b):
    gap = np.abs(scenes(a).bounds() - scenes(b).bounds()).max()
    assert gap <= distance(scenes(a), scenes(b))["position"] + 1e-9


@settings(max_examples=25)
@given(st.floats(-0.02, 0.02), st.floats(-3, 3), st.integers(0, 5))
def test_bounds_of_whole_scenes_never_exceed_the_distance(base_scenario, shift_m, yaw_rad, item):
    other = moved(base_scenario, (shift_m, 0, 0), yaw_rad, item)
    a, b = features(base_scenario), features(other)
    assert np.abs(a.bounds() - b.bounds()).max() <= max(distance(a, b).values()) + 1e-6


def test_thresholds_are_read_in_their_units(base_scenario):
    scales = parse_scales("position=0.001m, angle=0.5deg,light=10%")
    assert apart(base_scenario, moved(base_scenario, (0.003, 0, 0)), scales=scales) == {
        "position": pytest.approx(3, rel=1e-4)
    }
    assert (scales["position"].text, scales["angle"].text, scales["light"].text) == ("0.001m", "0.5deg", "10%")
    assert scales["position"].in_units(2) == "0.002 m"
    assert scales["light"].in_units(2) == "21 %"
    assert scales["mass"] == SCALES["mass"]


def test_unknown_thresholds_are_refused():
    with pytest.raises(UnknownName) as unknown:
        parse_scales("positon=1mm")
    assert str(unknown.value) == "unknown quantity 'positon' - did you mean 'position'?"
    with pytest.raises(InvalidOption) as invalid:
        parse_scales("position=1cm")
    assert str(invalid.value) == (
        "--threshold position=1cm - accepted: position=NUMBERmm or position=NUMBERm above 0, for example position=1mm"
    )


def test_stains_patterns_and_lens_faults_tell_scenes_apart(base_scenario):
    sensor = base_scenario.sensor
    first, *others = sensor.sensors
    fogged = base_scenario.varied(sensor=sensor.replaced(sensors=(first.replaced(veil_share=0.04), *others)))
    assert apart(base_scenario, fogged) == {"cover": pytest.approx(2.0, rel=1e-4)}
    shaken = base_scenario.varied(sensor=sensor.replaced(sensors=(first.replaced(motion_px=0.3), *others)))
    assert apart(base_scenario, shaken) == {"blur": pytest.approx(3.0, rel=1e-4)}
    *before, last = base_scenario.surfaces.surfaces
    stain = Stain(color=(0.0, 0.0, 0.0), roughness=0.02, share=0.4, patch_m=0.001)
    stained = base_scenario.varied(surfaces=Surfaces(surfaces=(*before, last.replaced(stain=stain))))
    assert apart(base_scenario, stained) == {
        "cover": pytest.approx(20, rel=1e-4),
        "finish": pytest.approx(0.4, rel=1e-4),
        "position": pytest.approx(0.5, rel=1e-4),
    }
    table, *rest = base_scenario.surfaces.surfaces
    pattern = Pattern(kind=PatternKind.CHECKER, color=(0.0, 0.0, 0.0), size_m=0.05)
    patterned = base_scenario.varied(surfaces=Surfaces(surfaces=(table.replaced(pattern=pattern), *rest)))
    assert apart(base_scenario, patterned) is None
