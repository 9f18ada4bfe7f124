"""Rest poses side by side: nothing is averaged, what is missing is an error."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evaluator.isaac.agreement import Agreement, PartAgreement, compare
from scenegen.geometry import Pose, quat_multiply, quat_yaw

ROOT = Path(__file__).parents[2]


def test_each_part_is_compared_with_its_own_rest_pose(base_scenario):
    layout = base_scenario.layout
    found = {item.name: item.pose_to_world for item in layout.items}
    name = layout.items[2].name
    pose = found[name]
    found[name] = Pose.of(pose.position + np.array([0.003, 0, 0.004]), quat_multiply(quat_yaw(0.1), pose.quat))
    compared = compare(7, layout, layout, found)
    assert [part.item for part in compared] == [item.name for item in layout.items]
    assert {part.world for part in compared} == {7}
    assert compared[2].distance_m == pytest.approx(0.005, abs=1e-7)
    assert compared[2].moved_m == compared[2].distance_m
    assert compared[2].rotation_rad == pytest.approx(0.1, abs=1e-5)
    assert all(part.distance_m < 1e-7 for part in compared if part.item != name)


def test_a_missing_part_is_an_error(base_scenario):
    layout = base_scenario.layout
    found = {item.name: item.pose_to_world for item in layout.items[1:]}
    with pytest.raises(KeyError, match=layout.items[0].name):
        compare(0, layout, layout, found)


def test_disagreements_are_listed_worst_first():
    rows = [("a", 0.001, 0.01), ("b", 0.002, 0.01), ("c", 0.001, 0.2), ("d", 0.0, 0.0)]
    parts = tuple(
        PartAgreement(world=0, item=item, distance_m=distance, rotation_rad=turn, moved_m=0)
        for item, distance, turn in rows
    )
    agreement = Agreement(scenarios=("x",), seconds=1, simulator="s", matter_error=0, parts=parts)
    assert [p.item for p in agreement.disagreements(distance_m=0.0015, rotation_rad=0.05)] == ["c", "b"]


def test_without_isaac_lab_the_command_says_what_to_install():
    """In an environment that lacks it, the first thing said is how to get it."""
    blocker = "import sys; sys.modules['isaaclab'] = None; import evaluator.isaac.settle_agreement"
    run = subprocess.run([sys.executable, "-c", blocker], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.strip().endswith(
        "MissingExtra: Isaac Lab needs the extra 'isaac' - run: pip install 'scenegen[isaac]'"
    )
