"""A back end around another one."""

from __future__ import annotations

from scenegen.vlm.chat import BackEnd


class Wrapped:
    """Has the model of another back end, and closes it; what is built on it says how it answers.

    Args:
        back_end: What answers in the end.
    """

    def __init__(self, back_end: BackEnd) -> None:
        self._back_end = back_end

    @property
    def model(self) -> str:
        """The back end's."""
        return self._back_end.model

    def close(self) -> None:
        """Close the back end."""
        self._back_end.close()
