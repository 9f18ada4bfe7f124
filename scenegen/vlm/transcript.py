"""A chat becomes what a local model reads: its own template's form, or a plain transcript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scenegen.vlm.chat import Message

NO_PICTURES = "You are shown no pictures."
"""What a model that only reads text is told in place of pictures."""


def without_pictures(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Leave all pictures out and let the system message say so; without pictures, the messages as they are."""
    if not any(message.pictures for message in messages):
        return tuple(messages)
    blind = [message.replaced(pictures=()) for message in messages]
    if blind[0].role != "system":
        return (Message(role="system", text=NO_PICTURES), *blind)
    return (blind[0].replaced(text=f"{blind[0].text}\n\n{NO_PICTURES}"), *blind[1:])


def without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Put what system messages say at the head of the first message of the user, for templates without a system."""
    said = [message.text for message in messages if message.role == "system"]
    turns = [message for message in messages if message.role != "system"]
    first = next((i for i, message in enumerate(turns) if message.role == "user"), None)
    if first is None:
        return (*turns, Message(role="user", text="\n\n".join(said)))
    turns[first] = turns[first].replaced(text="\n\n".join([*said, turns[first].text]))
    return tuple(turns)


def defused(text: str, special: Iterable[str]) -> str:
    """Break up special tokens in a text, so that text cannot end a turn or stand for a picture."""
    for token in sorted(special, key=len, reverse=True):
        if len(token) > 1:
            text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def turns(messages: Iterable[Message], special: Sequence[str], opened: Any) -> list[dict[str, Any]]:
    """Return messages as chat templates want them.

    Args:
        messages: The messages.
        special: The model's special tokens.
        opened: Opened pictures by their SHA-256; None for a model that takes text alone.
    """
    found = []
    for message in messages:
        text = defused(message.text, special)
        pictures = [{"type": "image", "image": opened[name]} for name in message.pictures] if opened is not None else []
        content = text if opened is None else [*pictures, {"type": "text", "text": text}]
        found.append({"role": message.role, "content": content})
    return found


def transcript(messages: Iterable[Message], special: Sequence[str], picture: str) -> str:
    """Return messages as plain text that ends where the assistant's next words belong.

    Args:
        messages: The messages.
        special: The model's special tokens.
        picture: The token that stands for a picture.
    """
    lines = [
        f"{message.role.capitalize()}: {picture * len(message.pictures)}{defused(message.text, special)}"
        for message in messages
    ]
    return "\n\n".join([*lines, "Assistant:"])
