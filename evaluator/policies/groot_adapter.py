"""Between our observations and chunks and those of a GR00T policy, built from the modalities that its server names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.codec import WireError
from evaluator.policies.history import History
from evaluator.policies.modality import GrootForm, Modalities
from evaluator.policies.options import OPTION
from evaluator.policies.resize import resize_with_pad
from evaluator.policies.rotations import quat_from_rot6d, rot6d_from_quat, rotvec_from_quat
from evaluator.policy import ActionKind, Observation, as_numpy
from scenegen.errors import InvalidOption, UnknownName

SOURCES: dict[str, Callable[[Mapping[str, Any]], NDArray[Any]]] = {
    "joint_pos": lambda p: as_numpy(p["joint_pos"]),
    "joint_vel": lambda p: as_numpy(p["joint_vel"]),
    "gripper_opening": lambda p: as_numpy(p["gripper_pos"]),
    "gripper_closing": lambda p: 1 - as_numpy(p["gripper_pos"]),
    "tcp_pose": lambda p: as_numpy(p["tcp_pose"]),
    "tcp_position": lambda p: as_numpy(p["tcp_pose"])[:, :3],
    "tcp_quat": lambda p: as_numpy(p["tcp_pose"])[:, 3:],
    "tcp_rotvec": lambda p: rotvec_from_quat(as_numpy(p["tcp_pose"])[:, 3:]),
    "tcp_9d": lambda p: np.concatenate(
        [as_numpy(p["tcp_pose"])[:, :3], rot6d_from_quat(as_numpy(p["tcp_pose"])[:, 3:])], axis=1
    ),
}
"""What a state key can be made from: [rad], [rad/s], opening 0 to 1 or its reverse, [m] in the robot's base frame."""

DROID_CAMERAS = {"exterior_image_1_left": "overhead", "wrist_image_left": "wrist"}
"""Which cameras stand for DROID's; another video key must be a camera's name."""

STATES = {
    "joint_position": "joint_pos",
    "joint_positions": "joint_pos",
    "joint_pos": "joint_pos",
    "joints": "joint_pos",
    "arm": "joint_pos",
    "single_arm": "joint_pos",
    "joint_velocity": "joint_vel",
    "joint_vel": "joint_vel",
    "gripper": "gripper_opening",
    "gripper_opening": "gripper_opening",
    "gripper_position": "gripper_closing",
    "tcp_pose": "tcp_pose",
    "eef_position": "tcp_position",
    "eef_quat": "tcp_quat",
    "eef_9d": "tcp_9d",
}
"""Which source stands for a state key of that name; `gripper_position` is DROID's, 0 open, 1 closed."""

ARMS = {
    "joint_position": ActionKind.JOINT_POSITION,
    "joint_velocity": ActionKind.JOINT_VELOCITY,
    "tcp_pose": ActionKind.TCP_POSE,
    "tcp_9d": ActionKind.TCP_POSE,
    "tcp_delta": ActionKind.TCP_DELTA,
}
"""What an action key can move, best first, and which kind of action that makes."""
GRIPPERS = ("gripper_opening", "gripper_closing")
IGNORED = "ignored"
TARGETS = {
    "joint_position": "joint_position",
    "joint_positions": "joint_position",
    "joint_pos": "joint_position",
    "joints": "joint_position",
    "arm": "joint_position",
    "single_arm": "joint_position",
    "joint_velocity": "joint_velocity",
    "tcp_pose": "tcp_pose",
    "tcp_delta": "tcp_delta",
    "eef_9d": "tcp_9d",
    "gripper": "gripper_opening",
    "gripper_opening": "gripper_opening",
    "gripper_position": "gripper_closing",
}
"""What an action key of that name moves. GR00T's servers make relative actions absolute before they answer."""


class GrootAdapter:
    """Builds questions and reads answers.

    Args:
        text: The policy's text, for errors.
        modalities: As the server describes them.
        cameras: The cell's cameras.
        named: What the user says of keys: `video.KEY` is a camera, `state.KEY` a source, `action.KEY` a target.
        image_px: Height and width that images are scaled to; None leaves them.

    Raises:
        InvalidOption: A key cannot be told by its name, and the user has not said what it is.
        WireError: The modalities cannot be served.
        UnknownName: What the user says of a key does not exist.
    """

    def __init__(
        self,
        text: str,
        modalities: Modalities,
        *,
        cameras: Sequence[str],
        named: Mapping[str, str],
        image_px: tuple[int, int] | None = None,
    ) -> None:
        self._text, self._modalities, self._named, self._image_px = text, modalities, dict(named), image_px
        if max(*modalities.video.deltas, *modalities.state.deltas) > 0:
            raise WireError("modalities that look ahead")
        droid = {key: camera for key, camera in DROID_CAMERAS.items() if camera in cameras}
        by_name = {**droid, **{camera: camera for camera in cameras}}
        self._video = self._mapped("video", modalities.video.keys, by_name, cameras)
        self._state = self._mapped("state", modalities.state.keys, STATES, SOURCES)
        targets = self._mapped("action", modalities.action.keys, TARGETS, [*ARMS, *GRIPPERS, IGNORED])
        self._arm, self._arm_target = self._picked(targets, list(ARMS))
        self._gripper, self._gripper_target = self._picked(targets, list(GRIPPERS))
        if self._named:
            raise UnknownName("key of the server's modalities", next(iter(self._named)), self._keys())
        self.cameras = tuple(dict.fromkeys(self._video.values()))
        self.action = ARMS[self._arm_target]
        self.horizon = modalities.action.deltas[-1] - modalities.action.deltas[0] + 1

    def histories(self, stride: int) -> tuple[History, History]:
        """Return empty histories of video and of state; see `History`."""
        return History(self._modalities.video.deltas, stride=stride), History(
            self._modalities.state.deltas, stride=stride
        )

    def question(self, observation: Observation, video: History, state: History, form: GrootForm) -> dict[str, Any]:
        """Build the observation that the server wants.

        Args:
            observation: What n worlds show.
            video: What they showed before.
            state: What they showed before.
            form: Flat or nested.

        Raises:
            KeyError: The observation lacks a camera or a state.
        """
        worlds = observation.worlds
        images = {key: as_numpy(observation.camera_obs[f"{camera}_rgb"]) for key, camera in self._video.items()}
        if self._image_px is not None:
            images = {key: resize_with_pad(array, *self._image_px) for key, array in images.items()}
        states = {key: SOURCES[source](observation.policy) for key, source in self._state.items()}
        seen = video.shown(worlds, images)
        felt = state.shown(worlds, {key: array.astype(np.float32) for key, array in states.items()})
        told, steps = self._modalities.language.keys, len(self._modalities.language.deltas)
        if form.flat:
            return {
                **{f"video.{key}": array for key, array in seen.items()},
                **{f"state.{key}": array for key, array in felt.items()},
                **{key: list(observation.instructions) for key in told},
            }
        return {
            "video": seen,
            "state": felt,
            "language": {key: [[text] * steps for text in observation.instructions] for key in told},
        }

    def chunks(self, reply: Any, worlds: int, form: GrootForm) -> NDArray[np.float32]:
        """Read a chunk for each world, shape [n, horizon, numbers].

        Raises:
            WireError: The reply is of another form.
        """
        if form is not GrootForm.N15:
            if not isinstance(reply, list) or len(reply) != 2:
                raise WireError(f"an answer of type {type(reply).__name__} instead of action and info")
            reply = reply[0]
        if not isinstance(reply, Mapping):
            raise WireError(f"actions of type {type(reply).__name__}")
        front = "action." if form.flat else ""
        arm = self._column(reply, front + self._arm, worlds)
        gripper = self._column(reply, front + self._gripper, worlds)
        if gripper.shape[2] != 1:
            raise WireError(f"{front}{self._gripper} with {gripper.shape[2]} numbers instead of 1")
        if self._arm_target == "tcp_9d":
            if arm.shape[2] != 9:
                raise WireError(f"{front}{self._arm} with {arm.shape[2]} numbers instead of 9")
            finite = np.isfinite(arm).all(axis=-1, keepdims=True)
            quats = quat_from_rot6d(np.where(finite, arm[..., 3:], 0.0))
            arm = np.where(finite, np.concatenate([arm[..., :3], quats], axis=-1), np.nan)
        opening = 1 - gripper if self._gripper_target == "gripper_closing" else gripper
        return np.concatenate([arm, np.clip(opening, 0, 1)], axis=-1).astype(np.float32)

    def _column(self, reply: Mapping[str, Any], key: str, worlds: int) -> NDArray[Any]:
        array = reply.get(key)
        if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
            held = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise WireError(f"{key} of type {held}")
        if array.ndim == 2 and worlds == 1:
            array = array[None]
        if array.ndim != 3 or len(array) != worlds or array.shape[1] < self.horizon:
            raise WireError(f"{key} of shape {list(array.shape)} instead of [{worlds}, {self.horizon}, numbers]")
        return array[:, : self.horizon]

    def _mapped(
        self,
        modality: str,
        keys: Sequence[str],
        by_name: Mapping[str, str],
        accepted: Sequence[str] | Mapping[str, Any],
    ) -> dict[str, str]:
        found = {}
        for key in keys:
            said = self._named.pop(f"{modality}.{key}", "")
            if said and said not in accepted:
                raise UnknownName(f"meaning of {modality}.{key}", said, accepted)
            if not said and key not in by_name:
                raise InvalidOption(
                    OPTION, f"{self._text} (its {modality} has {key})", f"{modality}.{key}={'|'.join(accepted)}"
                )
            found[key] = said or by_name[key]
        return found

    def _picked(self, targets: Mapping[str, str], wanted: Sequence[str]) -> tuple[str, str]:
        """Return the key and the target of the best of the wanted ones."""
        for target in wanted:
            for key, given in targets.items():
                if given == target:
                    return key, target
        keys = ", ".join(targets)
        raise InvalidOption(OPTION, f"{self._text} (its action has {keys})", f"action.KEY={'|'.join(wanted)}")

    def _keys(self) -> list[str]:
        groups = ("video", "state", "action")
        return [f"{group}.{key}" for group in groups for key in getattr(self._modalities, group).keys]
