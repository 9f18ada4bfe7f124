"""Looks of plant surfaces differ as the real ones do."""

from itertools import combinations

import numpy as np
import pytest

from scenegen.errors import UnknownName
from scenegen.imaging.lamps import LUMINANCE
from scenegen.imaging.looks import LOOKS, look_named


def test_all_surfaces_of_a_plant_have_a_look():
    assert set(LOOKS) == {
        "bare_steel", "brass", "zinc", "black_oxide", "painted", "oxidised", "stained", "oily"
    }  # fmt: skip
    assert look_named("brass") is LOOKS["brass"]
    with pytest.raises(UnknownName, match="unknown look 'bras' - did you mean 'brass'"):
        look_named("bras")


def test_looks_can_be_told_apart():
    for one, other in combinations(LOOKS.values(), 2):
        apart = max(*np.abs(np.subtract(one.color, other.color)), abs(one.roughness - other.roughness))
        assert apart > 0.05


def test_bare_metal_mirrors_and_paint_and_rust_scatter():
    assert [name for name, look in LOOKS.items() if look.metallic < 0.5] == ["painted", "oxidised"]
    shine = {name: float(LUMINANCE @ look.color) for name, look in LOOKS.items()}
    assert shine["zinc"] > shine["bare_steel"] > shine["oily"] > shine["stained"] > shine["black_oxide"]
    red, green, blue = LOOKS["brass"].color
    assert red > green > 2 * blue
