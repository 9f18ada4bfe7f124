"""The runs that a library keeps: which there are, when they ended, and their episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evaluator.judging.episode import Episode
from evaluator.judging.outcome import Outcome
from evaluator.rollout.run import Run
from library.commit import Commit
from library.snapshot import Snapshot
from library.tables import EPISODES, RUNS
from library.versioned import VersionedLibrary
from scenegen.errors import LibraryError

LATEST = "latest"
"""Names the run whose episodes came last."""


@dataclass
class KeptRun:
    """One run in one version of a library."""

    id: str
    run: Run
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    """Its rows in the table `episodes`, attempts each counted."""
    commits: tuple[Commit, ...] = ()
    """What brought its episodes, oldest first; empty where the history does not tell."""

    @property
    def episodes(self) -> int:
        """Number of its episodes."""
        return self.outcomes.total()

    @property
    def commands(self) -> tuple[str, ...]:
        """Command lines that made it, each once."""
        return tuple(dict.fromkeys(" ".join(commit.command) for commit in self.commits if commit.command))


def kept_runs(store: VersionedLibrary, snapshot: Snapshot) -> tuple[KeptRun, ...]:
    """Return the runs of a version in the order in which they were last added to, newest last.

    Args:
        store: The library.
        snapshot: The version.

    Raises:
        LibraryError: The library is damaged.
        InvalidRecord: Another version of scenegen kept a run, with conditions that this one does not know.
    """
    rows = snapshot.table(RUNS.name).scan(columns=["run_id", "conditions"]).to_pylist()
    found = {row["run_id"]: KeptRun(row["run_id"], Run.of(row)) for row in rows}
    episodes = snapshot.table(EPISODES.name).scan(columns=["run_id", "outcome"])
    owners, outcomes = (episodes.column(name).to_pylist() for name in ("run_id", "outcome"))
    last: dict[str, int] = {}
    for index, (owner, outcome) in enumerate(zip(owners, outcomes, strict=True)):
        if owner in found:
            found[owner].outcomes[Outcome(outcome)] += 1
            last[owner] = index
    for owner, commits in _commits(store, snapshot, owners).items():
        if owner in found:
            found[owner].commits = commits
    return tuple(sorted(found.values(), key=lambda one: last.get(one.id, -1)))


def own_runs(runs: Iterable[KeptRun]) -> list[KeptRun]:
    """Return the runs with episodes that stand for themselves: not those that explain another one's failures."""
    return [one for one in runs if one.run.explains is None and one.episodes]


def find_run(runs: Sequence[KeptRun], name: str, *, library: str) -> KeptRun:
    """Return the run whose id begins with `name`, or the newest one for `latest`.

    Args:
        runs: The runs, newest last.
        name: As typed.
        library: What the library is called in errors.

    Raises:
        LibraryError: There are no runs, or none or several of that name.
    """
    own = own_runs(runs)
    if not own:
        raise LibraryError(library, "it holds no runs yet", "roll a policy out with `scenegen evaluate --policy …`")
    if name == LATEST:
        return own[-1]
    fitting = [one for one in own if one.id.startswith(name)]
    if len(fitting) != 1 or not name:
        reason = f"{len(fitting)} runs have an id that starts with {name!r}" if fitting else f"no run {name!r}"
        raise LibraryError(library, reason, "list runs with `scenegen report`; `latest` names the newest")
    return fitting[0]


def episodes_of_run(snapshot: Snapshot, run_id: str) -> Iterator[Episode]:
    """Yield the kept episodes of a run, in the order in which they were kept, with all attempts."""
    for batch in snapshot.table(EPISODES.name).batches(where=f"run_id = '{run_id}'"):
        for columns in batch.to_pylist():
            yield Episode.of(columns)


def _commits(store: VersionedLibrary, snapshot: Snapshot, owners: Sequence[str]) -> Mapping[str, tuple[Commit, ...]]:
    """Find which commits brought each run's episodes: rows stand in the order in which commits added them."""
    history = list(store.history.log(snapshot.commit))[::-1] if snapshot.commit else []
    history = [commit for commit in history if commit.added.get(EPISODES.name)]
    ends = np.cumsum([commit.added[EPISODES.name] for commit in history], dtype=int).tolist()
    if not ends or ends[-1] != len(owners):
        return {}
    found: dict[str, list[Commit]] = {}
    for commit, start, end in zip(history, [0, *ends], ends, strict=False):
        for owner in dict.fromkeys(owners[start:end]):
            found.setdefault(owner, []).append(commit)
    return {owner: tuple(commits) for owner, commits in found.items()}
