"""Where a scenario came from: kept beside it and not in its id, since two roads may lead to one scene."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from scenegen.record import Name, Record
from scenegen.units import Quantity


class AxisSetting(Record):
    """One axis at one level, with the severity that was reached."""

    axis: Name
    level: Annotated[int, Field(ge=0, le=5)]
    severity: tuple[Quantity, ...]
    """A priori severity in physical units, measured on the scene against its base."""


class Provenance(Record):
    """How a scenario was made.

    `base_id` names the scene before any axis: the unperturbed twin and the group for splits. A base names itself.
    """

    axes: tuple[AxisSetting, ...] = ()
    base_id: str
    parent_id: str | None = None
    generator: Name
    generator_version: str
    seed: int
    index: int
    """Index in the expansion; together with seed, cell and axes it determines the scene."""
    attempt: Annotated[int, Field(ge=0)] = 0
    vlm_call_id: str | None = None
