"""One connection to a GR00T server: asks, gives up in time, connects anew."""

from __future__ import annotations

import time
from typing import Any

from evaluator.policies.codec import ArrayForm, WireError, pack, unpack
from evaluator.policies.remote import ASKS, REPLY_BYTES
from scenegen.errors import MissingExtra, PolicyError

try:
    import zmq
except ImportError as error:
    raise MissingExtra("the GR00T protocol", "policies") from error

CONNECT_S = 5.0
"""How long to wait for a server to be there at all [s], within the deadline."""
FAILED = b"ERROR"
"""What some servers reply when they cannot even write an error."""


class GrootLine:
    """Asks one question at a time.

    A socket of this protocol must have its reply before it can ask again, so after a timeout it is replaced.

    Args:
        url: `tcp://HOST:PORT`.
        name: The policy's name, for errors.
        key: Sent as `api_token` if not empty; it appears in no message.
        deadline_s: How long a reply may take [s].
    """

    def __init__(self, url: str, *, name: str, key: str, deadline_s: float) -> None:
        self._url, self._name, self._deadline_s = url, name, deadline_s
        self._token = {"api_token": key} if key else {}
        self._context: zmq.Context[zmq.Socket[bytes]] | None = None
        self._socket: zmq.Socket[bytes] | None = None
        self._breaks: zmq.Socket[bytes] | None = None

    def ask(self, endpoint: str, data: dict[str, Any] | None = None, *, arrays: ArrayForm = ArrayForm.NPY) -> Any:
        """Call an endpoint and return its reply.

        Args:
            endpoint: For example `get_action`.
            data: Its arguments; None sends none.
            arrays: How arrays are written.

        Raises:
            PolicyError: There is no reply in time, the server reports an error, or the reply is malformed.
        """
        request = {"endpoint": endpoint, **({} if data is None else {"data": data}), **self._token}
        reply = self._reply(pack(request, arrays), endpoint)
        if reply == FAILED:
            raise self._error(f"the server failed at {endpoint} without a reason", "an answer")
        try:
            answer = unpack(reply)
        except WireError as error:
            raise self._error(f"a reply with {error}", "msgpack with arrays of numbers") from error
        if isinstance(answer, dict) and "error" in answer:
            said = "".join(char for char in " ".join(str(answer["error"]).split()) if char.isprintable())[:300]
            raise self._error(f"the server reports: {said}", "an answer")
        return answer

    def close(self) -> None:
        """Close the socket, if there is one."""
        if self._context is not None:
            self._context.destroy(linger=0)
            self._context = self._socket = self._breaks = None

    def _reply(self, request: bytes, endpoint: str) -> bytes:
        until = time.monotonic() + self._deadline_s
        for _ in range(ASKS):
            socket, breaks = self._opened()
            try:
                socket.send(request)
            except zmq.Again:
                self.close()
                accepted = "a GR00T server there, for example `scenegen serve --protocol groot`"
                raise self._error(f"{self._url} was not reached", accepted) from None
            poller = zmq.Poller()
            poller.register(socket, zmq.POLLIN)
            poller.register(breaks, zmq.POLLIN)
            ready = dict(poller.poll(round(max(1000 * (until - time.monotonic()), 0))))
            if socket in ready or socket.poll(0):
                return socket.recv()
            self.close()  # a late reply would be taken for the next question's
            if not ready:
                raise self._error(f"no reply to {endpoint} in time", f"a reply within {self._deadline_s:g} s")
        accepted = f"a server that replies, with at most {REPLY_BYTES // 10**6} MB"
        raise self._error(f"the connection broke {ASKS} times", accepted)

    def _opened(self) -> tuple[zmq.Socket[bytes], zmq.Socket[bytes]]:
        """Return the socket, and one that tells when its connection breaks."""
        if self._context is None or self._socket is None or self._breaks is None:
            self._context = zmq.Context()
            self._socket = self._context.socket(zmq.REQ)
            self._socket.setsockopt(zmq.IMMEDIATE, 1)  # without a peer sending waits, and fails after its timeout
            self._socket.setsockopt(zmq.SNDTIMEO, round(1000 * min(self._deadline_s, CONNECT_S)))
            self._socket.setsockopt(zmq.RCVTIMEO, round(1000 * self._deadline_s))
            self._socket.setsockopt(zmq.LINGER, 0)
            self._socket.setsockopt(zmq.MAXMSGSIZE, REPLY_BYTES)
            self._breaks = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            try:
                self._socket.connect(self._url)
            except zmq.ZMQError as error:
                self.close()
                raise self._error(f"{self._url} is no address ({error})", "tcp://HOST:PORT") from error
        return self._socket, self._breaks

    def _error(self, reason: str, accepted: str) -> PolicyError:
        return PolicyError(self._name, reason, accepted)
