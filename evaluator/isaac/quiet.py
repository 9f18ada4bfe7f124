"""What Isaac Lab, Newton and Warp tell that nobody can act on, kept from standard output and standard error."""

from __future__ import annotations

import importlib
import logging
import warnings

import warp as wp

TALKATIVE = ("isaaclab", "isaaclab_newton", "newton")


def quieten() -> None:
    """Let errors through and nothing else; takes effect fully if Isaac Lab is loaded after it.

    Isaac Lab's timer prints to standard output, where it would come between lines of JSON.
    """
    wp.config.log_level = wp.LOG_ERROR
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", category=FutureWarning, module=name)
    importlib.import_module("isaaclab.utils.timer").Timer.enable_display_output = False
