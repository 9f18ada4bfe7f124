"""Any back end behind OpenAI's Chat Completions, as far as one model needs them; for this machine alone by default."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from scenegen.errors import InvalidOption, VlmError
from scenegen.vlm.chat import BackEnd, Chat, Finish, Reply
from scenegen.vlm.question import BadQuestion, parse_question

BODY_BYTES = 40_000_000
"""Largest request: three pictures of the largest size fit."""
WAITING = 8
"""Most requests at a time; one is answered, the others wait."""
SILENCE_S = 30.0
"""How long a peer may be silent [s]."""
UNUSABLE = 422
"""Status where the model gave no usable reply; clients do not repeat it, since the same request fails the same way."""
FINISH = {Finish.STOP: "stop", Finish.LENGTH: "length", Finish.REFUSED: "content_filter"}


class ModelServer:
    """Serves one model until it is left; a context manager.

    Answers `POST /v1/chat/completions`, `GET /v1/models` and `GET /health`. Replies are made one at a time, and nothing
    is fetched: pictures come inside requests.

    Args:
        back_end: Who answers.
        name: What clients call the model.
        sees: Whether it is shown pictures; if not, requests with pictures are refused.
        host: Where to listen.
        port: Where to listen; 0 finds a free one.
        on_answer: Called after each reply.

    Raises:
        InvalidOption: Nothing can listen there.
    """

    def __init__(
        self,
        back_end: BackEnd,
        *,
        name: str,
        sees: bool,
        host: str = "127.0.0.1",
        port: int = 0,
        on_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self._back_end, self._sees, self._on_answer = back_end, sees, on_answer
        self._turn, self._room = threading.Lock(), threading.BoundedSemaphore(WAITING)
        self._served = 0
        try:
            self._server = _Server((host, port), _Handler)
        except OSError as error:
            raise InvalidOption("--port", port, f"a port that is free on {host} ({error.strerror})") from error
        self._server.owner = self
        self.url = f"http://{host}:{self._server.server_address[1]}/v1"
        """What clients take as their base address."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="model server", daemon=True
        )

    def __enter__(self) -> Self:
        """Serve, in a thread that does not keep the process alive."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening; the back end stays open."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self) -> None:
        """Return when it is left; signals come through."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def answer(self, body: bytes) -> dict[str, Any]:
        """Return the completion for a request's body.

        Raises:
            BadQuestion: The request cannot be answered.
        """
        try:
            chat = parse_question(body, self.name, sees=self._sees)
            with self._turn:
                reply = self._back_end.reply(chat)
                self._served += 1
                self._on_answer()
                return self._completion(chat, reply, self._served)
        except VlmError as error:
            raise BadQuestion(str(error), status=UNUSABLE) from error

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Count a request among those that wait.

        Raises:
            BadQuestion: There are too many.
        """
        if not self._room.acquire(blocking=False):
            raise BadQuestion(f"{WAITING} requests wait already - ask again later", status=503)
        try:
            yield
        finally:
            self._room.release()

    def _completion(self, chat: Chat, reply: Reply, number: int) -> dict[str, Any]:
        said = {"role": "assistant", "content": reply.text, "refusal": None}
        if reply.finish is Finish.REFUSED:
            said |= {"content": None, "refusal": reply.text}
        used = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens}
        return {
            "id": f"chatcmpl-{chat.request.content_id}-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": self.name,
            "choices": [{"index": 0, "message": said, "finish_reason": FINISH[reply.finish], "logprobs": None}],
            "usage": {**used, "total_tokens": sum(used.values())},
        }


class _Server(ThreadingHTTPServer):
    owner: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over peers that are gone; anything else is a fault of ours and is printed."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One request on one connection."""

    timeout = SILENCE_S
    server: _Server  # type: ignore[assignment]

    def do_GET(self) -> None:
        name = self.server.owner.name
        if self.path == "/health":
            self._send(200, {"status": "ok"})
        elif self.path == "/v1/models":
            entry = {"id": name, "object": "model", "created": 0, "owned_by": "local"}
            self._send(200, {"object": "list", "data": [entry]})
        else:
            self._refuse(self._nothing_here())

    def do_POST(self) -> None:
        try:
            if self.path != "/v1/chat/completions":
                raise self._nothing_here()
            with self.server.owner.admitted():
                answer = self.server.owner.answer(self._body())
            self._send(200, answer)
        except BadQuestion as error:
            self._refuse(error)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing of single requests."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no HTTP, or a method that is not served."""
        self._refuse(BadQuestion(message or "the request is no HTTP", status=code))

    def _nothing_here(self) -> BadQuestion:
        accepted = "POST /v1/chat/completions, GET /v1/models, GET /health"
        return BadQuestion(f"nothing is at {self.command} {self.path} - accepted: {accepted}", status=404)

    def _body(self) -> bytes:
        if self.headers.get_content_type() != "application/json":  # which web pages cannot send to other sites
            raise BadQuestion("the body's Content-Type - accepted: application/json", status=415)
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise BadQuestion("the body's length is not told - send Content-Length", status=411)
        if len(length) > 12 or int(length) > BODY_BYTES:
            raise BadQuestion(f"a body of more than {BODY_BYTES} bytes - send less", status=413)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise BadQuestion("the body ended early")
        return body

    def _refuse(self, error: BadQuestion) -> None:
        kind = "invalid_request_error" if error.status < 500 else "server_error"
        told = {"message": str(error), "type": kind, "param": error.parameter, "code": None}
        self._send(error.status, {"error": told})

    def _send(self, status: int, data: dict[str, Any]) -> None:
        text = json.dumps(data).encode()
        self.close_connection = True
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            pass  # the peer is gone
