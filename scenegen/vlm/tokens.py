"""How many tokens a chat has at most, counted without a tokenizer."""

from __future__ import annotations

import math

from scenegen.record import canonical_text
from scenegen.vlm.chat import Chat

CHARACTERS = 3
"""Characters of English or JSON that one token stands for, at least."""
PATCH_PX = 14
"""Side of the smallest patch of a picture for which models spend a token [px]."""
_PNG_BEGINNING = b"\x89PNG\r\n\x1a\n"
_UNKNOWN_PICTURE = 4096


def text_tokens(text: str) -> int:
    """Bound the tokens of a text."""
    return math.ceil(len(text) / CHARACTERS)


def picture_tokens(png: bytes) -> int:
    """Bound the tokens of a PNG file from the size that its header tells."""
    if not png.startswith(_PNG_BEGINNING) or len(png) < 24:
        return _UNKNOWN_PICTURE
    width, height = int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
    return math.ceil(width / PATCH_PX) * math.ceil(height / PATCH_PX)


def chat_tokens(chat: Chat) -> int:
    """Bound the tokens that a chat sends: texts, schema, pictures."""
    request = chat.request
    characters = sum(len(message.text) for message in request.messages) + len(canonical_text(request.reply_schema))
    shown = (chat.pictures[name] for message in request.messages for name in message.pictures)
    return math.ceil(characters / CHARACTERS) + sum(map(picture_tokens, shown))
