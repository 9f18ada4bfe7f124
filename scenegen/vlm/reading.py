"""Read what a model replied: proposals that one scene can have, and a sentence for each fault.

A reply is data from outside. Nothing in it is repaired, and no text of any kind raises anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from scenegen.spoken import faults, leak_in, unlike
from scenegen.vlm.choices import Choices, Offer
from scenegen.vlm.edits import EDITS, Change, Edit, Rephrase
from scenegen.vlm.proposal import Proposal

MOST_BYTES = 64 * 1024
"""Longest reply that is read."""
DEEPEST = 8
"""How many objects and arrays may lie in each other."""
GREATEST = 1e9
"""Numbers beyond it are no amounts."""
SHOWN = 40
"""How much of a value a finding shows, in letters."""
MOST_FINDINGS = 8
"""Most findings of one proposal."""


class Reading(NamedTuple):
    """What was read."""

    proposals: tuple[Proposal, ...]
    findings: tuple[str, ...]
    """One sentence a fault: which proposal and field, its value, what is accepted."""
    faulty: int
    """How many proposals the findings are about; 1 where the whole reply cannot be read."""


@dataclass(frozen=True)
class _Bad:
    """Stands in parsed data for what JSON allows, or nearly allows, and no reply may have."""

    what: str
    """What is wrong with it and what is accepted, as a phrase after its subject."""


def read_proposals(text: str, choices: Choices, most: int) -> Reading:
    """Read a reply.

    Args:
        text: The whole reply.
        choices: What the scene offers.
        most: Most proposals; further ones are left out.

    Returns:
        The proposals without faults, in their order, and the faults of all others.
    """
    data = _parsed(text)
    listed = data.get("proposals") if isinstance(data, dict) and set(data) == {"proposals"} else None
    if not isinstance(listed, list) or not listed:
        bad = _bad_in(data)
        if bad is not None:
            return Reading((), (f"the reply {bad.what}",), 1)
        alone = f"the reply is {_shown(data)} - accepted: one object with a list 'proposals' alone"
        return Reading((), (alone,), 1)
    read: list[Proposal] = []
    findings: list[str] = []
    for number, one in enumerate(listed[:most], 1):
        found = _proposal(one, choices)
        if isinstance(found, Proposal):
            read.append(found)
        else:
            findings += [f"proposal {number}: {sentence}" for sentence in found[:MOST_FINDINGS]]
    if len(listed) > most:
        findings.append(f"the reply has {len(listed)} proposals - accepted: at most {most}")
    return Reading(tuple(read), tuple(findings), len(listed) - len(read))


def _parsed(text: str) -> Any:
    """Parse JSON that is not too long or deep; what is wrong with it, or in it, becomes a `_Bad`."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        return _Bad(f"has {size} bytes - accepted: at most {MOST_BYTES}")
    if _depth(text) > DEEPEST:
        return _Bad(f"is nested too deeply - accepted: at most {DEEPEST} levels")
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_no_amount,
            parse_int=lambda token: int(token) if len(token) <= 10 else _no_amount(token),
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        return _Bad(f"is not JSON alone ({error.msg}, letter {error.pos}) - accepted: one JSON object, nothing around")


def _depth(text: str) -> int:
    """Return how deep brackets are nested, those in strings left out."""
    depth = deepest = 0
    inside = escaped = False
    for letter in text:
        if inside:
            inside = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            inside = True
        elif letter in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "]}":
            depth -= 1
    return deepest


def _no_amount(token: str) -> _Bad:
    return _Bad(f"has number {_cut(token)} - accepted: numbers within {GREATEST:g}")


def _object(pairs: list[tuple[str, Any]]) -> Any:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    return dict(pairs) if twice is None else _Bad(f"has field {_shown(twice)} twice - accepted: each field once")


def _float(token: str) -> Any:
    value = float(token)
    return value if math.isfinite(value) and abs(value) <= GREATEST else _no_amount(token)


def _bad_in(data: Any) -> _Bad | None:
    if isinstance(data, _Bad):
        return data
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return next((bad for bad in map(_bad_in, inner) if bad is not None), None)


def _proposal(data: Any, choices: Choices) -> Proposal | list[str]:
    """Read one proposal; or say what is wrong with it."""
    bad = _bad_in(data)
    if bad is not None:
        return [bad.what]
    try:
        proposal = Proposal.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        details = error.errors(include_url=False)
        # A list whose entries are wrong is called too short as well.
        return [_sentence(one) for one in details if one["type"] != "too_short" or not one["input"]]
    found = [
        f"edit {number} ({edit.op}), {fault}"
        for number, edit in enumerate(proposal.edits, 1)
        for fault in _beyond(edit, choices)
    ]
    return found or proposal


def _beyond(edit: Edit, choices: Choices) -> list[str]:
    """Say where an edit names what its scene does not offer; the offer that comes nearest counts."""
    offers = [offer for offer in choices.offers if offer.op == edit.op]
    if not offers:
        return [f"op: {edit.op} - accepted: {', '.join(choices.ops())}"]
    found = min((list(_outside(edit, offer)) for offer in offers), key=len)
    if not found and isinstance(edit, Rephrase):
        found = list(_misspoken(edit, choices))
    return found


def _outside(edit: Change, offer: Offer) -> Iterator[str]:
    for name, accepted in offer.names.items():
        value = getattr(edit, name)
        if value not in accepted:
            yield f"{name}: {_shown(value)} - accepted: {', '.join(accepted)}"
    for name, (low, high) in offer.bounds.items():
        value = getattr(edit, name)
        if not low <= value <= high:
            yield f"{name}: {value} - accepted: {low} to {high}"


def _misspoken(edit: Rephrase, choices: Choices) -> Iterator[str]:
    text, words, rules = edit.instruction, choices.words, choices.rules
    leak = leak_in(text)
    if leak is not None:
        yield f"instruction: says {_shown(leak[1])} ({leak[0]}) - accepted: words of a person at the line"
    found = (*faults(text, words, rules), *unlike(text, edit.language, words, rules, choices.spoken))
    yield from (f"instruction: {fault.sentence}" for fault in found)


def _sentence(detail: ErrorDetails) -> str:
    """Turn one of pydantic's errors into a sentence; of what was replied, it holds no more than a short piece."""
    field, facts = _field(detail["loc"]), detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return f"{field}: missing - it is required"
        case "extra_forbidden":
            return f"{field}: unknown field - remove it"
        case "value_error":
            return f"{field}: {facts['error']}" if field else str(facts["error"])
        case "union_tag_invalid":
            return f"{field}: op {_shown(facts['tag'])} - accepted: {', '.join(EDITS)}"
        case "union_tag_not_found":
            return f"{field}: no op - accepted: {', '.join(EDITS)}"
        case "too_short":
            return f"{field}: empty - accepted: {facts['min_length']} or more"
        case "too_long":
            return f"{field}: {facts['actual_length']} entries - accepted: at most {facts['max_length']}"
        case "json_invalid":
            return "has text that is no Unicode - accepted: whole characters"
        case _:
            accepted = detail["msg"].removeprefix("Input should be ")
            return f"{field or 'it'}: {_shown(detail['input'])} - accepted: {accepted}"


def _field(where: Sequence[int | str]) -> str:
    """Name a field: `edit 2 (move), low_mm`."""
    parts = list(where)
    if len(parts) > 1 and parts[0] == "edits":
        edit = f"edit {int(parts[1]) + 1}" + (f" ({parts[2]})" if len(parts) > 2 else "")
        parts = [edit, *parts[3:]]
    return ", ".join(part if part.startswith("edit ") else _called(part) for part in map(str, parts))


def _shown(value: object) -> str:
    """Show a value as Python writes it, shortened; what cannot be seen is escaped."""
    return _cut(ascii(value))


def _called(name: str) -> str:
    return _cut(ascii(name)[1:-1])


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
