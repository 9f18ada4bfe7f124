"""Damage every kind of file in every way: nothing is silent, nothing crashes, and `verify` names the file.

The full number runs with `-m slow`; `benchmarks/library/corruption.py` measures on a library made by the command line.
"""

import importlib.util
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from library import lance_table
from library.versioned import VersionedLibrary

HARNESS = Path(__file__).parents[2] / "benchmarks" / "library" / "corruption.py"
KINDS = (
    "Lance bookkeeping", "Lance data", "Lance index", "Lance manifest", "cell layer", "cell specification", "commit",
    "journal", "layout layer", "library.json", "part asset", "record", "scene layer", "second copy", "tag",
)  # fmt: skip
FEW, MANY = 1, 200


@pytest.fixture(scope="session")
def harness():
    """The benchmark's module."""
    specification = importlib.util.spec_from_file_location("corruption_harness", HARNESS)
    module = sys.modules["corruption_harness"] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def every_kind(kept_folder, scene_maker, tmp_path_factory) -> VersionedLibrary:
    """The library with two tags and a journal; what damages it mends it afterwards."""
    kept = VersionedLibrary.open(shutil.copytree(kept_folder, tmp_path_factory.mktemp("damaged") / "scenes"))
    kept.tag("v2", kept.history.find("main"))
    scene_maker.journal(kept, range(4, 7))
    return kept


@pytest.fixture(scope="session")
def right(harness, every_kind):
    """What the undamaged library answers."""
    return harness.answers(every_kind.folder)


@pytest.fixture
def wrong(harness, every_kind, right):
    """Tells what is not as it must be among some mutations."""

    def measure(kind: str, mutation: str, count: int) -> list[str]:
        rng = np.random.default_rng([KINDS.index(kind), count])
        return harness.measure(every_kind.folder, kind, mutation, count=count, rng=rng, right=right).examples

    return measure


def test_the_library_has_every_kind_of_file(harness, every_kind):
    assert sorted(harness.kinds_of(every_kind)) == sorted(KINDS)


@pytest.mark.parametrize("mutation", ["bit flipped", "page zeroed", "tail cut", "swapped", "emptied", "removed"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_is_silent(wrong, kind, mutation):
    assert wrong(kind, mutation, FEW) == []


@pytest.mark.slow
@pytest.mark.parametrize("mutation", ["bit flipped", "page zeroed", "tail cut", "swapped", "emptied", "removed"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_is_silent_in_the_full_number(wrong, kind, mutation):
    assert wrong(kind, mutation, MANY) == []


def test_the_harness_notices_silent_damage(harness, every_kind, right, monkeypatch):
    """A check that is switched off is found out: the harness itself is tested."""
    monkeypatch.setattr(lance_table, "check_file", lambda *_, **__: None)
    monkeypatch.setattr("library.layers.check_file", lambda *_, **__: None)
    monkeypatch.setattr("library.findings.check_file", lambda *_, **__: None)
    tally = harness.measure(
        every_kind.folder, "scene layer", "bit flipped", count=3, rng=np.random.default_rng(0), right=right
    )
    assert tally.outcomes["silent"] > 0
    assert tally.outcomes["named"] == 0
