"""What checks use, built once."""

import pytest

from scenegen.parts.builtin import builtin_catalogue
from validators.check import CheckContext
from validators.plan import all_checks
from validators.run import Checker


@pytest.fixture(scope="session")
def check_context(cell, catalogue):
    """What checks use, for the `fasteners` cell."""
    return CheckContext.of(cell, catalogue)


@pytest.fixture(scope="session")
def rings_context(rings):
    """What checks use, for the `rings` cell."""
    return CheckContext.of(rings, builtin_catalogue([item.part for item in rings.inventory]))


@pytest.fixture
def checker(check_context):
    """A checker that remembers nothing."""
    return Checker(check_context, all_checks())
