"""Any local policy behind GR00T's ZeroMQ protocol."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Mapping, Sequence
from socket import socketpair
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.checked import Checked
from evaluator.policies.codec import WireError, pack, unpack
from evaluator.policies.modality import GrootForm, Modalities, Modality
from evaluator.policies.remote import OURS
from evaluator.policies.slots import MOST
from evaluator.policy import Observation
from scenegen.errors import InvalidOption, MissingExtra, PolicyError

try:
    import zmq
except ImportError as error:
    raise MissingExtra("the GR00T protocol", "policies") from error

REQUEST_BYTES = 256_000_000
"""Largest question: 800 worlds with two images of 224 by 224 pixels fit."""
STATES = {
    "joint_position": "joint_pos",
    "joint_velocity": "joint_vel",
    "gripper_opening": "gripper_pos",
    "tcp_pose": "tcp_pose",
}
"""What is asked for, by key, and what it is in an observation's `policy` group."""
LANGUAGE = "annotation.human.task_description"


class GrootServer:
    """Answers for many worlds at once; a context manager that serves until it is left.

    Our own client names the worlds of a question and of a reset in the options. For any other a row is a world, and a
    reset is one of all. What cannot be answered gets `{"error": sentence}`; everybody else goes on. `kill` is refused.

    Args:
        policy: Any policy.
        cameras: The cell's cameras, for a policy that wants all.
        form: Of the protocol. Flat and nested questions are both understood.
        host: Where to listen.
        port: Where to listen; 0 finds a free one.
        key: What clients must send as `api_token`, if not empty.
        on_answer: Called after each chunk.

    Raises:
        InvalidOption: The policy cannot be served, or nothing can listen there.
    """

    def __init__(
        self,
        policy: Checked,
        *,
        cameras: Sequence[str] = (),
        form: GrootForm = GrootForm.N16,
        host: str = "127.0.0.1",
        port: int = 5555,
        key: str = "",
        on_answer: Callable[[], None] = lambda: None,
    ) -> None:
        spec = policy.spec
        if spec.truth:
            raise InvalidOption("--policy", spec.name, "a policy that does not want the true poses")
        self._policy, self._form, self._key, self._on_answer = policy, form, key, on_answer
        self._modalities = Modalities(
            video=Modality(tuple(cameras) if spec.cameras == ("*",) else spec.cameras, (0,)),
            state=Modality(tuple(STATES), (0,)),
            action=Modality((spec.action.value, "gripper_opening"), tuple(range(spec.horizon))),
            language=Modality((LANGUAGE,), (0,)),
            form=form,
        )
        self._worlds = 0
        """How many worlds were seen: what a reset of all means."""
        self._ending = threading.Event()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(zmq.REP)
        self._socket.setsockopt(zmq.MAXMSGSIZE, REQUEST_BYTES)
        self._socket.setsockopt(zmq.LINGER, 0)
        try:
            self._socket.bind(f"tcp://{host}:{port or '*'}")
        except zmq.ZMQError as error:
            self._context.destroy(linger=0)
            raise InvalidOption(
                "--port", port, f"a port that is free on {host} ({zmq.strerror(error.errno or 0)})"
            ) from error
        self.url = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        self._bell = socketpair()
        """Rung to end the loop."""
        self._thread = threading.Thread(target=self._run, name="groot server", daemon=True)

    def __enter__(self) -> Self:
        """Serve, in a thread that does not keep the process alive."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening."""
        self._ending.set()
        self._bell[0].send(b"x")
        self._thread.join()
        self._context.destroy(linger=0)
        for end in self._bell:
            end.close()

    def wait(self) -> None:
        """Return when it is left; signals come through."""
        while not self._ending.wait(0.5):
            pass

    def _run(self) -> None:
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._bell[1], zmq.POLLIN)
        while not self._ending.is_set():
            if self._socket in dict(poller.poll()):
                self._socket.send(self._reply(self._socket.recv_multipart()))

    def _reply(self, frames: list[bytes]) -> bytes:
        try:
            if len(frames) != 1:
                raise WireError(f"a request in {len(frames)} parts - accepted: one")
            answer = self._answer(unpack(frames[0]))
        except (PolicyError, WireError) as error:
            answer = {"error": f"scenegen: {error}"}
        return pack(answer, self._form.arrays)

    def _answer(self, request: Any) -> Any:
        if not isinstance(request, dict):
            raise WireError(f"a request of type {type(request).__name__} - accepted: a mapping")
        if self._key and not hmac.compare_digest(str(request.get("api_token", "")).encode(), self._key.encode()):
            raise WireError("Unauthorized: Invalid API token")
        data = request.get("data", {})
        match request.get("endpoint", "get_action"):
            case "ping":
                return {"status": "ok", "message": "Server is running", OURS: True}
            case "get_modality_config":
                return self._modalities.written()
            case "reset":
                return self._reset(data)
            case "get_action":
                answer = self._act(data)
                self._on_answer()
                return answer
            case other:
                accepted = "ping, get_modality_config, reset or get_action"
                raise WireError(f"endpoint {str(other)[:40]!r} - accepted: {accepted}")

    def _reset(self, data: Any) -> dict[str, Any]:
        options = data.get("options") if isinstance(data, dict) else None
        worlds = _worlds(options, self._worlds)
        told = options.get("instructions") if isinstance(options, dict) else None
        self._policy.reset(worlds, _texts(told, len(worlds)) or [""] * len(worlds))
        return {}

    def _act(self, data: Any) -> Any:
        if not isinstance(data, dict):
            raise WireError("a question without an observation")
        asked, options = data, None
        if "observation" in data:
            asked, options = data["observation"], data.get("options")
        flat = not (isinstance(asked, dict) and isinstance(asked.get("state"), dict))
        groups = _grouped(asked) if flat else asked
        images = {f"{key}_rgb": _now(f"video.{key}", groups.get("video"), 5) for key in self._modalities.video.keys}
        told = groups["state"]
        state = {STATES[key]: _now(f"state.{key}", told, 3) for key in STATES if key in told}
        count = {len(array) for array in (*images.values(), *state.values())}
        if len(count) != 1 or (n := count.pop()) > MOST:
            raise WireError("arrays that differ in their number of worlds, or none")
        instructions = _instructions(groups.get("language"), n)
        worlds = _worlds(options, n)
        if len(worlds) != n:
            raise WireError(f"{len(worlds)} numbers of worlds for {n} worlds")
        self._worlds = max(self._worlds, n)
        answer = self._policy.act(
            Observation(tuple(worlds), tuple(instructions), state, images, seeds=_seeds(options, n))
        )
        for error in answer.errors.values():
            raise error
        front = "action." if flat else ""
        kind = self._policy.spec.action
        actions = {f"{front}{kind.value}": answer.chunks[..., :-1], f"{front}gripper_opening": answer.chunks[..., -1:]}
        return actions if self._form is GrootForm.N15 else [actions, {}]


def _now(name: str, group: Any, dimensions: int) -> NDArray[Any]:
    """The newest step of an array of shape [worlds, steps, ...]."""
    array = group.get(name.partition(".")[2]) if isinstance(group, Mapping) else None
    kinds = "u" if dimensions == 5 else "f"
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.ndim != dimensions:
        shape = "uint8 of shape [worlds, steps, height, width, 3]" if dimensions == 5 else "[worlds, steps, numbers]"
        raise WireError(f"{name} is absent or of another form - accepted: {shape}")
    if 0 in array.shape or (dimensions == 5 and (array.shape[-1] != 3 or array.dtype != np.uint8)):
        raise WireError(f"{name} of shape {list(array.shape)}")
    return array[:, -1]


def _grouped(asked: Any) -> dict[str, Any]:
    """A flat observation by modality."""
    groups: dict[str, Any] = {"video": {}, "state": {}, "language": {}}
    for key, value in asked.items() if isinstance(asked, dict) else ():
        front, _, name = key.partition(".")
        if front in ("video", "state"):
            groups[front][name] = value
        else:
            groups["language"][key] = value
    return groups


def _instructions(language: Any, count: int) -> list[str]:
    told = next(iter(language.values()), None) if isinstance(language, dict) else None
    if isinstance(told, list) and all(isinstance(one, list) and len(one) == 1 for one in told):
        told = [one[0] for one in told]
    if (texts := _texts(told, count)) is None:
        raise WireError(f"instructions of another form - accepted: one text for each of {count} worlds")
    return texts


def _texts(told: Any, count: int) -> list[str] | None:
    right = isinstance(told, list) and len(told) == count and all(isinstance(text, str) for text in told)
    return told if right else None


def _seeds(options: Any, count: int) -> tuple[int, ...]:
    """The seeds of the worlds' episodes that options name; none if they name none."""
    named = options.get("seeds") if isinstance(options, dict) else None
    if not named:
        return ()
    if not isinstance(named, list) or len(named) != count or not all(type(seed) is int for seed in named):
        raise WireError(f"seeds of another form - accepted: one number for each of {count} worlds")
    return tuple(named)


def _worlds(options: Any, count: int) -> list[int]:
    """The worlds that options name; all of them if they name none."""
    named = options.get("worlds") if isinstance(options, dict) else None
    if named is None:
        return list(range(count))
    if not isinstance(named, list) or not all(type(world) is int and 0 <= world < MOST for world in named):
        raise WireError(f"numbers of worlds of another form - accepted: different ones, 0 to {MOST - 1}")
    if len(set(named)) != len(named):
        raise WireError("a world that is named twice")
    return named
