"""Stains, patterns and lens faults in USD: custom attributes beside the standard ones, where there is something."""

import pytest
from pxr import Sdf, Usd

from scenegen.axes.items import with_surfaces
from scenegen.errors import UnreadableStage
from scenegen.optical import Pattern, PatternKind, Stain
from scenegen.scenario import Sensor
from scenegen.usd.folder import StageFolder
from scenegen.usd.reader import read_scenario
from scenegen.usd.validation import validate_stage

FIELDS = ("stain", "pattern", "veilShare", "vignetting", "motionPx", "motionRad")
STAIN = Stain(color=(0.26, 0.11, 0.045), roughness=0.9, share=0.3, patch_m=0.004, phase=(3.5, 0.25, 11.0))
CHECKER = Pattern(kind=PatternKind.CHECKER, color=(0.3, 0.28, 0.25), size_m=0.03, angle_rad=0.4)


@pytest.fixture(scope="module")
def folder(cell, catalogue, tmp_path_factory):
    return StageFolder(tmp_path_factory.mktemp("optical"), cell, catalogue)


@pytest.fixture(scope="module")
def dirty(base_scenario):
    """A base with a stained item, a chequered feed and dirty lenses."""
    surfaces = {surface.subject: surface for surface in base_scenario.surfaces.surfaces}
    item = surfaces[base_scenario.layout.items[0].name]
    changed = with_surfaces(
        base_scenario, [item.replaced(stain=STAIN), surfaces["feed"].replaced(pattern=CHECKER, stain=STAIN)]
    )
    sensors = tuple(
        sensor.replaced(veil_share=0.2, vignetting=0.5, motion_px=4.5, motion_rad=1.25)
        for sensor in base_scenario.sensor.sensors
    )
    return changed.varied(sensor=Sensor(sensors=sensors))


def test_what_is_neutral_is_in_no_file_and_in_no_id(base_scenario, folder):
    writer = folder.writer
    layers = (writer.cell_layer(), writer.layout_layer(base_scenario), writer.scene_layer(base_scenario))
    texts = (*layers, base_scenario.canonical_json())
    assert not [field for field in (*FIELDS, "veil_share") for text in texts if field in text]


def test_what_is_not_neutral_is_in_the_scene_layer_alone(dirty, folder):
    scene = folder.writer.scene_layer(dirty)
    assert all(field in scene for field in FIELDS)
    assert not [field for field in FIELDS if field in folder.writer.layout_layer(dirty)]


def test_it_is_read_under_the_rules_for_untrusted_input_and_passes_usd_validation(dirty, folder):
    path = folder.write(dirty)
    assert read_scenario(path) == dirty
    assert validate_stage(path) == ()


def test_its_shapes_are_its_own(base_scenario, dirty, folder):
    def shapes(scenario):
        return frozenset().union(*(fragment.shapes for fragment in folder.writer.fragments(scenario)))

    assert shapes(dirty) > shapes(base_scenario) - shapes(dirty)
    assert shapes(dirty) - shapes(base_scenario)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (
            lambda shader: shader.RemoveProperty("scenegen:stainShare"),
            "scenegen:stainShare has no value - it is required",
        ),
        (
            lambda shader: shader.GetAttribute("scenegen:stainShare").Set(1.5),
            "share: 1.5 - accepted: less than or equal to 1",
        ),
        (
            lambda shader: shader.GetAttribute("scenegen:patternKind").Set("paisley"),
            "kind: 'paisley' - accepted: 'checker', 'stripes', 'speckle' or 'wood'",
        ),
        (
            lambda shader: (
                shader.RemoveProperty("scenegen:patternColor"),
                shader.CreateAttribute("scenegen:patternColor", Sdf.ValueTypeNames.String).Set("red"),
            ),
            "scenegen:patternColor holds 'red' - accepted: 3 numbers",
        ),
    ],
)
def test_what_is_no_stain_or_pattern_is_said(dirty, folder, edit, sentence):
    path = folder.write(dirty)
    text = path.read_text()
    stage = Usd.Stage.Open(str(path))
    edit(stage.GetPrimAtPath("/World/Looks/feed/preview"))
    stage.Save()
    with pytest.raises(UnreadableStage) as caught:
        read_scenario(path, trusted=True)
    path.write_text(text)
    stage.Reload()
    assert str(caught.value) == f"{path}: /World/Looks/feed/preview: {sentence}"
