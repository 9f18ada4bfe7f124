"""What the cameras show: where exactly targets are out of sight, washed out, dark, noisy, or mistaken for others."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.axes.items import targets_in, with_surfaces
from scenegen.axes.lamp import dimmed
from scenegen.geometry import Pose
from scenegen.imaging.measure import Readings
from scenegen.imaging.meters import Meters
from scenegen.imaging.pinhole import project
from scenegen.optical import Pattern, PatternKind
from scenegen.scenario import Cameras, Lights, Look, Sensor, SortRule, Surface, Task
from validators import look_alikes
from validators.exposed import EXPOSED, ground_level
from validators.resolved import RESOLVED
from validators.seen import SEEN

SOUND = {"visible_px": 60.0, "saturated_share": 0.1, "luminance": 0.2, "snr_db": 40.0}
"""What a camera reads of a target of which nothing is wrong."""
OVERHEAD, WRIST = "overhead", "wrist"


class Told:
    """Reads what it was told, whatever the scene is."""

    def __init__(self, read):
        self._read = read

    def read(self, scenario):
        return self._read


@pytest.fixture
def told(check_context, base_scenario):
    """`told(overhead={target: {meter: value}}, wrist=…) -> context` in which cameras read that, and else `SOUND`."""
    names = tuple(item.name for item in targets_in(base_scenario, check_context.cell))

    def context(**cameras):
        read = {}
        for camera in (OVERHEAD, WRIST):
            rows = [{**SOUND, **cameras.get(camera, {}).get(name, {})} for name in names]
            meters = {meter: np.array([[row.get(meter, 0.0) for row in rows]]) for meter in Meters.model_fields}
            read[camera] = Readings(names=names, **meters)
        return replace(check_context, metered=Told(read))

    return context


@pytest.fixture
def first(base_scenario, check_context):
    """Name of the first target in the feed."""
    return targets_in(base_scenario, check_context.cell)[0].name


def _said(check, scenario, context):
    return [(found.code, found.sentence) for found in check.run(scenario, context, check.limits)]


def _everywhere(name, **meters):
    return {OVERHEAD: {name: meters}, WRIST: {name: meters}}


def _exposed(scenario, exposure_ev, **fields):
    sensors = [one.replaced(exposure_ev=exposure_ev, **fields) for one in scenario.sensor.sensors]
    return scenario.varied(sensor=Sensor(sensors=tuple(sensors)))


@pytest.mark.parametrize(
    ("overhead", "wrist", "sentence"),
    [
        (0, 0, "the cameras show nothing of {!r} - accepted: at least 4 px in one of them"),
        (0, 3, "the cameras show 3 px of {!r}, in 'wrist' - accepted: at least 4 px in one of them"),
        (2, 1, "the cameras show 2 px of {!r}, in 'overhead' - accepted: at least 4 px in one of them"),
        (4, 0, None),
        (0, 4, None),
    ],
)
def test_a_target_is_seen_from_four_pixels_in_one_camera(told, base_scenario, first, overhead, wrist, sentence):
    context = told(overhead={first: {"visible_px": overhead}}, wrist={first: {"visible_px": wrist}})
    said = _said(SEEN, base_scenario, context)
    assert said == ([("unseen", sentence.format(first))] if sentence else [])


@pytest.mark.parametrize(
    ("meters", "said"),
    [
        ({"luminance": 0.002}, []),
        (
            {"luminance": 0.0015},
            [
                (
                    "dark",
                    "the mean luminance of {!r} in camera 'overhead' is 0.0015 of saturated white - accepted: at "
                    "least 0.002",
                )
            ],
        ),
        ({"snr_db": 3.0}, []),
        (
            {"snr_db": 2.94},
            [
                (
                    "noisy",
                    "the signal-to-noise ratio of {!r} in camera 'overhead' is 2.9 dB - accepted: at least 3 dB",
                )
            ],
        ),
        (
            {"luminance": 0.0, "snr_db": np.nan},
            [
                (
                    "dark",
                    "the mean luminance of {!r} in camera 'overhead' is 0 of saturated white - accepted: at least "
                    "0.002",
                )
            ],
        ),
    ],
)
def test_what_is_said_of_the_dark_and_the_noisy(told, base_scenario, first, meters, said):
    found = _said(EXPOSED, base_scenario, told(**_everywhere(first, **meters)))
    assert found == [(code, sentence.format(first)) for code, sentence in said]


def test_white_on_white_is_washed_out_and_white_on_dark_is_not(told, base_scenario, first):
    glaring = _everywhere(first, saturated_share=0.97)
    assert _said(EXPOSED, base_scenario, told(**glaring)) == []
    burnt = _exposed(base_scenario, 5.0)
    assert _said(EXPOSED, burnt, told(**glaring)) == [
        (
            "saturated",
            f"97% of {first!r} is saturated in camera 'overhead', and so is the feed - accepted: at most 95%, or a "
            "feed that is not",
        )
    ]
    assert _said(EXPOSED, burnt, told(**_everywhere(first, saturated_share=0.95))) == []


def test_one_camera_that_shows_a_target_well_is_enough(told, base_scenario, first):
    for bad in ({"luminance": 0.0}, {"snr_db": -5.0}):
        assert _said(EXPOSED, base_scenario, told(overhead={first: bad})) == []
        assert _said(EXPOSED, base_scenario, told(wrist={first: bad})) == []
        hardly = {OVERHEAD: {first: bad}, WRIST: {first: {"visible_px": 3}}}
        assert len(_said(EXPOSED, base_scenario, told(**hardly))) == 1


def test_what_no_camera_sees_is_not_judged_by_its_exposure(told, base_scenario, first):
    assert _said(EXPOSED, base_scenario, told(**_everywhere(first, visible_px=3, luminance=0.0))) == []


def test_a_cell_sets_its_own_limits(told, base_scenario, first):
    context = told(**_everywhere(first, luminance=0.01, snr_db=12.0))
    limits = context.cell.limits.replaced(luminance=0.02, snr_db=20.0)
    strict = replace(context, cell=context.cell.replaced(limits=limits))
    assert [code for code, _ in _said(EXPOSED, base_scenario, strict)] == ["dark", "noisy"]
    assert _said(EXPOSED, base_scenario, context) == []


@given(exposure=st.floats(-6.0, 6.0), factor=st.floats(0.1, 8.0))
def test_the_ground_follows_exposure_and_light(base_scenario, cell, exposure, factor):
    """A grey feed lies at 0.71 of its colour under the cell's light (see `MID_GREY`)."""
    grey = with_surfaces(base_scenario, [Surface(subject="feed", look=Look(color=(0.4, 0.4, 0.4)))])
    assert ground_level(grey, OVERHEAD, cell) == pytest.approx(0.4 / 2**0.5, rel=1e-3)
    lights = Lights(lights=tuple(dimmed(light, factor) for light in grey.lights.lights))
    varied = _exposed(grey.varied(lights=lights), exposure)
    assert ground_level(varied, OVERHEAD, cell) == pytest.approx(0.4 / 2**0.5 * 2**exposure * factor, rel=1e-3)


def test_the_ground_is_as_dark_as_its_darkest_colour_in_the_corner_of_the_image(base_scenario, cell):
    look, dark = Look(color=(0.8, 0.8, 0.8)), Pattern(kind=PatternKind.CHECKER, color=(0.8, 0.1, 0.8), size_m=0.01)
    checkered = with_surfaces(base_scenario, [Surface(subject="feed", look=look, pattern=dark)])
    plain = with_surfaces(base_scenario, [Surface(subject="feed", look=look)])
    level = ground_level(plain, OVERHEAD, cell)
    assert ground_level(checkered, OVERHEAD, cell) == pytest.approx(level / 8)
    assert ground_level(_exposed(plain, 0.0, vignetting=0.75), OVERHEAD, cell) == pytest.approx(level / 4)


@pytest.mark.parametrize(
    ("exposure_ev", "fields"),
    [(2.0, {}), (-2.5, {}), (0.0, {"snr_db": 14.0}), (0.0, {"blur_px": 4.0, "veil_share": 0.4})],
)
def test_the_sensor_axis_stays_within_what_a_person_can_sort(base_scenario, check_context, exposure_ev, fields):
    for name, check in (("exposure", EXPOSED), ("look_alikes", RESOLVED), ("seen", SEEN)):
        assert _said(check, _exposed(base_scenario, exposure_ev, **fields), check_context) == [], name


def _drawn_back(scenario, factor):
    def moved(camera):
        pose = camera.pose_to_world
        away = (factor - 1) * pose.position_m[2]
        return camera.replaced(pose_to_world=Pose.of(pose.position + np.array([0.0, 0.0, away]), pose.quat))

    return scenario.varied(cameras=Cameras(cameras=tuple(moved(camera) for camera in scenario.cameras.cameras)))


def test_look_alikes_are_resolved_from_up_to_a_distance(base_scenario, check_context):
    """The nuts differ by 3.6 px from the cell's distance, so by 2 px from 1.8 times that."""
    present = {item.part for item in targets_in(base_scenario, check_context.cell)}
    assert {"hex_nut_m6", "hex_nut_m8"} <= present
    assert _said(RESOLVED, _drawn_back(base_scenario, 1.5), check_context) == []
    found = RESOLVED.run(_drawn_back(base_scenario, 2.0), check_context, RESOLVED.limits)
    nuts = next(one for one in found if "hex_nut" in one.subjects[0])
    assert nuts.value == pytest.approx(1.8, abs=0.05)
    assert nuts.subjects == ("hex_nut_m6_00", "hex_nut_m8_00")
    assert nuts.sentence == (
        "'hex_nut_m6_00' and 'hex_nut_m8_00' go to different bins but differ by 1.8 px in the best camera that shows "
        "both - accepted: a difference of at least 2 px in one camera"
    )


def test_look_alikes_must_be_in_one_picture(told, base_scenario, check_context):
    names = [item.name for item in targets_in(base_scenario, check_context.cell)]
    nuts = [name for name in names if name.startswith("hex_nut")]
    apart = {
        OVERHEAD: {name: {"visible_px": 0} for name in nuts if "m6" in name},
        WRIST: {name: {"visible_px": 0} for name in nuts if "m8" in name},
    }
    (said,) = _said(RESOLVED, base_scenario, told(**apart))
    assert said == (
        "unresolved",
        "'hex_nut_m6_00' and 'hex_nut_m8_00' go to different bins, and no camera shows both - accepted: a difference "
        "of at least 2 px in one camera",
    )
    unseen = {camera: {name: {"visible_px": 0} for name in nuts if "m6" in name} for camera in (OVERHEAD, WRIST)}
    assert _said(RESOLVED, base_scenario, told(**unseen)) == []


def test_parts_of_one_bin_need_not_be_told_apart(told, base_scenario):
    rules = (SortRule(match="hex_bolt", bin="bin_a"), SortRule(match="hex_nut", bin="bin_b"))
    far = _drawn_back(base_scenario, 4.0)
    assert [code for code, _ in _said(RESOLVED, far, told())] == ["unresolved"] * 2
    assert _said(RESOLVED, far.varied(task=Task(rules=rules, instruction="Sort.")), told()) == []


def test_the_same_cameras_are_not_asked_twice(told, base_scenario, monkeypatch):
    far = _drawn_back(base_scenario, 2.5)
    other = far.varied(sensor=Sensor(sensors=tuple(one.replaced(snr_db=30.0) for one in far.sensor.sensors)))
    calls = []
    monkeypatch.setattr(look_alikes, "project", lambda *args: calls.append(args) or project(*args))
    assert [code for code, _ in _said(RESOLVED, far, told())] == ["unresolved"] * 2
    assert calls
    calls.clear()
    assert [code for code, _ in _said(RESOLVED, other, told())] == ["unresolved"] * 2
    assert not calls
