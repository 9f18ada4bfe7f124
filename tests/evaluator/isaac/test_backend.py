"""Back ends of Isaac Lab are taken, or refused with a reason."""

import importlib.util

import pytest

from evaluator.isaac.backend import require_backend
from scenegen.errors import InvalidOption, UnknownName


@pytest.fixture
def installed(monkeypatch):
    """Let some packages be installed, whatever is here."""
    return lambda *names: monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: object() if name in names else None
    )


def test_newton_is_taken(installed):
    installed("isaaclab_newton")
    require_backend("newton")


def test_what_is_not_installed_is_refused(installed):
    installed("isaaclab_newton")
    with pytest.raises(InvalidOption) as caught:
        require_backend("physx")
    assert str(caught.value) == "--simulator physx - accepted: newton: physx needs the package isaacsim"


def test_what_worlds_cannot_be_built_on_is_refused(installed):
    installed("ovphysx")
    with pytest.raises(InvalidOption) as caught:
        require_backend("ovphysx")
    reason = "what single worlds weigh and touch is written and read in MuJoCo-Warp's arrays, which PhysX lacks"
    assert str(caught.value) == f"--simulator ovphysx - accepted: newton: {reason}"


def test_what_is_not_known_is_refused():
    with pytest.raises(UnknownName, match="unknown simulator 'newtn' - did you mean 'newton'"):
        require_backend("newtn")
