"""Near-duplicates: planted ones are found, no group holds what is far, and the leaders are not near each other."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from library.dedup import equal_scenes, near_bases, near_duplicates
from library.distance import distance, facet_numbers, features_of
from library.row import Row, facet_columns
from library.scales import SCALES, parse_scales
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.errors import LibraryError
from scenegen.provenance import AxisSetting, Provenance
from scenegen.scenario import FACETS


def keep(folder, scenarios, *, axis="lighting"):
    """A library that holds scenarios of one base; return a version and the rows."""
    rows, facets = [], []
    for index, scenario in enumerate(scenarios):
        setting = AxisSetting(axis=axis, level=1, severity=())
        origin = Provenance(axes=(setting,), base_id="b", generator="tests", generator_version="1", seed=0, index=index)
        row = Row(
            kind="variant",
            scenario_id=scenario.id,
            cell_id=scenario.cell_id,
            assets=scenario.assets,
            facets=scenario.facet_ids,
            provenance=origin,
        )
        rows.append(row.columns())
        facets += [facet_columns(facet, scenario.facet(facet)) for facet in FACETS]
    library = VersionedLibrary.create(folder)
    library.publish(Changes({"scenarios": rows, "facets": facets}), Signature("scenes"))
    return library.at(), list(library.at().columns())


def lit(scenario, temperature_k, factor=1.0):
    first, *others = scenario.lights.lights
    warm = first.replaced(temperature_k=temperature_k, luminance_nit=first.luminance_nit * factor)
    return scenario.varied(lights=scenario.lights.replaced(lights=(warm, *others)))


def moved(scenario, x_m):
    first, *others = scenario.layout.items
    pose = first.pose_to_world
    there = first.replaced(pose_to_world=type(pose).of(pose.position + np.array([x_m, 0, 0]), pose.quat))
    return scenario.varied(layout=scenario.layout.replaced(items=(there, *others)))


def pairs(groups):
    return [(group.first, near.scenario_id) for group in groups for near in group.others]


@settings(max_examples=8)
@given(st.lists(st.tuples(st.integers(3000, 3600), st.floats(0.9, 1.1)), min_size=2, max_size=12, unique=True))
def test_groups_hold_what_is_near_and_leaders_are_apart(tmp_path_factory, base_scenario, lights):
    scenarios = list({one.id: one for one in (lit(base_scenario, *light) for light in lights)}.values())
    snapshot, rows = keep(tmp_path_factory.mktemp("near") / "a", scenarios)
    groups = near_duplicates(snapshot, rows)
    features = {
        one.id: features_of([facet_numbers(f, one.facet(f).model_dump(mode="json"), SCALES) for f in FACETS])
        for one in scenarios
    }

    def apart(a, b):
        return max(distance(features[a], features[b]).values())

    followers = {other for _, other in pairs(groups)}
    assert all(apart(*pair) <= 1 for pair in pairs(groups))
    assert len(followers) == len(pairs(groups))
    leaders = [one.id for one in scenarios if one.id not in followers]
    assert all(apart(a, b) > 1 for a, b in itertools.combinations(leaders, 2))


def test_planted_duplicates_are_found_among_many(tmp_path, base_scenario):
    rng = np.random.default_rng(0)
    places = np.cumsum(rng.uniform(0.0021, 0.004, 40)) - 0.05
    twins = rng.choice(40, 10, replace=False)
    scenarios = [moved(base_scenario, x) for x in places] + [moved(base_scenario, places[at] + 0.001) for at in twins]
    snapshot, rows = keep(tmp_path / "a", scenarios, axis="pose")
    found = near_duplicates(snapshot, rows)
    assert {other for _, other in pairs(found)} == {one.id for one in scenarios[40:]}
    assert found[0].others[0].text().endswith(": position 1 mm")


def test_scenes_on_other_bases_are_near_only_in_what_their_axes_touch(tmp_path, base_scenario):
    scenarios = [lit(base_scenario, 3000), lit(moved(base_scenario, 0.05), 3010)]
    snapshot, rows = keep(tmp_path / "a", scenarios)
    assert near_duplicates(snapshot, rows) == []
    (group,) = near_duplicates(snapshot, rows, touched=True)
    assert (group.first, group.others[0].scenario_id) == (scenarios[0].id, scenarios[1].id)
    assert group.others[0].text() == "0.1: temperature 10 K"


def test_equal_words_on_other_bases_are_near_in_what_language_touches(tmp_path, base_scenario):
    task = base_scenario.task.replaced(instruction="Sort.")
    scenarios = [one.varied(task=task) for one in (base_scenario, moved(base_scenario, 0.05))]
    other = base_scenario.varied(task=task.replaced(instruction="Sort all."))
    snapshot, rows = keep(tmp_path / "a", [*scenarios, other], axis="language")
    (group,) = near_duplicates(snapshot, rows, touched=True)
    assert pairs([group]) == [(scenarios[0].id, scenarios[1].id)]
    assert group.others[0].text() == "0"


def test_thresholds_decide(tmp_path, base_scenario):
    snapshot, rows = keep(tmp_path / "a", [lit(base_scenario, 3000), lit(base_scenario, 3010)])
    assert near_duplicates(snapshot, rows, scales=parse_scales("temperature=9K")) == []
    assert len(near_duplicates(snapshot, rows, scales=parse_scales("temperature=11K"))) == 1


def test_axes_are_compared_with_each_other_only_if_asked(tmp_path, base_scenario):
    snapshot, rows = keep(tmp_path / "a", [lit(base_scenario, 3000), lit(base_scenario, 3010)])
    other = [rows[0], {**rows[1], "axis": "pose"}]
    assert near_duplicates(snapshot, other) == []
    assert len(near_duplicates(snapshot, other, across_axes=True)) == 1


def test_two_roads_to_one_scene_are_told_apart_from_near_ones(tmp_path, base_scenario):
    scenarios = [lit(base_scenario, 3000), lit(base_scenario, 4000), lit(base_scenario, 3000)]
    snapshot, rows = keep(tmp_path / "a", scenarios)
    assert near_duplicates(snapshot, rows) == []
    assert equal_scenes(rows) == {scenarios[0].id: 2}


def test_bases_near_each_other_are_paired(tmp_path, base_scenario):
    scenarios = [base_scenario, moved(base_scenario, 0.001), moved(base_scenario, 0.05)]
    snapshot, rows = keep(tmp_path / "a", scenarios)
    bases = [{**row, "base_id": row["scenario_id"], "axes": "[]", "axis": None} for row in rows]
    assert [set(pair) for pair in near_bases(snapshot, bases)] == [{scenarios[0].id, scenarios[1].id}]
    assert near_bases(snapshot, rows) == []


def test_a_facet_that_is_not_kept_is_named(tmp_path, base_scenario):
    snapshot, rows = keep(tmp_path / "a", [base_scenario])
    with pytest.raises(LibraryError) as error:
        near_duplicates(snapshot, [{**rows[0], "layout_id": "0" * 24}, {**rows[0], "scenario_id": "x"}])
    reason = f"scenario {base_scenario.id}: its facet {'0' * 24} is not kept"
    assert str(error.value) == f"{snapshot.name}: {reason} - run `scenegen library verify`"
