"""From the bytes that a chat server sent to a reply: everything in them is checked, nothing is guessed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from scenegen.vlm.chat import Chat, Finish, Reply
from scenegen.vlm.tokens import chat_tokens, text_tokens

MOST_TOKENS = 100_000_000
"""More than this no server can have counted for one reply."""
_FINISHES = {
    None: Finish.STOP,
    "stop": Finish.STOP,
    "eos": Finish.STOP,
    "end_turn": Finish.STOP,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "content_filter": Finish.REFUSED,
    "refusal": Finish.REFUSED,
}


class UnusableAnswer(ValueError):
    """There is no reply in an answer.

    Args:
        reason: What is wrong with it.
        broken: Whether it is no JSON at all, as after a fault on the way.
    """

    def __init__(self, reason: str, *, broken: bool = False) -> None:
        self.reason, self.broken = reason, broken
        super().__init__(reason)


def read_answer(content: bytes, chat: Chat, *, asked: str, hide: Callable[[str], str]) -> Reply:
    """Read the answer of a chat-completions server.

    Args:
        content: Its body.
        chat: What was asked; bounds what the server did not count.
        asked: The model that was asked for, in case the server names none.
        hide: Takes what is secret out of a text.

    Raises:
        UnusableAnswer: It holds no reply.
    """
    data = _parsed(content)
    if error := data.get("error"):
        raise UnusableAnswer(f"the server answered with an error{quoted(hide(message_of(error)))}")
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise UnusableAnswer("the answer has no choices")
    finish = _finish(choice, message, hide)
    text = hide(_text(message, finish))
    usage = data.get("usage")
    model = data.get("model")
    return Reply(
        text=text,
        finish=finish,
        model=hide(model) if isinstance(model, str) and _is_unicode(model) and 0 < len(model) <= 200 else asked,
        input_tokens=_count(usage, "prompt_tokens", chat_tokens(chat)),
        output_tokens=_count(usage, "completion_tokens", text_tokens(text)),
    )


def message_of(error: object) -> str:
    """Return what an error object of a server says; empty where it is none of the known forms."""
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""


def quoted(text: str) -> str:
    """Return how a server's words begin, as they may stand behind a sentence: one line, printable, in brackets."""
    line = " ".join("".join(character if character.isprintable() else " " for character in text[:2000]).split())
    return f" ({line if len(line) <= 200 else line[:197] + '...'})" if line and not line.startswith("<") else ""


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content.decode())
    except UnicodeDecodeError:
        raise UnusableAnswer("the answer is not UTF-8", broken=True) from None
    except (ValueError, RecursionError):
        raise UnusableAnswer("the answer is not JSON", broken=True) from None
    if not isinstance(data, dict):
        raise UnusableAnswer("the answer is not a JSON object")
    return data


def _finish(choice: dict[str, Any], message: dict[str, Any], hide: Callable[[str], str]) -> Finish:
    if message.get("refusal"):
        return Finish.REFUSED
    told = choice.get("finish_reason")
    if (told is None or isinstance(told, str)) and told in _FINISHES:
        return _FINISHES[told]
    raise UnusableAnswer(f"the model stopped for an unknown reason{quoted(hide(str(told)))}")


def _text(message: dict[str, Any], finish: Finish) -> str:
    text = message.get("content")
    if text is None and finish is not Finish.STOP:
        refusal = message.get("refusal")
        text = refusal if isinstance(refusal, str) else ""
    if not isinstance(text, str):
        raise UnusableAnswer("the answer has no text")
    if not _is_unicode(text):
        raise UnusableAnswer("the reply holds halves of characters")
    return text


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _count(usage: object, name: str, bound: int) -> int:
    """Return what a server counted, or the bound where it counted nothing that can be."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else bound
