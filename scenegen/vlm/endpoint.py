"""Models behind an OpenAI-compatible server: a chat becomes a request, its answer a reply that was checked."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx2
import openai

from scenegen.errors import InvalidOption, VlmError
from scenegen.record import canonical_text
from scenegen.vlm.answers import UnusableAnswer, message_of, quoted, read_answer
from scenegen.vlm.capped import CappedTransport, RefusedAnswer
from scenegen.vlm.chat import Chat, Message, Reply
from scenegen.vlm.tries import MOST_PATIENCE_S, MOST_TRIES, RETRIED, TryFailed, asked_wait_s, try_often

DEFAULT_URL = "https://api.openai.com/v1"
KEY_VARIABLES = ("SCENEGEN_VLM_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the key; the first that does counts."""
DEADLINE_S = 120.0
"""How long one try may take [s], unless told otherwise."""
MOST_BYTES = 4 * 2**20
"""How large an answer may be."""
TYPED = "openai:MODEL or openai:MODEL@http(s)://HOST[:PORT]/v1"
"""How an endpoint is typed."""

_UNKNOWN_MARKS = {
    "max_tokens": ("max_completion_tokens",),
    "temperature": ("'temperature'",),
    "seed": ("'seed'",),
    "response_format": ("response_format", "json_schema"),
}
"""What a server's refusal speaks of, by the parameter that it does not know."""
_REFUSES_FORMAT = {400, 404, 422}
"""Statuses of servers that know no `response_format`, whatever they say."""
_SCHEMA_WORDS = "Reply with one JSON object and nothing else. It must be valid under this JSON schema:"
_SHORTEST_SECRET = 8
"""Keys shorter than this are placeholders, such as `none`, and are not searched for in replies."""
_CHECK_URL = "check the URL, which should be like http://127.0.0.1:8000/v1"
_NO_KEY = (
    "set SCENEGEN_VLM_KEY or OPENAI_API_KEY, or name a server on this machine, which needs none "
    "(openai:MODEL@http://127.0.0.1:8000/v1); procedural axes need neither"
)


class _Unsupported(Exception):
    """The server does not know a parameter of the request."""

    def __init__(self, parameter: str) -> None:
        self.parameter = parameter
        super().__init__(parameter)


class Endpoint:
    """A model that a server offers over chat completions; may be asked by many threads at once.

    Parameters that the server turns out not to know are left out from then on; without `response_format`, the schema is
    put into the system message.

    Args:
        model: The model, as the server names it.
        base_url: The server's URL up to `/v1`.
        key: The key; empty where the server needs none. It is sent to the server and nowhere else.
        deadline_s: How long one try may take [s].
        most_bytes: How large an answer may be.
        sleep: Waits between tries [s].

    Example:
        >>> endpoint = Endpoint("qwen2.5-vl", "http://127.0.0.1:8000/v1")
        >>> endpoint.model
        'openai:qwen2.5-vl@http://127.0.0.1:8000/v1'

    Raises:
        VlmError: The key cannot be sent.
    """

    def __init__(
        self,
        model: str,
        base_url: str = DEFAULT_URL,
        key: str = "",
        *,
        deadline_s: float = DEADLINE_S,
        most_bytes: int = MOST_BYTES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = f"openai:{model}" if base_url == DEFAULT_URL else f"openai:{model}@{base_url}"
        if not re.fullmatch(r"[!-~]*", key):  # the SDK's own errors would show it
            reason = "the key holds spaces, line ends or other characters that cannot be sent"
            raise VlmError(self.model, reason, f"set {' or '.join(KEY_VARIABLES)} anew")
        self._asked, self._key, self._deadline_s, self._sleep = model, key, deadline_s, sleep
        self._transport = CappedTransport(deadline_s=deadline_s, most_bytes=most_bytes)
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=base_url,
            max_retries=0,
            timeout=deadline_s,
            http_client=httpx2.Client(transport=self._transport, trust_env=False, follow_redirects=False),
        )
        self._omitted: frozenset[str] = frozenset()
        self._knows_format = False

    def reply(self, chat: Chat) -> Reply:
        """Ask the server.

        Raises:
            VlmError: There was no usable reply, after all tries.
        """
        omitted = self._omitted
        while True:
            try:
                return self._tried(chat, omitted)
            except _Unsupported as unsupported:
                omitted |= {unsupported.parameter}
            except TryFailed as failed:
                raise VlmError(self.model, failed.reason, failed.remedy) from None

    def close(self) -> None:
        """Give back the connections."""
        self._client.close()

    def _tried(self, chat: Chat, omitted: frozenset[str]) -> Reply:
        """Ask until there is a reply, and remember what the server does not know.

        A server that fails whenever it sees a `response_format` is told by the last try, which leaves it out.
        """
        last = 0

        def once(number: int) -> Reply:
            nonlocal last
            left_out = omitted
            if number == MOST_TRIES and last == 500 and not self._knows_format:
                left_out |= {"response_format"}
            try:
                reply = self._once(chat, left_out)
            except TryFailed as failed:
                last = failed.status
                raise
            self._omitted |= left_out
            self._knows_format |= "response_format" not in left_out
            return reply

        return try_often(once, self._sleep)

    def _once(self, chat: Chat, omitted: frozenset[str]) -> Reply:
        try:
            raw = self._client.chat.completions.with_raw_response.create(**_parameters(self._asked, chat, omitted))
        except openai.APIStatusError as error:
            self._explain_status(error.response, omitted)
        except openai.APITimeoutError:
            reason = f"no whole answer within {self._deadline_s:g} s"
            raise TryFailed(reason, "allow more time, or use a faster model", deadline=True) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, RefusedAnswer):
                raise VlmError(self.model, cause.reason, _CHECK_URL) from None
            reason = f"no connection, or it broke{quoted(self._hide(str(cause)))}"
            raise TryFailed(reason, "start the server, or check the URL") from None
        try:
            return read_answer(raw.http_response.content, chat, asked=self._asked, hide=self._hide)
        except UnusableAnswer as unusable:
            if unusable.broken:
                raise TryFailed(unusable.reason, _CHECK_URL) from None
            raise VlmError(self.model, unusable.reason, "use another model or server") from None

    def _explain_status(self, response: httpx2.Response, omitted: frozenset[str]) -> NoReturn:
        """Say what a status other than success means."""
        status, text = response.status_code, response.content.decode(errors="replace")
        if parameter := self._unsupported(status, text, omitted):
            raise _Unsupported(parameter) from None
        if status in RETRIED or status >= 500:
            wait_s = asked_wait_s(response.headers.get("Retry-After"))
            reason = f"the server answered {status}"
            if wait_s is not None and wait_s > MOST_PATIENCE_S:
                reason += f" and asks to wait {wait_s:g} s"
            remedy = "try again later, or ask fewer at once"
            raise TryFailed(reason, remedy, status=status, wait_s=wait_s) from None
        if status in (401, 403):
            reason, remedy = f"the server refuses the key ({status})", f"check {' or '.join(KEY_VARIABLES)}"
        elif status == 404:
            reason = f"the server knows no such model or address{self._words(text)}"
            remedy = "check the model's name and the URL"
        else:
            reason = f"the server refuses the question with {status}{self._words(text)}"
            remedy = "check that the model takes pictures and texts of such length"
        raise VlmError(self.model, reason, remedy) from None

    def _unsupported(self, status: int, text: str, omitted: frozenset[str]) -> str | None:
        """Return the parameter that a server does not know; None where its refusal means something else."""
        if status in (401, 403) or status in RETRIED:
            return None
        said = text.replace('\\"', "'").replace('"', "'")
        may_be = [name for name in _UNKNOWN_MARKS if name not in omitted]
        if self._knows_format and "response_format" in may_be:
            may_be.remove("response_format")
        for name in may_be:
            if any(mark in said for mark in _UNKNOWN_MARKS[name]):
                return name
        return "response_format" if status in _REFUSES_FORMAT and "response_format" in may_be else None

    def _words(self, text: str) -> str:
        try:
            data = httpx2.Response(200, content=text).json()
        except (ValueError, RecursionError):
            data = text
        error = data.get("error", data) if isinstance(data, dict) else data
        return quoted(self._hide(message_of(error)))

    def _hide(self, text: str) -> str:
        return text.replace(self._key, "***") if len(self._key) >= _SHORTEST_SECRET else text


def build(option: str, target: str, environment: Mapping[str, str]) -> Endpoint:
    """Build the endpoint that was asked for.

    Args:
        option: What was typed, for errors.
        target: What stands behind `openai:`.
        environment: Where the key is.

    Raises:
        InvalidOption: The target has another form.
        VlmError: There is no key, and the server is not on this machine.
    """
    form = re.fullmatch(r"([^\s@]+(?:@[^\s@:]+)*?)(?:@(https?://\S+))?", target)
    model, url = (form[1], form[2] or DEFAULT_URL) if form else ("", "")
    if "@" in url or "?" in url or "#" in url:
        shown = f"openai:{model}@…"  # what follows may hold a secret
        raise InvalidOption(
            "--vlm", shown, f"{TYPED} without user, query or fragment; the key is in {KEY_VARIABLES[0]}"
        )
    if not model or not (host := _host(url)):
        raise InvalidOption("--vlm", option, TYPED)
    key = next(filter(None, (environment.get(name, "").strip() for name in KEY_VARIABLES)), "")
    if not key and not _is_loopback(host):
        raise VlmError(option, "there is no key", _NO_KEY)
    return Endpoint(model, url.rstrip("/"), key)


def _host(url: str) -> str:
    """Return the host that a URL names; empty where it names none, or no possible port."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "") if parts.port != 0 else ""
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _parameters(model: str, chat: Chat, omitted: frozenset[str]) -> dict[str, Any]:
    """Return a chat as parameters of `chat.completions.create`."""
    request = chat.request
    form = {"name": request.prompt[:64], "schema": request.reply_schema, "strict": True}
    known = {
        "response_format": {"type": "json_schema", "json_schema": form},
        "temperature": request.temperature,
        "seed": request.seed,
        "max_tokens": request.max_tokens,
    }
    sent = {name: value for name, value in known.items() if name not in omitted}
    if "max_tokens" in omitted:
        sent["max_completion_tokens"] = request.max_tokens
    messages = [_message(message, chat) for message in request.messages]
    if "response_format" in omitted:
        messages = _with_schema(messages, request.reply_schema)
    return {"model": model, "messages": messages, **sent}


def _message(message: Message, chat: Chat) -> dict[str, Any]:
    if not message.pictures:
        return {"role": message.role, "content": message.text}
    urls = [f"data:image/png;base64,{base64.b64encode(chat.pictures[name]).decode()}" for name in message.pictures]
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return {"role": message.role, "content": [{"type": "text", "text": message.text}, *shown]}


def _with_schema(messages: list[dict[str, Any]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Put the schema into the first system message, or before all others."""
    words = f"{_SCHEMA_WORDS}\n{canonical_text(schema)}"
    if messages[0]["role"] == "system" and isinstance(messages[0]["content"], str):
        return [{**messages[0], "content": f"{messages[0]['content']}\n\n{words}"}, *messages[1:]]
    return [{"role": "system", "content": words}, *messages]
