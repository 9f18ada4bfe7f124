"""Brings a library of format 1 into the present format, beside the old one, which stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from library.commit import FileFacts, file_hash
from library.files import USD
from library.format1 import OldLibrary, OldRow
from library.row import KeptVerdict, Row, attempt_columns, facet_columns
from library.structures import keep_structures
from library.tables import ATTEMPTS, SCENARIOS
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.cell import Cell
from scenegen.errors import LibraryError, UnreadableStage, UnsafeStage
from scenegen.parts.catalogue import Catalogue
from scenegen.provenance import Provenance
from scenegen.scenario import FACETS, Facet, Scenario
from scenegen.usd.files import cell_record_path, layout_path, scene_path
from scenegen.usd.reader import read_cell_and_parts, read_scenario
from scenegen.usd.writer import SceneWriter
from scenegen.verdict import CheckPlan, Status

PUBLISH_EVERY = 2_000
"""Rows between commits: what a kill costs at most; an interruption costs nothing."""


@dataclass
class Migrated:
    """What a migration did."""

    rows: int = 0
    """Rows of the old manifest that were brought over now."""
    before: int = 0
    """Rows that an earlier run had brought over."""
    damaged: list[str] = field(default_factory=list)
    """A sentence a row that was left out."""


def migrate(
    old: OldLibrary, new: VersionedLibrary, *, skip_damaged: bool = False, progress: Callable[[], object]
) -> Migrated:
    """Bring all scenes of a library of format 1 into a library, with where they came from and what was said of them.

    Every file is held against its hash, every scenario is built from its USD layers and must have its own id; layers
    are written anew. What an earlier run brought over is passed by.

    Args:
        old: The old library; nothing in it is changed.
        new: The new one.
        skip_damaged: Leave scenes out whose files are damaged, and go on.
        progress: Called once a row.

    Raises:
        LibraryError: A file of the old library is damaged, or the new one cannot be written. What came before is
            published.
    """
    mover, told, total = _Mover(old, new), Migrated(), len(old)

    def publish() -> None:
        done = told.before + told.rows
        mover.publish(Signature.here(f"migrate {old.folder.absolute().name} from format 1: {done} of {total} rows"))

    try:
        for row in old.rows():
            if mover.has(row):
                told.before += 1
            else:
                try:
                    mover.take(row)
                    told.rows += 1
                except (LibraryError, UnreadableStage, UnsafeStage) as error:
                    if not skip_damaged:
                        raise
                    told.damaged.append(f"scene {row.scenario_id} was left out: {error}")
            progress()
            if mover.waiting >= PUBLISH_EVERY:
                publish()
    finally:
        publish()
    return told


class _Mover:
    """Turns old rows into new ones, writes their layers, and publishes them together."""

    def __init__(self, old: OldLibrary, new: VersionedLibrary) -> None:
        self._old = old
        self._new = new
        self._writers: dict[str, list[tuple[Catalogue, SceneWriter]]] = {}
        """By cell; a part may have had other files in other expansions."""
        self._facets: set[str] = set()
        """Facets that are in the new library or wait to be published."""
        self._changes = Changes()
        self._records: dict[str, FileFacts] = {}
        for name, data in old.records().items():
            self._records |= new.keep_file(f"records/{name}.json", data)
        self.waiting = 0
        """Rows that are not published yet."""
        snapshot = new.at()
        attempts = snapshot.table(ATTEMPTS.name).scan(columns=["expansion", "index"]).to_pylist()
        bases = snapshot.table(SCENARIOS.name).scan(where="kind = 'base'", columns=["scenario_id"]).to_pylist()
        self._done = {(one["expansion"], one["index"]) for one in attempts}
        self._bases = {one["scenario_id"] for one in bases}

    def has(self, row: OldRow) -> bool:
        """Tell whether the new library holds what an old row brings."""
        return row.scenario_id in self._bases if row.kind == "base" else (row.expansion, row.index) in self._done

    def take(self, row: OldRow) -> None:
        """Write the layers of an old row's scene, and keep its new rows for the next commit.

        Raises:
            LibraryError: A file of the old library is damaged, or the new one cannot be written.
            UnreadableStage, UnsafeStage: A scene is not as scenegen wrote it.
        """
        rows: dict[str, list[dict[str, Any]]] = {}
        if row.kind != "base":
            rows["attempts"] = [attempt_columns(row.expansion, row.index, row.scenario_id, row.rejected)]
        if row.kind != "exhausted":
            self._scene(rows, row)
        self._changes.add(rows)
        self.waiting += 1
        self._bases |= {row.scenario_id} if row.kind == "base" else set()

    def publish(self, signature: Signature) -> None:
        """Publish what waits."""
        if self.waiting:
            self._changes.files |= self._records
            self._new.publish(self._changes, signature)
        self._changes, self.waiting = Changes(), 0

    def _scene(self, rows: dict[str, list[dict[str, Any]]], row: OldRow) -> None:
        plan_id, provenance, verdict = self._facts(row)
        path = self._old.scene(row)
        if (
            row.cell_id not in self._writers
        ):  # the first scene of a cell, and the cell's own files, get no trust in advance
            self._add_writer(row, path)
        scenario = read_scenario(path, trusted=True)
        if scenario.id != row.scenario_id:
            reason = f"its layers make scene {scenario.id}, not {row.scenario_id}"
            raise LibraryError(str(path), reason, "restore it from a copy, or leave it out with --skip-damaged")
        layout, scene = self._write(scenario, self._writer(row, path, scenario))
        fresh = [facet for facet in FACETS if scenario.facet_ids[facet] not in self._facets]
        self._facets.update(scenario.facet_ids.values())
        kept = Row(
            kind="repaired" if row.kind == "repaired" else "base" if row.kind == "base" else "variant",
            scenario_id=scenario.id,
            cell_id=scenario.cell_id,
            assets=scenario.assets,
            facets=scenario.facet_ids,
            provenance=provenance,
            expansion=None if row.kind == "base" else row.expansion,
            plan_id=plan_id,
            layout_sha256=layout,
            scene_sha256=scene,
        )
        rows["scenarios"] = [kept.columns()]
        rows["verdicts"] = [verdict.columns()]
        rows["facets"] = [facet_columns(facet, scenario.facet(facet)) for facet in fresh]

    def _facts(self, row: OldRow) -> tuple[str, Provenance, KeptVerdict]:
        if row.scenario_id is None or row.plan_id is None or row.provenance is None:
            remedy = "restore the manifest from a copy, or leave the scene out with --skip-damaged"
            raise LibraryError(str(self._old.folder), f"row {row.index} of {row.expansion} has no scene", remedy)
        verdict = KeptVerdict(
            scenario_id=row.scenario_id,
            plan_id=row.plan_id,
            ok=_passed(self._old.plan(row.plan_id), row.results),
            statuses=row.results,
            findings=row.findings,
        )
        return row.plan_id, row.provenance, verdict

    def _writer(self, row: OldRow, path: Path, scenario: Scenario) -> SceneWriter:
        for parts, writer in self._writers[row.cell_id]:
            if all(parts[asset.part].content_id == asset.content for asset in scenario.assets):
                return writer
        return self._add_writer(row, path)

    def _add_writer(self, row: OldRow, path: Path) -> SceneWriter:
        """Read a scene's cell and parts, keep them in the new library, and write with them from now on."""
        cell, parts = read_cell_and_parts(path)
        beside = self._old.folder / cell_record_path(row.cell_id)
        self._require_same(cell, row, beside)
        self._records |= keep_structures(self._new, cell, parts, beside=beside)
        writer = SceneWriter(cell, parts)
        self._writers.setdefault(row.cell_id, []).append((parts, writer))
        return writer

    def _require_same(self, cell: Cell, row: OldRow, path: Path) -> None:
        if cell.content_id != row.cell_id:
            remedy = "restore it from a copy, or leave its scenes out with --skip-damaged"
            raise LibraryError(str(path), f"it specifies cell {cell.content_id}, not {row.cell_id}", remedy)

    def _write(self, scenario: Scenario, writer: SceneWriter) -> tuple[str, str]:
        layers = {
            layout_path(scenario.key(Facet.LAYOUT)): writer.layout_layer(scenario).encode(),
            scene_path(scenario.id): writer.scene_layer(scenario).encode(),
        }
        for path, data in layers.items():
            self._new.files.put(f"{USD}/{path}", data)
        layout, scene = map(file_hash, layers.values())
        return layout, scene


def _passed(plan: CheckPlan, statuses: dict[str, Status]) -> bool:
    """Tell whether every required check of a plan is present and passed."""
    return all(statuses.get(f"{one.check}@{one.version}") is Status.PASSED for one in plan.checks if one.required)
