"""Meters as rows of a table."""

from library.metering import meter_columns
from library.tables import METERS, is_proved
from scenegen.imaging.meters import Meters


def test_each_known_meter_is_a_proved_row_of_the_table():
    meters = Meters(visible_px=120, hidden_share=0.25, saturated_share=0.0, snr_db=38.5)
    rows = meter_columns("scene", "wrist", "hex_nut_m6_00", meters)
    assert [(row["meter"], row["value"], row["unit"]) for row in rows] == [
        ("visible_px", 120.0, "count"),
        ("hidden_share", 0.25, "share"),
        ("saturated_share", 0.0, "share"),
        ("snr_db", 38.5, "dB"),
    ]
    assert all(is_proved(row) for row in rows)
    assert METERS.arrow(rows).to_pylist() == rows
    assert {(row["scenario_id"], row["camera"], row["part"], row["version"]) for row in rows} == {
        ("scene", "wrist", "hex_nut_m6_00", 1)
    }


def test_an_item_that_is_not_seen_has_no_zeros():
    rows = meter_columns("scene", "wrist", "hex_nut_m6_00", Meters(visible_px=0, hidden_share=1.0))
    assert [row["meter"] for row in rows] == ["visible_px", "hidden_share"]
