"""Outputs that appear whole or not at all: written beside their place, then renamed to it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from library.files import library_error
from scenegen.errors import InvalidOption, LibraryError


@contextmanager
def drafted(output: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a new, empty folder that takes the output's name when the context ends well; otherwise it is removed.

    Drafts that a killed run left behind are removed first.

    Args:
        output: The folder to make.
        force: Replace what is there; it stays until the new one is whole.

    Raises:
        InvalidOption: The output is there already.
        LibraryError: The disk is full or not writable.
    """
    if os.path.lexists(output) and not force:
        raise InvalidOption("--output", output, "a name that is not there yet, or --force to replace what is there")
    draft = output.parent / f".{output.name}.{os.getpid()}.draft"
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        _remove_left(output)
        draft.mkdir()
        yield draft
        _sync(draft)
        _exchange(draft, output)
    except OSError as error:
        raise error if isinstance(error, LibraryError) else library_error(output, error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _exchange(draft: Path, output: Path) -> None:
    """Give the draft its name; what had that name is removed once the draft has it."""
    old = output.parent / f".{output.name}.{os.getpid()}.old"
    if os.path.lexists(output):
        os.rename(output, old)
    os.rename(draft, output)
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old)
    else:
        old.unlink(missing_ok=True)


def _remove_left(output: Path) -> None:
    """Remove the drafts of processes that are gone."""
    name = re.compile(rf"\.{re.escape(output.name)}\.(\d+)\.draft")
    for path in output.parent.iterdir():
        match = name.fullmatch(path.name)
        if match and not _runs(int(match[1])):
            shutil.rmtree(path, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return process != os.getpid()


def _sync(folder: Path) -> None:
    """Make everything below a folder durable before it gets its name."""
    for inside, _, files in os.walk(folder):
        for path in (inside, *(os.path.join(inside, name) for name in files)):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
