"""Ask a model whether a scene could occur in the plant; it may reject a scene, and never accept one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, ValidationError

from prompts.prompt import load_prompt
from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.record import Record
from scenegen.scenario import Scenario
from scenegen.vlm.chat import Chat, Finish, Reply
from scenegen.vlm.chats import first_chat
from scenegen.vlm.scene_text import scene_text

SCHEMA = {
    "type": "object",
    "properties": {
        "plausible": {"type": "boolean"},
        "instruction_matches": {"type": "boolean"},
        "reason": {"type": "string", "maxLength": 200},
    },
    "required": ["plausible", "instruction_matches", "reason"],
    "additionalProperties": False,
}
"""What the judge replies."""


class Opinion(Record):
    """What a judge says of a scene."""

    plausible: bool
    instruction_matches: bool
    reason: Annotated[str, Field(max_length=200)]

    @property
    def code(self) -> str | None:
        """Why the scene is rejected; None where the judge has nothing against it."""
        if not self.plausible:
            return "implausible"
        return None if self.instruction_matches else "instruction"


@dataclass(frozen=True)
class SceneJudge:
    """Judges scenes of one cell.

    Args:
        cell: The cell.
        parts: Its parts.
    """

    cell: Cell
    parts: Catalogue

    def chat(self, scenario: Scenario, picture: bytes | None) -> Chat:
        """Return what is asked about a scene.

        Args:
            scenario: The scene.
            picture: A PNG of it; None asks by text alone.
        """
        fields = {
            "cell": self.cell.name,
            "scene": scene_text(scenario, self.cell, self.parts),
            "instruction": scenario.task.instruction,
        }
        return first_chat(load_prompt("judge"), fields, schema=SCHEMA, picture=picture)


def read_opinion(reply: Reply) -> Opinion | None:
    """Read what a judge replied; None where it cannot be read: no opinion rejects nothing."""
    if reply.finish is not Finish.STOP:
        return None
    try:
        return Opinion.model_validate_json(reply.text, strict=True)
    except ValidationError:
        return None
