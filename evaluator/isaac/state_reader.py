"""What all worlds do, gathered on the simulator's device and brought to the host in one piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import warp as wp
from isaaclab_newton.physics import NewtonManager
from mujoco_warp import OverflowType
from numpy.typing import NDArray

from evaluator.isaac.arms import Arms
from evaluator.isaac.prims import FIXED, SLOT
from evaluator.isaac.state_kernels import (
    BODY,
    FINGER,
    NOTHING,
    PRESSED_BY_FIXTURES,
    add_forces,
    read_slots,
    read_worlds,
)
from evaluator.rollout.line import Floats

FASTEST_M_S = 20.0
"""Parts that fly faster than this were flung by physics that broke [m/s]."""
LOST = (
    OverflowType.NEFC | OverflowType.NJMAX_NNZ | OverflowType.BROADPHASE | OverflowType.NARROWPHASE | OverflowType.CCD
)
"""MuJoCo-Warp's marks of contacts or constraints that found no room."""
THREADS = 2**17
"""Most threads that look through contacts: there is room for many times the contacts that there are."""


class Reading(NamedTuple):
    """What all worlds did when they were read; w worlds, j arm joints, s slots.

    Units and frames are those of `LineState`; forces are those of the last step, whatever was put since.
    """

    joint_pos: Floats
    """Shape [w, j]."""
    joint_vel: Floats
    """Shape [w, j]."""
    joint_torque: Floats
    """Shape [w, j]."""
    opening: Floats
    """Shape [w]."""
    slot_pose: Floats
    """Shape [w, s, 7]."""
    slot_vel: Floats
    """Shape [w, s, 6]."""
    finger_touch: NDArray[np.bool_]
    """Shape [w, s]."""
    body_touch: NDArray[np.bool_]
    """Shape [w, s]."""
    slot_fixture: NDArray[np.int64]
    """Index among the fixtures, -1 for none, shape [w, s]."""
    fixture_force: Floats
    """Shape [w]."""
    lost: NDArray[np.bool_]
    """Contacts or constraints were lost since the worlds were read last, shape [w]."""
    broken: NDArray[np.bool_]
    """Numbers are not finite, or a part was flung, shape [w]."""


class StateReader:
    """Reads worlds that are ready.

    All that is read lies in one buffer, section after section: a GPU's clock is spent on launches and copies, not on
    bytes.

    Args:
        slots: The scene's slots, a collection of rigid objects.
        arms: Its robots, if there are any.
        fixtures: Names of the fixtures, as prims have them; `table` among them.
    """

    def __init__(self, slots: Any, arms: Arms | None, fixtures: Sequence[str]) -> None:
        poses, velocities = slots.data.body_link_pose_w.warp, slots.data.body_com_vel_w.warp
        worlds, count = poses.shape
        self._device = poses.device
        joints = arms.joints if arms is not None else 0
        one, arm, slot = (worlds, 1), (worlds, joints), (worlds, count)
        self._shapes = {
            "joint_pos": arm, "joint_vel": arm, "joint_torque": arm, "opening": one, "slot_pose": (*slot, 7),
            "slot_vel": (*slot, 6), "finger_touch": slot, "body_touch": slot, "slot_fixture": slot,
            "fixture_force": one, "lost": one, "broken": one,
        }  # fmt: skip
        self._ends = np.cumsum([np.prod(shape, dtype=int) for shape in self._shapes.values()]).tolist()
        self._buffer: Any = wp.zeros(self._ends[-1], dtype=float, device=self._device)
        self._host = wp.empty(self._ends[-1], dtype=float, device="cpu", pinned=self._device.is_cuda)
        self._read = self._host.numpy()
        on_slot = wp.zeros((*slot, PRESSED_BY_FIXTURES + len(fixtures)), dtype=wp.int64, device=self._device)
        on_robot = wp.zeros(worlds, dtype=wp.int64, device=self._device)
        self._launches = [
            self._adding(on_slot, on_robot, fixtures),
            self._reading_worlds(arms, on_robot),
            wp.launch(
                read_slots, slot, [poses, velocities, FASTEST_M_S, on_slot],
                self._sections("slot_pose", "slot_vel", "finger_touch", "body_touch", "slot_fixture", "broken"),
                device=self._device, record_cmd=True,
            ),
        ]  # fmt: skip

    def read(self) -> Reading:
        """Return what all worlds do now, in arrays of their own, and forget what was lost."""
        # Poses of what was put follow from joints only now.
        NewtonManager.forward()
        for launch in self._launches:
            launch.launch()
        wp.copy(self._host, self._buffer)
        wp.synchronize_stream(self._device)
        parts = np.split(self._read.copy(), self._ends[:-1])
        found: dict[str, Any] = {
            name: part.reshape(shape) for (name, shape), part in zip(self._shapes.items(), parts, strict=True)
        }
        for name in ("opening", "fixture_force", "lost", "broken"):
            found[name] = found[name][:, 0]
        for name in ("finger_touch", "body_touch", "lost", "broken"):
            found[name] = found[name] != 0
        found["slot_fixture"] = found["slot_fixture"].astype(np.int64)
        return Reading(**found)

    def _sections(self, *names: str) -> list[Any]:
        """Return sections of the buffer as arrays."""
        starts = dict(zip(self._shapes, [0, *self._ends], strict=False))
        ends = dict(zip(self._shapes, self._ends, strict=True))
        return [self._buffer[starts[name] : ends[name]].reshape(self._shapes[name]) for name in names]

    def _adding(self, on_slot: Any, on_robot: Any, fixtures: Sequence[str]) -> Any:
        """Record the launch that adds up forces."""
        solver: Any = NewtonManager._solver
        data, model = solver.mjw_data, solver.mj_model
        owners = [_owner(model.geom(row).name, on_slot.shape[1], fixtures) for row in range(model.ngeom)]
        threads = min(data.naconmax, THREADS)
        contact = data.contact
        return wp.launch(
            add_forces, threads,
            [
                data.nacon, data.naconmax, threads, contact.worldid, contact.geom, contact.efc_address, data.efc.force,
                self._ints(owners),
            ],
            [on_slot, on_robot], device=self._device, record_cmd=True,
        )  # fmt: skip

    def _reading_worlds(self, arms: Arms | None, on_robot: Any) -> Any:
        """Record the launch that reads the robots, and what a world has once."""
        solver: Any = NewtonManager._solver
        data = solver.mjw_data
        if arms is None:
            numbers = [wp.zeros((len(on_robot), 1), dtype=wp.float32, device=self._device)] * 2
            columns, finger_m = [self._ints([])] * 3, 1.0
        else:
            numbers, finger_m = arms.states(), arms.finger_m
            columns = [self._ints(one) for one in (arms.arm, arms.fingers, arms.drives)]
        return wp.launch(
            read_worlds, len(on_robot),
            [*numbers, data.qfrc_actuator, *columns, finger_m, int(LOST), data.overflow, on_robot],
            self._sections(
                "joint_pos", "joint_vel", "joint_torque", "opening", "fixture_force", "lost", "broken",
            ),
            device=self._device, record_cmd=True,
        )  # fmt: skip

    def _ints(self, values: Sequence[int]) -> Any:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self._device)


def _owner(name: str, slots: int, fixtures: Sequence[str]) -> int:
    """Tell from a shape's path what it belongs to."""
    for token in name.split("/"):
        if token.startswith(SLOT):
            return int(token.removeprefix(SLOT))
        if token.startswith(FIXED):
            box = token.removeprefix(FIXED)
            found = [one for one in fixtures if box == one or box.startswith(f"{one}_")]
            return slots + fixtures.index(max(found, key=len)) if found else NOTHING
        if "finger" in token:
            return FINGER
    return BODY if "/Robot/" in name else NOTHING
