"""What a failure comes from: perception, control, planning or decision, told by counterfactual twins and not guessed.

A twin is the same scene on the same seed with one thing changed: what the policy perceives is replaced by the truth;
the light is the nominal one and every pose the same; or the whole scene is the unperturbed base. The first rule that
applies decides:

| rule | twins | cause |
|---|---|---|
| image | with nominal light it succeeds: only pictures differ | perception |
| truth | with the truth it succeeds | perception |
| same_failure | with the truth it fails in the same way | what fails in that way (`CAUSE_OF`) |
| other_failure | with the truth it fails in another way, which may hide what made it fail | unknown |
| no_twin | the twin with the truth is missing | unknown |

Of a policy that is given the truth anyway, the episode is its own twin with the truth: perception is then no cause.
Whether the perturbation made it fail at all is told by the unperturbed twin: if that fails too, the policy is weak by
itself. One rollout may flip by chance (see `flip_rate`): causes are for counting over many episodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from evaluator.judging.category import FailureCategory
from evaluator.judging.episode import Episode
from evaluator.judging.outcome import Outcome
from scenegen.record import Record
from validators.intervals import Rate


class Cause(StrEnum):
    """What a failure comes from."""

    PERCEPTION = "perception"
    CONTROL = "control"
    """Grasping and holding: the right part, and it did not stay in the grip."""
    PLANNING = "planning"
    """Where to move, and how: collisions, jams, time."""
    DECISION = "decision"
    """What to do with which part."""
    UNKNOWN = "unknown"


class Rule(StrEnum):
    """Why a cause is given."""

    IMAGE = "image"
    TRUTH = "truth"
    SAME_FAILURE = "same_failure"
    OTHER_FAILURE = "other_failure"
    NO_TWIN = "no_twin"


CAUSE_OF = {
    FailureCategory.GRASP_MISS: Cause.CONTROL,
    FailureCategory.GRASP_SLIP: Cause.CONTROL,
    FailureCategory.DOUBLE_PICK: Cause.CONTROL,
    FailureCategory.BOUNCE_OUT: Cause.CONTROL,
    FailureCategory.DROP: Cause.PLANNING,
    FailureCategory.DISPLACED: Cause.PLANNING,
    FailureCategory.COLLISION: Cause.PLANNING,
    FailureCategory.JAM: Cause.PLANNING,
    FailureCategory.APPROACH_FAILURE: Cause.PLANNING,
    FailureCategory.TIMEOUT: Cause.PLANNING,
    FailureCategory.WRONG_OBJECT: Cause.DECISION,
    FailureCategory.WRONG_DESTINATION: Cause.DECISION,
    FailureCategory.STAGNATION: Cause.DECISION,
    FailureCategory.OVERLOOKED: Cause.DECISION,
    FailureCategory.RECOVERY_FAILED: Cause.UNKNOWN,
    FailureCategory.UNKNOWN: Cause.UNKNOWN,
}
"""What fails in each way where perception is perfect."""


class Result(NamedTuple):
    """How one rollout came out: a success, or a failure of some category."""

    category: FailureCategory | None
    """None of a success."""

    @property
    def success(self) -> bool:
        """It succeeded."""
        return self.category is None

    @classmethod
    def of(cls, episode: Episode | None) -> Result | None:
        """Read a result; None where there is neither success nor failure to compare."""
        if episode is None or episode.outcome not in (Outcome.SUCCESS, Outcome.FAILURE):
            return None
        return cls(episode.category)


class Attribution(Record):
    """What a failure comes from, and why it is said."""

    cause: Cause
    rule: Rule
    perturbed: bool | None
    """Whether the perturbation made it fail: the unperturbed twin succeeded. None where that twin is missing."""


def attribute(
    own: Result, *, truth: Result | None = None, nominal_light: Result | None = None, unperturbed: Result | None = None
) -> Attribution | None:
    """Say what a failure comes from; None of a success.

    Args:
        own: The episode.
        truth: Its twin with perception replaced by the truth; the episode itself, of a policy that knows it anyway.
        nominal_light: Its twin in nominal light, with the same poses.
        unperturbed: Its base.
    """
    if own.category is None:
        return None
    cause, rule = _cause(own.category, truth, nominal_light)
    return Attribution(cause=cause, rule=rule, perturbed=None if unperturbed is None else unperturbed.success)


def count_causes(attributions: Iterable[Attribution]) -> dict[Cause, Rate]:
    """Return the share of failures that comes from each cause, with intervals."""
    causes = [attribution.cause for attribution in attributions]
    return {cause: Rate.of(causes.count(cause), len(causes)) for cause in Cause}


def _cause(own: FailureCategory, truth: Result | None, nominal_light: Result | None) -> tuple[Cause, Rule]:
    if nominal_light is not None and nominal_light.success:
        return Cause.PERCEPTION, Rule.IMAGE
    if truth is None:
        return Cause.UNKNOWN, Rule.NO_TWIN
    if truth.category is None:
        return Cause.PERCEPTION, Rule.TRUTH
    if CAUSE_OF[truth.category] is CAUSE_OF[own]:
        return CAUSE_OF[own], Rule.SAME_FAILURE
    return Cause.UNKNOWN, Rule.OTHER_FAILURE
