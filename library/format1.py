"""Reads libraries of format 1, the folder with one manifest of scenegen 0.1; it is never written.

```
library.json                     format and version
manifest.jsonl                   one `OldRow` a line; only what stands here is part of the library
cells/<cell>.usda .json          cell layer and specification
assets/<part>_<content>.usdc     part files
layouts/ab/<key>.usda            layout layers
scenes/ab/<id>.usda              scenario layers
records/<id>.json                check plans and expansions that rows name
```
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, Self

from library.commit import FORMAT, too_new
from library.files import FolderFiles
from library.versioned import MARKER, NAME, OLD_FORMAT
from scenegen.errors import LibraryError
from scenegen.provenance import Provenance
from scenegen.record import Record, content_hash
from scenegen.scenario import Facet
from scenegen.usd.files import scene_path
from scenegen.verdict import CheckPlan, Finding, Status

MANIFEST = "manifest.jsonl"
OLD_VERSION = 1


class OldRow(Record):
    """One scenario of the library, or an exhausted index of an expansion."""

    kind: Literal["base", "variant", "repaired", "exhausted"]
    expansion: str
    index: int
    """Index in the expansion; a base carries the base's index."""
    scenario_id: str | None
    """None only where the index is exhausted."""
    cell_id: str
    facets: dict[Facet, str] = {}
    provenance: Provenance | None = None
    plan_id: str | None = None
    results: dict[str, Status] = {}
    """`check@version` -> status."""
    findings: tuple[Finding, ...] = ()
    files: dict[str, str] = {}
    """Path in the library -> content hash of the file's bytes."""
    rejected: dict[str, int] = {}


class OldLibrary:
    """A library of format 1, for reading.

    Example:
        >>> old = OldLibrary.open("scenarios")  # doctest: +SKIP
        >>> [row.scenario_id for row in old.rows()]  # doctest: +SKIP
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._files = FolderFiles(folder)
        self.plan = cache(self._plan)
        """Returns a check plan by its content id, read once; raises `LibraryError` if it is damaged or missing."""

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open a library of format 1.

        Raises:
            LibraryError: There is none, or it is of another format.
        """
        old = cls(folder)
        form, version = old._head()
        if form == NAME and version == FORMAT:
            reason = f"a library of format {FORMAT} already: nothing to migrate"
            raise LibraryError(str(folder), reason, "use it as it is")
        if form == NAME or (form == OLD_FORMAT and version > OLD_VERSION):
            raise too_new(str(folder), version)
        if form != OLD_FORMAT or version != OLD_VERSION:
            reason = f"format {form!r} version {version} is not a library's"
            raise LibraryError(str(folder), reason, f"name a folder of format {OLD_FORMAT!r}")
        return old

    def rows(self) -> Iterator[OldRow]:
        """Iterate over all published rows; a torn last line was never published, and is skipped.

        Raises:
            LibraryError: A line is damaged.
        """
        for number, line in enumerate(self._lines(), start=1):
            try:
                yield OldRow.model_validate_json(line)
            except ValueError:
                raise _broken(self.folder / MANIFEST, f"line {number} is damaged") from None

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(1 for _ in self._lines())

    def scene(self, row: OldRow) -> Path:
        """Return a scenario's root layer, after all files of its row were held against their hashes.

        Raises:
            LibraryError: A file is damaged or missing.
        """
        for path, digest in row.files.items():
            if content_hash(self._read(path)) != digest:
                raise _broken(self.folder / path, "the file does not match its hash")
        path = scene_path(row.scenario_id or "")
        if path not in row.files:
            raise _broken(self.folder / path, "its row does not name it")
        return self.folder / path

    def records(self) -> dict[str, bytes]:
        """Return the records that rows name: content id -> bytes.

        Raises:
            LibraryError: One is damaged.
        """
        names = sorted(one.path for one in self._files.list("records") if one.path.endswith(".json"))
        return {Path(name).stem: self._record(Path(name).stem) for name in names}

    def _plan(self, plan_id: str) -> CheckPlan:
        return CheckPlan.from_json(self._record(plan_id), what=f"records/{plan_id}.json")

    def _record(self, record_id: str) -> bytes:
        path = f"records/{record_id}.json"
        data = self._read(path)
        if content_hash(data) != record_id:
            raise _broken(self.folder / path, "its content does not match its name")
        return data

    def _read(self, path: str) -> bytes:
        try:
            return self._files.read(path)
        except FileNotFoundError:
            raise _broken(self.folder / path, "the file is missing") from None

    def _lines(self) -> Iterator[bytes]:
        path = self.folder / MANIFEST
        if path.is_file():
            with path.open("rb") as file:
                yield from (line for line in file if line.endswith(b"\n"))

    def _head(self) -> tuple[object, int]:
        try:
            head = json.loads(self._files.read(MARKER))
            return head["format"], int(head["version"])
        except FileNotFoundError:
            raise LibraryError(str(self.folder), "no library there", "name the folder of a library") from None
        except (ValueError, KeyError, TypeError) as error:
            raise LibraryError(str(self.folder), f"{MARKER} cannot be read ({error})", "restore the file") from None


def _broken(path: Path, reason: str) -> LibraryError:
    remedy = "restore it from a copy and run the command again, or leave such scenes out with --skip-damaged"
    return LibraryError(str(path), reason, remedy)
