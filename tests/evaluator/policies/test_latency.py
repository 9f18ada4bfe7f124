"""Latencies: measured, fixed, replayed from a profile; what is wrong with a profile is said in one sentence."""

import numpy as np
import pytest

from evaluator.policies.latency import ProfileLatency, parse_latency
from scenegen.errors import InvalidOption

MEASURED = np.array([0.1, 0.2])


def test_what_was_measured_is_given_back():
    np.testing.assert_array_equal(parse_latency("measured", seed=0).seconds([0, 1], MEASURED), MEASURED)


def test_a_number_is_everybodys_latency():
    latency = parse_latency("0.12", seed=0)
    latency.reset([0, 1], ["a", "b"])
    assert latency.seconds([0, 1], MEASURED).tolist() == [0.12, 0.12]


def test_a_profile_is_replayed_call_by_call_and_begins_again():
    profile = [0.1, 0.2, 0.3]
    latency = ProfileLatency(profile, seed=1)
    latency.reset([0, 1], ["a", "b"])
    calls = np.array([latency.seconds([0, 1], MEASURED) for _ in range(6)]).T
    for world in calls.tolist():
        start = profile.index(world[0])
        assert world == [profile[(start + call) % 3] for call in range(6)]


def test_a_scenes_latencies_depend_on_no_world():
    alone, among = (ProfileLatency(np.arange(50) / 100, seed=4) for _ in range(2))
    alone.reset([2], ["x"])
    among.reset([3, 7, 1], ["y", "x", "z"])
    for _ in range(5):
        together = among.seconds([1, 7, 3], np.zeros(3))
        assert alone.seconds([2], np.zeros(1)).tolist() == [together[1]]


def test_scenes_and_seeds_begin_at_other_places():
    starts = set()
    for seed in range(3):
        latency = ProfileLatency(np.arange(100_000) / 100_000, seed=seed)
        for scene in "abcd":
            latency.reset([0], [scene])
            starts.add(latency.seconds([0], np.zeros(1)).item())
    assert len(starts) == 12


@pytest.mark.parametrize(
    ("name", "text"), [("p.json", "[0.1, 0.25, 1]"), ("p.csv", "call,seconds\n0,0.1\n1,0.25\n2,1\n")]
)
def test_profiles_are_read_from_json_and_csv(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    latency = parse_latency(str(tmp_path / name), seed=0)
    seen = [latency.seconds([0], np.zeros(1)).item() for _ in range(3)]
    assert seen == [0.1, 0.25, 1.0]


FORM = "accepted: JSON, a list of seconds, or CSV with a column seconds"


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("p.json", "[]", "{path} (empty) - accepted: a profile of at least one call"),
        ("p.json", "[0.1, -1]", "{path} (-1 s at call 1) - accepted: 0 to 60 seconds a call"),
        ("p.json", "[120]", "{path} (120 s at call 0) - accepted: 0 to 60 seconds a call"),
        ("p.json", "[NaN]", "{path} (nan s at call 0) - accepted: 0 to 60 seconds a call"),
        ("p.json", '{"a": 1}', "{path} (no list) - " + FORM),
        ("p.json", '["x"]', '{path} ("x" is no number) - ' + FORM),
        ("p.json", "[true]", "{path} (true is no number) - " + FORM),
        ("p.json", "[1", "{path} (Expecting ',' delimiter: line 1 column 3 (char 2)) - " + FORM),
        ("p.csv", "ms\n3\n", "{path} (no column seconds) - " + FORM),
        ("p.csv", "call,seconds\n0\n", "{path} (could not convert string to float: 'nothing') - " + FORM),
        ("p.txt", "1", "{path} - accepted: measured, a number of seconds, or a .json or .csv file that exists"),
    ],
)
def test_a_wrong_profile_gets_one_sentence(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidOption) as error:
        parse_latency(str(tmp_path / name), seed=0)
    assert str(error.value) == "--latency " + sentence.format(path=tmp_path / name)


@pytest.mark.parametrize("text", ["-1", "61", "nan", "inf"])
def test_a_wrong_number_gets_one_sentence(text):
    with pytest.raises(InvalidOption) as error:
        parse_latency(text, seed=0)
    assert str(error.value) == f"--latency {text} - accepted: 0 to 60 seconds"


def test_a_profile_in_a_giant_file_is_not_read(tmp_path):
    with (tmp_path / "p.json").open("wb") as file:
        file.truncate(17_000_000)
    with pytest.raises(InvalidOption) as error:
        parse_latency(str(tmp_path / "p.json"), seed=0)
    assert str(error.value) == f"--latency {tmp_path / 'p.json'} - accepted: a profile of at most 16 MB"
