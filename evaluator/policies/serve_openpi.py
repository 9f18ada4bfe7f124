"""Any local policy behind the openpi websocket."""

from __future__ import annotations

import hmac
import http
import logging
import threading
import time
from collections.abc import Callable
from types import NoneType, TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.checked import Checked
from evaluator.policies.codec import ArrayForm, WireError, pack, unpack
from evaluator.policies.layout import Layout
from evaluator.policies.openpi import EPISODE_KEY, NO_CAMERA, SEED_KEY, WORLD_KEY
from evaluator.policies.remote import OURS
from evaluator.policies.slots import Slots
from evaluator.policy import Observation
from scenegen.errors import InvalidOption, MissingExtra, PolicyError

try:
    from websockets.exceptions import ConnectionClosed
    from websockets.http11 import Request, Response
    from websockets.sync.server import ServerConnection, serve
except ImportError as error:
    raise MissingExtra("the openpi protocol", "policies") from error

REQUEST_BYTES = 32_000_000
"""Largest question: two images of 2,000 by 2,000 pixels fit."""
CONNECTIONS = 64
"""Most connections at a time."""
CLOSE_S = 0.2
"""How long to wait for a peer's part of closing [s]."""
INTERNAL_ERROR = 1011
"""Close code after a traceback (RFC 6455)."""
OPEN_S = 5.0
"""How long a peer may take to say what it wants [s]."""
_LOG = logging.getLogger("scenegen.serve")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False


class OpenpiServer:
    """Answers questions of one layout, one world each; a context manager that serves until it is left.

    Our own client names world and episode in its questions. For any other a connection is one world and its beginning
    is a reset. A question that cannot be answered gets a text frame with one sentence, and its connection is closed, as
    the protocol wants it; everybody else goes on.

    Args:
        policy: Any policy.
        layout: What is asked and answered.
        cameras: Names of the policy's cameras for the image from outside and from the wrist.
        host: Where to listen.
        port: Where to listen; 0 finds a free one.
        key: What clients must send, if not empty.
        on_answer: Called after each answer.

    Raises:
        InvalidOption: The policy cannot be served in this layout, or nothing can listen there.
    """

    def __init__(
        self,
        policy: Checked,
        layout: Layout,
        *,
        cameras: tuple[str, str] = ("overhead", "wrist"),
        host: str = "127.0.0.1",
        port: int = 8000,
        key: str = "",
        on_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self._policy, self._layout, self._cameras, self._on_answer = policy, layout, cameras, on_answer
        self._key = f"Api-Key {key}" if key else ""
        self._lock = threading.Lock()
        """Held while the policy is used: it is asked for one world at a time."""
        self._slots = Slots()
        self._connections: set[ServerConnection] = set()
        self._ending = threading.Event()
        _check_servable(policy, layout)
        try:
            self._server = serve(
                self._handle,
                host,
                port,
                compression=None,
                max_size=REQUEST_BYTES,
                process_request=self._admit,
                open_timeout=OPEN_S,
                close_timeout=CLOSE_S,
                logger=_LOG,
            )
        except OSError as error:
            said = str(error.strerror).partition(" (")[0]
            raise InvalidOption("--port", port, f"a port that is free on {host} ({said})") from error
        self.url = f"ws://{host}:{self._server.socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, name="openpi server", daemon=True)

    def __enter__(self) -> Self:
        """Serve, in a thread that does not keep the process alive."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all connections and stop listening."""
        self._ending.set()
        self._server.shutdown()
        for connection in list(self._connections):
            connection.close()
        self._thread.join()

    def wait(self) -> None:
        """Return when it is left; signals come through."""
        while not self._ending.wait(0.5):
            pass

    def _run(self) -> None:
        while not self._ending.is_set():
            self._server.serve_forever()  # it also returns when there are no more file descriptors
            self._ending.wait(0.1)

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/healthz":
            return connection.respond(http.HTTPStatus.OK, "OK\n")
        given = request.headers.get("Authorization", "")
        if self._key and not hmac.compare_digest(given.encode(), self._key.encode()):
            return connection.respond(http.HTTPStatus.UNAUTHORIZED, "the key is wrong\n")
        if len(self._connections) >= CONNECTIONS:
            return connection.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, "too many connections\n")
        return None

    def _handle(self, connection: ServerConnection) -> None:
        """Serve one connection until it ends."""
        self._connections.add(connection)
        spec = self._policy.spec
        about = {"policy": spec.name, "action": spec.action.value, "horizon": self._horizon, "rate_hz": spec.rate_hz}
        timing: dict[str, float] = {}
        try:
            connection.send(pack({OURS: True, **about}, ArrayForm.OPENPI))
            for frame in connection:
                start = time.perf_counter()
                reply = self._answer(connection, frame)
                reply["server_timing"] |= timing
                connection.send(pack(reply, ArrayForm.OPENPI))
                with self._lock:
                    self._on_answer()
                timing = {"prev_total_ms": 1000 * (time.perf_counter() - start)}
        except (PolicyError, WireError) as error:
            connection.send(f"scenegen: {error}")
            connection.close(INTERNAL_ERROR, "the frame before this says why")
        except ConnectionClosed:
            pass
        finally:
            self._connections.discard(connection)
            self._slots.free(connection)

    @property
    def _horizon(self) -> int:
        return max(self._policy.spec.horizon, self._layout.horizon)

    def _answer(self, connection: ServerConnection, frame: str | bytes) -> dict[str, Any]:
        if isinstance(frame, str):
            raise WireError("a text frame - accepted: msgpack in a binary frame")
        question = unpack(frame)
        if not isinstance(question, dict):
            raise WireError(f"a question of type {type(question).__name__} - accepted: a mapping")
        world, episode = question.get(WORLD_KEY, 0), question.get(EPISODE_KEY, 0)
        prompt, seed = question.get("prompt", ""), question.get(SEED_KEY)
        if {type(world), type(episode)} != {int} or type(seed) not in (int, NoneType) or not isinstance(prompt, str):
            keys = f"{WORLD_KEY}, {EPISODE_KEY}, {SEED_KEY}"
            raise WireError(f"{keys} or prompt of a wrong type - accepted: numbers, a text")
        state = self._state(question)
        images = self._images(question)
        seeds = () if seed is None else (seed,)
        with self._lock:
            slot, new = self._slots.find(connection, world, episode)
            if new:
                self._policy.reset([slot], [prompt])
            answer = self._policy.act(Observation((slot,), (prompt,), state, images, seeds=seeds))
        for error in answer.errors.values():
            raise error
        chunk = self._layout.wire(_padded(answer.chunks[0], self._horizon))
        return {"actions": chunk, "server_timing": {"infer_ms": 1000 * float(answer.seconds[0])}}

    def _state(self, question: dict[str, Any]) -> dict[str, NDArray[Any]]:
        state = {}
        for key, count in self._layout.shapes.items():
            array = question.get(key)
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu" or array.shape != (count,):
                raise WireError(f"{key} is absent or of another form - accepted: numbers of shape [{count}]")
            state[key] = array[None]
        return self._layout.observed(state)

    def _images(self, question: dict[str, Any]) -> dict[str, NDArray[np.uint8]]:
        images = {}
        for key, camera in zip((self._layout.exterior, self._layout.wrist), self._cameras, strict=True):
            image = question.get(key)
            if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
                raise WireError(f"{key} is absent or of another form - accepted: uint8 of shape [height, width, 3]")
            if camera != NO_CAMERA:
                images[f"{camera}_rgb"] = image[None]
        return images


def _check_servable(policy: Checked, layout: Layout) -> None:
    spec = policy.spec
    if spec.truth:
        raise InvalidOption("--policy", spec.name, "a policy that does not want the true poses")
    if spec.action is not layout.action:
        raise InvalidOption("--layout", f"for {spec.action} of {spec.name}", f"a layout with {spec.action}")
    if policy.numbers != layout.numbers:
        raise InvalidOption("--cell", f"with {policy.numbers} numbers an action", f"{layout.numbers} for this layout")


def _padded(chunk: NDArray[np.float32], horizon: int) -> NDArray[np.float32]:
    """The chunk, its last action repeated until it is long enough."""
    return np.concatenate([chunk, np.repeat(chunk[-1:], max(horizon - len(chunk), 0), axis=0)])
