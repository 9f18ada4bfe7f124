"""A scene as a graph: what lies in what, what rests on what, and where each target belongs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import networkx as nx

from scenegen.cell import Cell, Role
from scenegen.scenario import Scenario, SortRule

INSIDE, ON, ASSIGNED, KIND = "inside", "on", "assigned_to", "is_a"
"""Relations, the `relation` of an edge: item → zone, item → what carries it, target → bin, item → semantic class."""


def rules_for(part: str, label: str, rules: Iterable[SortRule]) -> tuple[SortRule, ...]:
    """Return the sort rules that match a part, by its id or by its semantic class."""
    return tuple(rule for rule in rules if rule.match in (part, label))


def scene_graph(
    scenario: Scenario,
    cell: Cell,
    *,
    labels: Mapping[str, str],
    supports: Mapping[str, Iterable[str]] | None = None,
) -> nx.MultiDiGraph:
    """Build the graph of a scene.

    Nodes are items (`kind` item, with `part`, `role` and `cause`), fixtures and the table (`kind` fixture), semantic
    classes (`kind` class) and bins that a rule names but the cell lacks (`kind` missing); edges carry a `relation`. Two
    relations may join the same two nodes.

    Args:
        scenario: A scene of the cell.
        cell: The cell.
        labels: Semantic class of each part.
        supports: What each item rests on; without it the graph has no `on` edges.

    Returns:
        The graph; a target that several rules match has several `assigned_to` edges, one that none matches has none.
    """
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(("table", *cell.containers), kind="fixture")
    graph.add_nodes_from(sorted({labels[item.part] for item in scenario.layout.items}), kind="class")
    slots = cell.slots
    for item in scenario.layout.items:
        role = slots[item.name].role
        graph.add_node(item.name, kind="item", part=item.part, role=role, cause=item.cause)
        graph.add_edge(item.name, item.zone, relation=INSIDE)
        graph.add_edge(item.name, labels[item.part], relation=KIND)
        if role is Role.TARGET:
            for rule in rules_for(item.part, labels[item.part], scenario.task.rules):
                if rule.bin not in graph:
                    graph.add_node(rule.bin, kind="missing")
                graph.add_edge(item.name, rule.bin, relation=ASSIGNED, rule=rule)
    for upper, carriers in (supports or {}).items():
        graph.add_edges_from(((upper, lower) for lower in carriers), relation=ON)
    return graph


def related(graph: nx.MultiDiGraph, name: str, relation: str) -> tuple[str, ...]:
    """Return the nodes to which an item has a relation, in the order in which they were added."""
    return tuple(other for _, other, kind in graph.out_edges(name, data="relation") if kind == relation)


def items_of(graph: nx.MultiDiGraph, *, role: Role | None = None) -> tuple[str, ...]:
    """Return the names of all items, or of those with a role, in layout order."""
    nodes = ((name, data) for name, data in graph.nodes(data=True) if data["kind"] == "item")
    return tuple(name for name, data in nodes if role is None or data["role"] is role)


def bins_of(graph: nx.MultiDiGraph) -> dict[str, tuple[str, ...]]:
    """Return, for each part of which a target is present, the bins to which the sort rules assign it."""
    first = {graph.nodes[name]["part"]: name for name in reversed(items_of(graph, role=Role.TARGET))}
    return {part: related(graph, name, ASSIGNED) for part, name in sorted(first.items())}
