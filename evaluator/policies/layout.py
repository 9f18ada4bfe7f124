"""What a family of openpi policies is asked and answers: names of keys, units, and our own in place of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.rotations import quat_from_rotvec, rotvec_from_quat
from evaluator.policy import ActionKind, as_numpy

State = dict[str, NDArray[Any]]

IMAGE_PX = (224, 224)
"""Height and width of the images that openpi's models see."""
DROID_RATE_HZ = 15.0
"""DROID's control rate."""
DROID_SPEED_RAD_S = 3.0
"""Joint speed that a DROID velocity of 1 means: 0.2 rad a step (`max_joint_delta` of its IK solver) at 15 Hz."""
LIBERO_STEP = np.array([0.05, 0.05, 0.05, 0.5, 0.5, 0.5])
"""Step of the tool that a LIBERO action of 1 means [m, rad]: `output_max` of robosuite's OSC_POSE."""
LIBERO_FINGER_M = 0.04
"""How far each finger of LIBERO's gripper is from the middle when it is open [m]."""


@dataclass(frozen=True)
class Layout:
    """Keys and units of one family of policies, in both directions."""

    action: ActionKind
    rate_hz: float
    horizon: int
    """Actions of a chunk that every policy of the family gives; a longer one is cut."""
    execute: int
    numbers: int
    """Numbers of an action on the wire."""
    exterior: str
    """Key of the image from outside."""
    wrist: str
    """Key of the image from the wrist."""
    state: Callable[[Mapping[str, Any]], State]
    """From an observation's `policy` group of n worlds to arrays by key, shape [n, ...]."""
    observed: Callable[[State], State]
    """The way back; what the wire does not tell is left out."""
    actions: Callable[[NDArray[Any]], NDArray[np.float32]]
    """From actions on the wire, shape [..., numbers], to ours."""
    wire: Callable[[NDArray[Any]], NDArray[np.float32]]
    """The way back."""

    @property
    def shapes(self) -> dict[str, int]:
        """How many numbers each key of the state holds."""
        one = {"joint_pos": np.zeros((1, 7)), "gripper_pos": np.zeros((1, 1)), "tcp_pose": np.eye(7)[6:]}
        return {key: value.shape[1] for key, value in self.state(one).items()}


def _droid_state(policy: Mapping[str, Any]) -> State:
    """DROID's gripper position is 0 open, 1 closed."""
    return {
        "observation/joint_position": as_numpy(policy["joint_pos"]).astype(np.float32),
        "observation/gripper_position": (1 - as_numpy(policy["gripper_pos"])).astype(np.float32),
    }


def _droid_observed(state: State) -> State:
    return {
        "joint_pos": state["observation/joint_position"],
        "gripper_pos": 1 - state["observation/gripper_position"],
    }


def _libero_state(policy: Mapping[str, Any]) -> State:
    """Tool position, rotation vector, and both fingers; in the robot's base frame."""
    tcp, opening = as_numpy(policy["tcp_pose"]), as_numpy(policy["gripper_pos"])
    fingers = opening * np.array([LIBERO_FINGER_M, -LIBERO_FINGER_M])
    state = np.concatenate([tcp[:, :3], rotvec_from_quat(tcp[:, 3:]), fingers], axis=1)
    return {"observation/state": state.astype(np.float32)}


def _libero_observed(state: State) -> State:
    numbers = state["observation/state"]
    return {
        "tcp_pose": np.concatenate([numbers[:, :3], quat_from_rotvec(numbers[:, 3:6])], axis=1),
        "gripper_pos": np.clip(numbers[:, 6:7] / LIBERO_FINGER_M, 0, 1),
    }


def _with_gripper(arm: NDArray[Any], opening: NDArray[Any]) -> NDArray[np.float32]:
    return np.concatenate([arm, opening[..., None]], axis=-1).astype(np.float32)


def _droid_opening(closing: NDArray[Any]) -> NDArray[Any]:
    """DROID's client makes the gripper's number 0 or 1 at one half; what is not finite stays so."""
    return np.where(np.isfinite(closing), np.where(closing > 0.5, 0.0, 1.0), np.nan)


def _droid_velocities(wire: NDArray[Any]) -> NDArray[np.float32]:
    return _with_gripper(np.clip(wire[..., :-1], -1, 1) * DROID_SPEED_RAD_S, _droid_opening(wire[..., -1]))


def _droid_velocities_wire(actions: NDArray[Any]) -> NDArray[np.float32]:
    return _with_gripper(actions[..., :-1] / DROID_SPEED_RAD_S, 1 - actions[..., -1])


def _droid_positions(wire: NDArray[Any]) -> NDArray[np.float32]:
    return _with_gripper(wire[..., :-1], _droid_opening(wire[..., -1]))


def _droid_positions_wire(actions: NDArray[Any]) -> NDArray[np.float32]:
    return _with_gripper(actions[..., :-1], 1 - actions[..., -1])


def _libero_actions(wire: NDArray[Any]) -> NDArray[np.float32]:
    """The gripper's number is -1 open, 1 closed; robosuite clips all numbers to -1 to 1."""
    clipped = np.clip(wire, -1, 1)
    return _with_gripper(clipped[..., :-1] * LIBERO_STEP, (1 - clipped[..., -1]) / 2)


def _libero_wire(actions: NDArray[Any]) -> NDArray[np.float32]:
    return _with_gripper(actions[..., :-1] / LIBERO_STEP, 1 - 2 * actions[..., -1])


_DROID_VELOCITIES = Layout(
    action=ActionKind.JOINT_VELOCITY,
    rate_hz=DROID_RATE_HZ,
    horizon=10,
    execute=8,
    numbers=8,
    exterior="observation/exterior_image_1_left",
    wrist="observation/wrist_image_left",
    state=_droid_state,
    observed=_droid_observed,
    actions=_droid_velocities,
    wire=_droid_velocities_wire,
)
_DROID_POSITIONS = replace(
    _DROID_VELOCITIES, action=ActionKind.JOINT_POSITION, actions=_droid_positions, wire=_droid_positions_wire
)
_LIBERO = Layout(
    action=ActionKind.TCP_DELTA,
    rate_hz=20.0,
    horizon=10,
    execute=5,
    numbers=7,
    exterior="observation/image",
    wrist="observation/wrist_image",
    state=_libero_state,
    observed=_libero_observed,
    actions=_libero_actions,
    wire=_libero_wire,
)
LAYOUTS = {"droid": _DROID_VELOCITIES, "droid_joint_position": _DROID_POSITIONS, "libero": _LIBERO}
"""Layouts by name. `droid` is for checkpoints that answer joint velocities, `droid_joint_position` for those with joint
targets (`..._jointpos`), `libero` for steps of the tool. Images are upright; LIBERO's own client turns those of its
simulator by 180° because they come upside down."""
