"""What the writer writes: sparse, stable, valid."""

import hashlib
import os
import subprocess
import sys

import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from scenegen.errors import InvalidRecord
from scenegen.geometry import Pose
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import CameraSensor, Facet, Lights, Matter, Sensor, Surfaces
from scenegen.usd.folder import StageFolder
from scenegen.usd.sdf import says_the_same
from scenegen.usd.validation import StageFinding, validate_stage
from scenegen.usd.writer import SceneWriter, cell_path, layout_path


@pytest.fixture(scope="module")
def writer(cell, catalogue):
    return SceneWriter(cell, catalogue)


@pytest.fixture(scope="module")
def scene(cell, catalogue, base_scenario, tmp_path_factory):
    return StageFolder(tmp_path_factory.mktemp("library"), cell, catalogue).write(base_scenario)


@pytest.fixture(scope="module")
def dimmed(cell, base_scenario):
    key = cell.lights[0].model_copy(update={"luminance_nit": 1000.0})
    return base_scenario.varied(lights=Lights(lights=(key, *cell.lights[1:])))


def test_a_nominal_scene_layer_holds_nothing_but_its_task(writer, base_scenario):
    text = writer.scene_layer(base_scenario)
    assert text.count("over ") == 2
    assert 'over "World"' in text
    assert 'over "Task"' in text


def test_a_variant_holds_what_differs(writer, dimmed):
    text = writer.scene_layer(dimmed)
    assert (
        '    over "Lights"\n    {\n        over "key"\n        {\n            float inputs:intensity = 1000.0\n' in text
    )
    assert text.count("over ") == 4


def test_the_scene_names_its_layers_and_where_it_comes_from(writer, dimmed):
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(writer.scene_layer(dimmed))
    assert list(layer.subLayerPaths) == [
        f"../../{layout_path(dimmed.key(Facet.LAYOUT))}",
        f"../../{cell_path(dimmed.cell_id)}",
    ]
    assert layer.customLayerData == {"scenegen": {"cellId": dimmed.cell_id, "scenarioId": dimmed.id, "specVersion": 1}}
    assert layer.defaultPrim == "World"


def test_the_text_of_the_cell_is_what_sdf_authors(writer):
    assert says_the_same(writer.cell_layer(), writer.cell_tree())


def test_remembered_text_is_the_same_text(cell, catalogue, base_scenario, dimmed):
    used, fresh = SceneWriter(cell, catalogue), SceneWriter(cell, catalogue)
    for scenario in (base_scenario, dimmed, base_scenario):
        used.scene_layer(scenario)
    assert used.scene_layer(dimmed) == fresh.scene_layer(dimmed)
    assert used.layout_layer(dimmed) == fresh.layout_layer(base_scenario)


def test_bytes_are_the_same_in_every_process(cell, catalogue, base_scenario):
    code = (
        "import sys, hashlib\n"
        "from scenegen.cells.loader import load_cell\n"
        "from scenegen.parts.builtin import builtin_catalogue\n"
        "from scenegen.scenario import Scenario\n"
        "from scenegen.usd.writer import SceneWriter\n"
        "cell = load_cell('fasteners')\n"
        "writer = SceneWriter(cell, builtin_catalogue([item.part for item in cell.inventory]))\n"
        "scenario = Scenario.from_json(sys.stdin.read())\n"
        "text = writer.cell_layer() + writer.layout_layer(scenario) + writer.scene_layer(scenario)\n"
        "print(hashlib.sha256(text.encode()).hexdigest())\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        input=base_scenario.canonical_json(),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    ).stdout.strip()
    writer = SceneWriter(cell, catalogue)
    text = writer.cell_layer() + writer.layout_layer(base_scenario) + writer.scene_layer(base_scenario)
    assert hashlib.sha256(text.encode()).hexdigest() == other


def test_composed_scene_passes_openusd(scene):
    assert validate_stage(scene) == ()
    root = scene.parents[2]
    for file in root.rglob("*.usd?"):
        assert validate_stage(file) == (), file


def test_the_validators_do_find_something(scene):
    stage = Usd.Stage.Open(str(scene))
    stage.SetEditTarget(stage.GetSessionLayer())
    UsdPhysics.RigidBodyAPI.Apply(UsdGeom.Scope.Define(stage, "/World/Extra").GetPrim())
    (found,) = validate_stage(stage)
    assert isinstance(found, StageFinding)
    assert found.identifier == "usdPhysicsValidators:RigidBodyChecker.RigidBodyNonXformable"
    assert found.prim == "/World/Extra"


def test_what_is_no_stage_is_a_finding(tmp_path):
    path = tmp_path / "bad.usda"
    path.write_text("#usda 1.0\n(")
    assert [found.identifier for found in validate_stage(path)] == ["pxr:Usd.Open"]


def test_physics_of_the_composed_scene(scene, cell, base_scenario):
    stage = Usd.Stage.Open(str(scene))
    bodies = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)]
    kinematic = [prim for prim in bodies if UsdPhysics.RigidBodyAPI(prim).GetKinematicEnabledAttr().Get()]
    assert [prim.GetName() for prim in kinematic] == ["feed", *(b.name for b in cell.bins)]
    assert len(bodies) == len(kinematic) + len(base_scenario.layout.items)
    physics = stage.GetPrimAtPath("/World/PhysicsScene")
    assert physics.GetAttribute("newton:timeStepsPerSecond").Get() == 400
    assert physics.GetAttribute("physics:gravityMagnitude").Get() == pytest.approx(9.81)
    for prim in kinematic:
        assert len([child for child in prim.GetChildren() if child.HasAPI(UsdPhysics.CollisionAPI)]) == 5


def test_fixtures_are_the_boxes_of_the_cell(scene, cell):
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), ["default"])
    stage = Usd.Stage.Open(str(scene))
    for name, container in cell.containers.items():
        fixture = stage.GetPrimAtPath(f"/World/Fixtures/{name}")
        bounds = cache.ComputeUntransformedBound(fixture).ComputeAlignedRange()
        length, width = (size + 2 * container.wall_thickness_m for size in container.size_m)
        assert tuple(bounds.GetSize()) == pytest.approx(
            (length, width, container.wall_height_m + container.floor_thickness_m), abs=1e-6
        )
        assert bounds.GetMin()[2] == pytest.approx(-container.floor_thickness_m, abs=1e-6)


def test_cameras_are_the_pinholes_of_the_record(scene, base_scenario):
    stage = Usd.Stage.Open(str(scene))
    for camera in base_scenario.cameras.cameras:
        frustum = UsdGeom.Camera(stage.GetPrimAtPath(f"/World/Cameras/{camera.name}")).GetCamera().frustum
        view = frustum.ComputeViewMatrix() * frustum.ComputeProjectionMatrix()
        point = camera.pose_to_world.apply((0.05, -0.03, -0.6))
        across, up, _ = view.Transform(Gf.Vec3d(*point))
        x = camera.focal_px[0] * 0.05 / 0.6 + camera.principal_px[0]
        y = camera.focal_px[1] * 0.03 / 0.6 + camera.principal_px[1]  # the image's y runs down
        assert ((across + 1) / 2 * camera.width_px, (1 - up) / 2 * camera.height_px) == pytest.approx((x, y), abs=1e-3)


def test_an_off_centre_camera_too(writer, base_scenario, cell, catalogue, tmp_path):
    camera = base_scenario.cameras.cameras[0].model_copy(
        update={"principal_px": (100.0, 140.0), "focal_px": (800.0, 600.0)}
    )
    others = base_scenario.cameras.cameras[1:]
    changed = base_scenario.varied(cameras=base_scenario.cameras.model_copy(update={"cameras": (camera, *others)}))
    path = StageFolder(tmp_path, cell, catalogue).write(changed)
    test_cameras_are_the_pinholes_of_the_record(path, changed)


def test_lights_are_in_physical_units(scene, cell):
    stage = Usd.Stage.Open(str(scene))
    for light in cell.lights:
        prim = stage.GetPrimAtPath(f"/World/Lights/{light.name}")
        expected = light.illuminance_lux if light.kind == "distant" else light.luminance_nit
        assert prim.GetAttribute("inputs:intensity").Get() == pytest.approx(expected)
        assert prim.GetAttribute("inputs:normalize").Get() is (light.kind == "distant")
        assert prim.GetAttribute("inputs:enableColorTemperature").Get() is True


def another_cell(scenario):
    return scenario.varied(cell_id="0" * 24)


def another_asset(scenario):
    return scenario.varied(assets=scenario.assets[1:])


def lacking_matter(scenario):
    return scenario.varied(matter=Matter(items=scenario.matter.items[1:]))


def lacking_surface(scenario):
    return scenario.varied(surfaces=Surfaces(surfaces=scenario.surfaces.surfaces[1:]))


def lacking_fixture(scenario):
    layout = scenario.layout.model_copy(update={"fixtures": scenario.layout.fixtures[1:]})
    return scenario.varied(layout=layout)


def other_sensors(scenario):
    return scenario.varied(sensor=Sensor(sensors=(CameraSensor(camera="nowhere"),)))


def twin_lights(scenario):
    return scenario.varied(lights=Lights(lights=scenario.lights.lights[:1] * 2))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (another_cell, "scenario: cell_id: 000000000000000000000000 - accepted: "),
        (another_asset, "scenario: assets: accepted: the parts of the layout by name, once each: "),
        (lacking_matter, "scenario: matter: ["),
        (lacking_surface, "scenario: surfaces: ["),
        (lacking_fixture, "scenario: layout.fixtures: ["),
        (other_sensors, "scenario: sensor: ['nowhere'] - accepted: one a camera, in order: ['overhead', 'wrist']"),
        (twin_lights, "scenario: lights: name 'key' is used twice - accepted: unique names"),
    ],
)
def test_a_scenario_that_contradicts_itself_is_not_written(writer, base_scenario, change, sentence):
    changed = change(base_scenario)
    with pytest.raises(InvalidRecord) as caught:
        writer.layout_layer(changed), writer.scene_layer(changed)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("usd", ["/robots/panda.usd", "../panda.usd", "http://x/panda.usd"])
def test_a_robot_outside_the_library_is_not_referenced(cell, usd):
    robot = cell.robot.model_copy(update={"usd": usd})
    with pytest.raises(InvalidRecord, match="accepted: a relative path without"):
        SceneWriter(cell.model_copy(update={"robot": robot}), Catalogue([])).cell_layer()


def test_a_robot_of_its_own_is_referenced(cell):
    robot = cell.robot.model_copy(update={"usd": "robots/panda.usd", "pose_base_to_world": Pose()})
    text = SceneWriter(cell.model_copy(update={"robot": robot}), Catalogue([])).cell_layer()
    assert "prepend references = @./robots/panda.usd@" in text
    assert "marker" not in text
