"""What runs asked of their machines, as a library keeps it: a row a command."""

from __future__ import annotations

import datetime
from typing import Any

from evaluator.judging.machine_use import MachineUse, together
from library.row import sealed
from library.snapshot import Snapshot
from library.tables import USES


def use_columns(run_id: str, use: MachineUse) -> dict[str, Any]:
    """Return the row of the table `uses` of a command that ends now."""
    ended = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="microseconds")
    return sealed({"run_id": run_id, "ended": ended, "use": use.canonical_json()})


def use_of_run(snapshot: Snapshot, run_id: str) -> MachineUse:
    """Return what all commands of a run asked of their machines together; unknown what none has told."""
    rows = snapshot.table(USES.name).scan(columns=["run_id", "use"]).to_pylist()
    return together([MachineUse.from_json(row["use"]) for row in rows if row["run_id"] == run_id])
