"""Scenes that a person changed with another tool: what still is a scenario is read, the rest is refused by name."""

import shutil
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdLux, UsdShade, UsdUtils

from scenegen.errors import UnreadableStage
from scenegen.geometry import Pose, quat_about, quat_multiply
from scenegen.usd import reader
from scenegen.usd.folder import StageFolder
from scenegen.usd.reader import read_cell_and_parts, read_scenario


@pytest.fixture(scope="module")
def original(cell, catalogue, base_scenario, tmp_path_factory):
    """A library of one scene, with all parts of the cell."""
    folder = StageFolder(tmp_path_factory.mktemp("library"), cell, catalogue)
    for item in cell.inventory:
        folder.write_asset(item.part)
    return folder.root, folder.write(base_scenario)


@pytest.fixture
def scene(original, tmp_path):
    """A copy of that library to edit: its scene."""
    root, path = original
    shutil.copytree(root, tmp_path, dirs_exist_ok=True)
    return tmp_path / path.relative_to(root)


@pytest.fixture
def first(base_scenario):
    return base_scenario.layout.items[0]


def edited(path: Path, change) -> Path:
    """Change a scene through the Usd API, as a tool would, and save it."""
    stage = Usd.Stage.Open(str(path))
    change(stage)
    stage.Save()
    return path


def item_of(stage: Usd.Stage, item) -> UsdGeom.Xformable:
    return UsdGeom.Xformable(stage.GetPrimAtPath(f"/World/Items/{item.name}"))


def read(path: Path):
    return read_scenario(path, trusted=True)


def assert_near(pose: Pose, expected: Pose) -> None:
    np.testing.assert_allclose(pose.position, expected.position, atol=1e-6)
    np.testing.assert_allclose(pose.quat, expected.quat, atol=1e-6)


def test_a_moved_item(scene, base_scenario, first):
    edited(scene, lambda stage: item_of(stage, first).GetPrim().GetAttribute("xformOp:translate").Set((0.5, 0.01, 0.2)))
    scenario = read(scene)
    assert scenario.layout.items[0].pose_to_world.position_m == (0.5, 0.01, 0.2)
    assert scenario.layout.items[0].pose_to_world.quat_xyzw == first.pose_to_world.quat_xyzw
    assert scenario.layout.items[1:] == base_scenario.layout.items[1:]


def test_a_transform_matrix(scene, first):
    pose = Pose.of((0.4, 0.1, 0.3), quat_about((1.0, 2.0, 3.0), 0.7))

    def change(stage):
        matrix = Gf.Matrix4d().SetTransform(
            Gf.Rotation(Gf.Quatd(pose.quat[3], *pose.quat[:3])), Gf.Vec3d(*pose.position)
        )
        item_of(stage, first).MakeMatrixXform().Set(matrix)

    assert_near(read(edited(scene, change)).layout.items[0].pose_to_world, pose)


def test_euler_angles(scene, first):
    def change(stage):
        xform = item_of(stage, first)
        xform.ClearXformOpOrder()
        xform.AddTranslateOp(opSuffix="a").Set((0.1, 0.2, 0.3))
        xform.AddRotateXYZOp().Set((90.0, 0.0, 90.0))

    expected = Pose.of(
        (0.1, 0.2, 0.3), quat_multiply(quat_about((0, 0, 1), np.pi / 2), quat_about((1, 0, 0), np.pi / 2))
    )
    assert_near(read(edited(scene, change)).layout.items[0].pose_to_world, expected)


def test_ops_in_another_order_and_a_scale_of_one(scene, first):
    def change(stage):
        xform = item_of(stage, first)
        translate, orient = xform.GetOrderedXformOps()
        scale = xform.AddScaleOp()
        scale.Set((1.0, 1.0, 1.0))
        xform.SetXformOpOrder([orient, translate, scale])

    pose = first.pose_to_world
    expected = Pose.of(Pose(quat_xyzw=pose.quat_xyzw).apply(pose.position), pose.quat)
    assert_near(read(edited(scene, change)).layout.items[0].pose_to_world, expected)


def test_a_moved_group(scene, base_scenario):
    def change(stage):
        UsdGeom.Xformable(stage.GetPrimAtPath("/World/Items")).AddTranslateOp().Set((0.0, 0.0, 0.5))

    for now, before in zip(read(edited(scene, change)).layout.items, base_scenario.layout.items, strict=True):
        np.testing.assert_allclose(now.pose_to_world.position - before.pose_to_world.position, (0, 0, 0.5), atol=1e-6)


def test_a_moved_bin(scene, cell):
    def change(stage):
        UsdGeom.XformCommonAPI(stage.GetPrimAtPath("/World/Fixtures/bin_a")).SetTranslate((0.4, 0.3, 0.1))
        stage.GetPrimAtPath("/World/Fixtures/bin_a").GetAttribute("xformOp:translate").Set((0.4, 0.3, 0.1))

    found = {one.name: one.pose_to_world for one in read(edited(scene, change)).layout.fixtures}
    assert found["bin_a"].position_m == (0.4, 0.3, 0.1)
    assert found["bin_b"] == cell.bins[1].pose_to_world


def test_a_deactivated_item_is_gone(scene, base_scenario, first):
    scenario = read(edited(scene, lambda stage: item_of(stage, first).GetPrim().SetActive(False)))
    assert scenario.layout.items == base_scenario.layout.items[1:]
    assert scenario.matter.items == base_scenario.matter.items[1:]


def test_another_mass_friction_and_look(scene, first):
    def change(stage):
        prim = item_of(stage, first).GetPrim()
        prim.GetAttribute("physics:mass").Set(0.5)
        material = prim.GetPrimAtPath("Looks/surface")
        material.GetAttribute("physics:staticFriction").Set(0.25)
        material.GetAttribute("physics:dynamicFriction").Set(0.25)
        material.GetPrimAtPath("preview").GetAttribute("inputs:diffuseColor").Set((1.0, 0.5, 0.25))

    scenario = read(edited(scene, change))
    looks = {one.subject: one.look for one in scenario.surfaces.surfaces}
    assert (scenario.matter.items[0].mass_kg, scenario.matter.items[0].friction) == (0.5, 0.25)
    assert looks[first.name].color == (1.0, 0.5, 0.25)


def test_another_material_bound(scene, first):
    def change(stage):
        material = UsdShade.Material.Define(stage, "/World/Looks/mine")
        shader = UsdShade.Shader.Define(stage, "/World/Looks/mine/anything")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set((0.5, 0.25, 0.0))
        shader.CreateInput("metallic", Sdf.ValueTypeNames.Float).Set(0.5)
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(0.25)
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        UsdShade.MaterialBindingAPI.Apply(stage.GetPrimAtPath(f"/World/Items/{first.name}/mesh")).Bind(material)
        UsdShade.MaterialBindingAPI.Apply(stage.GetPrimAtPath("/World/Fixtures/feed/floor")).Bind(material)

    looks = {one.subject: one.look for one in read(edited(scene, change)).surfaces.surfaces}
    assert looks[first.name] == looks["feed"]
    assert looks["feed"].color == (0.5, 0.25, 0.0)


def test_exposure_of_a_light_counts(scene, cell):
    key = cell.lights[0]
    edited(
        scene,
        lambda stage: UsdLux.LightAPI(stage.GetPrimAtPath(f"/World/Lights/{key.name}")).GetExposureAttr().Set(2.0),
    )
    assert read(scene).lights.lights[0] == key.model_copy(update={"luminance_nit": 4 * key.luminance_nit})


def test_an_added_light_comes_last(scene, cell):
    def change(stage):
        lamp = UsdLux.SphereLight.Define(stage, "/World/Lights/lamp")
        lamp.CreateRadiusAttr(0.25)
        lamp.CreateIntensityAttr(100.0)
        lamp.AddTranslateOp().Set((0.0, 1.0, 2.0))

    lights = read(edited(scene, change)).lights.lights
    assert lights[:-1] == cell.lights
    assert (lights[-1].name, lights[-1].luminance_nit, lights[-1].position_m) == ("lamp", 100.0, (0.0, 1.0, 2.0))


def test_the_angle_of_a_distant_light_in_degrees(scene, cell):
    name = cell.lights[1].name
    edited(scene, lambda stage: stage.GetPrimAtPath(f"/World/Lights/{name}").GetAttribute("inputs:angle").Set(45.0))
    assert read(scene).lights.lights[1].angle_rad == pytest.approx(np.pi / 4)


def test_a_card_that_casts_a_shadow(scene):
    def change(stage):
        card = UsdGeom.Cube.Define(stage, "/World/ShadowCasters/card")
        UsdGeom.Xform.Define(stage, "/World/ShadowCasters")
        card.CreateSizeAttr(1.0)
        card.AddTranslateOp().Set((0.0, 0.0, 1.0))
        card.AddScaleOp().Set((0.5, 0.25, 0.001))

    (card,) = read(edited(scene, change)).lights.shadow_casters
    assert card.size_m == pytest.approx((0.5, 0.25))
    assert card.pose_to_world.position_m == (0.0, 0.0, 1.0)


def test_another_lens(scene, cell):
    def change(stage):
        camera = stage.GetPrimAtPath("/World/Cameras/overhead")
        camera.GetAttribute("focalLength").Set(2 * camera.GetAttribute("focalLength").Get())

    camera = read(edited(scene, change)).cameras.cameras[0]
    assert camera.focal_px == pytest.approx((2 * cell.cameras[0].focal_px[0], 2 * cell.cameras[0].focal_px[1]))
    assert camera.principal_px == pytest.approx(cell.cameras[0].principal_px)


def test_prims_without_effect_are_overlooked(scene, base_scenario):
    def change(stage):
        UsdGeom.Scope.Define(stage, "/Render")
        UsdGeom.Camera.Define(stage, "/OmniverseKit_Persp")
        UsdGeom.Xform.Define(stage, "/World/Notes")

    assert read(edited(scene, change)) == base_scenario


@pytest.mark.parametrize("name", ["flat.usda", "flat.usdc"])
def test_a_flattened_scene_beside_its_library(scene, base_scenario, cell, tmp_path, name):
    Usd.Stage.Open(str(scene)).Export(str(tmp_path / name))
    assert read_scenario(tmp_path / name) == base_scenario
    assert read_cell_and_parts(tmp_path / name, trusted=True)[0] == cell


def test_a_package_beside_its_library(scene, base_scenario, tmp_path):
    Usd.Stage.Open(str(scene)).Export(str(tmp_path / "flat.usdc"))
    assert UsdUtils.CreateNewUsdzPackage(str(tmp_path / "flat.usdc"), str(tmp_path / "flat.usdz"))
    assert read_scenario(tmp_path / "flat.usdz") == base_scenario


def test_a_flattened_scene_without_its_cell(scene, base_scenario, tmp_path_factory):
    alone = tmp_path_factory.mktemp("alone") / "flat.usda"
    Usd.Stage.Open(str(scene)).Export(str(alone))
    with pytest.raises(UnreadableStage) as caught:
        read(alone)
    looked = alone.parent / "cells" / f"{base_scenario.cell_id}.json"
    assert str(caught.value) == f"{alone}: /: the cell's specification is missing (looked for: {looked})"


def test_a_flattened_scene_without_its_assets(scene, first, tmp_path):
    Usd.Stage.Open(str(scene)).Export(str(tmp_path / "flat.usda"))
    shutil.rmtree(tmp_path / "assets")
    with pytest.raises(UnreadableStage) as caught:
        read(tmp_path / "flat.usda")
    assert f"/World/Items/{first.name}: the asset of part {first.part!r} is missing (looked for: " in str(caught.value)


def test_a_scene_without_its_assets(scene, tmp_path):
    shutil.rmtree(tmp_path / "assets")
    with pytest.raises(UnreadableStage, match="Could not open asset"):
        read(scene)


def test_a_scene_without_its_layout(scene, tmp_path):
    shutil.rmtree(tmp_path / "layouts")
    with pytest.raises(UnreadableStage, match="Could not load sublayer"):
        read(scene)


def test_a_library_without_a_part_of_the_inventory(scene, tmp_path, cell, base_scenario):
    spare = next(
        item.part for item in cell.inventory if item.part not in {one.part for one in base_scenario.layout.items}
    )
    for file in (tmp_path / "assets").glob(f"{spare}_*"):
        file.unlink()
    with pytest.raises(UnreadableStage) as caught:
        read_cell_and_parts(scene, trusted=True)
    expected = f"/World/Cell: the asset of part {spare!r} is missing (looked in: {tmp_path / 'assets'})"
    assert expected in str(caught.value)


def test_an_asset_that_is_not_what_its_name_says(scene, tmp_path, first):
    (file,) = (tmp_path / "assets").glob(f"{first.part}_*")
    layer = Sdf.Layer.FindOrOpen(str(file))
    layer.GetAttributeAtPath(f"/{first.part}.physics:mass").default = 7.0
    layer.Save()
    with pytest.raises(UnreadableStage, match="accepted: what the file's name says; import the part anew"):
        read(scene)


def add_reference(stage, _):
    UsdGeom.Xform.Define(stage, "/World/Items/clutter")


def scale(stage, item):
    item_of(stage, item).AddScaleOp().Set((1.0, 2.0, 1.0))


def mirror(stage, item):
    item_of(stage, item).AddScaleOp().Set((1.0, -1.0, 1.0))


def animate(stage, item):
    translate = item_of(stage, item).GetPrim().GetAttribute("xformOp:translate")
    translate.Set((0, 0, 0), 1.0)
    translate.Set((0, 0, 1), 2.0)


def hide(stage, item):
    UsdGeom.Imageable(item_of(stage, item)).MakeInvisible()


def not_a_number(stage, item):
    item_of(stage, item).GetPrim().GetAttribute("xformOp:translate").Set((float("nan"), 0.0, 0.0))


def wrong_zone(stage, item):
    item_of(stage, item).GetPrim().GetAttribute("scenegen:zone").Set("not a name")


def wrong_cause(stage, item):
    item_of(stage, item).GetPrim().GetAttribute("scenegen:cause").Set("magic")


def wrong_type(stage, item):
    prim = item_of(stage, item).GetPrim()
    layer = stage.GetRootLayer()
    spec = Sdf.CreatePrimInLayer(layer, prim.GetPath())
    Sdf.AttributeSpec(spec, "physics:mass", Sdf.ValueTypeNames.String).default = "heavy"


def two_frictions(stage, item):
    item_of(stage, item).GetPrim().GetPrimAtPath("Looks/surface").GetAttribute("physics:staticFriction").Set(0.9)


def coloured_light(stage, _):
    stage.GetPrimAtPath("/World/Lights/key").GetAttribute("inputs:color").Set((1.0, 0.0, 0.0))


def normalised_panel(stage, _):
    stage.GetPrimAtPath("/World/Lights/key").GetAttribute("inputs:normalize").Set(True)


def unknown_light(stage, _):
    UsdLux.CylinderLight.Define(stage, "/World/Lights/tube")


def obstacle(stage, _):
    UsdGeom.Sphere.Define(stage, "/World/Extra/ball")


def light_elsewhere(stage, _):
    UsdLux.DistantLight.Define(stage, "/defaultLight")


def extra_fixture(stage, _):
    UsdGeom.Cube.Define(stage, "/World/Fixtures/box")


def no_table(stage, _):
    stage.GetPrimAtPath("/World/Cell/table").SetActive(False)


def no_bin(stage, _):
    stage.GetPrimAtPath("/World/Fixtures/bin_c").SetActive(False)


def no_camera(stage, _):
    for prim in stage.GetPrimAtPath("/World/Cameras").GetChildren():
        prim.SetActive(False)


def texture(stage, _):
    shader = UsdShade.Shader.Get(stage, "/World/Looks/feed/preview")
    reader = UsdShade.Shader.Define(stage, "/World/Looks/feed/reader")
    shader.GetInput("diffuseColor").ConnectToSource(reader.ConnectableAPI(), "rgb")


def longer_bin(stage, _):
    stage.GetPrimAtPath("/World/Fixtures/bin_a/floor").GetAttribute("xformOp:scale").Set((0.5, 0.5, 0.1))


def moved_table(stage, _):
    stage.GetPrimAtPath("/World/Cell/table").GetAttribute("xformOp:translate").Set((0.0, 0.0, -0.5))


def moved_robot(stage, _):
    stage.GetPrimAtPath("/World/Cell/robot").GetAttribute("xformOp:translate").Set((0.0, 0.0, 0.5))


def other_gravity(stage, _):
    stage.GetPrimAtPath("/World/PhysicsScene").GetAttribute("physics:gravityMagnitude").Set(1.62)


def wall_in_a_bin(stage, _):
    UsdGeom.Cube.Define(stage, "/World/Fixtures/bin_a/divider")


def bent_part(stage, item):
    points = item_of(stage, item).GetPrim().GetPrimAtPath("mesh").GetAttribute("points")
    points.Set([2 * point for point in points.Get()])


def moved_mesh(stage, item):
    UsdGeom.Xformable(item_of(stage, item).GetPrim().GetPrimAtPath("mesh")).AddTranslateOp().Set((0.0, 0.0, 0.1))


def added_to_a_part(stage, item):
    UsdGeom.Sphere.Define(stage, item_of(stage, item).GetPath().AppendChild("ball"))


def light_on_a_camera(stage, _):
    UsdLux.SphereLight.Define(stage, "/World/Cameras/wrist/ring")


def centimetres(stage, _):
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)


def too_many_rules(stage, _):
    stage.GetPrimAtPath("/World/Task").GetAttribute("scenegen:ruleBins").Set(["bin_a"])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            add_reference,
            "/World/Items/clutter: is no scenegen part (scenegen:part is missing) - accepted: references to",
        ),
        (scale, "ITEM: is scaled by (1, 2, 1) - accepted: scale 1, since parts and fixtures are of one size"),
        (mirror, "ITEM: its transform mirrors or shears it - accepted: a rigid transform"),
        (animate, "is animated - accepted: one value an attribute"),
        (hide, "ITEM: is invisible but still there - deactivate or delete it to take it out of the scene"),
        (not_a_number, "ITEM: xformOp:translate is (nan, 0.0, 0.0) - accepted: finite numbers"),
        (wrong_zone, "ITEM: zone: 'not a name' - accepted: "),
        (wrong_cause, "ITEM: cause: 'magic' - accepted: 'nominal', 'jostled'"),
        (wrong_type, "ITEM: physics:mass holds 'heavy' - accepted: a number"),
        (two_frictions, "ITEM/Looks/surface: physics:staticFriction 0.9 and physics:dynamicFriction "),
        (coloured_light, "/World/Lights/key: inputs:color is (1.0, 0.0, 0.0) - accepted: white"),
        (normalised_panel, "/World/Lights/key: inputs:normalize is on - accepted: off"),
        (
            unknown_light,
            "/World/Lights/tube: is a CylinderLight - accepted: DistantLight, RectLight, SphereLight, DomeLight",
        ),
        (obstacle, "/World/Extra/ball: a Sphere that belongs to no scenario - accepted: items in /World/Items"),
        (light_elsewhere, "/defaultLight: a DistantLight that belongs to no scenario"),
        (extra_fixture, "/World/Fixtures/box: a Cube that belongs to no scenario"),
        (no_table, "/World/Cell/table: no such prim - it is required"),
        (no_bin, "/World/Fixtures/bin_c: no such prim - it is required"),
        (no_camera, "/World/Cameras: holds no camera - at least one is required"),
        (
            texture,
            "/World/Looks/feed/preview: inputs:diffuseColor is connected to another node - accepted: a plain value",
        ),
        (centimetres, "/: upAxis Z, metersPerUnit 0.01 - accepted: upAxis Z, metersPerUnit 1"),
        (too_many_rules, "/World/Task: scenegen:ruleBins has 1 entries - accepted: one a match (4)"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_what_is_no_scenario_is_said(scene, first, change, sentence):
    edited(scene, lambda stage: change(stage, first))
    with (
        mock.patch.object(reader, "refuse_unsafe"),  # what is unsafe as well is tested there
        pytest.raises(UnreadableStage) as caught,
    ):
        read_scenario(scene)
    expected = sentence.replace("ITEM", f"/World/Items/{first.name}").replace("PART", first.part)
    assert expected in str(caught.value)
    assert str(caught.value).startswith(f"{scene}: ")


def test_a_usd_file_of_something_else(tmp_path):
    path = tmp_path / "cube.usda"
    path.write_text('#usda 1.0\ndef Cube "A" {\n}\n')
    with pytest.raises(UnreadableStage, match="the cell's specification is missing"):
        read(path)
