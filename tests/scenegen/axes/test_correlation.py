"""Severity and meter go together: the more an axis says it has done, the more the picture shows.

Few scenes here, 200 a quantity with `-m slow`; `benchmarks/imaging/correlation.py` has those of all axes.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).parents[3] / "benchmarks" / "imaging" / "correlation.py"
NAMES = (
    "glare saturated share",
    "color shift color difference",
    "lighting illuminance factor up",
    "lighting illuminance factor down",
    "lighting temperature shift up",
    "lighting temperature shift down",
    "lighting direction",
    "lighting shadow",
    "occlusion hidden share",
)
RANK = 0.9
"""Least rank correlation."""
HITS = 0.8
"""Least share of scenes whose meter is within 20 % or two pixels of what was asked, where one can be held to it.

Stronger light does not show on parts that clip already; all others come to 0.93 and more.
"""
FEW, MANY = 8, 40


def load():
    specification = importlib.util.spec_from_file_location("correlation_harness", HARNESS)
    module = sys.modules["correlation_harness"] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


harness = load()


@pytest.fixture(scope="session")
def bench(ctx):
    """Makes scenes and reads what they show."""
    return harness.Bench(ctx)


@pytest.fixture(scope="session")
def few(bench):
    """Some bases."""
    return [(index, bench.base(index)) for index in range(FEW)]


def case_named(name):
    (case,) = (case for case in harness.CASES if case.name == name)
    return case


def judge(case, points):
    assert harness.correlation(points) >= RANK
    if case.alike:
        share = case.severity.unit == "share"
        assert harness.hit_share(points, share=share) >= HITS


@pytest.mark.parametrize("name", NAMES)
def test_severity_and_meter_go_together(name, bench, few):
    case = case_named(name)
    points = list(bench.points(case, few))
    assert len(points) == 5 * FEW
    judge(case, points)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_severity_and_meter_go_together_over_200_scenes(name, bench):
    case = case_named(name)
    points = list(bench.points(case, ((index, bench.base(index)) for index in range(MANY))))
    assert len(points) == 5 * MANY
    judge(case, points)


def test_every_quantity_of_the_axes_of_light_has_a_meter():
    covered = {(case.axis, case.quantity) for case in harness.CASES}
    for axis in ("glare", "occlusion", "color_shift", "lighting", "sensor", "background"):
        graded = [severity for severity in harness.AXES[axis].severities if severity.graded]
        assert {(axis, severity.name) for severity in graded} <= covered
        for severity in graded:
            sides = {case.upward for case in harness.CASES if (case.axis, case.quantity) == (axis, severity.name)}
            assert sides == {up for up in (True, False) if (severity.high if up else severity.low) != severity.nominal}
