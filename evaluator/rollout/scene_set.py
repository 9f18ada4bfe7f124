"""Which scenes a version of a library holds, whatever was found out about them since."""

from __future__ import annotations

from library.commit import Commit
from library.tables import CURATION, FACET_RECORDS, SCENARIOS
from library.versioned import VersionedLibrary

DECIDES = frozenset({SCENARIOS.name, FACET_RECORDS.name, CURATION.name})
"""Tables that say which scenes there are; episodes, verdicts and measurements leave the scenes as they are."""


def scene_set(store: VersionedLibrary, commit: Commit) -> Commit:
    """Return the commit that last changed the scenes of a version.

    A run that is continued finds its own episodes committed on top of the scenes that it began with: they are another
    commit, and the same scenes.

    Args:
        store: The library.
        commit: The version.

    Raises:
        LibraryError: A commit before it is missing or damaged.
    """
    found = commit
    for found in store.history.log(commit):
        if DECIDES & found.added.keys():
            break
    return found
