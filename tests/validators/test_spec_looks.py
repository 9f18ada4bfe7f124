"""Specification of surfaces and sensors: what a person would say is wrong with a picture's makings."""

import pytest

from scenegen.axes.items import with_surfaces
from scenegen.optical import Pattern, PatternKind, Stain
from scenegen.scenario import Look, Sensor
from validators.looks import BIN_LOOKS
from validators.spec_image import SPEC_SENSOR
from validators.spec_surfaces import SPEC_SURFACES

WHITE = (1.0, 1.0, 1.0)
RUST = Stain(color=(0.26, 0.11, 0.045), roughness=0.9, share=0.3, patch_m=0.004)
TAR = Stain(color=(0.0, 0.0, 0.0), roughness=0.1, share=0.95, patch_m=0.004)
CHECKER = Pattern(kind=PatternKind.CHECKER, color=(0.2, 0.2, 0.2), size_m=0.03)


def _said(check, scenario, context):
    return [(found.code, found.sentence) for found in check.run(scenario, context, check.limits)]


def _surface(scenario, subject, **fields):
    old = next(surface for surface in scenario.surfaces.surfaces if surface.subject == subject)
    return with_surfaces(scenario, [old.replaced(**fields)])


def _sensor(scenario, **fields):
    first, *others = scenario.sensor.sensors
    return scenario.varied(sensor=Sensor(sensors=(first.replaced(**fields), *others)))


def test_stained_parts_and_patterned_grounds_are_sound(base_scenario, check_context):
    scenario = _surface(base_scenario, base_scenario.layout.items[0].name, stain=RUST)
    scenario = _surface(_surface(scenario, "feed", pattern=CHECKER), "bin_a", pattern=CHECKER)
    assert _said(SPEC_SURFACES, scenario, check_context) == []


@pytest.mark.parametrize(
    ("subject", "fields", "found"),
    [
        (
            "feed",
            {"stain": TAR},
            [("stained_over", "a stain covers 95% of 'feed' - accepted: at most 90%")],
        ),
        (
            "bin_a",
            {"stain": RUST.replaced(patch_m=1.5)},
            [("stain_size", "the stain of 'bin_a' has a size of 1.5 m - accepted: 0.0005 to 0.5 m")],
        ),
        (
            "table",
            {"pattern": CHECKER.replaced(size_m=1e-5)},
            [("pattern_size", "the pattern of 'table' has a size of 1e-05 m - accepted: 0.0005 to 0.5 m")],
        ),
        (
            "table",
            {"pattern": CHECKER.replaced(color=(0.0, 0.0, 0.0), kind=PatternKind.SPECKLE)},
            [
                (
                    "ground_pattern",
                    "the two colours of the pattern of 'table' differ by 50.78 dE2000 - accepted: 0 to 40 dE2000 "
                    "(envelope of axis 'background')",
                )
            ],
        ),
    ],
)
def test_what_is_said_of_surfaces(base_scenario, check_context, subject, fields, found):
    assert _said(SPEC_SURFACES, _surface(base_scenario, subject, **fields), check_context) == found


def test_what_is_said_of_parts(base_scenario, check_context):
    name = base_scenario.layout.items[0].name
    look = next(surface.look for surface in base_scenario.surfaces.surfaces if surface.subject == name)
    chequered = _surface(base_scenario, name, pattern=CHECKER.replaced(color=look.color))
    (patterned,) = _said(SPEC_SURFACES, chequered, check_context)
    assert patterned == ("patterned_part", f"{name!r} has a pattern - accepted: patterns on table, feed and bins")
    pink = _surface(base_scenario, name, look=look.replaced(color=(1.0, 0.0, 0.8)))
    ((code, sentence),) = _said(SPEC_SURFACES, pink, check_context)
    assert code == "part_color"
    assert sentence.startswith(f"the colour of {name!r} differs from its part's by ")
    assert sentence.endswith(" dE2000 - accepted: 0 to 25 dE2000 (envelope of axis 'color_shift')")
    rough = _surface(base_scenario, name, look=look.replaced(roughness=1.0, metallic=0.0))
    assert _said(SPEC_SURFACES, rough, check_context) == []


def test_what_is_said_of_a_ground_of_another_color(base_scenario, check_context):
    ((code, sentence),) = _said(SPEC_SURFACES, _surface(base_scenario, "feed", look=Look(color=WHITE)), check_context)
    assert code == "ground_color"
    assert sentence.startswith("the mean colour of 'feed' differs from the cell's by ")
    assert sentence.endswith(" dE2000 - accepted: 0 to 30 dE2000 (envelope of axis 'background')")


@pytest.mark.parametrize(
    ("fields", "code", "what", "range"),
    [
        ({"exposure_ev": 3.0}, "exposure", "exposure", "3 EV - accepted: -2.5 to 2 EV"),
        ({"snr_db": 5.0}, "noise", "noise", "-35 dB - accepted: -26 to 0 dB"),
        ({"veil_share": 0.9}, "veil", "veil", "0.9 share - accepted: 0 to 0.4 share"),
        ({"vignetting": 1.0}, "vignetting", "vignetting", "1 share - accepted: 0 to 0.9 share"),
        ({"motion_px": 50.0}, "motion_blur", "motion blur", "50 px - accepted: 0 to 15 px"),
        ({"blur_px": 9.0}, "blur", "blur", "9 px - accepted: 0 to 4 px"),
        ({"white_balance_k": 2500.0}, "white_balance", "white balance", "-4000 K - accepted: -3000 to 5000 K"),
    ],
)
def test_what_is_said_of_sensors(base_scenario, check_context, fields, code, what, range):
    (found,) = _said(SPEC_SENSOR, _sensor(base_scenario, **fields), check_context)
    camera = base_scenario.sensor.sensors[0].camera
    sentence = f"the {what} of camera {camera!r} is off its nominal one by {range} (envelope of axis 'sensor')"
    assert found == (code, sentence)


def test_a_bin_is_told_by_what_shows_of_it(base_scenario, check_context):
    """Another bin's colour over most of a bin hides whose it is; over a little of it, it does not."""
    red = next(box.look.color for box in check_context.cell.bins if box.name == "bin_b")
    little = _surface(base_scenario, "bin_a", stain=RUST.replaced(color=red, share=0.2))
    assert _said(BIN_LOOKS, little, check_context) == []
    most = _surface(base_scenario, "bin_a", stain=RUST.replaced(color=red, share=0.9))
    assert [code for code, _ in _said(BIN_LOOKS, most, check_context)] == ["swapped"]
