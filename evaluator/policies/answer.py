"""What became of one question to a policy, world by world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenegen.errors import PolicyError


@dataclass(frozen=True, eq=False)
class Answer:
    """The chunks of the worlds that got one, and why the others got none."""

    worlds: tuple[int, ...]
    """Numbers of the worlds that were asked about, shape [n]."""
    chunks: NDArray[np.float32]
    """Shape [n, horizon, numbers]; NaN where there is no usable one."""
    errors: Mapping[int, PolicyError]
    """By number of the world."""
    seconds: NDArray[np.float64]
    """How long each world's answer took [s], shape [n]."""

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Which worlds got a chunk, shape [n]."""
        return np.array([world not in self.errors for world in self.worlds], bool)
