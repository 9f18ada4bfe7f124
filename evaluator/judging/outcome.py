"""How an episode came out, and what it counts for."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How an episode came out."""

    SUCCESS = "success"
    FAILURE = "failure"
    POLICY_ERROR = "policy_error"
    PHYSICS_INVALID = "physics_invalid"
    INFRA_ERROR = "infra_error"

    def counts(self, *, touched: bool) -> bool | None:
        """Tell what the episode counts for: success, failure, or nothing (None, it is missing).

        A policy that gives no usable answer has failed. Where physics broke after the robot had touched something, that
        counts as a failure, so that no policy gains by smashing the cell; before that it is missing, as is whatever
        failed for want of infrastructure.

        Args:
            touched: Whether the robot had touched an item or a fixture.
        """
        if self is Outcome.SUCCESS:
            return True
        if self is Outcome.INFRA_ERROR or (self is Outcome.PHYSICS_INVALID and not touched):
            return None
        return False
