"""Policies behind GR00T's ZeroMQ protocol; one question for all worlds at once."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.codec import WireError
from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.groot_adapter import GrootAdapter
from evaluator.policies.groot_line import GrootLine
from evaluator.policies.modality import GrootForm, Modalities
from evaluator.policies.options import OPTION
from evaluator.policies.remote import DEADLINE_S, KEY_VARIABLE, LEAST_DEADLINE_S, MOST_DEADLINE_S, OURS, is_address
from evaluator.policy import Observation, PolicySpec
from scenegen.errors import InvalidOption, PolicyError

_GROUPS = ("video", "state", "action")
RATE_HZ = 15.0
"""Actions a second where the user does not say: DROID's."""
EXECUTE = 8
"""How many actions of a chunk are carried out, at most, where the user does not say."""


class GrootPolicy:
    """Asks a server for all worlds at once.

    Args:
        line: Where the server is.
        adapter: Between its keys and ours.
        form: Of the protocol.
        spec: With the name, the rate and how many actions are carried out.
        ours: Whether the server is one of ours, which can be told of worlds.
    """

    def __init__(
        self, line: GrootLine, adapter: GrootAdapter, form: GrootForm, spec: PolicySpec, *, ours: bool
    ) -> None:
        self.spec = spec
        self._line, self._adapter, self._form, self._ours = line, adapter, form, ours
        self._video, self._state = adapter.histories(spec.execute)

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Begin new episodes. Only our own server is told which worlds, in the options; others forget everything.

        Raises:
            PolicyError: The server does not take it.
        """
        self._video.reset(worlds)
        self._state.reset(worlds)
        if self._form is not GrootForm.N15:  # N1.5 has no such endpoint, and no memory
            said = {"worlds": list(worlds), "instructions": list(instructions)} if self._ours else None
            self._line.ask("reset", {"options": said}, arrays=self._form.arrays)

    def act(self, observation: Observation) -> NDArray[np.float32]:
        """Return a chunk for each world, shape [n, horizon, numbers].

        Raises:
            PolicyError: The observation lacks something, or there is no usable answer.
        """
        try:
            asked = self._adapter.question(observation, self._video, self._state, self._form)
        except KeyError as error:
            raise PolicyError(self.spec.name, f"the observation has no {error.args[0]}", "one that has it") from error
        data: dict[str, Any] = asked
        if self._form is not GrootForm.N15:
            said = {"worlds": list(observation.worlds), "seeds": list(observation.seeds)} if self._ours else None
            data = {"observation": asked, "options": said}
        reply = self._line.ask("get_action", data, arrays=self._form.arrays)
        try:
            return self._adapter.chunks(reply, len(observation.worlds), self._form)
        except WireError as error:
            raise PolicyError(self.spec.name, f"a reply with {error}", "what its modalities say") from error

    def close(self) -> None:
        """Close the connection."""
        self._line.close()


def build(form: PolicyForm, context: PolicyContext) -> GrootPolicy:
    """Build it from `groot:tcp://HOST:PORT`; the server is asked what it reads and gives."""
    if not is_address(form.target, ("tcp",)):
        raise InvalidOption(OPTION, form.text, f"groot:tcp://HOST:PORT; a key goes into {KEY_VARIABLE}")
    options = form.options
    asked_form = options.choice("form", "auto", ["auto", *GrootForm])
    deadline_s = options.number("deadline", DEADLINE_S, LEAST_DEADLINE_S, MOST_DEADLINE_S)
    rate_hz = options.number("rate", RATE_HZ, 0.1, 1000)
    image_px = _image_px(form)
    named = {f"{group}.{key}": value for group in _GROUPS for key, value in options.under(f"{group}.").items()}
    line = GrootLine(form.target, name=form.text, key=os.environ.get(KEY_VARIABLE, ""), deadline_s=deadline_s)
    try:
        ours = OURS in line.ask("ping")
        modalities = Modalities.read(line.ask("get_modality_config"))
        cameras = [camera.name for camera in context.cell.cameras]
        adapter = GrootAdapter(form.text, modalities, cameras=cameras, named=named, image_px=image_px)
        spec = PolicySpec(
            form.text,
            adapter.action,
            cameras=adapter.cameras,
            image_px=image_px,
            rate_hz=rate_hz,
            horizon=adapter.horizon,
            execute=options.count("execute", min(EXECUTE, adapter.horizon), 1, adapter.horizon),
        )
        options.end()
    except WireError as error:
        line.close()
        raise PolicyError(form.text, f"a reply with {error}", "modalities as GR00T describes them") from error
    except (InvalidOption, PolicyError, LookupError):
        line.close()
        raise
    chosen = modalities.form if asked_form == "auto" else GrootForm(asked_form)
    return GrootPolicy(line, adapter, chosen, spec, ours=ours)


def _image_px(form: PolicyForm) -> tuple[int, int] | None:
    """The size that images are scaled to, `image=HEIGHTxWIDTH`; DROID's policies want 180x320."""
    if not (text := form.options.take("image")):
        return None
    if (match := re.fullmatch(r"([1-9]\d{1,3})x([1-9]\d{1,3})", text)) is None:
        raise InvalidOption(OPTION, form.text, "image=HEIGHTxWIDTH, for example 180x320")
    return int(match[1]), int(match[2])
