"""From a prompt and what fills it to a chat."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from prompts.prompt import Prompt
from scenegen.vlm.chat import Chat, Message, Request


def first_chat(
    prompt: Prompt, fields: Mapping[str, Any], *, schema: dict[str, Any], picture: bytes | None, seed: int = 0
) -> Chat:
    """Return the chat that a prompt begins.

    Args:
        prompt: The prompt; its field `pictures` is filled in here.
        fields: What else fills it.
        schema: JSON schema of the reply.
        picture: A PNG that is shown; None asks by text alone.
        seed: Another seed asks anew.

    Raises:
        InvalidRecord: A field is missing or unknown.
    """
    spoken = prompt.fill({**fields, "pictures": picture is not None})
    pictures = {} if picture is None else {hashlib.sha256(picture).hexdigest(): picture}
    messages = (
        Message(role="system", text=spoken.system),
        Message(role="user", text=spoken.user, pictures=tuple(pictures)),
    )
    return Chat(request_of(prompt, messages, schema=schema, seed=seed), pictures)


def request_of(prompt: Prompt, messages: tuple[Message, ...], *, schema: dict[str, Any], seed: int = 0) -> Request:
    """Return a request that carries a prompt's limits and hash."""
    return Request(
        prompt=prompt.name,
        prompt_hash=prompt.hash,
        messages=messages,
        reply_schema=schema,
        max_tokens=prompt.max_tokens,
        temperature=prompt.temperature,
        seed=seed,
    )
