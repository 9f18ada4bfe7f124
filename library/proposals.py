"""What a model proposed for the scenes of a library, and the call behind each proposal."""

from __future__ import annotations

from library.kept_file import read_kept
from library.row import Row
from library.snapshot import Snapshot
from library.versioned import VersionedLibrary
from scenegen.vlm.chat import Call
from scenegen.vlm.proposed import Proposed


def proposed_of(store: VersionedLibrary, snapshot: Snapshot, row: Row) -> Proposed | None:
    """Return the proposal that a scene came of; None where no model made one.

    Raises:
        LibraryError: The proposal's record is missing or damaged.
    """
    call_id = row.provenance.vlm_call_id
    if call_id is None:
        return None
    return Proposed.from_json(read_kept(store, snapshot, f"records/{call_id}.json"))


def call_of(store: VersionedLibrary, snapshot: Snapshot, proposed: Proposed) -> Call:
    """Return the call behind a proposal.

    Raises:
        LibraryError: The call's record is missing or damaged.
    """
    return Call.from_json(read_kept(store, snapshot, f"records/{proposed.call_id}.json"))
