"""Meters of a picture as rows of the table `meters`."""

from __future__ import annotations

from typing import Any

from library.row import sealed
from scenegen.imaging.meters import METER_UNITS, METER_VERSION, Meters


def meter_columns(scenario_id: str, camera: str, item: str, meters: Meters) -> list[dict[str, Any]]:
    """Return one row of the table `meters` for each meter that is known.

    Args:
        scenario_id: The scenario that was seen.
        camera: Name of the camera that saw it.
        item: Name of the item that was measured.
        meters: What was measured.
    """
    return [
        sealed(
            {
                "scenario_id": scenario_id,
                "camera": camera,
                "part": item,
                "meter": meter,
                "value": float(value),
                "unit": METER_UNITS[meter].value,
                "version": METER_VERSION,
            }
        )
        for meter, value in meters.known().items()
    ]
