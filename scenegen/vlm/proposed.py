"""A proposal as it was accepted, with the call behind it."""

from __future__ import annotations

from scenegen.record import Record
from scenegen.vlm.proposal import Proposal


class Proposed(Record):
    """What a scene's `vlm_call_id` names."""

    base_id: str
    """The scene that the model saw."""
    call_id: str
    """Content id of the `Call` whose reply it was."""
    proposal: Proposal
