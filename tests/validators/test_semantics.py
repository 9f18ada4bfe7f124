"""Rules, causes, instructions: what a person would say is wrong with them."""

import pytest

from scenegen.scenario import Cause, Layout, SortRule, Task
from validators.hidden import HIDDEN
from validators.instruction import INSTRUCTION, LEAK
from validators.rules import CAPACITY, CAUSES, SORT_RULE
from validators.settled import SETTLED, is_audited


def _said(check, scenario, context):
    return [(found.code, found.sentence) for found in check.run(scenario, context, check.limits)]


def _instructed(scenario, text):
    return scenario.varied(task=Task(rules=scenario.task.rules, instruction=text))


def _ruled(scenario, *rules):
    return scenario.varied(task=Task(rules=rules, instruction="Sort."))


def _caused(scenario, index, cause):
    items = list(scenario.layout.items)
    items[index] = items[index].model_copy(update={"cause": cause})
    return scenario.varied(layout=Layout(fixtures=scenario.layout.fixtures, items=tuple(items)))


@pytest.mark.parametrize(
    "text",
    [
        "Sort the parts in the tray: M6 hex bolts into bin A, M8 hex bolts into bin B and M8 hex nuts into bin D.",
        "Please put every part where it belongs.",
        "Bin A takes the M6 hex bolts, bin D the M8 hex nuts.",
        "Bring the larger screws to box B and the bin with nuts stays empty.",
        'The nuts go into the bin "C" or the bin marked D.',
        "Sortiere die Teile: M6 Schrauben in Kiste A.",
    ],
)
def test_sound_instructions(base_scenario, check_context, text):
    scenario = _instructed(base_scenario, text)
    assert _said(INSTRUCTION, scenario, check_context) == []
    assert _said(LEAK, scenario, check_context) == []


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        ("Put nuts into bin E.", "unknown_bin", "the instruction names bin 'E' - accepted: A, B, C, D"),
        (
            "Put nuts into the bin marked spare.",
            "unknown_bin",
            "the instruction names bin 'spare' - accepted: A, B, C, D",
        ),
        ("Alles in Kiste 7.", "unknown_bin", "the instruction names bin '7' - accepted: A, B, C, D"),
        (
            "Take the gears first.",
            "unknown_class",
            "the instruction speaks of a 'gear' - accepted: kinds of parts of the cell (cable, chip, dowel_pin, "
            "flat_washer, glove, hex_bolt, hex_nut)",
        ),
        (
            "Take the M12 nuts first.",
            "unknown_size",
            "the instruction speaks of size M12 - accepted: sizes of the cell's parts (M6, M8)",
        ),
        (
            "M6 hex bolts into bin A and M8 hex bolts into bin C.",
            "contradicts",
            "the instruction sends 'hex_bolt_m8x20' to bin 'C' - accepted: what the rules say (bin_b)",
        ),
        (
            "Bin B gets the M6 hex bolt.",
            "contradicts",
            "the instruction sends 'hex_bolt_m6x20' to bin 'B' - accepted: what the rules say (bin_a)",
        ),
    ],
)
def test_instructions_that_do_not_match(base_scenario, check_context, text, code, sentence):
    assert _said(INSTRUCTION, _instructed(base_scenario, text), check_context) == [(code, sentence)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Sort hex_nut_m8_03 first.", "identifier"),
        ("Put all into bin_a.", "identifier"),
        ("Sort {parts}.", "template"),
        ("Sort the parts (seed 7).", "generator"),
        ("Sort at level 3.", "generator"),
        ("Sort 3f2a9c1b77d0.", "hash"),
        ("Sort as in scene.usda says.", "file"),
        ("Sort number 123456.", "number"),
        ("Lighting severity is high, sort.", "generator"),
    ],
)
def test_leaks(base_scenario, check_context, text, code):
    ((found, sentence),) = _said(LEAK, _instructed(base_scenario, text), check_context)
    assert found == code
    assert sentence.endswith("- accepted: words of a person at the line")


def test_two_rules_or_none_are_undecidable(base_scenario, check_context):
    rules = base_scenario.task.rules
    assert _said(SORT_RULE, base_scenario, check_context) == []
    both = _ruled(base_scenario, *rules, SortRule(match="hex_bolt", bin="bin_c"))
    assert (
        "ambiguous",
        "2 sort rules match part 'hex_bolt_m6x20' (bins: bin_a, bin_c) - accepted: exactly one rule",
    ) in (_said(SORT_RULE, both, check_context))
    by_class = _ruled(base_scenario, SortRule(match="hex_bolt", bin="bin_a"), SortRule(match="hex_nut", bin="bin_c"))
    assert _said(SORT_RULE, by_class, check_context) == []
    lacking = _ruled(base_scenario, SortRule(match="hex_bolt", bin="bin_a"))
    assert {code for code, _ in _said(SORT_RULE, lacking, check_context)} == {"no_rule"}


def test_bins_have_room_for_what_is_sorted_into_them(base_scenario, check_context):
    everything = _ruled(base_scenario, SortRule(match="hex_bolt", bin="bin_a"), SortRule(match="hex_nut", bin="bin_a"))
    count = len(base_scenario.layout.items)
    full = _said(CAPACITY, everything, check_context)
    assert bool(full) == (count > 12)
    if full:
        assert full == [("full", f"bin 'bin_a' would hold {count} items in the end - accepted: at most 12")]


def test_causes_fit_what_is_there(base_scenario, check_context):
    name = base_scenario.layout.items[0].name
    assert _said(CAUSES, _caused(base_scenario, 0, Cause.JOSTLED), check_context) == []
    assert _said(CAUSES, _caused(base_scenario, 0, Cause.PILED), check_context) == [
        (
            "unexplained",
            f"cause 'piled' does not explain '{name}' (flat on the floor of the feed) - accepted: nominal, jostled, "
            "misfeed, mixed_lot, obstruction",
        )
    ]


def test_causes_are_those_of_the_plant(base_scenario, check_context):
    strict = check_context.cell.model_copy(update={"allowed_causes": ("nominal", "leaning")})
    context = type(check_context)(**{**vars_of(check_context), "cell": strict})
    name = base_scenario.layout.items[0].name
    assert _said(CAUSES, _caused(base_scenario, 0, Cause.JOSTLED), context) == [
        ("not_allowed", f"cause 'jostled' of '{name}' does not happen here - accepted: nominal, leaning")
    ]


def vars_of(context):
    return {name: getattr(context, name) for name in type(context).__dataclass_fields__}


def test_nothing_that_could_hide_means_nothing_is_measured(base_scenario, check_context):
    class Blind:
        def hidden_shares(self, scenario, *, camera):
            raise AssertionError("measured without need")

    context = type(check_context)(**{**vars_of(check_context), "masks": Blind()})
    assert _said(HIDDEN, base_scenario, context) == []


def test_the_audit_is_drawn_by_hash(base_scenario):
    assert is_audited(base_scenario, 1.0)
    assert not is_audited(base_scenario, 0.0)
    shares = [share for share in (0.1, 0.3, 0.5, 0.7, 0.9) if is_audited(base_scenario, share)]
    assert shares == sorted(shares)


def test_a_disagreeing_audit_is_a_failed_check(base_scenario, check_context, settler):
    """What should rest by construction but moves in the simulation is reported, not averaged away."""

    class Restless:
        def settle(self, layout, matter, *, limit_s):
            settled = settler.settle(layout, matter, limit_s=limit_s)
            first = layout.items[0].name
            return type(settled)(**{**vars(settled), "drift_m": {**settled.drift_m, first: 0.02}})

    context = type(check_context)(**{**vars_of(check_context), "settler": Restless()})
    limits = {**SETTLED.limits, "audit_share": 1.0}
    proof = SETTLED.run(base_scenario, context, limits)
    first = base_scenario.layout.items[0].name
    assert [found.code for found in proof.findings] == ["audit_disagrees", "drift"]
    assert proof.findings[0].sentence == (
        f"the layout should rest by construction, but the simulation says: '{first}' moves by 0.02 m - accepted: at "
        "most 0.002 m"
    )
    assert not SETTLED.run(base_scenario, check_context, limits).findings


def test_a_moved_center_of_mass_is_simulated(base_scenario, check_context):
    """A stable pose says nothing of a part whose mass lies elsewhere."""
    entries = tuple(
        entry.model_copy(update={"center_of_mass_m": (entry.center_of_mass_m[0] + 0.0015, *entry.center_of_mass_m[1:])})
        for entry in base_scenario.matter.items
    )
    moved = base_scenario.varied(matter=base_scenario.matter.model_copy(update={"items": entries}))
    limits = {**SETTLED.limits, "audit_share": 0.0}
    assert SETTLED.run(base_scenario, check_context, limits).basis.value == "by_construction"
    assert SETTLED.run(moved, check_context, limits).basis.value == "measured"
