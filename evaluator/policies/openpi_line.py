"""One connection to an openpi server: connects, asks, gives up in time, connects anew."""

from __future__ import annotations

import http.client
import struct
import time
from socket import SO_SNDTIMEO, SOL_SOCKET
from typing import Any
from urllib.parse import urlsplit

from evaluator.policies.codec import ArrayForm, WireError, pack, unpack
from evaluator.policies.remote import ASKS, KEY_VARIABLE, OURS, REPLY_BYTES
from scenegen.errors import MissingExtra, PolicyError

try:
    from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
    from websockets.sync.client import ClientConnection, connect
except ImportError as error:
    raise MissingExtra("the openpi protocol", "policies") from error

FIRST_PAUSE_S = 0.05
"""Pause before the second attempt to connect [s]; each further one is twice as long."""
LONGEST_PAUSE_S = 1.0
TOO_LARGE = 1009
"""Close code of a message that is too large (RFC 6455)."""
CLOSE_S = 0.1
"""How long to wait for a peer's part of closing [s]: nothing depends on it."""
HEALTH_S = 1.0
"""How long `/healthz` may take [s], and at most the deadline."""


class OpenpiLine:
    """Asks one question at a time. Nothing is connected before the first one.

    Args:
        url: `ws://` or `wss://`, host, port.
        name: The policy's name, for errors.
        key: Sent as `Authorization: Api-Key …` if not empty; it appears in no message.
        deadline_s: How long connecting, sending and the reply may take together [s].
    """

    def __init__(self, url: str, *, name: str, key: str, deadline_s: float) -> None:
        self._url, self._name, self._deadline_s = url, name, deadline_s
        self._headers = {"Authorization": f"Api-Key {key}"} if key else {}
        self._connection: ClientConnection | None = None
        self.metadata: dict[str, Any] = {}
        """What the server said of itself when it was last connected to."""

    def open(self) -> None:
        """Connect, if there is no connection.

        Raises:
            PolicyError: Nothing that speaks this protocol answers before the deadline.
        """
        self._opened(time.monotonic() + self._deadline_s)

    def ask(self, question: dict[str, Any], *, ours: dict[str, Any]) -> dict[str, Any]:
        """Put a question and return the reply.

        Args:
            question: By key.
            ours: More of it, if the server is one of ours.

        Raises:
            PolicyError: There is no reply in time, the server reports an error, or the reply is malformed.
        """
        until = time.monotonic() + self._deadline_s
        for _ in range(ASKS):
            connection = self._opened(until)
            message = pack({**question, **ours} if OURS in self.metadata else question, ArrayForm.OPENPI)
            try:
                _limit_sending(connection, until - time.monotonic())
                connection.send(message)
                return self._mapping(connection.recv(timeout=max(until - time.monotonic(), 0)))
            except TimeoutError:
                break
            except ConnectionClosed as error:
                if error.sent is not None and error.sent.code == TOO_LARGE:
                    self.close()
                    accepted = f"at most {REPLY_BYTES // 10**6} MB"
                    raise self._error("a reply that is too large", accepted) from error
            except OSError:
                pass  # the socket was closed since the last question
            self.close()
            if time.monotonic() >= until:
                break
        else:
            raise self._error(f"the connection broke {ASKS} times", "a server that answers")
        self.close()  # a late reply would be taken for the next question's
        raise self._error("no reply in time", f"a reply within {self._deadline_s:g} s")

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def healthy(self) -> bool:
        """Tell whether the server answers `GET /healthz` with 200."""
        parts = urlsplit(self._url)
        secure = parts.scheme == "wss"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        asked = kind(parts.hostname or "", parts.port, timeout=min(HEALTH_S, self._deadline_s))
        try:
            asked.request("GET", "/healthz", headers=self._headers)
            return asked.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            asked.close()

    def _opened(self, until: float) -> ClientConnection:
        """Return the connection; make one if there is none, again and again until the deadline."""
        pause_s = FIRST_PAUSE_S
        while self._connection is None:
            left_s = until - time.monotonic()
            try:
                self._connection = self._connected(left_s)
                self.metadata = self._mapping(self._connection.recv(timeout=max(until - time.monotonic(), 0)))
            except (OSError, WebSocketException) as error:
                self.close()
                if isinstance(error, InvalidStatus) and error.response.status_code in (401, 403):
                    raise self._error("the server refuses the key", f"the key in {KEY_VARIABLE}") from error
                if until - time.monotonic() < pause_s:
                    raise self._unreachable(error) from error
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        return self._connection

    def _connected(self, left_s: float) -> ClientConnection:
        """Connect straight to the server, without the environment's proxies and without pings.

        Servers that think for a minute in the thread that should answer pings would be given up by them.
        """
        return connect(
            self._url,
            additional_headers=self._headers,
            compression=None,
            max_size=REPLY_BYTES,
            open_timeout=max(left_s, FIRST_PAUSE_S),
            close_timeout=CLOSE_S,
            ping_interval=None,
            proxy=None,
        )

    def _mapping(self, frame: str | bytes) -> dict[str, Any]:
        if isinstance(frame, str):
            self.close()  # the server closes after it has sent its traceback
            raise self._error(f"the server reports: {_last_line(frame)}", "an answer")
        try:
            data = unpack(frame)
        except WireError as error:
            self.close()
            raise self._error(f"a reply with {error}", "msgpack with arrays of numbers") from error
        if not isinstance(data, dict):
            self.close()
            raise self._error(f"a reply of type {type(data).__name__}", "a mapping")
        return data

    def _unreachable(self, error: Exception) -> PolicyError:
        health = "/healthz answers" if self.healthy() else "/healthz does not answer"
        said = " ".join(str(error).split())[:200] or type(error).__name__
        accepted = "an openpi server there, for example `scenegen serve --protocol openpi`"
        return self._error(f"{self._url} was not reached in {self._deadline_s:g} s ({said}; {health})", accepted)

    def _error(self, reason: str, accepted: str) -> PolicyError:
        return PolicyError(self._name, reason, accepted)


def _limit_sending(connection: ClientConnection, left_s: float) -> None:
    """Let sending fail after some time: it has no timeout of its own, and a peer that does not read would hold us."""
    whole, part = divmod(max(left_s, FIRST_PAUSE_S), 1)
    connection.socket.setsockopt(SOL_SOCKET, SO_SNDTIMEO, struct.pack("@ll", int(whole), int(part * 1e6)))


def _last_line(text: str) -> str:
    """The end of a traceback, without what a terminal would obey."""
    lines = [line for line in text[-2000:].splitlines() if line.strip()]
    return "".join(char for char in (lines or ["nothing"])[-1].strip() if char.isprintable())[:300]
