"""Asks a model about the bases of an expansion, and about the scenes that came of its proposals."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from library.commit import FileFacts
from library.versioned import VersionedLibrary
from scenegen.errors import BudgetSpent, VlmError
from scenegen.expand import Expander, Outcome
from scenegen.scenario import Scenario
from scenegen.vlm.chat import BackEnd, Call, Reply
from scenegen.vlm.judging import SceneJudge, read_opinion
from scenegen.vlm.many import many
from scenegen.vlm.photographer import Photographer
from scenegen.vlm.prices import Price
from scenegen.vlm.proposing import MOST_REPAIRS, Asked, Dialogue, Proposer
from scenegen.vlm.way import ProposedWay

AT_ONCE = 4
"""Most calls that are under way together."""

Ways = dict[int, tuple[ProposedWay, ...]]
"""What was proposed for each base, by its number."""


Failure = VlmError | BudgetSpent
"""Why there was no reply."""


@dataclass
class Talk:
    """What asking came to."""

    accepted: int = 0
    valid_after: list[int] = field(default_factory=lambda: [0] * (MOST_REPAIRS + 1))
    """Proposals accepted of the first reply, after one repair, after two."""
    dropped: int = 0
    """Proposals that were given up."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why."""
    calls: int = 0
    """All replies that were used, those among them that were known before."""
    tokens: int = 0
    """Sent and received, with all these replies."""
    usd: float | None = None
    """What they cost; None where the model has no known price."""
    seconds: float = 0.0
    judged: int = 0
    rejected: int = 0
    """Scenes that the judge rejected."""
    unread: int = 0
    """Opinions that could not be read, and so rejected nothing."""

    def add(self, asked: Asked) -> None:
        """Count what came of asking about one scene."""
        self.accepted += len(asked.accepted)
        self.valid_after = [sum(pair) for pair in zip(self.valid_after, asked.valid_after, strict=True)]
        self.dropped += asked.dropped
        self.reasons.update(asked.reasons)

    def add_call(self, call: Call, price: Price | None) -> None:
        """Count a call."""
        sent, received = call.reply.input_tokens, call.reply.output_tokens
        self.calls += 1
        self.tokens += sent + received
        if price is not None:
            self.usd = (self.usd or 0.0) + price.usd(sent, received)


def _nobody(sentence: str) -> None:
    """Tell nobody."""


@dataclass
class Asker:
    """Asks, and keeps every call and every accepted proposal among the library's records.

    Args:
        store: The library.
        back_end: Who is asked.
        proposer: Asks for proposals.
        photographer: Takes the pictures that are shown; None asks by text alone.
        price: What the model's tokens cost, if that is known.
        judges: Whether scenes are judged as well.
        replays: Whether what was said before is repeated.
        say: Told what a person may want to know meanwhile.
    """

    store: VersionedLibrary
    back_end: BackEnd
    proposer: Proposer
    photographer: Photographer | None
    price: Price | None = None
    judges: bool = False
    replays: bool = False
    say: Callable[[str], None] = _nobody
    talk: Talk = field(default_factory=Talk)
    ways: Ways = field(default_factory=dict)
    files: dict[str, FileFacts] = field(default_factory=dict)
    """Records that wait for the next commit."""

    def ask(self, expander: Expander, bases: Sequence[int]) -> dict[int, Failure]:
        """Ask about some bases, a few at once; `ways` has what was proposed.

        Returns:
            The bases about which there was no reply, and why.
        """
        began, talks = time.monotonic(), dict[int, Dialogue]()
        for base in bases:
            made = expander.prepare(base)
            if made is not None:
                talks[base] = self.proposer.dialogue(made.scenario, self._photo(made.scenario, numbered=True))
        if talks:
            doing = f"repeating what {self.back_end.model} said" if self.replays else f"asking {self.back_end.model}"
            self.say(f"{doing} about {len(talks)} scene{'s' * (len(talks) > 1)}")
        failed = self._converse(talks)
        for base in talks.keys() - failed.keys():
            self._take(base, talks[base].asked)
        self.talk.seconds += time.monotonic() - began
        return failed

    def review(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Let the model judge scenes that the checks accepted; it may reject them.

        Raises:
            VlmError: There was no reply.
            BudgetSpent: Asking would cost more than is allowed.
        """
        began, judge = time.monotonic(), SceneJudge(self.proposer.cell, self.proposer.parts)
        scenes = [one.made.scenario for one in outcomes if one.made]
        chats = [judge.chat(scene, self._photo(scene, numbered=False)) for scene in scenes]
        against: dict[str, str] = {}
        for scene, chat, answer in zip(scenes, chats, many(self.back_end, chats, AT_ONCE), strict=True):
            if not isinstance(answer, Reply):
                raise answer
            self._keep([Call(model=self.back_end.model, request=chat.request, reply=answer)])
            opinion = read_opinion(answer)
            self.talk.judged += 1
            self.talk.unread += opinion is None
            if opinion is not None and opinion.code is not None:
                against[scene.id] = opinion.code
                self.talk.rejected += 1
                self.say(f"the judge rejects scene {scene.id[:12]}: {opinion.code}, {json.dumps(opinion.reason)}")
        self.talk.seconds += time.monotonic() - began
        return [_rejected(one, against) for one in outcomes]

    def _photo(self, scenario: Scenario, *, numbered: bool) -> bytes | None:
        return self.photographer.photo(scenario, numbered=numbered) if self.photographer else None

    def _converse(self, talks: dict[int, Dialogue]) -> dict[int, Failure]:
        """Talk until each dialogue is over, or has failed."""
        failed: dict[int, Failure] = {}
        while under_way := [(b, t, t.chat) for b, t in talks.items() if t.chat is not None and b not in failed]:
            answers = many(self.back_end, [chat for _, _, chat in under_way], AT_ONCE)
            for (base, talk, _), answer in zip(under_way, answers, strict=True):
                if isinstance(answer, Reply):
                    talk.take(self.back_end.model, answer)
                else:
                    failed[base] = answer
        return failed

    def _take(self, base: int, asked: Asked) -> None:
        self._keep(asked.calls)
        for proposed in asked.accepted:
            self.files |= self.store.record(proposed)
        self.talk.add(asked)
        self.ways[base] = tuple(map(ProposedWay, asked.accepted))

    def _keep(self, calls: Iterable[Call]) -> None:
        for call in calls:
            self.files |= self.store.record(call)
            self.talk.add_call(call, self.price)


def _rejected(outcome: Outcome, against: dict[str, str]) -> Outcome:
    """Take a scene away that a judge rejected; nothing that was rejected comes back."""
    if outcome.made is None or outcome.made.scenario.id not in against:
        return outcome
    code = against[outcome.made.scenario.id]
    return replace(outcome, made=None, rejected=outcome.rejected + Counter([f"judge:{code}"]))
