"""From the text of `--policy` to the policy; a kind's module is loaded only when it is asked for."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass

from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.options import OPTION
from evaluator.policy import Policy
from scenegen.errors import InvalidOption, MissingExtra


@dataclass(frozen=True)
class Kind:
    """One kind of policy."""

    module: str
    """Where its `build(form, context)` is."""
    typed: str
    """How it is typed."""
    truth: str | None = None
    """Option with which it perceives the truth; empty where perception changes nothing, None where it cannot."""
    extra: str | None = None
    """What must be installed for it, where its module cannot be loaded without."""


KINDS = {
    "oracle": Kind("evaluator.policies.oracle", "oracle", truth=""),
    "noop": Kind("evaluator.policies.noop", "noop", truth=""),
    "random": Kind("evaluator.policies.random_motion", "random", truth=""),
    "replay": Kind("evaluator.policies.replay", "replay:FILE", truth=""),
    "python": Kind("evaluator.policies.python", "python:MODULE:ATTRIBUTE"),
    "vision": Kind("evaluator.policies.vision", "vision", truth="perception=truth", extra="vision"),
    "openpi": Kind("evaluator.policies.openpi", "openpi:ws://HOST:PORT?layout=droid"),
    "groot": Kind("evaluator.policies.groot", "groot:tcp://HOST:PORT"),
}
"""Kinds by the word that begins a policy's text."""


def make_policy(text: str, context: PolicyContext) -> Policy:
    """Build the policy that was asked for.

    Args:
        text: As typed, for example `noop` or `openpi:ws://localhost:8000?layout=droid`.
        context: The cell and the run's seed.

    Raises:
        InvalidOption: There is no such kind, or its target or options are of another form.
        PolicyError: It cannot be built or reached.
        MissingExtra: It needs a package that is not installed.
    """
    form = PolicyForm(text)
    if form.kind not in KINDS:
        close = difflib.get_close_matches(form.kind, KINDS, n=1)
        hint = f" - did you mean {KINDS[close[0]].typed}?" if close else ""
        raise InvalidOption(OPTION, text, ", ".join(kind.typed for kind in KINDS.values()) + hint)
    kind = KINDS[form.kind]
    try:
        module = importlib.import_module(kind.module)
    except ModuleNotFoundError as error:
        if kind.extra is None:
            raise
        raise MissingExtra(f"The policy {form.kind}", kind.extra) from error
    return module.build(form, context)
