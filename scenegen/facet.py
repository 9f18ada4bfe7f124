"""The facets of a scenario, and the keys that are made of their content ids."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from scenegen.record import Name, Record, content_hash

SPEC_VERSION = 1
"""Version of the scenario format; part of every id."""


class Facet(StrEnum):
    """The eight parts of a scenario; each value is the field's name in `Scenario`."""

    LAYOUT = "layout"
    MATTER = "matter"
    MOTION = "motion"
    SURFACES = "surfaces"
    LIGHTS = "lights"
    CAMERAS = "cameras"
    SENSOR = "sensor"
    TASK = "task"

    __hash__ = str.__hash__
    """As fast as that of the name it equals: keys are looked up by facets many times a scene."""


FACETS = tuple(Facet)
"""All of them, in their order."""


class Asset(Record):
    """A part file that the scene needs, by content."""

    part: Name
    content: str
    """Content hash of the part (see `Part.content_id`)."""


def scenario_frame(cell_id: str, assets: tuple[Asset, ...]) -> str:
    """Return what every key hashes besides facets: format, cell and assets."""
    return "\n".join((str(SPEC_VERSION), cell_id, *(f"{asset.part}:{asset.content}" for asset in assets)))


def scenario_key(cell_id: str, assets: tuple[Asset, ...], facet_ids: Mapping[Facet, str]) -> str:
    """Return what `Scenario.key` returns, from ids alone.

    Args:
        cell_id: Content id of the cell.
        assets: The scenario's assets.
        facet_ids: Content ids of the facets of the key, in its order.
    """
    return frame_key(scenario_frame(cell_id, assets), facet_ids)


def frame_key(frame: str, facet_ids: Mapping[Facet, str]) -> str:
    """Return the key of a frame (see `scenario_frame`) and facets."""
    return content_hash("\n".join((frame, *(f"{facet}:{one}" for facet, one in facet_ids.items()))).encode())
