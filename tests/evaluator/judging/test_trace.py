"""What a simulator hands over: shapes are held, nothing is guessed."""

import numpy as np
import pytest

from evaluator.judging.trace import EndReason, Trace
from scenegen.errors import InvalidRecord

GIVEN = {
    "items": ("a", "b"),
    "end": EndReason.DONE,
    "time_s": np.arange(3) * 0.02,
    "joint_pos": np.zeros((3, 7)),
    "joint_vel": np.zeros((3, 7)),
    "gripper_opening": np.ones(3),
    "tcp_pose": np.zeros((3, 7)),
    "item_pose": np.arange(42.0).reshape(3, 2, 7),
    "item_vel": np.zeros((3, 2, 6)),
    "finger_touch": np.zeros((3, 2), bool),
}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"tcp_pose": np.zeros((2, 7))}, "tcp_pose has shape (2, 7) - accepted: [t, 7], here (3, 7)"),
        ({"joint_vel": np.zeros((3, 6))}, "joint_vel has shape (3, 6) - accepted: [t, j], here (3, 7)"),
        ({"item_vel": np.zeros((3, 1, 6))}, "item_vel has shape (3, 1, 6) - accepted: [t, n, 6], here (3, 2, 6)"),
        ({"fixture_force": np.zeros((3, 1))}, "fixture_force has shape (3, 1) - accepted: [t], here (3,)"),
        ({"time_s": np.array([0, 0.02, 0.02])}, "time_s does not increase - accepted: times that increase from sample"),
        ({"items": ("a", "a")}, "an item comes twice - accepted: each item once"),
        (
            {name: array[:0] for name, array in GIVEN.items() if isinstance(array, np.ndarray)},
            "time_s is empty - accepted: one sample at least, the scene as it was loaded",
        ),
    ],
)
def test_what_does_not_fit_is_said(changes, sentence):
    with pytest.raises(InvalidRecord) as caught:
        Trace(**{**GIVEN, **changes})
    assert str(caught.value).startswith("Trace: ")
    assert sentence in str(caught.value)


def test_samples_are_cut_and_items_ordered():
    trace = Trace(**GIVEN, latency_s=np.array([0.1]))
    assert (trace.samples, trace.duration_s, trace.rate_hz) == (3, 0.04, 50)
    first = trace.until(1)
    assert (first.samples, first.duration_s, first.rate_hz) == (1, 0.0, 0.0)
    assert first.latency_s is trace.latency_s
    assert trace.until(0).samples == 1
    swapped = trace.ordered(("b", "a"))
    assert swapped.items == ("b", "a")
    assert np.array_equal(swapped.item_pose, trace.item_pose[:, ::-1])
    assert swapped.body_touch is None


def test_items_must_be_those_of_the_scenario():
    with pytest.raises(
        InvalidRecord, match=r"^Trace: items are a, b - accepted: those of the scenario, each once \(a, c\)$"
    ):
        Trace(**GIVEN).ordered(("a", "c"))
