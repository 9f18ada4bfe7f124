"""Grammars let nothing through that the schema's bounds forbid, as pydantic sees them."""

import json
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

llguidance = pytest.importorskip("llguidance", reason="needs the extra `vlm-local`")
from scenegen.vlm.constraint import UnusableSchema, compact_grammar  # noqa: E402


class Edit(BaseModel):
    model_config = ConfigDict(extra="forbid")
    op: Literal["move", "turn"]
    dx_m: Annotated[float, Field(ge=-0.25, le=0.35)]
    share: Annotated[float, Field(gt=0, lt=1)]
    yaw_deg: Annotated[int, Field(ge=-90, le=180)]
    items: Annotated[list[Annotated[int, Field(ge=1, le=12)]], Field(min_length=1, max_length=3)]


TOKENS = llguidance.LLTokenizer("byte")
GRAMMAR = compact_grammar(Edit.model_json_schema())
GOOD = {"op": "move", "dx_m": 0.1, "share": 0.5, "yaw_deg": 90, "items": [1, 12]}


def accepts(text, grammar=GRAMMAR):
    """Whether a model that is held to the grammar could write the text, whole."""
    matcher = llguidance.LLMatcher(TOKENS, grammar)
    tokens = TOKENS.tokenize_str(text)
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


def compact(fields):
    return json.dumps(fields, separators=(",", ":"))


def is_valid(text):
    try:
        Edit.model_validate_json(text, strict=True)
    except ValidationError:
        return False
    return True


near = {
    "dx_m": st.one_of(st.floats(-1, 1), st.sampled_from([-0.25, 0.35, -0.250001, 0.3500001, 0, -0.0])),
    "share": st.one_of(st.floats(-1, 2), st.sampled_from([0, 1, 0.0, 1.0, 1e-9, 0.999999])),
    "yaw_deg": st.one_of(st.integers(-400, 400), st.floats(-100, 200)),
    "items": st.lists(st.integers(-2, 15), max_size=5),
    "op": st.sampled_from(["move", "turn", "Move", "", "swap"]),
}


@given(
    st.dictionaries(st.sampled_from(sorted(near)), st.none(), max_size=2).flatmap(
        lambda keys: st.fixed_dictionaries({key: near[key] for key in keys})
    )
)
def test_what_a_grammar_lets_through_is_valid(changed):
    text = compact({**GOOD, **changed})
    assert not accepts(text) or is_valid(text)


@given(
    dx=st.integers(-25, 35),
    share=st.integers(1, 99),
    yaw=st.integers(-90, 180),
    items=st.lists(st.integers(1, 12), min_size=1, max_size=3),
)
def test_plain_numbers_within_the_bounds_are_let_through(dx, share, yaw, items):
    """In one spelling at least: of 0.3 and 0.30, llguidance takes only the second up to 0.35, the first below 1."""
    rest = f'"yaw_deg":{yaw},"items":{compact(items)}}}'
    spelled = [(f"{dx / 100:{a}}", f"{share / 100:{b}}") for a in (".2f", "g") for b in (".2f", "g")]
    assert any(accepts(f'{{"op":"turn","dx_m":{a},"share":{b},{rest}') for a, b in spelled)


@pytest.mark.parametrize(
    "changed",
    [
        {"dx_m": 0.36}, {"dx_m": -0.26}, {"share": 0}, {"share": 1}, {"yaw_deg": 181}, {"yaw_deg": 1.5}, {"items": []},
        {"items": [1, 2, 3, 4]}, {"items": [13]}, {"op": "swap"}, {"more": 1},
    ],
    ids=str,
)  # fmt: skip
def test_each_bound_holds(changed):
    assert accepts(compact(GOOD))
    assert not accepts(compact({**GOOD, **changed}))


@pytest.mark.parametrize(
    "text", ["", "{", compact(GOOD)[:-1], json.dumps(GOOD), f" {compact(GOOD)}", f"{compact(GOOD)} "]
)
def test_neither_parts_nor_spaces_are_let_through(text):
    assert not accepts(text)


def test_a_schema_cannot_bring_its_own_options():
    loose = {**Edit.model_json_schema(), "x-guidance": {"whitespace_flexible": True}}
    assert not accepts(json.dumps(GOOD), compact_grammar(loose))


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"type": "thing"}, "Invalid type: thing"),
        (
            {"type": "integer", "minimum": 5, "maximum": 2},
            "Unsatisfiable schema: minimum (5) is greater than maximum (2)",
        ),
        ({"not": {"type": "string"}}, 'Unimplemented keys: ["not"]'),
    ],
)
def test_a_schema_that_no_grammar_can_hold_is_refused(schema, sentence):
    with pytest.raises(UnusableSchema) as error:
        compact_grammar(schema)
    assert str(error.value) == sentence
