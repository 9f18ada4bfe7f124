"""MuJoCo-Warp accepts and rejects what MuJoCo does: stacked fasteners, a third of them moved aside."""

import importlib.util

import numpy as np
import pytest

from scenegen.axes.axis import AxisContext
from scenegen.axes.registry import AXES
from scenegen.base import sample_base
from scenegen.cell import InventoryItem
from scenegen.errors import VariationFailed
from scenegen.geometry import Pose
from scenegen.physics.settling import SettleRequest
from scenegen.scenario import Cause
from scenegen.streams import stream

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("mujoco_warp") is None,
        reason="MuJoCo-Warp is not installed - run: pip install 'scenegen[isaac]'",
    ),
]

SCENES = 15
RESTING_M = 0.002
PARTS = ("hex_bolt_m6x20", "hex_bolt_m8x20", "hex_nut_m6", "hex_nut_m8")


@pytest.fixture(scope="module")
def context(cell, catalogue):
    inventory = tuple(InventoryItem(part=part, count=2) for part in PARTS)
    return AxisContext.of(cell.replaced(inventory=inventory, fill=(6, 8)), catalogue)


def stacked(context, index):
    """A scene with a stack; of every third one, a stacked part is moved aside by 5 mm."""
    for attempt in range(50):
        rng = stream("warp", index, attempt)
        scene = sample_base(context.cell, context.parts, rng=rng)
        try:
            scene = AXES["stacking"].vary(scene, 2, ctx=context, rng=rng)
        except VariationFailed:
            continue
        return aside(scene, rng) if index % 3 == 2 else scene
    pytest.fail("no stack in 50 attempts")


def aside(scene, rng):
    items = list(scene.layout.items)
    index = next(i for i, item in enumerate(items) if item.cause is Cause.PILED)
    pose, heading = items[index].pose_to_world, rng.uniform(0, 2 * np.pi)
    place = pose.position + np.array([0.005 * np.cos(heading), 0.005 * np.sin(heading), 3e-4])
    items[index] = items[index].replaced(pose_to_world=Pose.of(place, pose.quat))
    return scene.varied(layout=scene.layout.replaced(items=tuple(items)))


def test_both_accept_and_reject_the_same(context):
    from evaluator.isaac.warp_settler import WarpSettler

    scenes = [stacked(context, index) for index in range(SCENES)]
    warp = WarpSettler(context.cell, context.parts, device="cpu", worlds=8, settler=context.settler)
    for ticket, scene in enumerate(scenes):
        warp.submit(ticket, SettleRequest(scene.layout, scene.matter))
    found = {}
    while len(found) < SCENES:
        found |= dict(warp.advance())
    mujoco = [max(context.settler.settle(scene.layout, scene.matter).drift_m.values()) for scene in scenes]
    drifts = [max(found[ticket].drift_m.values()) for ticket in range(SCENES)]
    rests = [(drift < RESTING_M, other < RESTING_M) for drift, other in zip(drifts, mujoco, strict=True)]
    assert {(True, True), (False, False)} <= set(rests)
    assert sum(mine != other for mine, other in rests) <= 1
    both = [abs(drift - other) for drift, other, pair in zip(drifts, mujoco, rests, strict=True) if all(pair)]
    assert np.median(both) < 2e-5
    assert warp.overflowed == 0
