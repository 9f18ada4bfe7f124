"""Turn a valid scene into the files and the row that a library keeps."""

from __future__ import annotations

from library.row import Line, Row
from library.store import Store
from scenegen.expand import Made, Outcome
from scenegen.scenario import Facet, Scenario
from scenegen.usd.writer import SceneWriter, layout_path, scene_path


class Keeper:
    """Writes the layers of scenes into a store and describes them as rows; the layers are not published by it."""

    def __init__(self, store: Store, writer: SceneWriter, *, expansion_id: str, plan_id: str) -> None:
        self._store = store
        self._writer = writer
        self._expansion_id = expansion_id
        self._plan_id = plan_id
        self._layouts: dict[str, str] = {}
        self._base: Line | None = None
        """The row of the last base: its variants follow each other."""

    def keep(self, outcome: Outcome) -> tuple[Line, ...]:
        """Write what an index gave.

        Returns:
            The rows to publish: the base (which may be published already) and the variant, or the exhausted index.

        Raises:
            LibraryError: A file cannot be written.
        """
        base = (self._base_row(outcome.base),) if outcome.base else ()
        if outcome.made is None:
            return (*base, Line.of(self._exhausted(outcome)))
        return (*base, Line.of(self._row(outcome.made, outcome.index, rejected=dict(sorted(outcome.rejected.items())))))

    def _base_row(self, made: Made) -> Line:
        if self._base is None or self._base.scenario_id != made.scenario.id:
            self._base = Line.of(self._row(made, made.provenance.index))
        return self._base

    def _exhausted(self, outcome: Outcome) -> Row:
        return Row(
            kind="exhausted",
            expansion=self._expansion_id,
            index=outcome.index,
            scenario_id=None,
            cell_id="",
            rejected=dict(sorted(outcome.rejected.items())),
        )

    def _row(self, made: Made, index: int, *, rejected: dict[str, int] | None = None) -> Row:
        verdict = made.verdict
        return Row(
            kind=made.kind,
            expansion=self._expansion_id,
            index=index,
            scenario_id=made.scenario.id,
            cell_id=made.scenario.cell_id,
            facets=made.scenario.facet_ids,
            provenance=made.provenance,
            plan_id=self._plan_id,
            results={f"{result.check}@{result.version}": result.status for result in verdict.results},
            findings=verdict.findings,
            files=self._write(made.scenario),
            rejected=rejected or {},
        )

    def _write(self, scenario: Scenario) -> dict[str, str]:
        layout = layout_path(scenario.key(Facet.LAYOUT))
        if layout not in self._layouts:
            if len(self._layouts) > 1000:
                self._layouts.clear()
            self._layouts[layout] = self._store.write(layout, self._writer.layout_layer(scenario).encode())
        scene = scene_path(scenario.id)
        return {
            layout: self._layouts[layout],
            scene: self._store.write(scene, self._writer.scene_layer(scenario).encode()),
        }
