"""Policies behind the openpi websocket: pi0, pi0.5 and what speaks like them; one question a world."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.layout import IMAGE_PX, LAYOUTS, Layout
from evaluator.policies.openpi_line import OpenpiLine
from evaluator.policies.options import OPTION
from evaluator.policies.remote import DEADLINE_S, KEY_VARIABLE, LEAST_DEADLINE_S, MOST_DEADLINE_S, is_address
from evaluator.policies.resize import resize_with_pad
from evaluator.policies.rows import with_room
from evaluator.policies.unanswered import Unanswered
from evaluator.policy import Observation, PolicySpec, as_numpy
from scenegen.errors import InvalidOption, PolicyError

TIMED_OUT = 0.9
"""Share of the deadline after which an error is taken for a stalled or absent server."""
NO_CAMERA = "none"
"""In place of a camera: a black image."""
WORLD_KEY, EPISODE_KEY, SEED_KEY = "scenegen/world", "scenegen/episode", "scenegen/seed"
"""Added to questions to our own server: openpi itself knows no worlds and no reset."""


class OpenpiPolicy:
    """Asks a server for each world, over one or more connections; a world stays with its connection.

    Args:
        url: `ws://HOST:PORT`.
        layout: Keys and units.
        spec: With the name, the cameras from outside and at the wrist, the horizon.
        connections: How many questions are put at the same time.
        deadline_s: How long one question may take [s].
        key: The server's key, if it wants one.
    """

    def __init__(
        self,
        url: str,
        layout: Layout,
        spec: PolicySpec,
        *,
        cameras: tuple[str, str],
        connections: int = 1,
        deadline_s: float = DEADLINE_S,
        key: str = "",
    ) -> None:
        self.spec, self._layout, self._cameras = spec, layout, cameras
        self._lines = [OpenpiLine(url, name=spec.name, key=key, deadline_s=deadline_s) for _ in range(connections)]
        self._lines[0].open()
        self._pool = ThreadPoolExecutor(connections, thread_name_prefix=spec.name)
        self._deadline_s = deadline_s
        self._episodes = np.zeros(0, int)
        self.answered_in_s = np.zeros(0)

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Count episodes; the protocol knows no reset, and each question holds the instruction."""
        self._episodes = with_room(self._episodes, worlds)
        self._episodes[list(worlds)] += 1

    def act(self, observation: Observation) -> NDArray[np.float32]:
        """Return a chunk for each world, shape [n, horizon, numbers].

        Raises:
            PolicyError: The observation lacks something.
            Unanswered: Some worlds got no usable answer.
        """
        worlds = observation.worlds
        self.answered_in_s = np.zeros(len(worlds))
        self._episodes = with_room(self._episodes, worlds)
        questions = self._questions(observation)
        groups = [np.flatnonzero(np.asarray(worlds) % len(self._lines) == line) for line in range(len(self._lines))]
        jobs = [
            self._pool.submit(self._ask_group, line, group.tolist(), observation, questions)
            for line, group in zip(self._lines, groups, strict=True)
        ]
        answers: dict[int, NDArray[np.float32] | PolicyError] = {}
        for job in jobs:
            answers |= job.result()
        chunks = np.full((len(worlds), self.spec.horizon, self._layout.numbers), np.nan, np.float32)
        errors: dict[int, PolicyError] = {}
        for row, answer in sorted(answers.items()):
            if isinstance(answer, PolicyError):
                errors[worlds[row]] = answer
            else:
                chunks[row] = answer
        if errors:
            raise Unanswered(self.spec.name, chunks, errors)
        return chunks

    def close(self) -> None:
        """Close the connections."""
        self._pool.shutdown()
        for line in self._lines:
            line.close()

    def healthy(self) -> bool:
        """Tell whether the server answers `GET /healthz`."""
        return self._lines[0].healthy()

    def _questions(self, observation: Observation) -> list[dict[str, Any]]:
        """One question a world, without what depends on the server's metadata."""
        try:
            columns: dict[str, NDArray[Any]] = self._layout.state(observation.policy)
        except KeyError as error:
            raise PolicyError(self.spec.name, f"the observation has no {error.args[0]}", "it in `policy`") from error
        for key, count in self._layout.shapes.items():
            if columns[key].shape[1] != count:
                raise PolicyError(self.spec.name, f"{key} has {columns[key].shape[1]} numbers", f"{count}")
        for key, camera in zip((self._layout.exterior, self._layout.wrist), self._cameras, strict=True):
            columns[key] = self._images(observation, camera)
        return [
            {**{key: column[row] for key, column in columns.items()}, "prompt": instruction}
            for row, instruction in enumerate(observation.instructions)
        ]

    def _images(self, observation: Observation, camera: str) -> NDArray[np.uint8]:
        if camera == NO_CAMERA:
            return np.zeros((len(observation.worlds), *IMAGE_PX, 3), np.uint8)
        if (images := observation.camera_obs.get(f"{camera}_rgb")) is None:
            seen = ", ".join(name.removesuffix("_rgb") for name in observation.camera_obs) or "no camera"
            raise PolicyError(self.spec.name, f"the observation has no camera {camera}, it has {seen}", "that camera")
        return resize_with_pad(as_numpy(images), *IMAGE_PX)

    def _ask_group(
        self, line: OpenpiLine, rows: list[int], observation: Observation, questions: list[dict[str, Any]]
    ) -> dict[int, NDArray[np.float32] | PolicyError]:
        """Ask for one connection's worlds, one after another; once a deadline has passed, not for the rest."""
        answers: dict[int, NDArray[np.float32] | PolicyError] = {}
        worlds, seeds = observation.worlds, observation.seeds
        for row in rows:
            ours = {WORLD_KEY: worlds[row], EPISODE_KEY: int(self._episodes[worlds[row]])}
            ours |= {SEED_KEY: seeds[row]} if seeds else {}
            start = time.perf_counter()
            try:
                answers[row] = self._chunk(line.ask(questions[row], ours=ours))
            except PolicyError as error:
                answers[row] = error
                if time.perf_counter() - start > TIMED_OUT * self._deadline_s:
                    return {**answers, **{later: error for later in rows if later not in answers}}
            finally:
                self.answered_in_s[row] = time.perf_counter() - start
        return answers

    def _chunk(self, reply: dict[str, Any]) -> NDArray[np.float32]:
        actions = reply.get("actions")
        least = self.spec.horizon
        accepted = f"numbers of shape [{least} or more, {self._layout.numbers}] - see horizon= and layout="
        if not isinstance(actions, np.ndarray) or actions.dtype.kind != "f":
            held = actions.dtype if isinstance(actions, np.ndarray) else type(actions).__name__
            raise PolicyError(self.spec.name, f"a reply with actions of type {held}", accepted)
        if actions.ndim != 2 or len(actions) < least or actions.shape[1] != self._layout.numbers:
            raise PolicyError(self.spec.name, f"a reply with actions of shape {list(actions.shape)}", accepted)
        return self._layout.actions(actions[:least])


def build(form: PolicyForm, context: PolicyContext) -> OpenpiPolicy:
    """Build it from `openpi:ws://HOST:PORT?layout=droid` and connect."""
    if not is_address(form.target, ("ws", "wss")):
        raise InvalidOption(OPTION, form.text, f"openpi:ws://HOST:PORT or wss://; a key goes into {KEY_VARIABLE}")
    options = form.options
    layout = LAYOUTS[options.choice("layout", "droid", list(LAYOUTS))]
    names = [NO_CAMERA, *(camera.name for camera in context.cell.cameras)]
    cameras = (
        options.choice("exterior", "overhead" if "overhead" in names else names[1], names),
        options.choice("wrist", "wrist" if "wrist" in names else NO_CAMERA, names),
    )
    horizon = options.count("horizon", layout.horizon, 1, 200)
    spec = PolicySpec(
        form.text,
        layout.action,
        cameras=tuple(dict.fromkeys(camera for camera in cameras if camera != NO_CAMERA)),
        image_px=IMAGE_PX,
        rate_hz=options.number("rate", layout.rate_hz, 0.1, 1000),
        horizon=horizon,
        execute=options.count("execute", min(layout.execute, horizon), 1, horizon),
    )
    connections = options.count("connections", 1, 1, 64)
    deadline_s = options.number("deadline", DEADLINE_S, LEAST_DEADLINE_S, MOST_DEADLINE_S)
    options.end()
    return OpenpiPolicy(
        form.target,
        layout,
        spec,
        cameras=cameras,
        connections=connections,
        deadline_s=deadline_s,
        key=os.environ.get(KEY_VARIABLE, ""),
    )
