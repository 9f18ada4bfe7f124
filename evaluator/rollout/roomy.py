"""Open as many worlds as there is memory for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from evaluator.rollout.line import Line
from scenegen.errors import OutOfMemory

Lines = Callable[..., AbstractContextManager[Line]]
"""Opens a line with so many worlds; takes `cameras`, whose images will be asked for, where there are any."""


@contextmanager
def roomy(lines: Lines, worlds: int, *, say: Callable[[str], None]) -> Iterator[Line]:
    """Open a line; where memory does not suffice, with half as many worlds, and so on.

    Args:
        lines: Opens it.
        worlds: How many worlds to begin with.
        say: Told when fewer are tried.

    Raises:
        OutOfMemory: Not even one world fits.
    """
    while True:
        opened = lines(worlds)
        try:
            line = opened.__enter__()
            break
        except (MemoryError, RuntimeError) as error:
            worlds = fewer(worlds, error, say)
    try:
        yield line
    finally:
        opened.__exit__(None, None, None)


def fewer(worlds: int, error: BaseException, say: Callable[[str], None]) -> int:
    """Return half as many worlds after an error that says that memory is out; another error goes on.

    Raises:
        OutOfMemory: There was only one.
    """
    if not is_out_of_memory(error):
        raise error
    if worlds == 1:
        raise OutOfMemory(" ".join(str(error).split())[:120] or type(error).__name__) from error
    say(f"out of memory with {worlds} worlds: going on with {worlds // 2}")
    return worlds // 2


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error says that memory is out: torch and Warp say it in words."""
    said = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in said or "failed to allocate" in said
