"""Tables that shake, each world's in its own way, seen from the table: what lies on it feels its acceleration.

Everything is told in the frame of the table: there table, feed, bins and robot stand still, and loose parts feel
gravity less the table's acceleration (d'Alembert). The table moves by A cos(ωt): it starts at rest, at one end of its
way, so that what does not hold to it stays where it is in the room and swings by A about its mean place as seen from
the table. The robot's own gravity is compensated, and so is its shaking: it stands on the table and is stiff.
"""

from __future__ import annotations

from typing import Any

import torch
import warp as wp


class Shaking:
    """Gravity of all worlds, step by step.

    Args:
        solver: Newton's MuJoCo-Warp solver, with gravity as it is when nothing shakes.
        worlds: Number of worlds.
        timestep_s: Physics step [s].
    """

    def __init__(self, solver: Any, *, worlds: int, timestep_s: float) -> None:
        self._gravity = wp.to_torch(solver.mjw_model.opt.gravity)
        self._still = self._gravity.clone()
        self._timestep_s = timestep_s
        device = self._gravity.device
        self._shaking = torch.zeros((worlds, 5), dtype=torch.float64, device=device)
        self._step = torch.zeros(worlds, dtype=torch.float64, device=device)
        self._shakes = [False] * worlds

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
        for world, still in zip(worlds, (shaking[:, 0] * shaking[:, 1] == 0).tolist(), strict=True):
            self._shakes[world] = not still

    def apply(self) -> None:
        """Set gravity for the coming step, by the table's mean acceleration in it: no speed is gained over time."""
        if not any(self._shakes):
            return
        amplitude, omega, direction = self._shaking[:, 0], self._shaking[:, 1], self._shaking[:, 2:]
        now, then = self._step * self._timestep_s, (self._step + 1) * self._timestep_s
        table_acceleration = -amplitude * omega * ((omega * then).sin() - (omega * now).sin()) / self._timestep_s
        felt = self._still - table_acceleration[:, None] * direction
        self._gravity.copy_(felt.to(self._gravity.dtype))
        self._step += 1
