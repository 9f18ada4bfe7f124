"""What counts as hit, and what is said where nothing did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.axes.aim import HIT_PX, HIT_SHARE, Aim
from scenegen.axes.axis import Severity
from scenegen.errors import VariationFailed
from scenegen.streams import stream
from scenegen.units import Unit

SHARE = Severity("share", Unit.SHARE, 0.0, 0.0, 1.0, "a share")
shares = st.floats(0, 1)


def asking(asked, near=0.0, far=1.0):
    return Aim(SHARE, 3, asked=asked, band=(near, far), axis="shading")


@given(shares, shares, st.floats(1, 1000))
def test_a_hit_is_within_a_fifth_or_two_pixels_and_in_the_band(asked, reached, pixels):
    near = abs(reached - asked) <= max(HIT_SHARE * asked, HIT_PX / pixels)
    assert asking(asked).hit(reached, pixels=pixels) == (near and reached > 0)
    assert not asking(asked, near=reached).hit(reached, pixels=pixels)
    assert asking(asked, far=reached).hit(reached, pixels=pixels) == (near and reached > 0)


@given(shares, shares)
def test_pixels_only_widen_what_is_hit(asked, reached):
    assert asking(asked).hit(reached, pixels=50) or not asking(asked).hit(reached)


def test_what_is_drawn_lies_in_the_level_s_band(cell):
    for level in range(1, 6):
        aim = Aim.drawn(SHARE, level, cell=cell, axis="shading", rng=stream("aim", level))
        assert (level - 1) / 5 < aim.asked < level / 5
        assert (aim.near, aim.far) == pytest.approx(((level - 1) / 5, level / 5))
        assert aim.hit(aim.asked)


def test_a_failure_says_what_was_asked_what_came_nearest_and_why_not():
    aim = asking(0.5)
    aim.miss("in view")
    assert str(aim.failed("no_shade")) == (
        "axis 'shading' found no scene at level 3 (no_shade): "
        "asked for a share of 0.5 share, reached nothing; tries: 1 in view"
    )
    for reached in (0.9, 0.35, 0.1):
        assert not aim.hit(reached)
        aim.miss("missed")
    failure = aim.failed("no_shade")
    assert isinstance(failure, VariationFailed)
    assert (failure.axis, failure.level, failure.reason) == ("shading", 3, "no_shade")
    assert failure.detail == "asked for a share of 0.5 share, reached 0.35 at best; tries: 1 in view, 3 missed"


def test_a_narrow_range_is_widened_to_what_can_be_hit_within_the_limit(cell):
    share = Severity("share", Unit.SHARE, 0.0, 0.0, 0.52, "a share")
    aim = Aim.within(share, 0.5, 0.5, cell=cell, axis="test", rng=stream("within"))
    assert (aim.near, aim.asked, aim.far) == (0.4, 0.5, 0.52)
    wide = Aim.within(share, 0.1, 0.5, cell=cell, axis="test", rng=stream("within"))
    assert wide.near <= 0.1 < wide.asked < 0.5 <= wide.far
