"""The answer of an inspection that found a broken rule."""

from __future__ import annotations


class Refused(Exception):
    """A rule is broken."""

    def __init__(self, file: str, rule: str, detail: str) -> None:
        super().__init__(rule)
        self.answer = {"file": file, "rule": rule, "detail": detail}
