"""HTTP as it is spoken to servers that nothing trusts: one deadline over all, capped bodies, nothing unpacked."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import httpcore2
import httpx2

ERROR_BYTES = 65536
"""How much is kept of what comes with an error."""
_PIECE_BYTES = 16384
_REDIRECTS = range(300, 400)


class RefusedAnswer(httpx2.TransportError):
    """The server answered in a way that is not accepted; asking again would not help.

    Args:
        reason: What it did.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class CappedTransport(httpx2.BaseTransport):
    """Sends each request over a connection of its own and reads the whole answer, or gives up.

    The deadline counts from the request to the last byte of the body: connecting, TLS, sending, waiting, reading. Only
    looking up the host's name is left to the system's own limits. No proxy of the environment is used.

    Args:
        deadline_s: How long one request may take [s].
        most_bytes: How large a body may be.
    """

    def __init__(self, *, deadline_s: float, most_bytes: int) -> None:
        self._deadline_s, self._most_bytes = deadline_s, most_bytes

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx2.create_ssl_context()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and read its answer.

        Raises:
            RefusedAnswer: A redirect, an encoded body, or one that is too large.
            httpx2.ReadTimeout: There was no whole answer before the deadline.
            httpx2.TransportError: There was no connection, it broke, or what came was no HTTP.
        """
        request.headers["Accept-Encoding"] = "identity"
        limit = _Deadline(time.monotonic() + self._deadline_s)
        tls = self._tls if request.url.scheme == "https" else None
        try:
            with httpcore2.ConnectionPool(tls, max_connections=1, network_backend=_TimedBackend(limit)) as pool:
                return self._exchange(pool, request)
        except (httpcore2.TimeoutException, TimeoutError) as error:
            raise httpx2.ReadTimeout("deadline") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, OSError) as error:
            raise httpx2.TransportError(str(error)) from error

    def _exchange(self, pool: httpcore2.ConnectionPool, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        with pool.stream(request.method, target, headers=request.headers.raw, content=request.read()) as answer:
            headers = httpx2.Headers(answer.headers)
            if answer.status in _REDIRECTS:
                raise RefusedAnswer("the server redirects elsewhere, which is not followed")
            if answer.status >= 400:
                body = b"" if _encoding(headers) else _read(answer, ERROR_BYTES)[:ERROR_BYTES]
            elif encoding := _encoding(headers):
                raise RefusedAnswer(f"the answer is encoded ({encoding!r}), which was not asked for")
            elif len(body := _read(answer, self._most_bytes)) > self._most_bytes:
                raise RefusedAnswer(f"the answer is larger than {self._most_bytes} bytes")
        kept = [(name, value) for name, value in headers.multi_items() if name.lower() not in _OF_THE_BODY]
        return httpx2.Response(answer.status, headers=kept, content=body)


_OF_THE_BODY = {"content-encoding", "content-length", "transfer-encoding"}


def _encoding(headers: httpx2.Headers) -> str:
    """Return how a body is encoded, in short; empty where it is not."""
    encoding = headers.get("Content-Encoding", "").strip().lower()
    return "" if encoding in ("", "identity") else encoding[:20]


def _read(answer: httpcore2.Response, most: int) -> bytes:
    """Read a body until its end, or until it is longer than it may be."""
    body = bytearray()
    for chunk in answer.iter_stream():
        body += chunk
        if len(body) > most:
            break
    return bytes(body)


class _Deadline:
    """A moment of the monotonic clock [s]."""

    def __init__(self, moment_s: float) -> None:
        self._moment_s = moment_s

    def left_s(self) -> float:
        """Return how long there is yet [s]; more than 0."""
        if (left := self._moment_s - time.monotonic()) <= 0:
            raise httpcore2.ReadTimeout("deadline")
        return left


class _TimedBackend(httpcore2.SyncBackend):
    """Connects within what is left of a deadline, whichever of a host's addresses it takes."""

    def __init__(self, deadline: _Deadline) -> None:
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        failed: Exception = httpcore2.ConnectError("the host has no address")
        for *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            left = self._deadline.left_s()
            try:
                stream = super().connect_tcp(str(address[0]), port, left, local_address, socket_options)
            except httpcore2.ConnectError as error:
                failed = error
            else:
                return _TimedStream(stream, self._deadline)
        raise failed


class _TimedStream(httpcore2.NetworkStream):
    """Gives each read and write what is left of a deadline, so that no drip outlives it."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: _Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left_s())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE_BYTES):
            self._stream.write(buffer[start : start + _PIECE_BYTES], self._deadline.left_s())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        started = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left_s())
        return _TimedStream(started, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
