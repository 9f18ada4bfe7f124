"""What every check keeps to, whatever it checks."""

import re

import numpy as np
import pytest

from scenegen.base import sample_base
from scenegen.errors import InvalidRecord
from scenegen.record import quantise
from scenegen.scenario import Facet, Lights, Matter, Motion, Sensor, Surface, Surfaces
from scenegen.streams import stream
from scenegen.verdict import Basis, Status, Tier
from validators.check import Proof
from validators.plan import all_checks, plan_of
from validators.run import Checker
from validators.selftest import DEFECTS, RECORD, plant

CHECKS = {check.name: check for check in all_checks()}
UNIT_SUFFIXES = ("_m", "_rad", "_deg", "_m_s", "_s", "_lux", "_k", "_share", "_ev", "_px", "_hz", "margin")
each_check = pytest.mark.parametrize("name", CHECKS)


def _found(check, scenario, ctx):
    said = check.run(scenario, ctx, check.limits)
    return said.findings if isinstance(said, Proof) else tuple(said)


def _defective(name, base_scenario, check_context):
    """Scenes with a defect that this check is meant for."""
    for defect in DEFECTS.values():
        if defect.check == name:
            scenario = plant(defect.name, base_scenario, check_context, rng=stream("contract", defect.name))
            if scenario is not None:
                yield defect.name, scenario


def test_names_are_unique_and_tiers_ascend():
    assert len(CHECKS) == len(all_checks())
    tiers = [check.tier for check in all_checks()]
    assert tiers == sorted(tiers)
    assert set(tiers) == {Tier.SPECIFICATION, Tier.GEOMETRY, Tier.PHYSICS, Tier.OPTICS, Tier.SEMANTICS}


@each_check
def test_is_documented_versioned_and_limited_in_units(name):
    check = CHECKS[name]
    assert check.version >= 1
    assert check.doc.endswith(".")
    assert len(check.doc.split()) >= 8
    for limit, value in check.limits.items():
        assert limit.endswith(UNIT_SUFFIXES)
        assert np.isfinite(value)
        assert f"`{limit}`" in check.doc


@each_check
def test_passes_a_clean_base(name, base_scenario, check_context):
    assert _found(CHECKS[name], base_scenario, check_context) == ()


@each_check
def test_finds_what_is_planted_and_says_so_in_full(name, base_scenario, check_context):
    seen = 0
    for _defect, scenario in _defective(name, base_scenario, check_context):
        for found in _found(CHECKS[name], scenario, check_context):
            seen += 1
            assert found.check == name
            assert re.fullmatch(r"[a-z_]+", found.code)
            assert " - accepted: " in found.sentence or found.code == "not_finite"
            assert found.value is None or np.isfinite(found.value)
            assert all(found.subjects)
    assert seen


@each_check
def test_is_pure(name, base_scenario, check_context):
    """The same scene gives the same findings, whatever was checked in between, and stays what it was."""
    check = CHECKS[name]
    for _defect, scenario in _defective(name, base_scenario, check_context):
        before, first = scenario.canonical_json(), _found(check, scenario, check_context)
        _found(check, base_scenario, check_context)
        assert _found(check, scenario, check_context) == first
        assert scenario.canonical_json() == before


def _elsewhere(scenario, facet):
    """Change a facet a little, inside what every check allows; the layout, on which others hang, is left."""
    match facet:
        case Facet.MATTER:
            items = tuple(e.model_copy(update={"friction": quantise(e.friction * 0.9)}) for e in scenario.matter.items)
            return scenario.varied(matter=Matter(items=items))
        case Facet.MOTION:
            start = (quantise(scenario.motion.robot_start_rad[0] + 0.001), *scenario.motion.robot_start_rad[1:])
            return scenario.varied(motion=Motion(robot_start_rad=start, belt_speed_m_s=scenario.motion.belt_speed_m_s))
        case Facet.SURFACES:
            looks = tuple(
                Surface(subject=s.subject, look=s.look.model_copy(update={"roughness": 0.61}))
                for s in scenario.surfaces.surfaces
            )
            return scenario.varied(surfaces=Surfaces(surfaces=looks))
        case Facet.LIGHTS:
            lights = tuple(light.model_copy(update={"temperature_k": 4321.0}) for light in scenario.lights.lights)
            return scenario.varied(lights=Lights(lights=lights))
        case Facet.SENSOR:
            sensors = tuple(s.model_copy(update={"blur_px": 0.5}) for s in scenario.sensor.sensors)
            return scenario.varied(sensor=Sensor(sensors=sensors))
        case Facet.CAMERAS:
            cameras = tuple(c.model_copy(update={"focal_px": (801.0, 801.0)}) for c in scenario.cameras.cameras)
            return scenario.varied(cameras=scenario.cameras.model_copy(update={"cameras": cameras}))
        case Facet.TASK:
            return scenario.varied(task=scenario.task.model_copy(update={"language": "de"}))
    return scenario


@each_check
def test_depends_on_nothing_but_what_it_says(name, base_scenario, check_context):
    check = CHECKS[name]
    for _defect, scenario in _defective(name, base_scenario, check_context):
        expected = _found(check, scenario, check_context)
        for facet in set(Facet) - check.depends - {Facet.LAYOUT}:
            other = _elsewhere(scenario, facet)
            assert facet in other.changed(scenario) or not scenario.layout.items
            assert _found(check, other, check_context) == expected, facet


def test_every_check_has_a_defect_to_find():
    meant = {defect.check for defect in DEFECTS.values()}
    assert meant == {*CHECKS, RECORD}
    assert len(DEFECTS) >= 15


@pytest.mark.parametrize("name", DEFECTS)
def test_every_defect_is_found_by_its_check(name, base_scenario, check_context, checker):
    defect = DEFECTS[name]
    if defect.check == RECORD:
        with pytest.raises(InvalidRecord, match=r"mass_kg: nan is not finite - accepted: a finite number"):
            plant(name, base_scenario, check_context, rng=stream("planted", name))
        return
    scenario = plant(name, base_scenario, check_context, rng=stream("planted", name))
    assert scenario is not None
    verdict = checker.check(scenario, all_tiers=True)
    assert not verdict.ok
    assert {r.check: r.status for r in verdict.results}[defect.check] is Status.FAILED


@pytest.mark.parametrize("name", [defect.name for defect in DEFECTS.values() if defect.check != RECORD])
def test_planting_is_deterministic(name, base_scenario, check_context):
    first, second = (plant(name, base_scenario, check_context, rng=stream("same", name)) for _ in range(2))
    assert first == second


def test_the_plan_names_versions_limits_and_engine():
    plan = plan_of(all_checks())
    assert [p.check for p in plan.checks] == [check.name for check in all_checks()]
    assert all(p.required for p in plan.checks)
    assert plan.checks[[p.check for p in plan.checks].index("overlap")].limits == {"depth_m": 0.0005}
    assert re.fullmatch(r"mujoco \d+\.\d+\.\d+", plan.engine)


def test_both_cells_have_clean_bases(rings_context, check_context, base_scenario):
    assert Checker(check_context, all_checks()).check(base_scenario).ok
    for index in range(5):
        rng = stream("rings", index)
        scenario = sample_base(rings_context.cell, rings_context.parts, rng=rng)
        verdict = Checker(rings_context, all_checks()).check(scenario, all_tiers=True)
        assert verdict.ok, verdict.findings
        assert {r.basis for r in verdict.results} <= {Basis.MEASURED, Basis.BY_CONSTRUCTION}
