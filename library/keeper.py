"""Turn what an index of an expansion gave into the USD files and the rows that a library keeps."""

from __future__ import annotations

from typing import Any

from library.commit import file_hash
from library.files import Files
from library.metering import meter_columns
from library.row import KeptVerdict, Line, Row, attempt_columns, facet_columns
from scenegen.expand import Made, Outcome
from scenegen.imaging.metered import Metered
from scenegen.scenario import FACETS, Facet, Scenario
from scenegen.usd.writer import SceneWriter, layout_path, scene_path

Rows = dict[str, list[dict[str, Any]]]


class Keeper:
    """Writes the layers of scenes and describes scenes as rows; nothing is published by it.

    Args:
        writer: Writes the layers.
        metered: Measures what cameras see of the targets.
        expansion_id: Content id of the expansion whose scenes are kept.
        usd: Where layers go; None writes none: they can be made from the rows at any time.
    """

    def __init__(self, writer: SceneWriter, metered: Metered, *, expansion_id: str, usd: Files | None) -> None:
        self._writer = writer
        self._metered = metered
        self._usd = usd
        self._expansion_id = expansion_id
        self._layouts: dict[str, str] = {}
        """Hashes of the layouts that were written last."""
        self._base: str | None = None
        """The last base: its variants follow each other, and its rows come with the first of them."""

    def keep(self, outcome: Outcome) -> Line:
        """Write what an index gave.

        Raises:
            LibraryError: A file cannot be written.
        """
        rows: Rows = {}
        made, base = outcome.made, outcome.base
        if base is not None and base.scenario.id != self._base:
            self._base = base.scenario.id
            self._add(rows, base, FACETS, expansion=None)
        if made is not None:
            changed = made.scenario.changed(base.scenario) if base else FACETS
            self._add(rows, made, tuple(facet for facet in FACETS if facet in changed), expansion=self._expansion_id)
        scenario_id = made.scenario.id if made else None
        rows["attempts"] = [attempt_columns(self._expansion_id, outcome.index, scenario_id, outcome.rejected)]
        base_id = base.scenario.id if base else None
        return Line(outcome.index, scenario_id, base_id, dict(outcome.rejected), rows)

    def _add(self, rows: Rows, made: Made, facets: tuple[Facet, ...], *, expansion: str | None) -> None:
        scenario = made.scenario
        layout, scene = self._write(scenario)
        verdict = KeptVerdict.from_verdict(made.verdict)
        row = Row(
            kind=made.kind,
            scenario_id=scenario.id,
            cell_id=scenario.cell_id,
            assets=scenario.assets,
            facets=scenario.facet_ids,
            provenance=made.provenance,
            expansion=expansion,
            plan_id=verdict.plan_id,
            layout_sha256=layout,
            scene_sha256=scene,
        )
        rows.setdefault("scenarios", []).append(row.columns())
        rows.setdefault("verdicts", []).append(verdict.columns())
        read = self._metered.read(scenario)
        rows.setdefault("meters", []).extend(meter_columns(scenario.id, camera, one) for camera, one in read.items())
        rows.setdefault("facets", []).extend(facet_columns(facet, scenario.facet(facet)) for facet in facets)

    def _write(self, scenario: Scenario) -> tuple[str | None, str | None]:
        if self._usd is None:
            return None, None
        layout = layout_path(scenario.key(Facet.LAYOUT))
        if layout not in self._layouts:
            if len(self._layouts) > 1000:
                self._layouts.clear()
            self._layouts[layout] = _put(self._usd, layout, self._writer.layout_layer(scenario))
        return self._layouts[layout], _put(self._usd, scene_path(scenario.id), self._writer.scene_layer(scenario))


def _put(files: Files, path: str, text: str) -> str:
    data = text.encode()
    files.put(path, data)
    return file_hash(data)
