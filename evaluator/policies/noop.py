"""The policy that does nothing: it holds each robot where its episode found it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.actions import rest_actions
from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.rows import with_room
from evaluator.policy import ActionKind, Observation, PolicySpec


class Noop:
    """Holds what the first observation of an episode showed.

    Args:
        name: As it was asked for.
        action: In which kind of action it says so.
    """

    def __init__(self, name: str = "noop", action: ActionKind = ActionKind.JOINT_POSITION) -> None:
        self.spec = PolicySpec(name, action)
        self._held: NDArray[np.float32] | None = None
        self._known = np.zeros(0, bool)

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Forget where the robots of some worlds were."""
        self._known = with_room(self._known, worlds)
        self._known[list(worlds)] = False

    def act(self, observation: Observation) -> NDArray[np.float32]:
        """Return the action that holds each robot, shape [n, 1, numbers]."""
        rest = rest_actions(self.spec.action, observation.policy)
        held = self._held if self._held is not None else np.zeros((0, rest.shape[1]), np.float32)
        self._held = with_room(held, observation.worlds)
        self._known = with_room(self._known, observation.worlds)
        rows = np.asarray(observation.worlds, int)
        new = ~self._known[rows]
        self._held[rows[new]] = rest[new]
        self._known[rows] = True
        return self._held[rows][:, None]

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


def build(form: PolicyForm, context: PolicyContext) -> Noop:
    """Build it from `noop` or `noop?action=KIND`."""
    form.no_target()
    action = form.options.choice("action", ActionKind.JOINT_POSITION, list(ActionKind))
    form.options.end()
    return Noop(form.text, ActionKind(action))
