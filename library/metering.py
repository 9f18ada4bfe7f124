"""What a camera shows of the targets of a scene, as a row of the table `meters`."""

from __future__ import annotations

from typing import Any

import numpy as np

from library.row import sealed
from scenegen.imaging.measure import Readings
from scenegen.imaging.meters import METER_UNITS, METER_VERSION
from scenegen.record import canonical_text

DIGITS = 6
"""Digits after the point that are kept: 32-bit light has no more."""
READINGS = {"part": "VARCHAR", "visible_px": "INTEGER", **{name: "DOUBLE" for name in list(METER_UNITS)[1:]}}
"""What the column `readings` holds: lists of one length, by name, with their type in SQL."""


def meter_columns(scenario_id: str, camera: str, readings: Readings) -> dict[str, Any]:
    """Return the row of the table `meters` of one camera: a list a meter, null where it is unknown.

    Args:
        scenario_id: The scenario that was seen.
        camera: Name of the camera that saw it.
        readings: What was measured in its one image.
    """
    lists: dict[str, list[Any]] = {"part": list(readings.names)}
    for name in METER_UNITS:
        values = np.round(getattr(readings, name)[0], DIGITS)
        lists[name] = [None if value != value else value for value in values.tolist()]
    lists["visible_px"] = [int(value) for value in lists["visible_px"]]
    text = canonical_text(lists)
    return sealed({"scenario_id": scenario_id, "camera": camera, "version": METER_VERSION, "readings": text})
