"""Ask a model what could happen to a scene, let it repair what was wrong, and drop what stays wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from prompts.prompt import load_prompt
from scenegen.axes.registry import AXES
from scenegen.cell import Cell
from scenegen.errors import InvalidOption
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario
from scenegen.vlm.chat import Call, Chat, Finish, Message, Reply
from scenegen.vlm.chats import first_chat, request_of
from scenegen.vlm.choices import Choices
from scenegen.vlm.edits import EDITS
from scenegen.vlm.offered import limits_in_words, ops_in_words
from scenegen.vlm.proposal import bound_schema
from scenegen.vlm.proposed import Proposed
from scenegen.vlm.reading import MOST_BYTES, Reading, read_proposals
from scenegen.vlm.scene_text import scene_text

PROPOSALS = 5
"""How many proposals are asked for at once, unless told otherwise."""
MOST_REPAIRS = 2
"""How often findings go back."""
EDITED_AXES = tuple(dict.fromkeys(kind.axis for kind in EDITS.values()))
"""Axes that have edits."""


def require_edits(axes: tuple[str, ...]) -> None:
    """Refuse axes along which a model can propose nothing.

    Raises:
        InvalidOption: One of them has no edits.
    """
    for axis in axes:
        if axis not in EDITED_AXES:
            raise InvalidOption("--axis", axis, f"with --vlm, axes that have edits: {', '.join(sorted(EDITED_AXES))}")


@dataclass
class Asked:
    """What came of asking about one scene."""

    accepted: list[Proposed] = field(default_factory=list)
    valid_after: list[int] = field(default_factory=lambda: [0] * (MOST_REPAIRS + 1))
    """How many proposals were accepted of the first reply, of the first repair, of the second."""
    dropped: int = 0
    """How many proposals were given up; a reply that could not be read counts as one."""
    reasons: list[str] = field(default_factory=list)
    """Why, a sentence each."""
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

    def dialogue(self, scenario: Scenario, picture: bytes | None) -> Dialogue:
        """Begin to talk about a scene.

        Args:
            scenario: The scene.
            picture: A PNG of it in which items carry their numbers; None asks by text alone.
        """
        return Dialogue(self, scenario, picture)


class Dialogue:
    """A conversation about one scene: `chat` is what is to be asked, until it is None.

    Args:
        proposer: What is asked for.
        scenario: The scene.
        picture: See `Proposer.dialogue`.
    """

    def __init__(self, proposer: Proposer, scenario: Scenario, picture: bytes | None) -> None:
        self.asked = Asked()
        self._proposer, self._scenario, self._picture = proposer, scenario, picture
        if not self._choices.offers:
            self.asked.reasons.append(f"the scene offers nothing to change along {', '.join(proposer.axes)}")
        self.chat: Chat | None = self._first() if self._choices.offers else None

    def take(self, model: str, reply: Reply) -> None:
        """Take the reply to `chat`: keep what is valid, and ask for a repair of what is not, or drop it.

        Args:
            model: Who replied, as `--vlm` names it.
            reply: The reply.
        """
        assert self.chat is not None
        asked, request = self.asked, self.chat.request
        call = Call(model=model, request=request, reply=reply)
        reading = self._read(reply)
        self._accept(reading, call)
        asked.calls.append(call)
        left = self._proposer.count - len(asked.accepted)
        if not reading.findings or left < 1:
            self.chat = None
        elif len(asked.calls) > MOST_REPAIRS or reply.finish is Finish.REFUSED:
            asked.dropped += reading.faulty
            asked.reasons += reading.findings
            self.chat = None
        else:
            repair = load_prompt("repair")
            said = Message(role="assistant", text=_cut(reply.text))
            findings = Message(role="user", text=repair.fill({"findings": reading.findings}).user)
            schema = bound_schema(self._choices, most=left)
            again = request_of(repair, (*request.messages, said, findings), schema=schema, seed=request.seed)
            self.chat = Chat(again, self.chat.pictures)

    @cached_property
    def _choices(self) -> Choices:
        proposer = self._proposer
        return Choices.of(self._scenario, proposer.cell, proposer.parts, proposer.axes)

    def _first(self) -> Chat:
        proposer, choices = self._proposer, self._choices
        fields = {
            "count": proposer.count,
            "cell": proposer.cell.name,
            "scene": scene_text(self._scenario, proposer.cell, proposer.parts),
            "axes": {name: AXES[name].doc for name in proposer.axes},
            "ops": ops_in_words(choices),
            "limits": limits_in_words(choices),
        }
        schema = bound_schema(choices, most=proposer.count)
        return first_chat(load_prompt("propose"), fields, schema=schema, picture=self._picture, seed=proposer.seed)

    def _read(self, reply: Reply) -> Reading:
        if reply.finish is Finish.LENGTH:
            cut = f"the reply was cut off after {reply.output_tokens} tokens - accepted: fewer or shorter proposals"
            return Reading((), (cut,), 1)
        if reply.finish is Finish.REFUSED:
            return Reading((), ("the model declined to reply",), 1)
        return read_proposals(reply.text, self._choices, most=self._proposer.count)

    def _accept(self, reading: Reading, call: Call) -> None:
        """Take what was not accepted before, as far as it was asked for."""
        asked = self.asked
        known = [one.proposal for one in asked.accepted]
        for proposal in reading.proposals:
            if proposal in known:
                asked.dropped += 1
                asked.reasons.append("it was proposed twice")
            elif len(asked.accepted) < self._proposer.count:
                known.append(proposal)
                asked.valid_after[len(asked.calls)] += 1
                asked.accepted.append(Proposed(base_id=self._scenario.id, call_id=call.content_id, proposal=proposal))


def _cut(text: str) -> str:
    """Shorten a reply to what is read of any."""
    return text.encode(errors="replace")[:MOST_BYTES].decode(errors="ignore")
