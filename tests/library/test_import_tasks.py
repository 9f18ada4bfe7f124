"""Task lists in our axes and levels."""

from pathlib import Path

import pytest

from library.import_tasks import TaskEntry, plan_tasks, read_tasks
from scenegen.axes.registry import AXES
from scenegen.errors import InvalidRecord

SAMPLE = Path(__file__).parent / "data" / "libero_plus_tasks.json"
ALIASES = {axis.name: axis.aliases for axis in AXES.values()}


def plan(*entries):
    return plan_tasks([TaskEntry.from_data(entry) for entry in entries], ALIASES)


def entry(category, level=1, name="task"):
    return {"name": name, "category": category, "difficulty_level": level}


def test_the_sample():
    entries = read_tasks(SAMPLE)
    assert len(entries) == 9
    assert entries[0].suite == "libero_spatial"
    found = plan_tasks(entries, ALIASES)
    assert found.counts == {
        ("lighting", 1): 2,
        ("pose", 3): 1,
        ("misplacement", 2): 1,
        ("occlusion", 2): 1,
        ("language", 4): 1,
        ("sensor", 5): 1,
        ("background", 2): 1,
    }
    assert found.without_axis == {}
    assert found.without_level == {"Light Conditions": 1}


@pytest.mark.parametrize(
    ("category", "axis"),
    [
        ("Light Conditions", "lighting"),
        ("Camera Viewpoints", "camera"),
        ("Robot Initial States", "robot_start"),
        ("Language Instructions", "language"),
        ("Objects Layout", "pose"),
        ("light conditions", "lighting"),
        ("Sensor Noise", "sensor"),
        ("Background Textures", "background"),
    ],
)
@pytest.mark.parametrize("level", [1, 5])
def test_every_category_that_an_axis_claims(category, axis, level):
    assert plan(entry(category, level)).counts == {(axis, level): 1}


def test_a_category_that_no_axis_claims_is_told():
    assert plan(entry("Gravity"), entry("Gravity", None)).without_axis == {"Gravity": 2}


def test_axes_that_claim_one_term_take_entries_in_turn():
    found = plan(*(entry("Objects Layout", 2, f"bowl_add_{n}") for n in range(5)))
    assert found.counts == {("misplacement", 2): 3, ("occlusion", 2): 2}


def test_every_entry_is_counted_once():
    entries = read_tasks(SAMPLE) * 3
    found = plan_tasks(entries, ALIASES)
    assert len(entries) == sum(map(sum, (c.values() for c in (found.counts, found.without_axis, found.without_level))))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "[]",
            'it is no task list - accepted: an object {suite: [{"name", "category", "difficulty_level"}, …]}, as'
            " LIBERO-Plus has it",
        ),
        ("[" * 100_000, "not JSON (it is nested too deeply)"),
    ],
)
def test_a_file_that_is_no_list(tmp_path, text, reason):
    path = tmp_path / "list.json"
    path.write_text(text)
    with pytest.raises(InvalidRecord) as caught:
        read_tasks(path)
    assert str(caught.value) == f"{path}: {reason}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"s": [{"name": "a", "category": "b", "difficulty_level": 6}]}', "difficulty_level"),
        ('{"s": [{"category": "b"}]}', "name"),
        ('{"s": [7]}', "name"),
        ('{"s": [{"name": 7, "category": "b"}]}', "name"),
    ],
)
def test_an_entry_that_is_none_is_named(tmp_path, text, sentence):
    path = tmp_path / "list.json"
    path.write_text(text)
    with pytest.raises(InvalidRecord, match=rf"^{path}: entry 0 of s: {sentence}"):
        read_tasks(path)
