"""Certificates: that the oracle, which knows where everything is, sorted a scene. Its episodes are the certificates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from library.query import CERTIFICATES, ORACLE, ask
from library.row import Row
from library.snapshot import Snapshot
from scenegen.errors import LibraryError
from scenegen.record import NonNegative, Record


class Certificate(Record):
    """One judged episode of the oracle: whether the scene can be solved, and under what that was found."""

    scenario_id: str
    solved: bool
    """It sorted the scene; an attempt that failed proves nothing, and is kept all the same."""
    takt_s: NonNegative | None
    """Mean time a sorted part [s]; None where none was sorted."""
    run_id: str
    """The run that holds the episode."""
    seed: int
    device: str
    simulator: Any
    """What simulated it, as the run says: package versions."""
    scenegen: str
    """Version of scenegen: that of the oracle."""


def certificates(snapshot: Snapshot, *, scenario_id: str = "") -> Iterator[Certificate]:
    """Yield the certificates that a version holds, by scenario, run and seed.

    Args:
        snapshot: The version.
        scenario_id: Only those of one scenario.

    Raises:
        LibraryError: The library is damaged.
    """
    chosen = f" WHERE scenario_id = '{scenario_id}'" if scenario_id else ""
    columns = ", ".join(Certificate.model_fields)
    answer = ask(snapshot, f"SELECT {columns} FROM {CERTIFICATES}{chosen} ORDER BY scenario_id, run_id, seed")
    for row in answer.rows:
        facts = dict(zip(answer.columns, row, strict=True))
        yield Certificate.from_data({**facts, "simulator": json.loads(facts["simulator"])})


def certified(rows: Iterable[Row], snapshot: Snapshot, *, simulator: Any) -> list[Row]:
    """Return the scenes that the oracle sorted under one simulator.

    Args:
        rows: Scenes to choose from.
        snapshot: The version that holds the oracle's episodes: the newest one, as a rule.
        simulator: What simulates, as a run says it; certificates of other versions do not count.

    Raises:
        LibraryError: There is none.
    """
    solved = {one.scenario_id for one in certificates(snapshot) if one.solved and one.simulator == simulator}
    found = [row for row in rows if row.scenario_id in solved]
    if not found:
        reason = "the oracle has sorted none of the chosen scenes under this simulator"
        raise LibraryError(snapshot.name, reason, f"run `scenegen evaluate --policy {ORACLE}` on them first")
    return found
