"""What a scene offers to edits, in words: for prompts."""

from __future__ import annotations

from scenegen.vlm.choices import Choices, Offer
from scenegen.vlm.edits import EDITS

LONG = 3
"""Longer lists of ids are written once, under a letter."""


def ops_in_words(choices: Choices) -> dict[str, str]:
    """Say what each kind of edit that a scene offers does."""
    return {op: " ".join((EDITS[op].__doc__ or "").split()) for op in choices.ops()}


def limits_in_words(choices: Choices) -> str:
    """Say which ids and numbers are accepted: the long lists of ids first, then a line for each offer."""
    lists = [ids for offer in choices.offers for ids in offer.names.values() if len(ids) > LONG]
    letters = {ids: chr(ord("A") + index) for index, ids in enumerate(dict.fromkeys(lists))}
    lines = [f"{letter} = {', '.join(ids)}" for ids, letter in letters.items()]
    return "\n".join([*lines, *(f"- {offer.op}: {_offer(offer, letters)}" for offer in choices.offers)])


def _offer(offer: Offer, letters: dict[tuple[str, ...], str]) -> str:
    names = [f"{name} of {letters.get(ids) or ', '.join(ids)}" for name, ids in offer.names.items()]
    fields: dict[tuple[int, int], list[str]] = {}
    for name, bounds in offer.bounds.items():
        fields.setdefault(bounds, []).append(name)
    numbers = [f"{' and '.join(some)} from {low} to {high}" for (low, high), some in fields.items()]
    return "; ".join([*names, *numbers]) or "nothing to choose"
