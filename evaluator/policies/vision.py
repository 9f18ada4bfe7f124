"""The reference camera policy: a small net looks, a script moves. It knows no pose that a picture does not show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.net_sight import NetSight, Places, Sorter
from evaluator.policies.oracle import CHUNK, RATE_HZ
from evaluator.policies.picker import Picker
from evaluator.policies.sight import Sight
from evaluator.policies.stopwatch import Stopwatch
from evaluator.policies.tool_paths import ToolPaths
from evaluator.policies.truth_sight import TruthSight
from evaluator.policy import ActionKind, Observation, PolicySpec, as_numpy
from evaluator.vision.sighting import Sighted
from evaluator.vision.subject import CAMERA, Subject
from evaluator.vision.vantage import vantage
from scenegen.errors import MissingExtra, PolicyError
from scenegen.robot import Arm

try:
    import torch

    from evaluator.vision.eye import Eye
    from evaluator.vision.weights import facts_of, shipped_weights
except ModuleNotFoundError as error:
    raise MissingExtra("the policy vision", "vision") from error

IMAGES = f"{CAMERA}_rgb"


class Vision:
    """Looks into the feed whenever the arm is out of the picture, takes what the net is shown best, feels, puts away.

    It looks from the nominal camera at the nominal feed; what was shifted it misses.

    Args:
        name: As it was asked for.
        context: The cell.
        eye: Its eye; None replaces the eye by the truth, and it moves all the same.
    """

    def __init__(self, name: str, context: PolicyContext, eye: Eye | None) -> None:
        cell, subject = context.cell, Subject.of(context.cell, context.parts)
        self.spec = PolicySpec(
            name,
            ActionKind.JOINT_POSITION,
            cameras=() if eye is None else (CAMERA,),
            truth=eye is None,
            rate_hz=RATE_HZ,
            horizon=CHUNK,
            execute=CHUNK,
        )
        self._context, self._eye = context, eye
        self._sorter = Sorter(cell, context.parts, subject.classes)
        self._vantage = vantage(cell, subject)
        self._paths = ToolPaths(Arm(cell.robot))
        self._pickers: dict[int, Picker] = {}
        self._places: dict[int, Places] = {}
        self.answered_in_s = np.zeros(0)
        """As `Timed` says: it thinks for one world after another, so that many worlds wait no longer than one."""

    def reset(self, worlds: Sequence[int], instructions: Sequence[str]) -> None:
        """Forget what was seen in some worlds."""
        self._paths.forget(worlds)

    def act(self, observation: Observation) -> NDArray[np.float32]:
        """Return the next joint positions of each world, shape [n, CHUNK, joints + 1]."""
        worlds, joints = observation.worlds, as_numpy(observation.policy["joint_pos"])
        watch = Stopwatch(len(worlds))
        new = self._paths.unknown(worlds)
        starts = self._paths.begin([worlds[row] for row in new], joints[new])
        for row, start in zip(new.tolist(), starts, strict=True):
            self._places[worlds[row]] = Places()
            self._pickers[worlds[row]] = Picker(self._context.cell, start, rate_hz=RATE_HZ, look_from=self._vantage)
        ended = self._paths.ended(worlds).tolist()
        for row, sight in zip(ended, self._sights(observation, ended, watch), strict=True):
            with watch.only([row]):
                self._paths.put(worlds[row], self._pickers[worlds[row]].next_points(sight))
        chunks = self._paths.chunk(worlds, CHUNK)
        self.answered_in_s = watch.answered_in_s()
        return chunks

    def close(self) -> None:
        """Nothing is held open."""

    def _sights(self, observation: Observation, rows: list[int], watch: Stopwatch) -> list[Sight]:
        """Say what is known in some worlds of an observation; only where it matters somebody looks."""
        opening = as_numpy(observation.policy["gripper_pos"])[:, 0]
        looking = [row for row in rows if self._pickers[observation.worlds[row]].looks]
        if self._eye is None:
            return [self._knowing(observation, row) for row in rows]
        seen = dict(zip(looking, self._look(observation, looking, watch), strict=True)) if looking else {}
        return [
            NetSight(
                self._sorter, self._places[observation.worlds[row]], opening=float(opening[row]), seen=seen.get(row)
            )
            for row in rows
        ]

    def _look(self, observation: Observation, rows: list[int], watch: Stopwatch) -> list[Sighted]:
        """Look at some worlds; that a simulator draws them is nobody's time."""
        assert self._eye is not None
        with watch.only([]):
            images = self._images(observation, rows)
        with watch.only(rows, at_once=self._eye.at_once(images)):
            return self._eye.look(images)

    def _knowing(self, observation: Observation, row: int) -> Sight:
        if observation.truth is None:
            raise PolicyError(self.spec.name, "it was shown no truth", "observations with the poses of all items")
        return TruthSight(self._context.cell, self._context.parts, observation.truth[row])

    def _images(self, observation: Observation, rows: list[int]) -> Any:
        """Return the images of some worlds of an observation, shape [n, h, w, 3]."""
        assert self._eye is not None
        taken = observation.photograph(rows) if observation.photograph else observation.camera_obs
        images = taken.get(IMAGES)
        if images is None:
            raise PolicyError(self.spec.name, f"it was shown no image of the camera {CAMERA!r}", f"{IMAGES!r}")
        height, width = self._eye.size_px
        images = images if isinstance(images, torch.Tensor) else as_numpy(images)
        if tuple(images.shape[1:]) != (height, width, 3):
            shape = " x ".join(map(str, images.shape[1:]))
            raise PolicyError(self.spec.name, f"{IMAGES} is {shape}", f"{height} x {width} x 3, as the cell's camera")
        return images if observation.photograph else images[rows]


def build(form: PolicyForm, context: PolicyContext) -> Vision:
    """Build it from `vision`, `vision:WEIGHTS` or either with `?perception=truth`."""
    perception = form.options.choice("perception", "net", ("net", "truth"))
    form.options.end()
    if perception == "truth":
        return Vision(form.text, context, None)
    subject = Subject.of(context.cell, context.parts)
    command = f"scenegen train-vision --cell {context.cell.name} -o FILE"
    path = Path(form.target) if form.target else shipped_weights(subject)
    if path is None:
        reason = f"no weights come with scenegen for the cell {context.cell.name!r} as it is"
        raise PolicyError(form.text, reason, f"vision:FILE, with a file that `{command}` has written")
    if facts_of(path)["subject"] != subject.content_id:
        reason = f"{path} was trained for another view than that of the cell {context.cell.name!r}"
        raise PolicyError(form.text, reason, f"a file that `{command}` has written")
    return Vision(form.text, context, Eye.of(context.cell, subject, path))
