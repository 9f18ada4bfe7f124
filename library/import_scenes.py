"""Scenes from elsewhere, perhaps changed with another tool: read by the rules for untrusted input, checked, rewritten.

Nothing is copied: what is kept are the scenario that was read and layers that our own writer makes of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from library.commit import MAIN, Commit, FileFacts, file_hash
from library.import_cell import refuse_unsafe_cells, refuse_unsafe_robot
from library.row import KeptVerdict, Row, facet_columns
from library.snapshot import Snapshot
from library.structures import keep_structures
from library.tables import SCENARIOS
from library.versioned import USD, Changes, Signature, VersionedLibrary
from scenegen import __version__
from scenegen.cell import Cell
from scenegen.errors import InvalidRecord, LibraryError, SceneGenError, UnreadableStage, UnsafeStage
from scenegen.parts.catalogue import Catalogue
from scenegen.provenance import Provenance
from scenegen.scenario import FACETS, Facet, Scenario
from scenegen.usd.files import ASSETS, CELLS, LAYOUTS, cell_record_path, layout_path, scene_path
from scenegen.usd.note import scene_note
from scenegen.usd.package import unpacked
from scenegen.usd.reader import library_root, read_cell_and_parts, read_scenario
from scenegen.usd.untrusted import LAYER_EXTENSIONS
from scenegen.usd.writer import SceneWriter
from scenegen.verdict import Verdict

GENERATOR = "import"
FINDINGS = 3
"""Most findings that the reason for leaving a scene out names."""

Check = Callable[[Scenario], Verdict]
Checks = Callable[[Cell, Catalogue, Path], Check]
"""From a cell, its parts and the folder of its robot's file to the check of its scenes; raises `InvalidRecord` if the
cell itself is unsound."""


@dataclass(frozen=True)
class LeftOut:
    """A file that gave no scene, and why."""

    file: str
    """Relative to the source."""
    kind: str
    """`skipped`: no scene; `refused`: it breaks a rule or cannot be read; `invalid`: the checks found something."""
    reason: str


@dataclass(frozen=True)
class _Bench:
    """What scenes of one cell and one set of parts are kept with."""

    check: Check
    writer: SceneWriter
    parts: frozenset[tuple[str, str]]
    """The parts with their content ids; scenes may hold some of them."""


@dataclass(frozen=True)
class _Taken:
    """A scene that was read and passed the checks."""

    scenario: Scenario
    verdict: Verdict
    named: str | None
    """The scenario that the file says it is."""
    writer: SceneWriter


@dataclass
class SceneImport:
    """Takes scenes file by file, and publishes them as one commit.

    Args:
        library: Where they go.
        checks: Builds the checks of a cell.
        branch: The branch that they are published on.
    """

    library: VersionedLibrary
    checks: Checks
    branch: str = MAIN
    left_out: list[LeftOut] = field(default_factory=list)
    known: int = 0
    """Scenes that the library held already."""
    _taken: dict[str, _Taken] = field(default_factory=dict)
    _benches: dict[str, list[_Bench]] = field(default_factory=dict)
    """By cell."""
    _unsound: dict[tuple[str, frozenset[tuple[str, str]]], SceneGenError] = field(default_factory=dict)
    """Cells with parts that no scene can be kept with, and why."""
    _roots: set[Path] = field(default_factory=set)
    _files: dict[str, FileFacts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look at the branch as it is now."""
        self._snapshot = Snapshot(
            self.library.files, self.library.history.head(self.branch), name=str(self.library.folder)
        )

    @property
    def kept(self) -> int:
        """Scenes that are new to the library."""
        return len(self._taken)

    def take(self, path: Path, source: Path) -> None:
        """Read, check and remember one file's scene; a bad one is noted in `left_out` and stops nothing.

        Raises:
            LibraryError: The library cannot be read or written.
        """
        name = os.path.relpath(path, source) if path != source else path.name
        reason = _no_scene(path, source)
        if reason is not None:
            self.left_out.append(LeftOut(name, "skipped", reason))
            return
        try:
            with unpacked(path) as scene:
                self._read(scene, name)
        except LibraryError:
            raise
        except UnsafeStage as error:
            self.left_out.append(LeftOut(name, "refused", str(error)))
        except UnreadableStage as error:
            kind, reason = (
                ("refused", str(error)) if _is_scene(path) else ("skipped", f"no scene of scenegen ({error})")
            )
            self.left_out.append(LeftOut(name, kind, reason))
        except (SceneGenError, OSError) as error:
            self.left_out.append(LeftOut(name, "refused", str(error)))

    def publish(self, message: str) -> Commit | None:
        """Write the layers of what was taken and publish it; return the commit, or None if nothing was new.

        Raises:
            LibraryError: The disk is full or not writable, or the library is damaged.
        """
        changes = Changes(files=dict(self._files) if self._taken else {})
        bases = self._bases()
        for plan in {taken.verdict.plan.content_id: taken.verdict.plan for taken in self._taken.values()}.values():
            changes.files |= self.library.record(plan)
        for taken in self._taken.values():
            changes.add(self._rows(taken, bases))
        return self.library.publish(changes, Signature.here(message), branch=self.branch) if changes.rows else None

    def _read(self, scene: Path, name: str) -> None:
        root = library_root(scene)
        if root not in self._roots:
            refuse_unsafe_cells(root)
            self._roots.add(root)
        scenario = read_scenario(scene)
        if scenario.id in self._taken or self._snapshot.roads(scenario.id):
            self.known += 1
            return
        bench = self._bench(scene, root, scenario)
        verdict = bench.check(scenario)
        if verdict.ok:
            self._taken[scenario.id] = _Taken(scenario, verdict, scene_note(scene).scenario_id, bench.writer)
        else:
            self.left_out.append(LeftOut(name, "invalid", _findings(verdict)))

    def _bench(self, scene: Path, root: Path, scenario: Scenario) -> _Bench:
        """Return what a scene is kept with; what is wrong with its cell is found once."""
        wanted = frozenset((asset.part, asset.content) for asset in scenario.assets)
        benches = self._benches.setdefault(scenario.cell_id, [])
        found = next((bench for bench in benches if wanted <= bench.parts), None)
        if found is not None:
            return found
        key = (scenario.cell_id, wanted)
        if key not in self._unsound:
            try:
                benches.append(self._new_bench(scene, root))
            except (InvalidRecord, UnsafeStage) as error:
                self._unsound[key] = error
            else:
                return benches[-1]
        raise self._unsound[key]

    def _new_bench(self, scene: Path, root: Path) -> _Bench:
        cell, parts = read_cell_and_parts(scene)
        refuse_unsafe_robot(cell, root, library=self.library.usd)
        check = self.checks(cell, parts, root / CELLS)
        self._files |= keep_structures(self.library, cell, parts, beside=root / cell_record_path(cell.content_id))
        contents = frozenset((part.id, part.content_id) for part in parts.values())
        return _Bench(check, SceneWriter(cell, parts), contents)

    def _bases(self) -> dict[str, str]:
        """Return the base of every scenario that a taken scene may descend from: kept ones, and taken ones."""
        named = [taken.named for taken in self._taken.values() if taken.named is not None]
        kept = self._snapshot.table(SCENARIOS.name).look_up("scenario_id", [name for name in named if name.isalnum()])
        bases = {row["scenario_id"]: row["base_id"] for row in reversed(kept)}

        return bases | {one: self._base(one, bases) for one in sorted(self._taken)}

    def _base(self, scenario_id: str, bases: dict[str, str]) -> str:
        """Follow what files say they were made of, as far as that is known; the first of a circle is its base."""
        way = [scenario_id]
        while way[-1] not in bases:
            named = self._taken[way[-1]].named
            if named in way:
                return min(way[way.index(named) :])
            if named is None or not (named in bases or named in self._taken):
                return way[-1]
            way.append(named)
        return bases[way[-1]]

    def _rows(self, taken: _Taken, bases: dict[str, str]) -> dict[str, list[dict[str, object]]]:
        scenario, verdict = taken.scenario, KeptVerdict.from_verdict(taken.verdict)
        layers = {
            layout_path(scenario.key(Facet.LAYOUT)): taken.writer.layout_layer(scenario).encode(),
            scene_path(scenario.id): taken.writer.scene_layer(scenario).encode(),
        }
        for name, data in layers.items():
            self.library.files.put(f"{USD}/{name}", data)
        layout, own = (file_hash(data) for data in layers.values())
        parent = taken.named if taken.named in bases and taken.named != scenario.id else None
        row = Row(
            kind="imported",
            scenario_id=scenario.id,
            cell_id=scenario.cell_id,
            assets=scenario.assets,
            facets=scenario.facet_ids,
            provenance=Provenance(
                base_id=bases[scenario.id],
                parent_id=parent,
                generator=GENERATOR,
                generator_version=__version__,
                seed=0,
                index=0,
            ),
            plan_id=verdict.plan_id,
            layout_sha256=layout,
            scene_sha256=own,
        )
        facets = [facet_columns(facet, scenario.facet(facet)) for facet in FACETS]
        return {"facets": facets, "verdicts": [verdict.columns()], "scenarios": [row.columns()]}


def scene_files(source: Path) -> list[Path]:
    """Return all files of a source, in order; links to folders are not followed."""
    if not source.is_dir():
        return [source]
    return sorted(Path(inside, name) for inside, _, names in os.walk(source) for name in names)


def _no_scene(path: Path, source: Path) -> str | None:
    """Say why a file cannot be a scene, from its name and kind alone."""
    if path.suffix.lower() not in LAYER_EXTENSIONS:
        return "no USD file"
    if not path.is_file():
        return "no plain file"
    inside = path.relative_to(source).parts[:-1] if path != source else ()
    if {CELLS, ASSETS, LAYOUTS} & set(inside):
        return "a cell, a part or a layout that scenes are made of"
    return None


def _is_scene(path: Path) -> bool:
    """Tell whether an unreadable file is a scene nevertheless; one that cannot even be parsed is taken for one."""
    try:
        return scene_note(path).is_scene
    except UnreadableStage:
        return True


def _findings(verdict: Verdict) -> str:
    sentences = [f"{one.check}: {one.sentence}" for one in verdict.findings]
    if not sentences:
        return f"not all checks ran: {', '.join(verdict.missing)}"
    more = f"; and {len(sentences) - FINDINGS} more" if len(sentences) > FINDINGS else ""
    return "; ".join(sentences[:FINDINGS]) + more
