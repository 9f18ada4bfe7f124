"""`scenegen library revalidate`: check scenes again whose checks or simulator have changed since."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from library.commit import MAIN
from library.curated import QUARANTINED, RELEASED, Action, decision
from library.files import SCRATCH
from library.layers import Layers
from library.row import KeptVerdict, Row
from library.snapshot import Snapshot
from library.tables import CURATION, VERDICTS
from library.versioned import Changes, Signature, VersionedLibrary, author, now
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.opened import LIBRARY, open_library
from scenegen.commands.progress import SceneProgress, progress_style
from scenegen.commands.recipe import Workshop, check_plan
from scenegen.expand import reasons
from scenegen.pool import Demand, run_ordered
from scenegen.usd.files import CELLS

CHUNK = 20
"""Scenes that a process checks at a time."""
PUBLISH_EVERY = 2_000
"""Scenes between commits: what an interruption costs."""
NOTE = "revalidate: "
"""How the notes of decisions begin that this command made, and may take back."""

app = typer.Typer()


@dataclass(frozen=True)
class Rechecked:
    """What a scene's checks say now."""

    verdict: KeptVerdict
    plan: tuple[str, str]
    """Content id and JSON of the check plan."""
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Recheck:
    """All that a process needs to check kept scenes again; picklable."""

    folder: str
    version: str
    ids: tuple[str, ...]
    """The scenarios, by index."""

    def __call__(self) -> Callable[[list[int]], list[Rechecked]]:
        """Build the worker: from indices to results."""
        library = VersionedLibrary.open(self.folder)
        snapshot = library.at(self.version)
        benches = Benches(library, snapshot)
        return lambda indices: [self._one(snapshot, benches, self.ids[index]) for index in indices]

    def _one(self, snapshot: Snapshot, benches: Benches, scenario_id: str) -> Rechecked:
        row = snapshot.find(scenario_id)
        verdict = benches.of(row).checker.check(snapshot.scenario(row))
        plan = (verdict.plan.content_id, verdict.plan.canonical_json())
        return Rechecked(KeptVerdict.from_verdict(verdict), plan, tuple(sorted(reasons(verdict))))


class Benches:
    """The checks of a library's cells, each built once."""

    def __init__(self, library: VersionedLibrary, snapshot: Snapshot) -> None:
        self._library, self._layers = library, Layers(library, snapshot)
        self._known: dict[str, Workshop] = {}

    def of(self, row: Row) -> Workshop:
        """Return the checks for a scenario's cell and parts."""
        key = row.frame
        if key not in self._known:
            cell, parts = self._layers.cell_and_parts(row)
            scratch = Path(self._library.folder, SCRATCH)
            self._known[key] = Workshop.of(cell, parts, robots=self._library.usd / CELLS, scratch=scratch)
        return self._known[key]


@app.command()
def revalidate(
    library: str = LIBRARY,
    branch: str = typer.Option(MAIN, help="Branch whose newest version is checked."),
    everything: bool = typer.Option(False, "--all", help="Also scenes whose checks have not changed."),
    processes: int = typer.Option(0, min=0, help="Processes; 0 takes one a core."),
    as_json: bool = typer.Option(False, "--json", help="Progress as JSON lines."),
) -> None:
    """Check scenes again whose checks or simulator have changed; what fails goes to quarantine, with the reason.

    What is checked is kept batch by batch: run it again to continue.
    """
    store = open_library(library)
    snapshot = store.at(branch)
    ids = tuple(_stale(store, snapshot, everything=everything))
    if not ids:
        typer.echo("every scene was checked by the checks of this version; nothing to do")
        return
    recheck = Recheck(str(store.folder), branch, ids)
    workers = max(1, min(processes or os.cpu_count() or 1, -(-len(ids) // CHUNK)))
    failed, why = _run(store, snapshot, recheck, branch=branch, processes=workers, as_json=as_json)
    typer.echo(f"{len(ids)} scenes checked again, {failed} failed and are in quarantine")
    for reason, count in why.most_common():
        typer.echo(f"  {reason}: {count}")
    if failed:
        raise typer.Exit(EXIT_FINDINGS)


def _stale(store: VersionedLibrary, snapshot: Snapshot, *, everything: bool) -> list[str]:
    """Return the scenarios that the present checks of their cell have not seen, those in quarantine included."""
    layers, plans, found = Layers(store, snapshot), dict[str, str](), dict[str, None]()
    seen = set() if everything else _seen(snapshot)
    for columns in snapshot.columns(everything=True):
        key = f"{columns['cell_id']} {columns['assets']}"
        if key not in plans:
            plans[key] = check_plan(*layers.cell_and_parts(Row.of(columns))).content_id
        if (columns["scenario_id"], plans[key]) not in seen:
            found[columns["scenario_id"]] = None
    return list(found)


def _seen(snapshot: Snapshot) -> set[tuple[str, str]]:
    """Return which scenario was checked by which plan."""
    known = snapshot.table(VERDICTS.name).scan(columns=["scenario_id", "plan_id"])
    return set(zip(known.column("scenario_id").to_pylist(), known.column("plan_id").to_pylist(), strict=True))


def _run(
    store: VersionedLibrary, snapshot: Snapshot, recheck: Recheck, *, branch: str, processes: int, as_json: bool
) -> tuple[int, Counter[str]]:
    failed, why, batch = 0, Counter[str](), list[Rechecked]()
    demand = Demand(wanted=len(recheck.ids), end=len(recheck.ids))
    made = run_ordered(recheck, demand, processes=processes, chunk=CHUNK, forks=False)
    with SceneProgress(len(recheck.ids), done=0, style=progress_style(as_json)) as progress, closing(made):
        try:
            for _, result in made:
                batch.append(result)
                demand.wanted -= 1
                failed += not result.verdict.ok
                why.update(result.reasons)
                progress.add_index(kept=True, rejected=0)
                if len(batch) >= PUBLISH_EVERY:
                    _publish(store, snapshot, batch, branch)
                    batch = []
        finally:
            if batch:
                _publish(store, snapshot, batch, branch)
    return failed, why


def _publish(store: VersionedLibrary, snapshot: Snapshot, batch: list[Rechecked], branch: str) -> None:
    changes = Changes()
    for plan_id, text in {result.plan for result in batch}:
        changes.files |= store.keep_file(f"records/{plan_id}.json", text.encode())
    decisions = [_decision(snapshot, result) for result in batch]
    changes.add({VERDICTS.name: [result.verdict.columns() for result in batch]})
    changes.add({CURATION.name: [one for one in decisions if one]})
    failed = sum(not result.verdict.ok for result in batch)
    store.publish(changes, Signature.here(f"revalidate: {len(batch)} scenes, {failed} failed"), branch=branch)


def _decision(snapshot: Snapshot, result: Rechecked) -> dict[str, Any] | None:
    """Return what to decide about a scene: quarantine if it failed, release if this command had put it there."""
    subject = result.verdict.scenario_id
    known = snapshot.curated.latest[Action.QUARANTINE].get(subject)
    inside = known is not None and known["value"] == QUARANTINED
    if not result.verdict.ok and not inside:
        note = NOTE + ", ".join(result.reasons)
        return decision(Action.QUARANTINE, subject, QUARANTINED, note=note, author=author(), time=now())
    if result.verdict.ok and known is not None and inside and (known["note"] or "").startswith(NOTE):
        note = NOTE + "passed"
        return decision(Action.QUARANTINE, subject, RELEASED, note=note, author=author(), time=now())
    return None
