"""The record of meters."""

import pytest

from scenegen.errors import InvalidRecord
from scenegen.imaging.meters import METER_UNITS, Meters


def test_every_meter_has_a_unit():
    assert list(METER_UNITS) == list(Meters.model_fields)


def test_unknown_meters_are_left_out_and_zeros_are_not():
    meters = Meters(visible_px=0, hidden_share=1.0)
    assert meters.known() == {"visible_px": 0, "hidden_share": 1.0}
    assert Meters(visible_px=4, hidden_share=0.0, saturated_share=0.0).known()["saturated_share"] == 0.0


def test_shares_end_at_one():
    with pytest.raises(InvalidRecord, match=r"Meters: hidden_share: 1\.5 - accepted: less than or equal to 1"):
        Meters.from_data({"visible_px": 1, "hidden_share": 1.5})
