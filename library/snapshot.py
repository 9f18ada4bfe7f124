"""One version of a library, for reading: what a commit names, proved."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from library.commit import Commit
from library.curated import Curated
from library.files import Files
from library.lance_table import LanceTable
from library.row import KeptVerdict, Row
from library.tables import CURATION, FACET_RECORDS, SCENARIOS, TABLES, VERDICTS, Columns
from scenegen.errors import LibraryError
from scenegen.facet import SPEC_VERSION
from scenegen.scenario import Scenario

_ID = re.compile(r"^[0-9a-f]{1,24}$")


class Snapshot:
    """The scenarios of one version of a library, as they were when it was committed.

    Scenarios that were dropped, and those in quarantine, are left out unless asked for.
    """

    def __init__(self, files: Files, commit: Commit | None, *, name: str) -> None:
        self.commit = commit
        self.name = name
        """What the library is called in errors."""
        self._files = files
        self._tables: dict[str, LanceTable] = {}

    def table(self, name: str) -> LanceTable:
        """Return one table of this version; see `library.tables` for the names."""
        if name not in self._tables:
            version = self.commit.tables.get(name) if self.commit else None
            known = self.commit.files if self.commit else {}
            self._tables[name] = LanceTable(self._files, TABLES[name], version, known)
        return self._tables[name]

    @cached_property
    def curated(self) -> Curated:
        """What people decided about its scenarios."""
        return Curated.of(self.table(CURATION.name).scan().to_pylist())

    @property
    def scenes(self) -> int:
        """How many scenarios are members of the set: without what was dropped, is in quarantine or was rejected."""
        table, hidden = self.table(SCENARIOS.name), self.curated.hidden
        return table.rows - (len(table.look_up("scenario_id", hidden)) if hidden else 0)

    def rows(self, *, where: str | None = None, everything: bool = False) -> Iterator[Row]:
        """Iterate over the scenarios in the order in which they were kept.

        Args:
            where: A condition in SQL over the columns of `scenarios`.
            everything: Also what was dropped or is in quarantine.
        """
        for columns in self.columns(where=where, everything=everything):
            yield Row.of(columns)

    def columns(self, *, where: str | None = None, everything: bool = False) -> Iterator[Columns]:
        """Like `rows`, as plain data."""
        hidden = frozenset() if everything else self.curated.hidden
        for batch in self.table(SCENARIOS.name).batches(where=where):
            for columns in batch.to_pylist():
                if columns["scenario_id"] not in hidden:
                    yield columns

    def find(self, prefix: str) -> Row:
        """Return the scenario whose id starts with `prefix`: where several roads led to it, the first.

        Raises:
            LibraryError: No scenario, or more than one, has such an id.
        """
        table, rows = self.table(SCENARIOS.name), []
        if len(prefix) == 24:
            rows = table.look_up("scenario_id", [prefix])
        elif _ID.match(prefix):
            rows = table.scan(where=f"starts_with(scenario_id, '{prefix}')").to_pylist()
        found = {row["scenario_id"]: row for row in reversed(rows)}
        if len(found) == 1:
            return Row.of(next(iter(found.values())))
        reason = (
            f"{len(found)} scenarios have an id that starts with {prefix!r}" if found else f"no scenario {prefix!r}"
        )
        raise LibraryError(self.name, reason, "list ids with `scenegen library list`")

    def roads(self, scenario_id: str) -> list[Row]:
        """Return every way that led to a scenario."""
        return [Row.of(columns) for columns in self.table(SCENARIOS.name).look_up("scenario_id", [scenario_id])]

    def verdict(self, row: Row) -> KeptVerdict | None:
        """Return the newest kept verdict on a scenario; None if there is none."""
        found = self.table(VERDICTS.name).look_up("scenario_id", [row.scenario_id])
        return KeptVerdict.of(found[-1]) if found else None

    def scenario(self, row: Row) -> Scenario:
        """Build a scenario from its facets.

        Raises:
            LibraryError: A facet is missing or does not make the scenario that the row names.
        """
        return self.scenarios([row])[0]

    def scenarios(self, rows: Iterable[Row]) -> list[Scenario]:
        """Build scenarios from their facets, in the order of the rows; see `scenario`."""
        wanted = list(rows)
        ids = {one for row in wanted for one in row.facets.values()}
        known = {
            columns["facet_id"]: columns["json"] for columns in self.table(FACET_RECORDS.name).look_up("facet_id", ids)
        }
        return [self._scenario(row, known) for row in wanted]

    def _scenario(self, row: Row, known: dict[str, str]) -> Scenario:
        try:
            facets = {facet.value: json.loads(known[one]) for facet, one in row.facets.items()}
            scenario = Scenario.from_data({"cell_id": row.cell_id, "assets": row.assets, **facets})
        except KeyError as error:
            reason = f"scenario {row.scenario_id}: its facet {error.args[0]} is not kept"
            raise LibraryError(self.name, reason, "run `scenegen library verify`") from None
        if scenario.id != row.scenario_id:
            reason = f"its facets make another scenario than {row.scenario_id}"
            remedy = (
                f"it was kept with another version of scenarios than {SPEC_VERSION}: run `scenegen library migrate`"
            )
            raise LibraryError(self.name, reason, remedy)
        return scenario
