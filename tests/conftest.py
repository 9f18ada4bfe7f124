"""Shared fixtures: the built-in cells, their parts, the simulator and one base scene."""

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import settings

from scenegen.base import sample_base
from scenegen.cells.loader import load_cell
from scenegen.parts.builtin import builtin_catalogue
from scenegen.physics.settle import Settler
from scenegen.streams import stream

# No time limit for an example: a slow machine is not a broken law. The same examples in every run, so that a change is
# judged by itself; SCENEGEN_EXPLORE=1 tries others.
settings.register_profile("scenegen", deadline=None, derandomize=not os.environ.get("SCENEGEN_EXPLORE"))
settings.load_profile("scenegen")


@pytest.fixture(scope="session")
def cell():
    """The built-in `fasteners` cell."""
    return load_cell("fasteners")


@pytest.fixture(scope="session")
def rings():
    """The built-in `rings` cell."""
    return load_cell("rings")


@pytest.fixture(scope="session")
def catalogue(cell):
    """All parts of the `fasteners` cell's inventory."""
    return builtin_catalogue([item.part for item in cell.inventory])


@pytest.fixture(scope="session")
def settler(cell, catalogue):
    """The compiled settle model of the `fasteners` cell."""
    return Settler(cell, catalogue)


@pytest.fixture(scope="session")
def base_scenario(cell, catalogue):
    """A base scene of the `fasteners` cell."""
    return sample_base(cell, catalogue, rng=stream("tests", "base"))


@pytest.fixture(scope="session")
def tiny():
    """What makes tiny models with random weights: `tests/tiny.py`; torch uses one thread from then on."""
    torch = pytest.importorskip("torch", reason="needs the extra `vlm-local`")
    pytest.importorskip("outlines", reason="needs the extra `vlm-local`")
    torch.set_num_threads(1)  # two threads on a busy machine are ten times slower
    specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parent / "tiny.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny_vlm(tiny, tmp_path_factory):
    """Folder of a vision-language model of LLaVA's form, with random weights."""
    return tiny.tiny_vlm(tmp_path_factory.mktemp("models") / "tiny-vlm")


@pytest.fixture(scope="session")
def tiny_llama(tiny, tmp_path_factory):
    """Folder of a Llama that reads text only, with random weights."""
    return tiny.tiny_llama(tmp_path_factory.mktemp("models") / "tiny-llama")
