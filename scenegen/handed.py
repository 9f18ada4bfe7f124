"""Hand something to processes when they begin, so that one that ends before it took it keeps nobody waiting."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def handed(thing: Any) -> Iterator[Path]:
    """Keep something in a file for as long as processes may begin.

    What a process is given with its start goes through a pipe that holds 64 KiB: if more is given, and the process ends
    before it took it, who starts it waits for ever. A file's name always fits.

    Args:
        thing: What they take; picklable.

    Returns:
        The file that they take it from.
    """
    number, name = tempfile.mkstemp(prefix="scenegen-", suffix=".pickle")
    try:
        with os.fdopen(number, "wb") as file:
            pickle.dump(thing, file)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def take(file: Path) -> Any:
    """Take what was handed over."""
    with file.open("rb") as opened:
        return pickle.load(opened)
