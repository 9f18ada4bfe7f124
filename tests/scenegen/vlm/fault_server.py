"""A chat server on 127.0.0.1 that plays faults over real sockets: each request gets the next act, the last for ever."""

import gzip
import json
import socket
import struct
import threading
import time
from contextlib import suppress

KEY = "sk-a-key-that-nobody-may-see"


def http(status=200, body=b"", **headers):
    """An act: a whole HTTP answer; `Retry_After=2` gives the header `Retry-After: 2`."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Content-Length": len(body), "Connection": "close", **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""]).encode() + body


def chat(content='{"ok":true}', finish="stop", **changes):
    """An act: an answer as chat servers give it; changes replace its fields, None removes one."""
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    whole = {"model": "small-2", "choices": [{"index": 0, "finish_reason": finish, "message": message}], "usage": usage}
    return http(body={**whole, **changes})


def error(status, message="it broke", **headers):
    """An act: an error as chat servers give it."""
    return http(status, {"error": {"message": message}}, **headers)


def hang(server, connection):
    server.over.wait(10)


def drip(server, connection):
    """Send a body byte by byte, without end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{")
    _trickle(server, connection)


def drip_headers(server, connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    _trickle(server, connection)


def reset(server, connection):
    """Break the connection in the middle of a body."""
    connection.sendall(chat()[:-20])
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def flood(server, connection):
    """Send 50 MB, and count what was taken."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")
    for _ in range(50):
        connection.sendall(bytes(1_000_000))
        server.flooded += 1_000_000


def bomb(status=200):
    """An act: 64 MiB of zeros, packed into 64 kB."""
    return http(status, gzip.compress(bytes(2**26)), Content_Encoding="gzip")


def _trickle(server, connection):
    while not server.over.wait(0.03):
        connection.sendall(b"x")


class FaultServer:
    def __init__(self, *acts):
        self.acts, self.requests, self.headers, self.flooded = acts, [], [], 0
        self.over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self._threads = [threading.Thread(target=self._listen)]
        self._threads[0].start()

    def close(self):
        self.over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _listen(self):
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._threads.append(threading.Thread(target=self._play, args=[connection]))
                self._threads[-1].start()

    def _play(self, connection):
        with connection, suppress(OSError):
            connection.settimeout(10)
            with connection.makefile("rb") as file:
                head = iter(file.readline, b"\r\n")
                next(head)
                pairs = [line.decode().strip().split(": ", 1) for line in head]
                headers = {name.lower(): value for name, value in pairs}
                body = file.read(int(headers["content-length"]))
            act = self.acts[min(len(self.requests), len(self.acts) - 1)]
            self.headers.append(headers)
            self.requests.append(json.loads(body))
            if callable(act):
                act(self, connection)
            else:
                connection.sendall(act)
                connection.shutdown(socket.SHUT_WR)


def refusing_url():
    """The URL of a port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def timed(action):
    """Return an error that an action raises, or what it returns, and how long that took [s]."""
    start = time.monotonic()
    try:
        result = action()
    except Exception as raised:
        result = raised
    return result, time.monotonic() - start
