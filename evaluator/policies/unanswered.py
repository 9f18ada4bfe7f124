"""A policy that asks for each world alone got answers for some of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scenegen.errors import PolicyError


class Unanswered(PolicyError):
    """Some worlds got no usable answer; the others did, and their chunks are in here.

    Args:
        policy: The policy's name.
        chunks: Shape [n, horizon, numbers]; NaN where there is none.
        errors: Why, by number of the world; at least one.
    """

    def __init__(self, policy: str, chunks: NDArray[np.float32], errors: Mapping[int, PolicyError]) -> None:
        self.chunks, self.errors = chunks, dict(errors)
        world, first = next(iter(self.errors.items()))
        of = f"{len(self.errors)} of {len(chunks)} worlds have no answer"
        super().__init__(policy, f"{of}, world {world}: {first.reason}", first.accepted)
