"""A request of OpenAI's Chat Completions becomes a chat; what would be passed over in silence is refused."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any

from PIL import Image

from scenegen.errors import InvalidRecord
from scenegen.vlm.chat import Chat, Request

MAX_TOKENS = 1024
"""Tokens of a reply, where a request does not say."""
PICTURE_BYTES = 8_000_000
PICTURE_PIXELS = 8_000_000
PICTURES = 8
"""Most pictures in a request."""
KNOWN = frozenset({
    "model", "messages", "max_tokens", "max_completion_tokens", "temperature", "seed", "response_format", "n", "stream",
})  # fmt: skip
PASSED_OVER = frozenset({"user", "metadata", "store"})
"""What changes no reply."""
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
KINDS = ("data:image/png;base64,", "data:image/jpeg;base64,")


class BadQuestion(ValueError):
    """A request that cannot be answered.

    Args:
        sentence: What is wrong and what would be accepted.
        parameter: The request's key that is to blame.
        status: The status of HTTP.
    """

    def __init__(self, sentence: str, parameter: str | None = None, status: int = 400) -> None:
        self.parameter, self.status = parameter, status
        super().__init__(sentence)


def parse_question(body: bytes, name: str, *, sees: bool) -> Chat:
    """Read a request.

    Args:
        body: What was sent.
        name: The model that is served.
        sees: Whether it is shown pictures.

    Raises:
        BadQuestion: It is no such request, or it asks for what is not served.
    """
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise BadQuestion("the body is no JSON") from None
    if not isinstance(asked, dict):
        raise BadQuestion("the body is no object of JSON")
    asked = {key: value for key, value in asked.items() if value is not None and key not in PASSED_OVER}
    _refuse_unserved(asked, name)
    pictures: dict[str, bytes] = {}
    limit = asked.get("max_completion_tokens", asked.get("max_tokens", MAX_TOKENS))
    fields = {
        "prompt": "served",
        "prompt_hash": "",
        "messages": _messages(asked.get("messages"), pictures),
        "reply_schema": _schema(asked.get("response_format", {"type": "text"})),
        "max_tokens": limit,
        "temperature": asked.get("temperature", 1.0),
        "seed": asked.get("seed", 0),
    }
    if pictures and not sees:
        raise BadQuestion(f"{name} reads text only - leave the pictures out", "messages")
    try:
        return Chat(Request.from_data(fields, what="request"), pictures)
    except InvalidRecord as error:
        raise BadQuestion(str(error)) from error


def _refuse_unserved(asked: Mapping[str, Any], name: str) -> None:
    if unknown := sorted(asked.keys() - KNOWN):
        raise BadQuestion(f"{unknown[0]} is not served - accepted: {', '.join(sorted(KNOWN))}", unknown[0])
    if asked.get("model") != name:
        raise BadQuestion(f"model {asked.get('model')!r} is not served - accepted: {name}", "model", 404)
    if asked.get("stream"):
        raise BadQuestion("streams are not served - leave stream out", "stream")
    if asked.get("n", 1) != 1:
        raise BadQuestion("one reply is served at a time - leave n out", "n")


def _schema(form: Any) -> dict[str, Any]:
    """Return the schema of the reply; an empty one for free text."""
    kind = form.get("type") if isinstance(form, dict) else None
    if kind == "text":
        return {}
    if kind == "json_object":
        return {"type": "object"}
    inner = form.get("json_schema") if kind == "json_schema" else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if not isinstance(schema, dict) or not schema:
        accepted = "text, json_object, or json_schema with a schema"
        raise BadQuestion(f"response_format has no usable form - accepted: {accepted}", "response_format")
    return schema


def _messages(messages: Any, pictures: dict[str, bytes]) -> list[dict[str, Any]]:
    """Return the fields of the messages; their pictures are added to `pictures` by SHA-256."""
    if not isinstance(messages, list) or not messages:
        raise BadQuestion("messages is absent or empty - accepted: a list of messages", "messages")
    found = []
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in ROLES:
            raise BadQuestion(f"role {role!r} - accepted: {', '.join(ROLES)}", "messages")
        content = message.get("content")
        parts: Any = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(parts, list):
            raise BadQuestion("a message without content - accepted: a text, or a list of parts", "messages")
        texts, shown = [], []
        for part in parts:
            kind = part.get("type") if isinstance(part, dict) else None
            if kind == "text" and isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif kind == "image_url" and isinstance(part.get("image_url"), dict):
                shown.append(_picture(part["image_url"].get("url"), pictures))
            else:
                raise BadQuestion(f"a part of the type {kind!r} - accepted: text, image_url", "messages")
        if len(pictures) > PICTURES:
            raise BadQuestion(f"more than {PICTURES} pictures - show fewer", "messages")
        found.append({"role": ROLES[role], "text": "\n".join(texts), "pictures": shown})
    return found


def _picture(address: Any, pictures: dict[str, bytes]) -> str:
    """Keep a picture as PNG and return its SHA-256; nothing is ever fetched."""
    if not isinstance(address, str) or not (kind := next((kind for kind in KINDS if address.startswith(kind)), "")):
        raise BadQuestion(f"the address of a picture - accepted: {KINDS[0]}…, {KINDS[1]}…", "messages")
    if (len(address) - len(kind)) * 3 // 4 > PICTURE_BYTES:
        raise BadQuestion(f"a picture of more than {PICTURE_BYTES} bytes - make it smaller", "messages", 413)
    try:
        data = base64.b64decode(address[len(kind) :], validate=True)
        opened = Image.open(io.BytesIO(data), formats=["PNG", "JPEG"])
        if opened.width * opened.height > PICTURE_PIXELS:
            raise Image.DecompressionBombError
        if opened.format == "PNG":
            opened.load()
        else:
            kept = io.BytesIO()
            opened.convert("RGB").save(kept, "PNG")
            data = kept.getvalue()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        sentence = f"a picture of more than {PICTURE_PIXELS} pixels - make it smaller"
        raise BadQuestion(sentence, "messages", 413) from None
    except (binascii.Error, OSError, ValueError, SyntaxError):
        raise BadQuestion("a picture cannot be read - accepted: PNG, JPEG", "messages") from None
    name = hashlib.sha256(data).hexdigest()
    pictures[name] = data
    return name
