"""Tables that shake, each world's in its own way, seen from the table: what lies on it feels its acceleration.

Everything is told in the frame of the table: there table, feed, bins and robot stand still, and loose parts feel
gravity less the table's acceleration (d'Alembert). The table moves by A cos(ωt): it starts at rest, at one end of its
way, so that what does not hold to it stays where it is in the room and swings by A about its mean place as seen from
the table. The robot's own gravity is compensated, and so is its shaking: it stands on the table and is stiff.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import warp as wp

from evaluator.isaac.shaking_kernel import shake


class Shaking:
    """Gravity of all worlds, step by step.

    Args:
        solver: Newton's MuJoCo-Warp solver, with gravity as it is when nothing shakes.
        worlds: Number of worlds.
        timestep_s: Physics step [s].
    """

    def __init__(self, solver: Any, *, worlds: int, timestep_s: float) -> None:
        gravity = solver.mjw_model.opt.gravity
        self._gravity = wp.to_torch(gravity)
        self._still = self._gravity.clone()
        device = self._gravity.device
        self._shaking = torch.zeros((worlds, 5), dtype=torch.float64, device=device)
        self._step = torch.zeros(worlds, dtype=torch.float64, device=device)
        self._shakes = np.zeros(worlds, bool)
        self._launch: Any = wp.launch(
            shake,
            worlds,
            [wp.from_torch(self._still, dtype=wp.vec3), wp.from_torch(self._shaking), timestep_s],
            [wp.from_torch(self._step), gravity],
            device=gravity.device,
            record_cmd=True,
        )

    def begin(self, worlds: list[int], ids: torch.Tensor, shaking: torch.Tensor) -> None:
        """Let the tables of some worlds begin to shake as given, or stand still.

        Args:
            worlds: Numbers of the worlds.
            ids: The same as indices on the device, shape [n].
            shaking: Amplitude [m], angular frequency [rad/s] and unit direction, shape [n, 5].
        """
        self._shaking[ids] = shaking.double()
        self._step[ids] = 0.0
        self._gravity[ids] = self._still[ids]
        self._shakes[worlds] = (shaking[:, 0] * shaking[:, 1] != 0).cpu().numpy()

    def apply(self) -> None:
        """Set gravity for the coming step, by the table's mean acceleration in it: no speed is gained over time."""
        if self._shakes.any():
            self._launch.launch()
