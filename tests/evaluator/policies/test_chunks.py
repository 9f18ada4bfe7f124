"""Laws of chunk buffers: batched is one by one, and each world is as a plain account of its timeline says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.policies.chunks import ChunkBuffer
from evaluator.policy import ActionKind, PolicySpec

NUMBERS = 3


class Timeline:
    """One world told plainly: which chunk took over at which tick."""

    def __init__(self, spec: PolicySpec, rest):
        self.spec, self.chunk, self.since = spec, [rest], -1000
        self.coming = None

    def due(self, tick):
        return self.coming is None and tick - self.since >= self.spec.execute

    def step(self, tick):
        if self.coming and self.coming[0] == tick:
            self.since, self.chunk = self.coming
            self.coming = None
        if tick - self.since < len(self.chunk):
            return self.chunk[tick - self.since]
        last = self.chunk[-1]
        if self.spec.action in (ActionKind.JOINT_VELOCITY, ActionKind.TCP_DELTA):
            return [0.0] * (NUMBERS - 1) + [last[-1]]
        return last


@st.composite
def runs(draw):
    horizon = draw(st.integers(1, 5))
    spec = PolicySpec(
        "drawn",
        draw(st.sampled_from(ActionKind)),
        rate_hz=draw(st.sampled_from([1.0, 15.0, 20.0, 50.0])),
        horizon=horizon,
        execute=draw(st.integers(1, horizon)),
    )
    worlds = draw(st.integers(1, 4))
    ticks = draw(st.integers(1, 25))
    waits = draw(
        st.lists(st.lists(st.integers(0, 7), min_size=worlds, max_size=worlds), min_size=ticks, max_size=ticks)
    )
    resets = draw(st.lists(st.sets(st.integers(0, worlds - 1)), min_size=ticks, max_size=ticks))
    return spec, worlds, waits, resets


@given(runs())
def test_every_world_follows_its_own_timeline(run):
    spec, worlds, waits, resets = run
    buffer = ChunkBuffer(worlds, spec, numbers=NUMBERS)
    lines = [Timeline(spec, [0.0] * NUMBERS) for _ in range(worlds)]
    count = 0
    for tick, (wait, reset) in enumerate(zip(waits, resets, strict=True)):
        for world in sorted(reset):
            rest = [float(tick), 0.0, 0.5]
            buffer.reset([world], [rest])
            lines[world] = Timeline(spec, rest)
            lines[world].since = tick - spec.horizon - 1000
        due = np.flatnonzero(buffer.due())
        assert due.tolist() == [world for world in range(worlds) if lines[world].due(tick)]
        chunks = count + np.arange(len(due) * spec.horizon * NUMBERS, dtype=np.float32)
        chunks = chunks.reshape(len(due), spec.horizon, NUMBERS)
        count += chunks.size
        buffer.put(due, chunks, latency_s=np.array(wait)[due] / spec.rate_hz)
        for world, chunk in zip(due, chunks, strict=True):
            lines[world].coming = (tick + wait[world], chunk.tolist())
        np.testing.assert_array_equal(buffer.step(), [line.step(tick) for line in lines])


@given(st.floats(0, 3), st.sampled_from([7.0, 15.0, 20.0, 50.0]))
def test_a_chunk_takes_over_at_the_first_tick_that_is_not_before_its_latency(latency_s, rate_hz):
    spec = PolicySpec("law", ActionKind.JOINT_POSITION, rate_hz=rate_hz)
    buffer = ChunkBuffer(1, spec, numbers=1)
    buffer.put([0], [[[1.0]]], latency_s=latency_s)
    waited = 0
    while buffer.step()[0, 0] == 0:
        waited += 1
    assert waited / rate_hz >= latency_s - 1e-6 / rate_hz
    assert waited == 0 or (waited - 1) / rate_hz < latency_s


def test_whole_ticks_cost_no_further_one():
    for ticks in range(200):
        buffer = ChunkBuffer(1, PolicySpec("whole", ActionKind.TCP_POSE, rate_hz=20), numbers=1)
        buffer.put([0], [[[1.0]]], latency_s=ticks * 0.05)
        assert [buffer.step()[0, 0] for _ in range(ticks + 1)] == [0.0] * ticks + [1.0]


@pytest.mark.parametrize(
    ("action", "after"),
    [
        (ActionKind.JOINT_POSITION, [3.0, 4.0, 0.5]),
        (ActionKind.TCP_POSE, [3.0, 4.0, 0.5]),
        (ActionKind.JOINT_VELOCITY, [0.0, 0.0, 0.5]),
        (ActionKind.TCP_DELTA, [0.0, 0.0, 0.5]),
    ],
)
def test_a_target_is_held_and_a_motion_stops_when_a_chunk_is_over(action, after):
    buffer = ChunkBuffer(1, PolicySpec("held", action, horizon=2, execute=2), numbers=3)
    buffer.put([0], [[[1, 2, 0.9], [3, 4, 0.5]]], latency_s=0)
    steps = [buffer.step()[0].tolist() for _ in range(4)]
    assert steps == [pytest.approx(step) for step in ([1, 2, 0.9], [3, 4, 0.5], after, after)]


def test_the_rest_of_the_old_chunk_goes_on_while_the_policy_thinks():
    buffer = ChunkBuffer(1, PolicySpec("late", ActionKind.TCP_POSE, rate_hz=10, horizon=4, execute=2), numbers=1)
    buffer.put([0], [[[1], [2], [3], [4]]], latency_s=0)
    assert [buffer.step().item() for _ in range(2)] == [1, 2]
    assert buffer.due().tolist() == [True]
    buffer.put([0], [[[10], [11], [12], [13]]], latency_s=0.3)
    assert buffer.due().tolist() == [False]
    assert [buffer.step().item() for _ in range(5)] == [3, 4, 4, 10, 11]
