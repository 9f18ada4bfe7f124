"""An arm that never moves has a reason that can be told: its eye finds nothing, although it looks again and again."""

import numpy as np
import pytest

from evaluator.judging.category import FailureCategory
from evaluator.judging.outcome import Outcome
from evaluator.judging.trace import EndReason
from scenegen.base import sample_base
from scenegen.streams import stream

COLD_K = 7160.0
"""A key light so cold belongs to the highest level of the axis lighting."""
ASKED_EVERY_S = 0.3
"""Ten set points at 50 Hz, and a latency of 50 ms."""

pytest.importorskip("torch", reason="needs the extra vision")


@pytest.fixture
def scene(small, catalogue):
    return sample_base(small, catalogue, rng=stream("tests", "still arm", 0))


@pytest.fixture
def cold(scene):
    """The same scene under a bluish key light."""
    key, *others = scene.lights.lights
    return scene.varied(lights=scene.lights.replaced(lights=(key.replaced(temperature_k=COLD_K), *others)))


def test_an_eye_that_finds_nothing_lets_the_arm_stand_and_is_asked_all_the_same(play, judged, cold):
    (blind,) = play("vision", [cold], worlds=1, latency="0.05").values()
    episode = judged(blind)
    assert (blind.end, blind.reason, episode.category) == (EndReason.TIMEOUT, None, FailureCategory.STAGNATION)
    assert (episode.began_s, episode.events[-1].value) == (0.0, episode.duration_s)
    assert np.ptp(blind.recorded.arrays["joint_pos"], axis=0).max() < 0.02
    assert len(blind.recorded.latency_s) >= episode.duration_s / ASKED_EVERY_S


def test_with_the_truth_or_in_the_light_that_it_knows_it_sorts(play, judged, scene, cold):
    (knowing,) = play("vision?perception=truth", [cold], worlds=1, latency="0.05").values()
    (seeing,) = play("vision", [scene], worlds=1, latency="0.05").values()
    assert [judged(one).outcome for one in (knowing, seeing)] == [Outcome.SUCCESS, Outcome.SUCCESS]
