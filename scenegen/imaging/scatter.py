"""The greatest of the values that fall on a place: a reduction that array libraries do differently."""

from __future__ import annotations

from typing import Any

import numpy as np


def scatter_max(values: Any, places: Any, count: int, *, xp: Any) -> Any:
    """Return for each place the greatest of its values, 0 where none is above it.

    A maximum is the same in whatever order a device takes the values.

    Args:
        values: Numbers, shape [n].
        places: Where each falls, whole numbers of 64 bits below `count`, shape [n].
        count: How many places there are.
        xp: Array namespace.

    Returns:
        Numbers, shape [count].
    """
    if isinstance(values, np.ndarray):
        found = np.zeros(count, values.dtype)
        np.maximum.at(found, places, values)
        return found
    return xp.zeros((count,), dtype=values.dtype, device=values.device).scatter_reduce(0, places, values, "amax")
