"""What differs between two pieces of data, field by field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from library.fields import FieldChange, field_changes

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
data = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "name"]), inner),
    max_leaves=8,
)


@given(data)
def test_nothing_differs_from_itself(one):
    assert list(field_changes(one, one)) == []


@given(data, data)
def test_the_other_direction_is_the_mirror(one, other):
    forth = sorted(change.mirrored.text for change in field_changes(one, other))
    assert forth == sorted(change.text for change in field_changes(other, one))
    assert bool(forth) == (one != other)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ({"motion": {"speed_m_s": 0.1}}, {"motion": {"speed_m_s": 0.25}}, "motion.speed_m_s: 0.1 -> 0.25 m/s"),
        (
            {"lights": [{"name": "key", "temperature_k": 5000.0}, {"name": "hall", "temperature_k": 4000.0}]},
            {"lights": [{"name": "hall", "temperature_k": 4000.0}, {"name": "key", "temperature_k": 3000.0}]},
            "lights.key.temperature_k: 5000 -> 3000 K",
        ),
        (
            {"items": [{"name": "a", "position_m": [0.1, 0.2, 0.0]}]},
            {"items": [{"name": "a", "position_m": [0.1, 0.3, 0.0]}]},
            "items.a.position_m: (0.1, 0.2, 0) -> (0.1, 0.3, 0) m",
        ),
        (
            {"items": [{"name": "a", "mass_kg": 1.0}]},
            {"items": [{"name": "a", "mass_kg": 1.0}, {"name": "b"}]},
            "items.b: added {'name': 'b'}",
        ),
        ({"task": {"instruction": "Sort."}}, {"task": {}}, "task.instruction: removed 'Sort.'"),
    ],
)
def test_changes_name_the_field_its_values_and_its_unit(before, after, text):
    (change,) = field_changes(before, after)
    assert change.text == text


def test_a_change_is_a_record():
    change = FieldChange(path="a.angle_rad", before=0.0, after=1.0, unit="rad")
    assert FieldChange.from_json(change.canonical_json()) == change
