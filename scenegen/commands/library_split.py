"""`scenegen library split`: assign bases to train, hold-out and adversarial splits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import typer
from rich.console import Console
from rich.table import Table

from library.curated import Action
from library.dedup import near_bases
from library.split import Group, assign, groups_of, parse_shares, strata_of
from scenegen.commands.curating import BRANCH, decide, open_branch, say_committed
from scenegen.commands.opened import LIBRARY
from scenegen.errors import LibraryError
from scenegen.streams import stream

app = typer.Typer()


@app.command()
def split(
    library: str = LIBRARY,
    shares: str = typer.Option(
        "train=0.8,hold-out=0.2", help="Splits and their shares, for example train=0.7,hold-out=0.2,adversarial=0.1."
    ),
    seed: int = typer.Option(0, help="Another seed breaks ties in another way."),
    branch: str = BRANCH,
    near: bool = typer.Option(True, help="Also keep bases together that are near-duplicates (see `dedup`)."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Assign every base, with all that was made of it, to one split; what is assigned already stays."""
    wanted = parse_shares(shares)
    store, snapshot = open_branch(library, branch)
    rows = list(snapshot.columns())
    if not rows:
        raise LibraryError(library, "no scenes to split", "make some with `scenegen expand`")
    known = snapshot.curated.splits
    pairs = near_bases(snapshot, rows) if near else ()
    groups = groups_of(rows, near=pairs, known=known)
    splits = assign(groups, wanted, known=known, rng=stream(seed, "split"))
    fresh = {base: name for base, name in sorted(splits.items()) if base not in known}
    commit = decide(
        store,
        branch,
        Action.SPLIT,
        fresh,
        notes=f"shares {shares}, seed {seed}",
        message=f"split {len(fresh)} bases: {shares}",
        onto=snapshot.commit,
    )
    if as_json:
        facts = {"commit": commit.content_id if commit else None, "assigned": len(fresh), "splits": splits}
        typer.echo(json.dumps({**facts, "strata": [asdict(line) for line in _lines(groups, splits, wanted)]}))
        return
    Console().print(_table(groups, splits, wanted))
    joined = sum(len(group.bases) > 1 for group in groups)
    typer.echo(f"{joined} groups of several bases share a scene or a layout, or are near-duplicates")
    say_committed(f"assigned {len(fresh)} bases, {len(splits) - len(fresh)} were assigned before", commit)


@dataclass(frozen=True)
class StratumLine:
    """One line of the table: how many scenes of a stratum, or bases, each split has."""

    stratum: str
    level: int | None
    counts: dict[str, int]
    deviation: dict[str, float]
    """How many each split has above its share."""


def _lines(groups: Sequence[Group], splits: Mapping[str, str], shares: Mapping[str, float]) -> list[StratumLine]:
    counted = [("bases", None, Counter(splits.values()))]
    counted += [(axis, level or None, counts) for (axis, level), counts in strata_of(groups, splits).items()]
    return [StratumLine(axis, level, dict(counts), _deviation(counts, shares)) for axis, level, counts in counted]


def _deviation(counts: Mapping[str, int], shares: Mapping[str, float]) -> dict[str, float]:
    """Return how many scenes each split has above its share."""
    total = sum(counts.get(name, 0) for name in shares)
    return {name: round(counts.get(name, 0) - share * total, 6) for name, share in shares.items()}


def _table(groups: Sequence[Group], splits: Mapping[str, str], shares: Mapping[str, float]) -> Table:
    names = [*shares, *sorted(set(splits.values()) - shares.keys())]
    title = "scenes by split, and how many off the share"
    table = Table("stratum", "level", *(f"{name} (off)" for name in names), title=title, title_justify="left")
    for line in _lines(groups, splits, shares):
        cells = [
            f"{line.counts.get(name, 0)}" + (f" ({line.deviation[name]:+.1f})" if name in line.deviation else "")
            for name in names
        ]
        table.add_row(line.stratum, str(line.level or ""), *cells)
    return table
