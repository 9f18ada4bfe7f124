"""The policy that plays back recorded chunks, whatever it sees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.actions import held
from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.recording import Recording
from evaluator.policies.rows import with_room
from evaluator.policy import Observation, PolicySpec


class Replay:
    """Plays a recording from its beginning in each episode; after its end the last action is held (see `held`).

    Args:
        name: As it was asked for.
        recording: What to play.
    """

    def __init__(self, name: str, recording: Recording) -> None:
        chunks = recording.array()
        self.spec = PolicySpec(
            name,
            recording.action,
            rate_hz=recording.rate_hz,
            horizon=chunks.shape[1],
            execute=recording.execute,
        )
        last = np.broadcast_to(held(recording.action, chunks[-1:, -1:]), chunks[:1].shape)
        self._chunks = np.concatenate([chunks, last])
        self._calls = np.zeros(0, int)

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Begin anew in some worlds."""
        self._calls = with_room(self._calls, worlds)
        self._calls[list(worlds)] = 0

    def act(self, observation: Observation) -> NDArray[np.float32]:
        """Return each world's next chunk, shape [n, horizon, numbers]."""
        self._calls = with_room(self._calls, observation.worlds)
        rows = np.asarray(observation.worlds, int)
        chunks = self._chunks[np.minimum(self._calls[rows], len(self._chunks) - 1)]
        self._calls[rows] += 1
        return chunks

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


def build(form: PolicyForm, context: PolicyContext) -> Replay:
    """Build it from `replay:FILE`."""
    form.options.end()
    return Replay(form.text, Recording.read(Path(form.target)))
