"""A rest that is a slow slide: two stacked nuts that creep toward an edge and fall half a second later."""

import json
from pathlib import Path

import numpy as np
import pytest

from scenegen.physics.creep import Creep
from scenegen.physics.model import SceneModel
from scenegen.scenario import Layout, Matter

SLIDING = json.loads((Path(__file__).parent / "data" / "sliding_stack.json").read_text())


@pytest.fixture
def layout() -> Layout:
    return Layout.from_data(SLIDING["layout"])


@pytest.fixture
def matter() -> Matter:
    return Matter.from_data(SLIDING["matter"])


def test_a_stack_that_slides_slowly_does_not_pass_for_one_at_rest(settler, layout, matter):
    settled = settler.settle(layout, matter)
    assert max(settled.drift_m.values()) > 0.01
    assert settler.settle(layout, matter) == settled


def test_sleep_alone_would_have_stopped_it(settler, layout, matter, monkeypatch):
    monkeypatch.setattr(Creep, "holds", lambda *_: True)
    assert max(settler.settle(layout, matter).drift_m.values()) < 0.0005


def test_looking_changes_nothing_that_rests(cell, catalogue, settler, base_scenario):
    scene = SceneModel(cell, catalogue, sleep=True)
    scene.load(base_scenario.layout, base_scenario.matter)
    rest, rows = scene.data.qpos.copy(), scene.rows(base_scenario.layout)

    def movement(qpos) -> float:
        return float(np.abs((qpos - rest).reshape(-1, 7)[rows]).max())

    assert Creep(scene).holds(rest, movement)
    assert (scene.data.qpos == rest).all()
