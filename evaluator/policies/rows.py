"""Arrays with a row for each world, which grow as worlds appear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def with_room(array: NDArray[Any], worlds: Sequence[int]) -> NDArray[Any]:
    """Return the array, longer if need be, so that each world's number is the index of a row; new rows are zero.

    Args:
        array: Shape [rows, ...].
        worlds: Numbers of worlds, from zero.
    """
    need = max(worlds, default=-1) + 1
    if need <= len(array):
        return array
    grown = np.zeros((max(need, 2 * len(array)), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
