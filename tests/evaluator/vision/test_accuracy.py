"""Accuracy: what is right counts as right, what is wrong as wrong, and the jaws decide what holds."""

import numpy as np
import pytest

from evaluator.vision.accuracy import Accuracy, outcome_of
from evaluator.vision.closing import Feed
from evaluator.vision.labels import LIMITS, PLAY_M
from evaluator.vision.sighting import Sighted
from scenegen.posed import Posed
from validators.grasp import free_grasps


@pytest.fixture(scope="module")
def truth(cell, catalogue, base_scenario, subject):
    """The first free grasp of each part, as an eye would see it that makes no error."""
    items = base_scenario.layout.items
    feed = base_scenario.layout.fixtures[0].pose_to_world
    tried, free = free_grasps(Posed.of(items, catalogue), LIMITS, cell.robot.gripper, cell.feed, feed)
    rows = np.flatnonzero(free.any(axis=1))
    which = free[rows].argmax(axis=1)
    axis = tried.axis[rows, which]
    return Sighted(
        peak=np.arange(len(rows)),
        part=np.array([subject.classes.index(items[row].part) + 1 for row in rows]),
        middle=tried.center[rows, which],
        yaw_rad=np.arctan2(axis[:, 1], axis[:, 0]),
        width_m=tried.width_m[rows, which],
        tip_m=tried.tip_m[rows, which],
        chance=np.ones(len(rows)),
    )


def changed(seen, **fields):
    known = {name: getattr(seen, name) for name in Sighted.__dataclass_fields__}
    return Sighted(**{**known, **fields})


@pytest.fixture
def judge(base_scenario, cell, catalogue, subject):
    return lambda seen: outcome_of(seen, base_scenario, cell=cell, parts=catalogue, subject=subject)


def test_the_truth_is_right(truth, judge):
    outcome = judge(truth)
    assert outcome.named.all()
    assert outcome.graspable.all()
    assert (outcome.seen, outcome.wrong, outcome.sure) == (len(truth.peak), 0, True)


def test_faults_are_seen(truth, judge, subject):
    other = judge(changed(truth, part=truth.part % len(subject.classes) + 1))
    assert not other.named.any()
    assert other.wrong == len(truth.peak)
    assert not other.sure
    along = np.stack([np.cos(truth.yaw_rad), np.sin(truth.yaw_rad), 0 * truth.yaw_rad], axis=1)
    aside = judge(changed(truth, middle=truth.middle + 0.004 * along))
    assert not aside.graspable.any()
    assert judge(changed(truth, middle=truth.middle + 0.0008 * along)).graspable.mean() > 0.8
    narrow = judge(changed(truth, width_m=truth.width_m - 0.006))
    assert not narrow.graspable.any()
    far = judge(changed(truth, middle=truth.middle + np.array([0.5, 0, 0])))
    assert far.wrong == far.seen


def test_fingers_may_not_come_down_on_a_neighbour(cell, catalogue, base_scenario, truth):
    feed = base_scenario.layout.fixtures[0].pose_to_world
    items = base_scenario.layout.items
    posed = Posed.of(items, catalogue)
    jaws = Feed(cell.robot.gripper, cell.feed, feed)
    item = int(np.linalg.norm(posed.mass_centers - truth.middle[0], axis=1).argmin())
    touch, yaw = truth.middle[:1], truth.yaw_rad[:1]
    opened = truth.width_m[:1] + 2 * PLAY_M
    assert jaws.close_at(posed, item, touch, yaw, open_m=opened).holds.all()
    finger = touch[0] + (opened[0] / 2 + 0.004) * np.array([np.cos(yaw[0]), np.sin(yaw[0]), 0])
    other = (item + 1) % len(items)
    where = items[other].pose_to_world
    beside = where.model_copy(update={"position_m": (float(finger[0]), float(finger[1]), where.position_m[2])})
    moved = [one.replaced(pose_to_world=beside) if index == other else one for index, one in enumerate(items)]
    assert not jaws.close_at(Posed.of(moved, catalogue), item, touch, yaw, open_m=opened).holds.any()


def test_counts_add_up_and_nothing_is_divided_by_nothing(truth, judge, subject):
    accuracy = Accuracy(subject.classes)
    assert set(accuracy.rates().values()) == {None}
    region = np.array([[0, 1], [2, 2]])
    accuracy.add(judge(truth), np.array([[0, 1], [2, 1]]), region)
    rates = accuracy.rates()
    assert rates["named"] == rates["graspable"] == rates["first_pick"] == 1.0
    assert rates["wrong"] == 0.0
    assert rates["iou background"] == 1.0
    assert [rates[f"iou {name}"] for name in subject.classes] == [0.5, 0.5, None, None]
