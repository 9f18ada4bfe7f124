"""Meters as rows of a table."""

import json

import numpy as np

from library.metering import READINGS, meter_columns
from library.tables import METERS, is_proved
from scenegen.imaging.measure import Readings
from scenegen.imaging.meters import METER_UNITS

UNKNOWN = [120.0, np.nan]


def _readings(**known):
    values = {name: np.array([known.get(name, UNKNOWN)]) for name in METER_UNITS}
    return Readings(names=("hex_nut_m6_00", "hex_nut_m8_00"), **values)


def test_a_row_is_proved_and_has_a_list_a_meter():
    row = meter_columns("scene", "wrist", _readings(visible_px=[120.0, 0.0], luminance=[0.123456789, np.nan]))
    assert is_proved(row)
    assert METERS.arrow([row]).to_pylist() == [row]
    read = json.loads(row["readings"])
    assert list(read) == sorted(READINGS)
    assert read["part"] == ["hex_nut_m6_00", "hex_nut_m8_00"]
    assert read["visible_px"] == [120, 0]
    assert read["luminance"] == [0.123457, None]


def test_columns_in_sql_are_the_meters():
    assert list(READINGS) == ["part", *METER_UNITS]
