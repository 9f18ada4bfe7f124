"""What is asked of a model and what it replies: one seam for endpoints, local models and replays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field

from scenegen.record import Name, NonNegative, Record


class Message(Record):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str
    pictures: tuple[str, ...] = ()
    """SHA-256 of each PNG that is shown with it, hexadecimal."""


class Request(Record):
    """All that a reply depends on, besides the model.

    Its content id, with the model's name, is the key of the cache.
    """

    prompt: Name
    """Name of the prompt's file."""
    prompt_hash: str
    """Hash of that file."""
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    reply_schema: dict[str, Any]
    """JSON schema of the reply: all fields required, no others, no references outside."""
    max_tokens: Annotated[int, Field(ge=1)]
    temperature: NonNegative = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Chat:
    """A request together with the pictures that it names."""

    request: Request
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    """PNG files by their SHA-256."""


class Finish(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    """It was done."""
    LENGTH = "length"
    """It ran into the limit of tokens: the reply is not whole and must not be read."""
    REFUSED = "refused"
    """It, or a filter, declined."""


class Reply(Record):
    """What a model replied; data from outside, which nothing may trust."""

    text: str
    finish: Finish
    model: str
    """The model as the server names it, which may differ from what was asked for."""
    input_tokens: Annotated[int, Field(ge=0)]
    output_tokens: Annotated[int, Field(ge=0)]


class Call(Record):
    """One question with its reply: what a replay reads, and what a scene's `vlm_call_id` names."""

    model: str
    """The back end and model that were asked, as `--vlm` names them; never a key."""
    request: Request
    reply: Reply


class BackEnd(Protocol):
    """Answers chats."""

    @property
    def model(self) -> str:
        """The back end and model, as `--vlm` names them: what replies depend on besides the request."""
        ...

    def reply(self, chat: Chat) -> Reply:
        """Answer.

        Raises:
            VlmError: There was no usable reply, after all retries.
            BudgetSpent: Answering would cost more than is allowed.
        """
        ...

    def close(self) -> None:
        """Give back connections and memory."""
        ...
