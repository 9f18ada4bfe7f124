"""How far scenes are from what procedural axes give: what each changes in its twin's scene graph."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from library.layers import Layers
from library.versioned import VersionedLibrary
from scenegen.cell import Cell
from scenegen.relations import scene_graph
from scenegen.scenario import Scenario

Change = Counter[tuple[object, ...]]
"""Facts that a scene has and its twin lacks, or the other way round, with how often."""


def changes(folder: Path) -> list[Change]:
    """Return what each scene of a library changes in its twin, in the order of the scenes."""
    store = VersionedLibrary.open(folder)
    snapshot, found = store.at(), []
    layers = Layers(store, snapshot)
    for row in snapshot.rows():
        if row.kind == "base":
            continue
        cell, parts = layers.cell_and_parts(row)
        labels = {part.id: part.label for part in parts.values()}
        base = snapshot.scenario(snapshot.find(row.provenance.base_id))
        own, twin = (_facts(scene, cell, labels) for scene in (snapshot.scenario(row), base))
        found.append((own - twin) + Counter({("without", *fact): count for fact, count in (twin - own).items()}))
    return found


def distances(some: Sequence[Change], others: Sequence[Change]) -> list[float]:
    """Return how far each change is from the nearest of the others: 1 - shared / all of their facts (Jaccard)."""
    return [min(_apart(one, other) for other in others) for one in some]


def _facts(scenario: Scenario, cell: Cell, labels: dict[str, str]) -> Change:
    """List what a scene's graph says, items by their part and role: which of two equal bolts it is does not matter."""
    graph = scene_graph(scenario, cell, labels=labels)
    items = {name: facts for name, facts in graph.nodes(data=True) if facts["kind"] == "item"}
    facts: Change = Counter((one["part"], one["role"].value, one["cause"].value) for one in items.values())
    for name, other, edge in graph.edges(data=True):
        facts[items[name]["part"], edge["relation"], items[other]["part"] if other in items else other] += 1
    return facts


def _apart(one: Change, other: Change) -> float:
    shared, union = (one & other).total(), (one | other).total()
    return 1.0 - shared / union if union else 0.0
