"""Asks a model about the bases of an expansion, and about the scenes that came of its proposals."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from library.commit import FileFacts
from library.versioned import VersionedLibrary
from scenegen.expand import Expander, Outcome
from scenegen.record import Record
from scenegen.vlm.chat import BackEnd, Call
from scenegen.vlm.judging import SceneJudge
from scenegen.vlm.photographer import Photographer
from scenegen.vlm.proposing import Asked, Proposer
from scenegen.vlm.way import ProposedWay

Ways = dict[int, tuple[ProposedWay, ...]]
"""What was proposed for each base, by its number."""


class Asking(Record):
    """How a model was asked: with the expansion, all that its proposals depend on besides the replies."""

    model: str
    prompts: dict[str, str]
    """Hash of each prompt."""
    count: int
    """How many proposals were asked for about each base."""
    pictures: bool
    judged: bool
    """Whether scenes were judged as well."""


@dataclass
class Spent:
    """What asking came to."""

    accepted: int = 0
    valid_after: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Proposals accepted of the first reply, after one repair, after two."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Why others were not."""
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    judged: int = 0
    unread: int = 0
    """Opinions that could not be read, and so rejected nothing."""

    def add(self, asked: Asked) -> None:
        """Count what came of asking about one scene."""
        self.accepted += len(asked.accepted)
        for index, count in enumerate(asked.valid_after):
            self.valid_after[index] += count
        self.dropped.update(asked.dropped)

    def add_call(self, call: Call) -> None:
        """Count a call."""
        self.calls += 1
        self.tokens += call.reply.input_tokens + call.reply.output_tokens


@dataclass
class Asker:
    """Asks, and keeps every call and every accepted proposal among the library's records.

    Args:
        store: The library.
        back_end: Who is asked.
        proposer: Asks for proposals.
        photographer: Takes the pictures that are shown; None asks by text alone.
        say: Told which base is asked about.
    """

    store: VersionedLibrary
    back_end: BackEnd
    proposer: Proposer
    photographer: Photographer | None
    say: Callable[[str], None]
    spent: Spent = field(default_factory=Spent)
    files: dict[str, FileFacts] = field(default_factory=dict)
    """Records that wait for the next commit."""

    def ask(self, expander: Expander, bases: Iterable[int]) -> Ways:
        """Ask about some bases.

        Raises:
            VlmError: There was no reply.
            BudgetSpent: Asking would cost more than is allowed.
        """
        return {base: self._ask(expander, base) for base in bases}

    def review(self, outcome: Outcome) -> Outcome:
        """Let the model judge a scene that the checks accepted; it may reject it."""
        if outcome.made is None:
            return outcome
        began, scenario = time.monotonic(), outcome.made.scenario
        picture = self.photographer.photo(scenario, numbered=False) if self.photographer else None
        judged = SceneJudge(self.proposer.cell, self.proposer.parts).judge(scenario, picture, self.back_end)
        self._keep([judged.call])
        self.spent.judged += 1
        self.spent.unread += judged.opinion is None
        self.spent.seconds += time.monotonic() - began
        if judged.opinion is None or judged.opinion.code is None:
            return outcome
        return replace(outcome, made=None, rejected=outcome.rejected + Counter([f"judge:{judged.opinion.code}"]))

    def _ask(self, expander: Expander, base: int) -> tuple[ProposedWay, ...]:
        made, began = expander.prepare(base), time.monotonic()
        if made is None:
            return ()
        self.say(f"asking {self.back_end.model} about base {base}")
        picture = self.photographer.photo(made.scenario, numbered=True) if self.photographer else None
        asked = self.proposer.ask(made.scenario, picture, self.back_end)
        self._keep(asked.calls)
        for proposed in asked.accepted:
            self.files |= self.store.record(proposed)
        self.spent.add(asked)
        self.spent.seconds += time.monotonic() - began
        return tuple(map(ProposedWay, asked.accepted))

    def _keep(self, calls: Sequence[Call]) -> None:
        for call in calls:
            self.files |= self.store.record(call)
            self.spent.add_call(call)
