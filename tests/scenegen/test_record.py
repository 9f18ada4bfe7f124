"""Laws of records: canonical JSON, stable ids, sentences for what is wrong."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.errors import InvalidRecord
from scenegen.geometry import Pose
from scenegen.record import content_hash, once_per_value, quantise
from scenegen.scenario import Item, ItemMatter, Look, RectLight
from scenegen.units import Quantity

finite = st.floats(min_value=-3.3e38, max_value=3.3e38, allow_nan=False)


@given(finite)
def test_quantising_twice_changes_nothing(value):
    assert quantise(quantise(value)) == quantise(value)


@given(finite)
def test_a_quantised_number_survives_32_bits_and_text(value):
    number = quantise(value)
    assert quantise(float(np.float32(number))) == number
    assert float(repr(number)) == number


def test_zero_has_one_sign():
    assert str(quantise(-0.0)) == "0.0"


@given(st.tuples(finite, finite, finite))
def test_a_record_comes_back_from_its_json(position):
    pose = Pose(position_m=position)
    again = Pose.from_json(pose.canonical_json())
    assert again == pose
    assert again.content_id == pose.content_id


def test_canonical_json_is_sorted_and_compact():
    assert Look(color=(0.1, 0.2, 0.3)).canonical_json() == '{"color":[0.1,0.2,0.3],"metallic":0.0,"roughness":0.5}'


def test_ids_agree_between_processes():
    code = "from scenegen.geometry import Pose; print(Pose(position_m=(0.1, 0.2, 0.3)).content_id)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert other == Pose(position_m=(0.1, 0.2, 0.3)).content_id


def test_the_hash_sees_where_chunks_end():
    assert content_hash(b"ab", b"c") != content_hash(b"a", b"bc")


@pytest.mark.parametrize(
    ("record", "data", "sentence"),
    [
        (
            Pose,
            {"position": [0, 0, 0]},
            "Pose: position: unknown field (value [0, 0, 0]) - accepted: position_m, quat_xyzw",
        ),
        (
            Pose,
            {"position_m": [0, float("nan"), 0]},
            "Pose: position_m.1: nan is not finite - accepted: a finite number",
        ),
        (
            Pose,
            {"quat_xyzw": [0, 0, 0, 2]},
            "Pose: quat_xyzw: [0.0, 0.0, 0.0, 2.0] has norm 2 - accepted: "
            "a unit quaternion (x, y, z, w), norm 1 ± 1e-5",
        ),
        (
            Quantity,
            {"name": "shift", "value": 1, "unit": "furlong"},
            "Quantity: unit: 'furlong' - accepted: '1', 'count', 'share', 'factor', 'm', 'mm', 'rad', 'deg', 'px', "
            "'1/px', 'lx', 'cd/m2', 'K', 'kg', 'N', 's', 'Hz', 'm/s', 'EV', 'dB' or 'dE2000'",
        ),
        (Look, {"color": [0, 0, 2]}, "Look: color.2: 2 - accepted: less than or equal to 1"),
        (Look, {}, "Look: color: missing - it is required"),
        (
            RectLight,
            {"name": "k", "luminance_nit": -1, "size_m": [1, 1], "pose_to_world": {}},
            "RectLight: luminance_nit: -1 - accepted: greater than or equal to 0",
        ),
        (
            Item,
            {"name": "bolt 1", "part": "bolt", "zone": "feed", "pose_to_world": {}},
            "Item: name: 'bolt 1' - accepted: letters, digits and _, beginning with a letter",
        ),
    ],
)
def test_a_bad_field_gets_a_sentence(record, data, sentence):
    with pytest.raises(InvalidRecord) as caught:
        record.from_data(data)
    assert str(caught.value) == sentence


def test_broken_json_gets_a_sentence():
    with pytest.raises(InvalidRecord) as caught:
        Pose.from_json("{")
    assert str(caught.value).startswith("Pose: not JSON (Expecting property name")


def test_mass_must_be_positive():
    with pytest.raises(InvalidRecord) as caught:
        ItemMatter.from_data(
            {
                "name": "a",
                "mass_kg": 0,
                "center_of_mass_m": [0, 0, 0],
                "diagonal_inertia_kg_m2": [1, 1, 1],
                "principal_axes_xyzw": [0, 0, 0, 1],
                "friction": 0.5,
            }
        )
    assert str(caught.value) == "ItemMatter: mass_kg: 0 - accepted: greater than 0"


def test_every_record_exports_a_json_schema():
    schema = json.dumps(Item.model_json_schema())
    assert "Where it lies" in schema


def test_what_was_said_of_equal_records_is_remembered():
    asked = []

    @once_per_value
    def height(pose: Pose, scale: float) -> float:
        asked.append(pose)
        return scale * pose.position_m[2]

    low, high = Pose(position_m=(0, 0, 1)), Pose(position_m=(0, 0, 2))
    assert [height(low, 3), height(high, 3), height(Pose(position_m=(0, 0, 1)), 3)] == [3, 6, 3]
    assert asked == [low, high]
