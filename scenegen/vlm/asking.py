"""How a model was asked: with the expansion, all that its proposals depend on besides its replies."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from scenegen.record import Name, Record


class Asking(Record):
    """What an expansion's `proposer` names."""

    model: str
    """The back end and model, as `--vlm` names them."""
    prompts: dict[Name, str]
    """Hash of each prompt."""
    count: Annotated[int, Field(ge=1)]
    """How many proposals were asked for about each base."""
    pictures: bool
    """Whether pictures were shown."""
    judged: bool
    """Whether scenes were judged as well."""
