"""Isaac Lab agrees with the settle check: twenty scenes of mixed axes, and two in which parts fall."""

import importlib.util
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evaluator.isaac.agreement import Agreement
from scenegen.axes.axis import AxisContext
from scenegen.axes.registry import AXES
from scenegen.base import sample_base
from scenegen.errors import VariationFailed
from scenegen.geometry import Pose
from scenegen.nominal import nominal_matter
from scenegen.streams import stream

pytestmark = [
    pytest.mark.isaac,
    pytest.mark.skipif(
        importlib.util.find_spec("isaaclab") is None,
        reason="Isaac Lab is not installed - run: pip install 'scenegen[isaac]'",
    ),
]

DISTANCE_M = 0.0015
"""Largest accepted distance between the two rest poses [m].

Measured: at most 0.8 mm over the 231 parts of one run and 0.3 mm over the 254 of another, medians at most 0.01 mm. What
leans or is piled creeps farther than in MuJoCo itself; why is not known.
"""
ROTATION_RAD = math.radians(5)
"""Largest accepted rotation between the two rest poses; measured: 2.6 degrees."""
MIXES = (
    ("pose",),
    ("tilt",),
    ("stacking",),
    ("misplacement",),
    ("occlusion",),
    ("datum",),
    ("contact",),
    ("stacking", "tilt"),
    ("datum", "pose", "contact"),
    ("lighting", "tilt", "contact"),
)
WORLDS = 20
DROP_M = 0.008


@pytest.fixture(scope="module")
def scenes(cell, catalogue, settler):
    """Two scenes of each mix, at levels 2 and 4, each on its own base."""
    context = AxisContext.of(cell, catalogue, settler=settler)
    return [_scene(context, MIXES[i % len(MIXES)], level=2 + 2 * (i // len(MIXES)), index=i) for i in range(WORLDS)]


def _scene(context, axes, *, level, index):
    for attempt in range(20):
        rng = stream("isaac", index, attempt)
        scene = sample_base(context.cell, context.parts, rng=rng)
        try:
            for axis in axes:
                scene = AXES[axis].vary(scene, level, ctx=context, rng=rng)
        except VariationFailed:
            continue
        return scene
    pytest.fail(f"no scene of axes {axes}")


@pytest.fixture(scope="module")
def falling(cell, catalogue):
    """Two base scenes in which every part hangs in the air above its rest pose: a simulator that stands still shows."""
    dropped = []
    for index in range(2):
        scene = sample_base(cell, catalogue, rng=stream("isaac", "falling", index))
        lift = np.array([0, 0, DROP_M])
        items = tuple(
            item.replaced(pose_to_world=Pose.of(item.pose_to_world.position + lift, item.pose_to_world.quat))
            for item in scene.layout.items
        )
        dropped.append(scene.varied(layout=scene.layout.replaced(items=items)))
    return dropped


@pytest.fixture(scope="module")
def agreement(scenes, falling, tmp_path_factory):
    """What a process of its own, whose warnings are its own, says of all worlds after one second."""
    folder = tmp_path_factory.mktemp("isaac")
    lines = "\n".join(scene.canonical_json() for scene in [*scenes, *falling])
    (folder / "scenes.jsonl").write_text(lines, encoding="utf-8")
    command = [sys.executable, "-m", "evaluator.isaac.settle_agreement", "scenes.jsonl", "result.json"]
    root = Path(__file__).parents[2]
    run = subprocess.run(
        command, cwd=folder, env=_environment(root), capture_output=True, text=True, timeout=1800, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return Agreement.from_json((folder / "result.json").read_text(encoding="utf-8"))


def _environment(root):
    return {**os.environ, "PYTHONPATH": str(root)}


def test_every_part_ends_where_the_settle_check_says(agreement, scenes, falling):
    assert agreement.scenarios == tuple(scene.id for scene in [*scenes, *falling])
    assert agreement.seconds == 1
    expected = [(world, item.name) for world, scene in enumerate([*scenes, *falling]) for item in scene.layout.items]
    assert [(part.world, part.item) for part in agreement.parts] == expected
    assert agreement.disagreements(distance_m=DISTANCE_M, rotation_rad=ROTATION_RAD) == ()


def test_most_parts_agree_far_better(agreement):
    distances = sorted(part.distance_m for part in agreement.parts)
    assert distances[len(distances) * 9 // 10] < 1e-4


def test_isaac_lab_really_simulates(agreement):
    moved = [part.moved_m for part in agreement.parts if part.world >= WORLDS]
    assert len(moved) >= 16
    assert min(moved) > 0.9 * DROP_M


def test_masses_and_friction_arrive_in_every_world(agreement, scenes, catalogue):
    assert _properties_that_vary(scenes, catalogue)
    assert agreement.matter_error < 1e-4


def _properties_that_vary(scenes, catalogue):
    """Name what is not as the parts have it, in any scene."""
    pairs = [
        (mine, its)
        for scene in scenes
        for mine, its in zip(scene.matter.items, nominal_matter(scene.layout, catalogue).items, strict=True)
    ]
    fields = ("mass_kg", "center_of_mass_m", "friction")
    return {field for field in fields if any(getattr(mine, field) != getattr(its, field) for mine, its in pairs)}


def test_the_scenes_are_mixed(scenes, catalogue):
    """Leaning and stacked parts, moved fixtures, changed masses and foreign things are all among them."""
    causes = {item.cause.value for scene in scenes for item in scene.layout.items}
    assert {"leaning", "piled", "jostled"} <= causes
    assert len({scene.layout.fixtures for scene in scenes}) >= 4
    assert len(_properties_that_vary(scenes, catalogue)) >= 2
    zones = {item.zone for scene in scenes for item in scene.layout.items}
    assert len(zones) > 1
