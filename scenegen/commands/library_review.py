"""`scenegen library review`: a person's judgement of one scene."""

from __future__ import annotations

import re
from enum import StrEnum

import typer

from library.curated import ACCEPTED, REJECTED, Action
from scenegen.commands.curating import BRANCH, FOLDER, decide, open_branch, require_text, say_committed
from scenegen.errors import InvalidOption

LABEL_PATTERN = r"[A-Za-z][A-Za-z0-9_-]{0,63}"

app = typer.Typer()


class Judgement(StrEnum):
    """What a reviewer can say."""

    ACCEPT = "accept"
    REJECT = "reject"
    LABEL = "label"


@app.command()
def review(
    scenario: str = typer.Argument(..., help="The scenario's id, or its first digits."),
    judgement: Judgement = typer.Argument(..., help="accept, reject (leaves it out of the set), or label."),
    note: str = typer.Option("", help="Why; required to reject."),
    label: str = typer.Option("", help="The label, with `label`."),
    library: str = FOLDER,
    branch: str = BRANCH,
) -> None:
    """Accept, reject or label a scene; the newest judgement counts, and all are kept."""
    value = _value(judgement, label)
    text = require_text("--note", note) if judgement is Judgement.REJECT else note.strip()
    store, snapshot = open_branch(library, branch)
    one = snapshot.find(scenario).scenario_id
    message = f"review {one[:12]}: {value}" + (f": {text}" if text else "")
    say_committed(
        f"{one[:12]}: {value}", decide(store, branch, Action.REVIEW, {one: value}, notes=text, message=message)
    )


def _value(judgement: Judgement, label: str) -> str:
    """Return the value that is kept.

    Raises:
        InvalidOption: A label is missing, is no word, or is given where none belongs.
    """
    if judgement is not Judgement.LABEL:
        if label:
            raise InvalidOption("--label", label, f"a label only with `label`, not with `{judgement.value}`")
        return ACCEPTED if judgement is Judgement.ACCEPT else REJECTED
    if not re.fullmatch(LABEL_PATTERN, label) or label in (ACCEPTED, REJECTED):
        accepted = f"one word of letters, digits, _ and -, but not {ACCEPTED} or {REJECTED}"
        raise InvalidOption("--label", repr(label), accepted)
    return label
