"""Which scenes of a version an export is about."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

import pyarrow as pa

from library.snapshot import Snapshot
from library.tables import SCENARIOS
from scenegen.errors import InvalidOption


@dataclass(frozen=True)
class Selection:
    """Scenes by condition, split and number, in the order in which they were kept.

    Example:
        >>> Selection(where="axis = 'pose' AND level >= 3", split="hold-out")  # doctest: +SKIP
    """

    where: str | None = None
    """A condition in SQL over the columns of `scenarios`."""
    split: str | None = None
    limit: int | None = None
    """Most rows."""
    everything: bool = False
    """Also what was dropped, rejected or is in quarantine."""

    def batches(self, snapshot: Snapshot) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows of `scenarios`, in batches.

        Raises:
            InvalidOption: The condition is none, or no base has that split.
            LibraryError: The version is damaged.
        """
        self._require_condition(snapshot)
        bases = self._bases(snapshot)
        hidden = frozenset() if self.everything else snapshot.curated.hidden
        left = self.limit
        for whole in snapshot.table(SCENARIOS.name).batches(where=self.where):
            batch = whole
            if hidden:
                batch = batch.filter(pa.array([one not in hidden for one in batch["scenario_id"].to_pylist()]))
            if bases is not None:
                batch = having(batch, "base_id", bases)
            if left is not None:
                batch = batch.slice(0, left)
                left -= batch.num_rows
            if batch.num_rows:
                yield batch
            if left == 0:
                return

    def _require_condition(self, snapshot: Snapshot) -> None:
        """Try the condition on one row, so that a slip in it is not taken for damage."""
        dataset = snapshot.table(SCENARIOS.name).dataset
        if self.where is None or dataset is None:
            return
        try:
            dataset.scanner(filter=self.where, columns=["scenario_id"], limit=1).to_table()
        except (ValueError, RuntimeError, OSError) as error:
            reason = " ".join(str(error).split(", /")[0].split())[:200]
            raise InvalidOption(
                "--where", self.where, f"a condition in SQL over the columns of scenarios ({reason})"
            ) from error

    def _bases(self, snapshot: Snapshot) -> frozenset[str] | None:
        """Return the bases of the split."""
        if self.split is None:
            return None
        splits = snapshot.curated.splits
        if self.split not in splits.values():
            known = ", ".join(sorted(set(splits.values()))) or "none was assigned yet; see `scenegen library split`"
            raise InvalidOption("--split", self.split, f"a split of this version: {known}")
        return frozenset(base for base, split in splits.items() if split == self.split)


def having(batch: pa.RecordBatch, column: str, values: Set[str]) -> pa.RecordBatch:
    """Return the rows whose column holds one of the values."""
    return batch.filter(pa.array([one in values for one in batch[column].to_pylist()], pa.bool_()))
