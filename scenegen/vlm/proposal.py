"""A proposal: edits of one scene, why they would happen in a plant, and the failure that they should provoke."""

from __future__ import annotations

from enum import StrEnum
from itertools import combinations
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from scenegen.record import Record
from scenegen.vlm.choices import Choices, Offer
from scenegen.vlm.edits import EDITS, LETTERS, Edit, plain

CAUSE_LETTERS = 200
"""Most letters of a cause."""
MOST_EDITS = 4
"""Most edits of one proposal."""


class Likelihood(StrEnum):
    """How often something happens in a plant."""

    COMMON = "common"
    OCCASIONAL = "occasional"
    RARE = "rare"


class ExpectedFailure(StrEnum):
    """Why a policy might fail, as the evaluator calls it."""

    GRASP_MISS = "grasp_miss"
    GRASP_SLIP = "grasp_slip"
    WRONG_OBJECT = "wrong_object"
    WRONG_DESTINATION = "wrong_destination"
    COLLISION = "collision"
    TIMEOUT = "timeout"
    APPROACH_FAILURE = "approach_failure"
    STAGNATION = "stagnation"
    RECOVERY_FAILED = "recovery_failed"
    DROP = "drop"
    BOUNCE_OUT = "bounce_out"
    DISPLACED = "displaced"
    DOUBLE_PICK = "double_pick"
    JAM = "jam"
    OVERLOOKED = "overlooked"


_ONCE = frozenset({"change_light", "relabel_bin", "rephrase"})
_GONE = frozenset({"misplace", "swap"})
"""After these an item is no longer where other edits could change it."""
_APART = (frozenset({"relabel_bin", "rephrase"}), frozenset({"relabel_bin", "wrong_bin"}))
"""Kinds of edits that speak of the same thing in different ways."""


class Proposal(Record):
    """One proposal of a model; data, of which only the edits have any effect."""

    cause: Annotated[str, Field(min_length=1, max_length=CAUSE_LETTERS), AfterValidator(plain)]
    """What would happen in the plant, in words; kept for people."""
    likelihood: Likelihood
    expected_failure: ExpectedFailure
    edits: Annotated[tuple[Edit, ...], Field(min_length=1, max_length=MOST_EDITS)]

    @model_validator(mode="after")
    def _edits_agree(self) -> Self:
        for (i, one), (j, two) in combinations(enumerate(self.edits, 1), 2):
            if one.op == two.op and (one.op in _ONCE or one.subject == two.subject):
                raise ValueError(f"edits {i} and {j} both {one.op} {one.subject}".rstrip() + " - accepted: one of them")
            if {one.op, two.op} in _APART:
                raise ValueError(f"edits {i} and {j} are {one.op} and {two.op} - accepted: one of them")
            for a, b in ((one, two), (two, one)):
                if a.op in _GONE and a.subject in (getattr(b, "item", None), getattr(b, "onto", None)):
                    raise ValueError(f"edits {i} and {j} both act on {a.subject} - accepted: {a.op} alone")
        return self


def bound_schema(choices: Choices, most: int) -> dict[str, Any]:
    """Return the JSON schema of a reply with 1 to `most` proposals for one scene.

    Every id is one of the scene's, numbers have bounds, all fields are required and no others allowed; it refers to
    nothing. For strict modes of endpoints and for grammars alike.

    Args:
        choices: What the scene offers; at least one kind of edit.
        most: Most proposals.
    """
    assert choices.offers
    proposal = _object(
        {
            "cause": _text(CAUSE_LETTERS),
            "likelihood": {"type": "string", "enum": [one.value for one in Likelihood]},
            "expected_failure": {"type": "string", "enum": [one.value for one in ExpectedFailure]},
            "edits": _array({"anyOf": [_edit(offer) for offer in choices.offers]}, MOST_EDITS),
        }
    )
    return _object({"proposals": _array(proposal, most)})


def _array(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "maxItems": most, "items": items}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _edit(offer: Offer) -> dict[str, Any]:
    kind = EDITS[offer.op]
    made = _object({name: _field(name, offer) for name in kind.model_fields})
    return {**made, "description": " ".join((kind.__doc__ or "").split())}


def _field(name: str, offer: Offer) -> dict[str, Any]:
    if name == "op":
        return {"type": "string", "const": offer.op}
    if name in offer.names:
        return {"type": "string", "enum": list(offer.names[name])}
    if name in offer.bounds:
        low, high = offer.bounds[name]
        return {"type": "integer", "minimum": low, "maximum": high}
    return _text(LETTERS)


def _text(most: int) -> dict[str, Any]:
    """Letters that are seen; fewer kinds than are read, so that a grammar can hold a model to them."""
    seen = "!-~¡-¬®-ɏ"
    return {"type": "string", "pattern": f"^[{seen}][ {seen}]{{0,{most - 1}}}$"}
