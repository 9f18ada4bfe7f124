"""Errors are sentences, are what they refine, and come through from worker processes whole."""

import pickle
from collections import Counter

import pytest

import scenegen.errors
from scenegen.errors import (
    BudgetSpent,
    ContactOverflow,
    InvalidOption,
    InvalidRecord,
    LibraryError,
    MissingExtra,
    OutOfMemory,
    PlacementFailed,
    PolicyError,
    ProcessLost,
    SceneGenError,
    UnknownName,
    UnreadableStage,
    UnsafeStage,
    UnusablePart,
    VariationFailed,
    VlmError,
)

ERRORS = [
    InvalidRecord("cell.yaml", ["n: -1 - accepted: 1"]),
    UnknownName("axis", "poze", ["pose", "tilt"]),
    InvalidOption("--n", 0, "1 or more"),
    PlacementFailed("bolt_1", 200, Counter(overlap=3)),
    VariationFailed("pose", 3, "no_room", "tried 20 poses"),
    UnusablePart("a.step", "no solid", "export a solid"),
    UnreadableStage("a.usda", "/World", "no items"),
    UnsafeStage("a.usda", "asset_outside", "/etc/passwd"),
    ContactOverflow(10, 2, 4),
    PolicyError("noop", "no answer in time", "an answer within 90 s"),
    LibraryError("scenarios", "the disk is full", "free some room"),
    MissingExtra("viewing", "view"),
    VlmError("openai:m@http://127.0.0.1:1", "no answer", "start the server"),
    BudgetSpent("10 tokens", "9 tokens", "--budget-tokens"),
    OutOfMemory("CUDA error 2"),
    ProcessLost(4),
]


def test_every_error_is_tried_here():
    leaves = [one for one in vars(scenegen.errors).values() if isinstance(one, type) and issubclass(one, SceneGenError)]
    assert {*leaves} == {SceneGenError, *(type(error) for error in ERRORS)}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_comes_back_from_pickle_whole(error):
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)
    assert back.args == error.args
