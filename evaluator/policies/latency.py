"""How long a policy thinks, as the loop counts it: as measured here, fixed, or as a target device took it."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluator.policies.rows import with_room
from scenegen.errors import InvalidOption
from scenegen.streams import stream

OPTION = "--latency"
LONGEST_S = 60.0
"""Longest latency that is accepted: above it a profile is in milliseconds, or the policy cannot be used."""
PROFILE_BYTES = 16_000_000
"""Largest profile file: a million calls."""

Seconds = NDArray[np.float64]


class Latency(Protocol):
    """Says for each question how long the robot has to go on without its answer."""

    def reset(self, worlds: Sequence[int], scenes: Sequence[str]) -> None:
        """Begin a new episode in some worlds, each with a scene of which the id is given."""
        ...

    def seconds(self, worlds: Sequence[int], measured_s: Seconds) -> Seconds:
        """Return the latency of the answers to some worlds [s], shape [n].

        Args:
            worlds: Their numbers, shape [n].
            measured_s: How long each answer took here [s], shape [n].
        """
        ...


class MeasuredLatency:
    """What was measured here. A batch of worlds that is answered at once counts for each of them in full."""

    def reset(self, worlds: Sequence[int], scenes: Sequence[str]) -> None:
        """Do nothing: nothing is remembered."""

    def seconds(self, worlds: Sequence[int], measured_s: Seconds) -> Seconds:
        """Return the measured times."""
        return np.asarray(measured_s, float)


class FixedLatency:
    """Always the same.

    Args:
        seconds: The latency [s].
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def reset(self, worlds: Sequence[int], scenes: Sequence[str]) -> None:
        """Do nothing: nothing is remembered."""

    def seconds(self, worlds: Sequence[int], measured_s: Seconds) -> Seconds:
        """Return the fixed time for each."""
        return np.full(len(worlds), self._seconds)


class ProfileLatency:
    """What a target device took, call after call, replayed.

    Each episode starts somewhere in the profile, given by the seed and the scene, goes on from there call by call and
    begins again at the end: in which world it plays, and what else does, changes nothing.

    Args:
        profile_s: Seconds a call, shape [calls].
        seed: Another seed gives other starts.
    """

    def __init__(self, profile_s: Sequence[float], *, seed: int) -> None:
        self._profile = np.array(profile_s, float)
        self._seed = seed
        self._next = np.zeros(0, int)

    def reset(self, worlds: Sequence[int], scenes: Sequence[str]) -> None:
        """Begin each episode at its own place of the profile."""
        self._next = with_room(self._next, worlds)
        for world, scene in zip(worlds, scenes, strict=True):
            self._next[world] = _start(len(self._profile), rng=stream(self._seed, "latency", scene))

    def seconds(self, worlds: Sequence[int], measured_s: Seconds) -> Seconds:
        """Return the next value of the profile for each world."""
        self._next = with_room(self._next, worlds)
        rows = np.asarray(worlds, int)
        found = self._profile[self._next[rows]]
        self._next[rows] = (self._next[rows] + 1) % len(self._profile)
        return found


def _start(calls: int, *, rng: np.random.Generator) -> int:
    return int(rng.integers(calls))


def parse_latency(text: str, *, seed: int) -> Latency:
    """Build what was asked for on the command line.

    Args:
        text: `measured`, a number of seconds, or a file: JSON (a list of seconds) or CSV (a column `seconds`).
        seed: For the starts in a profile.

    Raises:
        InvalidOption: It is none of these, or the file holds something else.
    """
    if text == "measured":
        return MeasuredLatency()
    try:
        value = float(text)
    except ValueError:
        return ProfileLatency(_read_profile(Path(text)), seed=seed)
    if not 0 <= value <= LONGEST_S:
        raise InvalidOption(OPTION, text, f"0 to {LONGEST_S:g} seconds")
    return FixedLatency(value)


def _read_profile(path: Path) -> list[float]:
    readers = {".json": _from_json, ".csv": _from_csv}
    if path.suffix not in readers or not path.is_file():
        raise InvalidOption(OPTION, path, "measured, a number of seconds, or a .json or .csv file that exists")
    if path.stat().st_size > PROFILE_BYTES:
        raise InvalidOption(OPTION, path, f"a profile of at most {PROFILE_BYTES // 10**6} MB")
    try:
        values = readers[path.suffix](path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        accepted = "JSON, a list of seconds, or CSV with a column seconds"
        raise InvalidOption(OPTION, f"{path} ({' '.join(str(error).split())})", accepted) from error
    if not values:
        raise InvalidOption(OPTION, f"{path} (empty)", "a profile of at least one call")
    for call, value in enumerate(values):
        if not 0 <= value <= LONGEST_S:
            raise InvalidOption(OPTION, f"{path} ({value:g} s at call {call})", f"0 to {LONGEST_S:g} seconds a call")
    return values


def _from_json(text: str) -> list[float]:
    data = json.loads(text)
    if not isinstance(data, list):
        raise ValueError("no list")
    for value in data:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{json.dumps(value)[:40]} is no number")
    return [float(value) for value in data]


def _from_csv(text: str) -> list[float]:
    rows = csv.DictReader(text.splitlines())
    if "seconds" not in (rows.fieldnames or ()):
        raise ValueError("no column seconds")
    return [float(row["seconds"] or "nothing") for row in rows]
