"""In which bin a part lies: wholly inside, on the rim, beside it; wherever the bin stands."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.judging.zone import Place, ZoneFinder
from scenegen.geometry import Pose, quat_about, quat_multiply, quat_yaw
from scenegen.scenario import FixturePose

BOLT, NUT = "hex_bolt_m6x20_00", "hex_nut_m6_00"
HALF_X, WALL_M, RIM_M, FLOOR_M = 0.065, 0.003, 0.044, 0.004
"""Of every bin: half its inner length along x, its walls' thickness, height of rim and of floor above the table [m]."""


@pytest.fixture
def finder(job):
    return ZoneFinder(job)


def at(x, y, z, quat=(0.0, 0, 0, 1)):
    return np.array([x, y, z, *quat])


@pytest.mark.parametrize(
    ("x", "z", "zone"),
    [
        (0.0, FLOOR_M + 0.0026, "bin_a"),
        (HALF_X - 0.0064, FLOOR_M + 0.0026, "bin_a"),
        (HALF_X - 0.003, RIM_M + 0.0026, Place.RIM),
        (HALF_X, RIM_M + 0.0026, Place.RIM),
        (HALF_X + 0.001, FLOOR_M + 0.02, Place.RIM),
        (HALF_X + WALL_M + 0.0075, 0.0026, Place.ELSEWHERE),
        (0.0, RIM_M - 0.001 + 0.0026, "bin_a"),
        (0.0, RIM_M + 0.002 + 0.0026, Place.ELSEWHERE),
        (0.0, -0.05, Place.ELSEWHERE),
    ],
    ids=[
        "on the floor",
        "at the wall",
        "on the rim, centre inside",
        "on the rim",
        "through the wall",
        "outside at the wall",
        "on a heap",
        "above",
        "below",
    ],
)
def test_a_nut_at_a_bin(job, finder, x, z, zone):
    assert finder.name(job.items.index(NUT), at(0.42 + x, 0.235, z)) == zone


def test_a_bolt_that_leans_out_of_the_bin_is_on_the_rim(job, finder):
    """It stands on the floor and leans on the wall; where its head is beyond the wall, it is not in the bin."""
    bolt = job.items.index(BOLT)
    upright = quat_about((0, 1, 0), 0.2)
    assert finder.name(bolt, at(0.42 + 0.04, 0.235, FLOOR_M + 0.016, upright)) == "bin_a"
    leaning = quat_about((0, 1, 0), 0.9)
    assert finder.name(bolt, at(0.42 + HALF_X - 0.004, 0.235, RIM_M - 0.002, leaning)) == Place.RIM


def test_the_feed_holds_heaps_and_the_table_what_lies_beside(job, finder):
    nut = job.items.index(NUT)
    places = np.array([at(0.5, 0, 0.007), at(0.5, 0, 0.06), at(0.599, 0, 0.02), at(0.61, 0, 0.003), at(0.5, 0, -0.1)])
    names = [finder.names[zone] for zone in finder.of(nut, places)]
    assert names == ["feed", "feed", "feed", "off-bins", "off-bins"]


def test_no_place_can_be_the_name_of_a_bin(finder):
    assert [place for place in Place if place.replace("_", "a").isalnum()] == [Place.FEED]
    assert finder.names == ("feed", "bin_a", "bin_b", "bin_c", "bin_d", "on-rim", "off-bins")


offsets = st.floats(-0.09, 0.09)


@settings(max_examples=60)
@given(offsets, offsets, st.floats(0, 0.06), st.floats(-0.2, 0.2), st.floats(-0.2, 0.2), st.floats(-3, 3))
def test_zones_move_with_the_bin(job_of, cell, x, y, z, shift, more, yaw):
    """A part that moves with its bin stays in the same zone of it."""
    bins = [name for name in cell.containers if name not in ("feed", "bin_a")]
    away = [FixturePose(name=name, pose_to_world=Pose(position_m=(5.0, i, 0))) for i, name in enumerate(bins)]
    feed = FixturePose(name="feed", pose_to_world=Pose(position_m=(9.0, 0, 0)))
    part = Pose.of((x, y, z), quat_about((1.0, 2, 0.5), 0.3))
    zones = []
    for frame in (Pose(), Pose.of((shift, more, 0.1), quat_yaw(yaw))):
        fixtures = (feed, FixturePose(name="bin_a", pose_to_world=frame), *away)
        finder = ZoneFinder(job_of(BOLT, fixtures=fixtures))
        pose = frame.after(part)
        zones.append(finder.name(0, np.array([*pose.position, *pose.quat])))
    assert zones[0] == zones[1]


def test_quaternions_need_not_be_exact(job, finder):
    bolt = job.items.index(BOLT)
    quat = quat_multiply(quat_yaw(0.4), job.scenario.layout.items[bolt].pose_to_world.quat)
    assert finder.name(bolt, at(0.42, 0.235, FLOOR_M + 0.0045, quat * 1.0001)) == "bin_a"
