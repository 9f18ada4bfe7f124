"""Makes the crash tools importable, and starts a server of crashes once a session."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import crash_faults as faults


@pytest.fixture(scope="session")
def crashes(tmp_path_factory):
    """A server of crashes; where there is no compiler, the tests are skipped, loudly."""
    if faults.compiler() is None:
        pytest.skip(faults.NO_COMPILER)
    folder = tmp_path_factory.mktemp("crashes")
    with faults.Crashes(folder, faults.build_shim(folder)) as started:
        yield started


@pytest.fixture(scope="session")
def undisturbed(crashes):
    """What the writer gives when nobody disturbs it."""
    return faults.Undisturbed(crashes)


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    """The compiled shim."""
    if faults.compiler() is None:
        pytest.skip(faults.NO_COMPILER)
    return faults.build_shim(tmp_path_factory.mktemp("shim"))
