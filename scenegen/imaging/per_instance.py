"""Sums over the pixels of each instance: the one reduction that array libraries do differently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def per_instance(values: Sequence[Any], instance: Any, count: int, *, xp: Any) -> tuple[Any, ...]:
    """Sum values over the pixels that show each instance.

    numpy counts bins; any other library multiplies by the masks of all instances, `count` numbers of 64 bits a pixel:
    split large batches. Neither adds in an order that a device chooses anew each time, as scattered sums do.

    Args:
        values: Arrays of numbers or truths, each of shape [b, p].
        instance: Index of the instance that each pixel shows, negative for none, shape [b, p].
        count: How many instances there are.
        xp: The array library.

    Returns:
        For each array its sums in 64 bits, shape [b, count].
    """
    if isinstance(instance, np.ndarray):
        images = instance.shape[0]
        bins = (instance.astype(np.int64) + 1 + (count + 1) * np.arange(images)[:, None]).ravel()
        size = images * (count + 1)
        sums = [np.bincount(bins, value.ravel(), minlength=size) for value in values]
        return tuple(one.reshape(images, count + 1)[:, 1:] for one in sums)
    indices = xp.arange(count, dtype=instance.dtype, device=instance.device)
    shown = xp.asarray(instance[:, None, :] == indices[None, :, None], dtype=xp.float64)
    stacked = xp.stack([xp.asarray(value, dtype=xp.float64) for value in values], -1)
    sums = xp.matmul(shown, stacked)
    return tuple(sums[:, :, index] for index in range(len(values)))
