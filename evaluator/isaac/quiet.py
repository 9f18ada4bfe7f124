"""What Isaac Lab, Newton and Warp tell that nobody can act on, kept from standard output and standard error."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import warp as wp

TALKATIVE = ("isaaclab", "isaaclab_newton", "newton")


def quieten() -> None:
    """Let errors through and nothing else; call it before Isaac Lab is loaded.

    Isaac Lab's timer prints to standard output, where it would come between lines of JSON. That there is no GPU is told
    by Warp's native part, past Python.
    """
    wp.config.log_level = wp.LOG_ERROR
    with _silent_stderr():
        wp.init()
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", category=FutureWarning, module=name)
    importlib.import_module("isaaclab.utils.timer").Timer.enable_display_output = False


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Drop what the process writes to file descriptor 2."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
