"""Isaac Lab starts without a word, so that standard output holds what scenegen says."""

import subprocess
import sys

import pytest

pytest.importorskip("isaaclab", reason="Isaac Lab is not installed - run: pip install 'scenegen[isaac]'")

SCRIPT = """
import evaluator.isaac.quiet
evaluator.isaac.quiet.quieten()
import evaluator.isaac.line, logging, os, warnings
logging.getLogger("isaaclab_newton.assets").warning("nobody can act on this")
from isaaclab.utils.timer import Timer
with Timer("took", name="it"):
    pass
os.write(2, b"heard")
"""


def test_nothing_is_said_and_errors_are_heard():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300, check=True)
    assert run.stdout == ""
    assert run.stderr == "heard"
