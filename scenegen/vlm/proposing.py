"""Ask a model what could happen to a scene, let it repair what was wrong, and drop what stays wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from prompts.prompt import load_prompt
from scenegen.axes.registry import AXES
from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.record import Record
from scenegen.scenario import Scenario
from scenegen.vlm.asking import first_chat, request_of
from scenegen.vlm.chat import BackEnd, Call, Chat, Finish, Message, Reply
from scenegen.vlm.choices import Choices
from scenegen.vlm.proposal import Proposal, bound_schema
from scenegen.vlm.reading import MOST_BYTES, Reading, read_proposals
from scenegen.vlm.scene_text import scene_text

PROPOSALS = 5
"""How many proposals are asked for at once."""
MOST_REPAIRS = 2
"""How often findings go back."""


class Proposed(Record):
    """A proposal as it was accepted: what a scene's `vlm_call_id` names."""

    base_id: str
    """The scene that the model saw."""
    call_id: str
    """Content id of the `Call` whose reply it was."""
    proposal: Proposal


@dataclass
class Asked:
    """What came of asking about one scene."""

    accepted: list[Proposed] = field(default_factory=list)
    valid_after: list[int] = field(default_factory=list)
    """How many proposals were accepted of the first reply, of the first repair, of the second."""
    dropped: list[str] = field(default_factory=list)
    """Why others were not, a sentence each."""
    calls: list[Call] = field(default_factory=list)


@dataclass(frozen=True)
class Proposer:
    """Asks for proposals about scenes of one cell.

    Args:
        cell: The cell.
        parts: Its parts.
        axes: Names of the axes that proposals may act on.
        count: How many are asked for at once.
        seed: Another seed asks anew.
    """

    cell: Cell
    parts: Catalogue
    axes: tuple[str, ...]
    count: int = PROPOSALS
    seed: int = 0

    def chat(self, scenario: Scenario, picture: bytes | None) -> Chat:
        """Return what is asked about a scene.

        Args:
            scenario: The scene.
            picture: A PNG of it in which items carry their numbers; None asks by text alone.
        """
        choices = self._choices(scenario)
        fields = {
            "count": self.count,
            "cell": self.cell.name,
            "scene": scene_text(scenario, self.cell, self.parts),
            "axes": {name: AXES[name].doc for name in self.axes},
            "ops": choices.docs,
            "limits": choices.limits_text,
        }
        schema = bound_schema(choices, most=self.count)
        return first_chat(load_prompt("propose"), fields, schema=schema, picture=picture, seed=self.seed)

    def ask(self, scenario: Scenario, picture: bytes | None, back_end: BackEnd) -> Asked:
        """Ask, and ask again for what was wrong.

        Args:
            scenario: The scene.
            picture: See `chat`.
            back_end: Who is asked.

        Raises:
            VlmError: There was no reply at all.
            BudgetSpent: Asking would cost more than is allowed.
        """
        asked, chat = Asked(), self.chat(scenario, picture)
        choices, repair = self._choices(scenario), load_prompt("repair")
        while True:
            reply = back_end.reply(chat)
            call = Call(model=back_end.model, request=chat.request, reply=reply)
            asked.calls.append(call)
            reading = self._read(reply, choices)
            fresh = self._fresh(reading.proposals, asked, scenario, call)
            asked.accepted += fresh
            asked.valid_after.append(len(fresh))
            if not reading.findings:
                return asked
            if len(asked.calls) > MOST_REPAIRS or reply.finish is Finish.REFUSED:
                asked.dropped += reading.findings
                return asked
            messages = _answered(chat.request.messages, reply, repair.fill({"findings": reading.findings}).user)
            again = request_of(repair, messages, schema=chat.request.reply_schema, seed=self.seed)
            chat = Chat(again, chat.pictures)

    def _choices(self, scenario: Scenario) -> Choices:
        return Choices.of(scenario, self.cell, self.parts, self.axes)

    def _read(self, reply: Reply, choices: Choices) -> Reading:
        if reply.finish is Finish.LENGTH:
            cut = f"the reply was cut off after {reply.output_tokens} tokens - accepted: fewer or shorter proposals"
            return Reading((), (cut,))
        if reply.finish is Finish.REFUSED:
            return Reading((), ("the model declined to reply",))
        return read_proposals(reply.text, choices, most=self.count)

    def _fresh(self, proposals: Sequence[Proposal], asked: Asked, scenario: Scenario, call: Call) -> list[Proposed]:
        """Take what was not accepted before, as far as it was asked for."""
        known = {one.proposal for one in asked.accepted}
        fresh = [one for one in dict.fromkeys(proposals) if one not in known][: self.count - len(known)]
        return [Proposed(base_id=scenario.id, call_id=call.content_id, proposal=one) for one in fresh]


def _answered(messages: tuple[Message, ...], reply: Reply, question: str) -> tuple[Message, ...]:
    """Append a reply, no longer than any is read, and the next question."""
    said = reply.text.encode()[:MOST_BYTES].decode(errors="ignore")
    return (*messages, Message(role="assistant", text=said), Message(role="user", text=question))
