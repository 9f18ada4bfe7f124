"""The scene graph: what is in it, and what it says of rules."""

import networkx as nx

from scenegen.cell import Role
from scenegen.relations import ASSIGNED, INSIDE, KIND, ON, bins_of, items_of, related, rules_for, scene_graph
from scenegen.scenario import SortRule, Task


def _graph(scenario, cell, catalogue, **options):
    labels = {item.part: catalogue[item.part].label for item in cell.inventory}
    return scene_graph(scenario, cell, labels=labels, **options)


def test_every_item_is_inside_its_zone_and_of_its_class(base_scenario, cell, catalogue):
    graph = _graph(base_scenario, cell, catalogue)
    assert items_of(graph) == tuple(item.name for item in base_scenario.layout.items)
    for item in base_scenario.layout.items:
        assert related(graph, item.name, INSIDE) == (item.zone,)
        assert related(graph, item.name, KIND) == (catalogue[item.part].label,)
        assert graph.nodes[item.name]["cause"] is item.cause


def test_each_target_is_assigned_by_the_rules(base_scenario, cell, catalogue):
    graph = _graph(base_scenario, cell, catalogue)
    bins = {rule.match: rule.bin for rule in cell.rules}
    for item in base_scenario.layout.items:
        assert related(graph, item.name, ASSIGNED) == (bins[item.part],)


def test_several_rules_give_several_edges_and_none_gives_none(base_scenario, cell, catalogue):
    rules = (SortRule(match="hex_bolt_m6x20", bin="bin_a"), SortRule(match="hex_bolt", bin="bin_a"))
    scenario = base_scenario.varied(task=Task(rules=rules, instruction="Sort."))
    graph = _graph(scenario, cell, catalogue)
    counts = {i.part: len(related(graph, i.name, ASSIGNED)) for i in scenario.layout.items}
    expected = {"hex_bolt_m6x20": 2, "hex_bolt_m8x20": 1, "hex_nut_m6": 0, "hex_nut_m8": 0}
    assert all(count == expected[part] for part, count in counts.items())


def test_bins_of_parts_are_those_that_the_graph_assigns_to_targets(base_scenario, cell, catalogue):
    rules = (SortRule(match="hex_bolt_m6x20", bin="bin_a"), SortRule(match="hex_bolt", bin="bin_z"))
    for scenario in (base_scenario, base_scenario.varied(task=Task(rules=rules, instruction="Sort."))):
        graph = _graph(scenario, cell, catalogue)
        assert {i.part: related(graph, i.name, ASSIGNED) for i in scenario.layout.items} == bins_of(graph)


def test_a_bin_that_is_missing_is_marked(base_scenario, cell, catalogue):
    rules = (SortRule(match="hex_bolt", bin="bin_z"), SortRule(match="hex_nut", bin="bin_a"))
    graph = _graph(base_scenario.varied(task=Task(rules=rules, instruction="Sort.")), cell, catalogue)
    assert graph.nodes["bin_z"]["kind"] == "missing"
    assert graph.nodes["bin_a"]["kind"] == "fixture"


def test_supports_become_edges(base_scenario, cell, catalogue):
    first, second = (item.name for item in base_scenario.layout.items[:2])
    graph = _graph(base_scenario, cell, catalogue, supports={first: ["feed", second]})
    assert related(graph, first, ON) == ("feed", second)
    assert related(graph, second, ON) == ()
    stacked = nx.MultiDiGraph((a, b) for a, b, kind in graph.edges(data="relation") if kind == ON)
    assert nx.is_directed_acyclic_graph(stacked)


def test_roles_select_items(base_scenario, cell, catalogue):
    graph = _graph(base_scenario, cell, catalogue)
    assert items_of(graph, role=Role.TARGET) == items_of(graph)
    assert items_of(graph, role=Role.FOREIGN) == ()


def test_rules_match_by_part_or_class():
    rules = (SortRule(match="hex_nut_m6", bin="a"), SortRule(match="hex_nut", bin="b"), SortRule(match="gear", bin="c"))
    assert rules_for("hex_nut_m6", "hex_nut", rules) == rules[:2]
    assert rules_for("hex_nut_m8", "hex_nut", rules) == rules[1:2]
    assert rules_for("pin", "dowel_pin", rules) == ()
