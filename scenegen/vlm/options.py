"""From the text of `--vlm` to the back end; a kind's module is loaded only when it is asked for."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass

from scenegen.errors import InvalidOption
from scenegen.vlm.chat import BackEnd


@dataclass(frozen=True)
class Kind:
    """One kind of back end."""

    module: str
    """Where its `build(option, target, environment)` is."""
    typed: str
    """How it is typed."""


KINDS = {
    "openai": Kind("scenegen.vlm.endpoint", "openai:MODEL[@URL]"),
    "local": Kind("scenegen.vlm.local", "local:PATH"),
    "replay": Kind("scenegen.vlm.replay", "replay:FILE"),
}
"""Kinds by the word that begins the text."""


def require_kind(option: str) -> Kind:
    """Return the kind of back end that was asked for; nothing is loaded.

    Raises:
        InvalidOption: There is no such kind.
    """
    kind = option.partition(":")[0]
    if kind not in KINDS:
        close = difflib.get_close_matches(kind, KINDS, n=1)
        hint = f" - did you mean {KINDS[close[0]].typed}?" if close else ""
        raise InvalidOption("--vlm", option, ", ".join(known.typed for known in KINDS.values()) + hint)
    return KINDS[kind]


def make_back_end(option: str, environment: Mapping[str, str]) -> BackEnd:
    """Build the back end that was asked for.

    Args:
        option: As typed, for example `openai:gpt-5@https://example.org/v1` or `replay:calls.jsonl`.
        environment: The environment's variables, among them the key.

    Raises:
        InvalidOption: There is no such kind, or its target has another form.
        VlmError: It cannot be used as things are: no key, no file.
        LibraryError: A file cannot be read.
    """
    kind, target = require_kind(option), option.partition(":")[2]
    return importlib.import_module(kind.module).build(option, target, environment)
