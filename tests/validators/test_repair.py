"""Mending: what can be mended passes afterwards, what cannot is left alone."""

import numpy as np
import pytest

from scenegen.base import sample_base
from scenegen.scenario import Facet
from scenegen.streams import stream
from validators.repair import repair
from validators.selftest import plant


def _rejected(name, scenario, check_context, checker, *key):
    defective = plant(name, scenario, check_context, rng=stream("repair", name, *key))
    assert defective is not None
    verdict = checker.check(defective)
    assert not verdict.ok
    return defective, verdict


@pytest.mark.parametrize("name", ["floating", "sunk", "grazing"])
def test_layouts_are_settled(name, cell, catalogue, check_context, checker):
    mended = 0
    for index in range(6):
        base = sample_base(cell, catalogue, rng=stream("repair base", index))
        defective, verdict = _rejected(name, base, check_context, checker, index)
        scenario = repair(defective, verdict, check_context)
        if scenario is None:
            continue
        mended += checker.check(scenario).ok
        assert scenario.changed(defective) == {Facet.LAYOUT}
        moved = [
            np.linalg.norm(new.pose_to_world.position - old.pose_to_world.position)
            for new, old in zip(scenario.layout.items, defective.layout.items, strict=True)
        ]
        assert max(moved) < 0.06
    assert mended >= 5


def test_lights_are_brought_back(base_scenario, check_context, checker):
    for index in range(5):
        defective, verdict = _rejected("light_out_of_envelope", base_scenario, check_context, checker, index)
        scenario = repair(defective, verdict, check_context)
        assert scenario is not None
        assert checker.check(scenario).ok
        assert scenario.changed(defective) == {Facet.LIGHTS}


def test_a_light_that_shines_past_the_feed_is_aimed(base_scenario, check_context, checker):
    key = base_scenario.lights.lights[0]
    pose = key.pose_to_world
    upward = key.model_copy(
        update={
            "pose_to_world": pose.model_copy(update={"quat_xyzw": (0.0, 1.0, 0.0, 0.0)}),
            "luminance_nit": 0.8 * key.luminance_nit,  # aimed again, it is still no nominal light
        }
    )
    lights = base_scenario.lights.model_copy(update={"lights": (upward, *base_scenario.lights.lights[1:])})
    defective = base_scenario.varied(lights=lights)
    verdict = checker.check(defective)
    assert [found.code for found in verdict.findings] == ["aimed_away"]
    scenario = repair(defective, verdict, check_context)
    assert scenario is not None
    assert checker.check(scenario).ok


def test_what_cannot_be_mended_is_left(base_scenario, check_context, checker):
    for name in ("swapped_part", "two_rules", "leak", "hidden_target", "missing_matter", "wrong_count"):
        defective, verdict = _rejected(name, base_scenario, check_context, checker)
        assert repair(defective, verdict, check_context) is None


def test_a_good_scene_needs_no_mending(base_scenario, check_context, checker):
    assert repair(base_scenario, checker.check(base_scenario), check_context) is None


def test_mending_is_deterministic(base_scenario, check_context, checker):
    defective, verdict = _rejected("grazing", base_scenario, check_context, checker)
    first, second = (repair(defective, verdict, check_context) for _ in range(2))
    assert first == second
