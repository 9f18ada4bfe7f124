"""Which episodes of a run are filmed, decided as they end: nothing is recorded for it that is not recorded anyway."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum


class FilmsOf(StrEnum):
    """Which episodes are filmed."""

    FAILURES_FIRST = "failures-first"
    """Failures; where there are fewer than are wanted, others that ended first."""
    FAILURES = "failures"
    SUCCESSES = "successes"
    ANY = "any"
    """Those that end first."""


class FilmChoice[T]:
    """Chooses among episodes that end one after another.

    Args:
        of: Which are wanted.
        count: How many.

    Example:
        >>> choice = FilmChoice[str](FilmsOf.FAILURES_FIRST, 2)
        >>> [choice.take(name, success=name != "lost") for name in ("won", "lost", "won too")]
        [False, True, False]
        >>> list(choice.rest())
        ['won']
    """

    def __init__(self, of: FilmsOf, count: int) -> None:
        self._of, self._left = of, count
        self._spare: list[T] = []
        """Episodes that are filmed if too few others come; at most as many as are left."""

    @property
    def waiting(self) -> int:
        """How many would be filmed if no other episode came."""
        return min(len(self._spare), self._left)

    def take(self, one: T, *, success: bool | None) -> bool:
        """Tell whether an episode is filmed now.

        Args:
            one: The episode; it may be kept until `rest`.
            success: What it counts for; None for nothing.
        """
        if self._left <= 0:
            return False
        wanted = {FilmsOf.ANY: True, FilmsOf.SUCCESSES: success is True}.get(self._of, success is False)
        if wanted:
            self._left -= 1
        elif self._of is FilmsOf.FAILURES_FIRST and len(self._spare) < self._left:
            self._spare.append(one)
        return wanted

    def rest(self) -> Iterator[T]:
        """Yield what is filmed since too few others came, those that ended first; after that nothing is chosen."""
        yield from self._spare[: self._left]
        self.end()

    def end(self) -> None:
        """Choose nothing more."""
        self._left, self._spare = 0, []
