"""Records behind scenes that only a journal holds so far."""

from __future__ import annotations

from collections.abc import Iterable

from library.commit import FileFacts
from library.row import Line, Row
from library.versioned import VersionedLibrary
from scenegen.errors import LibraryError
from scenegen.record import content_hash
from scenegen.vlm.proposed import Proposed


def records_behind(library: VersionedLibrary, lines: Iterable[Line]) -> dict[str, FileFacts]:
    """Find the proposals and calls that lines name; they were written before the lines.

    Raises:
        LibraryError: One is missing or damaged.
    """
    rows = (Row.of(columns) for line in lines for columns in line.rows.get("scenarios", ()))
    named = dict.fromkeys(row.provenance.vlm_call_id for row in rows)
    files: dict[str, FileFacts] = {}
    for proposal_id in filter(None, named):
        proposal = _record(library, proposal_id)
        call = _record(library, Proposed.from_json(proposal).call_id)
        for data in (proposal, call):
            files |= library.keep_file(f"records/{content_hash(data)}.json", data)
    return files


def _record(library: VersionedLibrary, record_id: str) -> bytes:
    path = f"records/{record_id}.json"
    try:
        data = library.files.read(path)
    except FileNotFoundError:
        data = b""
    if content_hash(data) != record_id:
        reason = "it is missing or damaged, and scenes in the journal name it"
        raise LibraryError(str(library.files.local(path)), reason, "delete the journal in staging/ and run it again")
    return data
