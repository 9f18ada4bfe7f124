"""Images of an observation, taken by the thread that owns the worlds although another one asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluator.policy import Observation

Owner = Callable[[Callable[[], Any]], Any]
"""Has something done by the thread that owns the worlds, and returns what it gave."""


def served(observation: Observation, owner: Owner) -> Observation:
    """Return the observation for a policy in another thread: simulators and their devices are used from one alone.

    Args:
        observation: As the worlds show it.
        owner: Has something done by the thread that owns the worlds.
    """
    take = observation.photograph

    def photograph(rows: Sequence[int]) -> Mapping[str, Any]:
        assert take is not None
        return owner(partial(take, rows))

    images = _Images(observation.camera_obs, owner) if observation.camera_obs else observation.camera_obs
    return replace(observation, camera_obs=images, photograph=photograph if take else None)


class _Images(Mapping[str, Any]):
    """Images by name."""

    def __init__(self, images: Mapping[str, Any], owner: Owner) -> None:
        self._images, self._owner = images, owner

    def __getitem__(self, name: str) -> Any:
        if name not in self._images:
            raise KeyError(name)
        return self._owner(lambda: self._images[name])

    def __contains__(self, name: object) -> bool:
        return name in self._images

    def __iter__(self) -> Iterator[str]:
        return iter(self._images)

    def __len__(self) -> int:
        return len(self._images)
