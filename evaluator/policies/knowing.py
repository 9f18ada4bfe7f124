"""A policy whose perception is replaced by the truth, as a text to build it from."""

from __future__ import annotations

from evaluator.policies.form import PolicyForm
from evaluator.policies.registry import KINDS


def knowing(text: str) -> str | None:
    """Return the text of a policy that acts like another and perceives the truth.

    Args:
        text: The policy as typed, for example `vision`.

    Returns:
        The same text where perception changes nothing; None where the policy cannot be given the truth.

    Raises:
        InvalidOption: The options are of another form.
    """
    form = PolicyForm(text)
    kind = KINDS.get(form.kind)
    if kind is None or kind.truth is None:
        return None
    name, _, value = kind.truth.partition("=")
    if not name or form.options.rest().get(name) == value:
        return text
    head, _, query = text.partition("?")
    others = [one for one in query.split("&") if one and one.partition("=")[0] != name]
    return f"{head}?{'&'.join([*others, kind.truth])}"
