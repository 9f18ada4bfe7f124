"""Chunks of actions as a policy gave them, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from evaluator.policy import ActionKind, PolicySpec
from scenegen.errors import InvalidRecord
from scenegen.record import Positive, Real, Record

FILE_BYTES = 64_000_000
"""Largest file that is read."""


class Recording(Record):
    """One episode's chunks, call after call."""

    action: ActionKind
    rate_hz: Positive
    execute: Annotated[int, Field(ge=1)]
    """How many actions of a chunk are carried out before the next one is asked for."""
    chunks: Annotated[tuple[tuple[tuple[Real, ...], ...], ...], Field(min_length=1)]
    """Shape [calls, horizon, numbers]."""

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        shapes = {(len(chunk), *{len(action) for action in chunk}) for chunk in self.chunks}
        if len(shapes) != 1 or len(shape := shapes.pop()) != 2 or 0 in shape:
            raise ValueError("chunks differ in shape - accepted: all of shape [horizon, numbers]")
        if self.execute > shape[0]:
            raise ValueError(f"execute is {self.execute} - accepted: at most the horizon ({shape[0]})")
        return self

    @classmethod
    def of(cls, spec: PolicySpec, chunks: NDArray[np.float32]) -> Self:
        """Build it from what a policy gave for one world, shape [calls, horizon, numbers]."""
        return cls(action=spec.action, rate_hz=spec.rate_hz, execute=spec.execute, chunks=np.asarray(chunks).tolist())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file that holds the record as JSON.

        Raises:
            InvalidRecord: There is no such file, or it holds something else.
        """
        try:
            if path.stat().st_size > FILE_BYTES:
                raise InvalidRecord(str(path), [f"accepted: at most {FILE_BYTES // 10**6} MB"])
            return cls.from_json(path.read_bytes(), what=str(path))
        except OSError as error:
            raise InvalidRecord(str(path), [f"cannot be read ({error.strerror})"]) from error

    def array(self) -> NDArray[np.float32]:
        """Return the chunks, shape [calls, horizon, numbers]."""
        return np.array(self.chunks, np.float32)
