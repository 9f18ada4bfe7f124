"""Records of imaging, one a world, held on the simulator's device: written for some worlds, read for any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from scenegen.imaging.stacked import moved


class WorldTable[T]:
    """One record a world, as rows of one tensor: a reset is one copy, whatever the record holds.

    Args:
        record: A record of one scene whose arrays are all of shape [1, k]; others put in must be shaped like it.
        count: Number of worlds; each begins with that record.
        device: Where the rows are kept.
    """

    def __init__(self, record: T, count: int, *, device: str) -> None:
        self._record = record
        self._widths = [array.shape[1] for array in _arrays(record)]
        row = torch.as_tensor(_row(record), device=device)
        self._rows = row.repeat(count, 1)

    def put(self, records: Mapping[int, T]) -> None:
        """Write the records of some worlds, by number."""
        rows = torch.as_tensor(np.stack([_row(record) for record in records.values()]), device=self._rows.device)
        self._rows[torch.tensor(list(records), device=self._rows.device)] = rows

    def take(self, worlds: torch.Tensor) -> T:
        """Return the records of some worlds as one, its arrays of shape [b, k].

        Args:
            worlds: Numbers, shape [b].
        """
        parts = iter(self._rows[worlds].T.contiguous().split(self._widths))
        return moved(self._record, lambda _: next(parts).T)


def _arrays(record: Any) -> Sequence[np.ndarray]:
    found: list[np.ndarray] = []
    moved(record, lambda array: found.append(array) or array)
    return found


def _row(record: Any) -> np.ndarray:
    return np.concatenate([array[0] for array in _arrays(record)]).astype(np.float32)
