"""One episode as a line recorded it: what judging needs, in few arrays that travel well between processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.judging.trace import EndReason, Trace
from scenegen.geometry import Array, quat_from_matrix
from scenegen.robot import Arm

_KIND = {"f": np.float64, "i": np.int_, "b": np.bool_}
"""What judging computes in, whatever the simulator did."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """Samples of one world, of the scenario's items alone."""

    items: tuple[str, ...]
    """Names, in the order of the arrays."""
    fixtures: tuple[str, ...]
    """What `item_fixture` counts."""
    time_s: Array
    """Simulated time since the scenario was put [s], shape [t]."""
    arrays: dict[str, Any]
    """By the names that `Trace` has, in the simulator's precision."""
    latency_s: Array
    """How long each call of the policy took [s], in order, shape [calls]."""

    def trace(self, end: EndReason, arm: Arm) -> Trace:
        """Return it as a trace.

        Args:
            end: Why the episode ended.
            arm: The robot's kinematics: where its tool was.
        """
        arrays = {name: values.astype(_KIND[values.dtype.kind]) for name, values in self.arrays.items()}
        positions, rotations = arm.tcp(arrays["joint_pos"])
        return Trace(
            items=self.items,
            end=end,
            time_s=self.time_s,
            tcp_pose=np.concatenate([positions, quat_from_matrix(rotations)], axis=1),
            fixtures=self.fixtures,
            latency_s=self.latency_s,
            **arrays,
        )
