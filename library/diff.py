"""Compare two versions: scenes that came, went or changed, and what else is different.

Scenes never change. A scene counts as *changed* where the same place of an expansion - generator, seed, index, axes and
levels - holds another scene in the other version, as after a change of the generator.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Self

from library.curated import Action
from library.fields import FieldChange, field_changes
from library.row import Row, axes_of
from library.snapshot import Snapshot
from library.tables import SCENARIOS, VERDICTS, Columns
from scenegen.record import Record

Slot = tuple[Any, ...]
WHY = {Action.DROP: "dropped", Action.QUARANTINE: "in quarantine", Action.REVIEW: "rejected"}


class SceneDiff(Record):
    """A scene that only one of the versions has."""

    scenario_id: str
    stratum: str
    """Axes and levels, for example `lighting 3`; `base` for a base."""
    why: str = ""
    """Why the other version has it not, if it does hold it: dropped, in quarantine, rejected."""


class ChangedScene(Record):
    """Two scenes of one place."""

    before: str
    after: str
    stratum: str
    fields: tuple[FieldChange, ...]
    """What differs: facets by field, severity by axis, cell, assets."""

    @property
    def mirrored(self) -> Self:
        """The change in the other direction."""
        fields = tuple(sorted((one.mirrored for one in self.fields), key=lambda one: one.path))
        return self.replaced(before=self.after, after=self.before, fields=fields)


class EntryDiff(Record):
    """A decision, verdict, file, table or package that differs; None where a version has none."""

    name: str
    before: str | None
    after: str | None

    @property
    def mirrored(self) -> Self:
        """The difference in the other direction."""
        return self.replaced(before=self.after, after=self.before)


class Difference(Record):
    """What differs between two versions."""

    added: tuple[SceneDiff, ...] = ()
    removed: tuple[SceneDiff, ...] = ()
    changed: tuple[ChangedScene, ...] = ()
    verdicts: tuple[EntryDiff, ...] = ()
    curation: tuple[EntryDiff, ...] = ()
    files: tuple[EntryDiff, ...] = ()
    """Cells, assets and records, by path, with hashes."""
    packages: tuple[EntryDiff, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the versions are the same."""
        return self == Difference()

    @property
    def mirrored(self) -> Difference:
        """The difference in the other direction."""
        return Difference(
            added=self.removed,
            removed=self.added,
            changed=tuple(sorted((one.mirrored for one in self.changed), key=_place)),
            verdicts=tuple(one.mirrored for one in self.verdicts),
            curation=tuple(one.mirrored for one in self.curation),
            files=tuple(one.mirrored for one in self.files),
            packages=tuple(one.mirrored for one in self.packages),
        )

    @property
    def strata(self) -> dict[str, tuple[int, int, int]]:
        """How many scenes were added, removed and changed, by axes and levels."""
        counts = [Counter(one.stratum for one in some) for some in (self.added, self.removed, self.changed)]
        names = sorted({name for some in counts for name in some})
        return {name: (counts[0][name], counts[1][name], counts[2][name]) for name in names}


def compare(before: Snapshot, after: Snapshot) -> Difference:
    """Compare two versions, of one library or of two.

    Raises:
        LibraryError: A version is damaged.
    """
    old, new = _Side(before), _Side(after)
    pairs = _pairs(old, new)
    taken = {one for pair in pairs for one in pair}
    return Difference(
        added=_alone(new, old, taken),
        removed=_alone(old, new, taken),
        changed=_changed(old, new, pairs),
        verdicts=_entries(old.verdicts(new), new.verdicts(old)),
        curation=_entries(old.decisions, new.decisions),
        files=_entries(old.files, new.files),
        packages=_entries(*(dict(one.commit.packages) if one.commit else {} for one in (before, after))),
    )


class _Side:
    """One of the two versions."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.rows: dict[str, Columns] = {}
        """Scenes of the set, each by the first road to it."""
        self.slots: dict[Slot, set[str]] = {}
        for row in snapshot.columns():
            self.rows.setdefault(row["scenario_id"], row)
            self.slots.setdefault(_slot(row), set()).add(row["scenario_id"])

    @property
    def decisions(self) -> dict[str, str]:
        """Decisions in force."""
        latest = self.snapshot.curated.latest
        return {
            f"{action.value} {subject}": row["value"] + (f" ({row['note']})" if row.get("note") else "")
            for action, some in latest.items()
            for subject, row in some.items()
        }

    @property
    def files(self) -> dict[str, str]:
        """Files besides those of tables."""
        known = self.snapshot.commit.files if self.snapshot.commit else {}
        return {path: facts.sha256 for path, facts in known.items() if not path.startswith("tables/")}

    def verdicts(self, other: _Side) -> dict[str, str]:
        """Return the newest verdicts on the scenes that both versions have."""
        columns = ["scenario_id", "plan_id", "ok", "statuses"]
        shared, newest = self.rows.keys() & other.rows.keys(), {}
        for batch in self.snapshot.table(VERDICTS.name).batches(columns=columns):
            for row in batch.to_pylist():
                if row["scenario_id"] in shared:
                    failed = sorted(name for name, one in json.loads(row["statuses"]).items() if one != "passed")
                    said = "ok" if row["ok"] else f"not ok: {', '.join(failed)}"
                    newest[row["scenario_id"]] = f"{said} (plan {row['plan_id']})"
        return newest

    def why_not(self, scenario_id: str) -> str:
        """Say why a scene is not in the set although the version holds it."""
        if not self.snapshot.table(SCENARIOS.name).look_up("scenario_id", [scenario_id]):
            return ""
        curated = self.snapshot.curated
        values = {action: curated.value(action, scenario_id) for action in WHY}
        wanted = {Action.DROP: "dropped", Action.QUARANTINE: "quarantined", Action.REVIEW: "rejected"}
        return ", ".join(WHY[action] for action, value in values.items() if value == wanted[action])


def _slot(row: Columns) -> Slot:
    """Return a scene's place; bases of an expansion have theirs by their own index."""
    return row["generator"], row["seed"], row["index"], tuple(sorted(axes_of(row["axes"])))


def _stratum(row: Columns) -> str:
    return ", ".join(f"{axis} {level}" for axis, level in axes_of(row["axes"])) or "base"


def _pairs(old: _Side, new: _Side) -> list[tuple[str, str]]:
    """Pair scenes of one place, each of which only one version has; in the order of their ids."""
    pairs: list[tuple[str, str]] = []
    taken: set[str] = set()
    for slot in sorted(old.slots.keys() & new.slots.keys()):
        gone = sorted(one for one in old.slots[slot] if one not in new.rows and one not in taken)
        come = sorted(one for one in new.slots[slot] if one not in old.rows and one not in taken)
        found = list(zip(gone, come, strict=False))
        pairs += found
        taken.update(one for pair in found for one in pair)
    return pairs


def _alone(mine: _Side, other: _Side, taken: set[str]) -> tuple[SceneDiff, ...]:
    found = sorted(one for one in mine.rows if one not in other.rows and one not in taken)
    return tuple(SceneDiff(scenario_id=one, stratum=_stratum(mine.rows[one]), why=other.why_not(one)) for one in found)


def _changed(old: _Side, new: _Side, pairs: Iterable[tuple[str, str]]) -> tuple[ChangedScene, ...]:
    found = [
        ChangedScene(before=a, after=b, stratum=_stratum(old.rows[a]), fields=_fields(old, new, a, b)) for a, b in pairs
    ]
    return tuple(sorted(found, key=_place))


def _fields(old: _Side, new: _Side, a: str, b: str) -> tuple[FieldChange, ...]:
    before, after = (_facts(side.snapshot, Row.of(side.rows[one])) for side, one in ((old, a), (new, b)))
    return tuple(sorted(field_changes(before, after), key=lambda one: one.path))


def _facts(snapshot: Snapshot, row: Row) -> dict[str, Any]:
    """Return what a scene is and how severe it is, as plain data."""
    data = snapshot.scenario(row).model_dump(mode="json")
    data["assets"] = {asset.part: asset.content for asset in row.assets}
    severity = {one.axis: {f"{q.name} [{q.unit.value}]": q.value for q in one.severity} for one in row.provenance.axes}
    return {**data, "severity": severity, "version": row.provenance.generator_version}


def _place(scene: ChangedScene) -> tuple[str, str, str]:
    return scene.stratum, min(scene.before, scene.after), max(scene.before, scene.after)


def _entries(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[EntryDiff, ...]:
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return tuple(EntryDiff(name=name, before=before.get(name), after=after.get(name)) for name in names)
