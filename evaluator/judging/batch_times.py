"""How long calls of a policy took by how many worlds they asked about: whether it stays steady as batches grow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Annotated

from pydantic import Field

from evaluator.judging.measures_timing import Latencies
from scenegen.record import Record

Worlds = Annotated[int, Field(ge=1)]


class BatchTimes(Record):
    """Whole calls with batches of similar size: 1, 2, 3 to 4, 5 to 8 worlds, and so on."""

    most: Worlds
    """Largest batch of these, a power of two."""
    calls: Latencies

    @property
    def sizes(self) -> str:
        """The batches' sizes as text."""
        least = self.most // 2 + 1
        return str(self.most) if least == self.most else f"{least} to {self.most}"


def batch_times(seconds: Mapping[int, Sequence[float]]) -> tuple[BatchTimes, ...]:
    """Sum calls up by the size of their batches, smallest first.

    Args:
        seconds: How long each call took [s], by how many worlds it asked about.
    """
    return merged(
        BatchTimes(most=1 << (size - 1).bit_length(), calls=Latencies.of(took)) for size, took in seconds.items()
    )


def merged(found: Iterable[BatchTimes]) -> tuple[BatchTimes, ...]:
    """Put those of equal sizes together, smallest first."""
    groups: dict[int, list[Latencies]] = {}
    for one in found:
        groups.setdefault(one.most, []).append(one.calls)
    return tuple(BatchTimes(most=most, calls=reduce(add, calls)) for most, calls in sorted(groups.items()))
