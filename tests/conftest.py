"""Shared fixtures: the built-in cells, their parts, the simulator and one base scene."""

import os

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
