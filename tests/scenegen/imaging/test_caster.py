"""G-buffers against instance masks, and the laws of normals and positions."""

import numpy as np
import pytest

from scenegen.base import sample_base
from scenegen.errors import UnknownName
from scenegen.geometry import Pose
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.gbuffer import NOTHING
from scenegen.imaging.mask import MaskCaster
from scenegen.imaging.pinhole import project
from scenegen.imaging.ray_shape import RayShape
from scenegen.parts.builtin import builtin_catalogue
from scenegen.scenario import Cameras, Item
from scenegen.streams import stream


@pytest.fixture(scope="module")
def caster(cell, catalogue):
    return GBufferCaster.of(cell, catalogue)


@pytest.fixture(scope="module")
def gbuffer(caster, base_scenario):
    return caster.cast(base_scenario, "overhead")


@pytest.mark.parametrize("camera", ["overhead", "wrist"])
def test_instances_and_depths_are_those_of_the_mask(caster, cell, catalogue, camera):
    masks = MaskCaster(cell, catalogue)
    for index in range(3):
        scenario = sample_base(cell, catalogue, rng=stream("gbuffer", index))
        found = caster.cast(scenario, camera)
        mask, names, depth = masks.instance_depth(scenario, camera)
        assert found.names == names
        np.testing.assert_array_equal(found.plane(found.instance)[0], mask)
        np.testing.assert_allclose(found.plane(found.depth)[0], depth, rtol=0, atol=1e-6)
        for place, item in enumerate(scenario.layout.items):
            assert found.alone[0, place] == masks.outline_pixels(scenario, item.name, camera=camera)


def test_the_belt_cell_is_cast_like_the_tray_cell(rings):
    parts = builtin_catalogue([item.part for item in rings.inventory])
    scenario = sample_base(rings, parts, rng=stream("gbuffer", "rings"))
    found = GBufferCaster.of(rings, parts).cast(scenario, "overhead")
    mask, _ = MaskCaster(rings, parts).instance_mask(scenario, "overhead")
    np.testing.assert_array_equal(found.plane(found.instance)[0], mask)


def test_normals_are_unit_and_face_the_camera(gbuffer):
    normal, position = (np.stack([values[0] for values in vector]) for vector in (gbuffer.normal, gbuffer.position))
    np.testing.assert_allclose(np.linalg.norm(normal, axis=0), 1, atol=1e-5)
    toward = np.stack([values[0] for values in gbuffer.eye]) - position
    assert (np.einsum("ij,ij->j", normal, toward) >= 0).all()
    table = gbuffer.instance[0] == len(gbuffer.names) - 1
    assert table.any()
    np.testing.assert_array_equal(normal[:, table], np.array([[0], [0], [1]]) * np.ones(table.sum()))


def test_positions_project_to_their_own_pixels(gbuffer, base_scenario):
    camera = base_scenario.cameras.cameras[0]
    points = np.stack([values[0] for values in gbuffer.position], axis=1)
    columns, rows = np.meshgrid(np.arange(camera.width_px) + 0.5, np.arange(camera.height_px) + 0.5)
    seen = project(camera, points)
    np.testing.assert_allclose(seen, np.stack([columns.ravel(), rows.ravel()], axis=1), atol=2e-2)


def test_what_shows_nothing_lies_on_its_ray(caster, base_scenario):
    camera = base_scenario.cameras.cameras[0]
    up = camera.model_copy(update={"pose_to_world": camera.pose_to_world.replaced(quat_xyzw=(0.0, 1.0, 0.0, 0.0))})
    turned = up.model_copy(update={"pose_to_world": up.pose_to_world.replaced(quat_xyzw=(1.0, 0.0, 0.0, 0.0))})
    found = caster.cast(base_scenario.varied(cameras=Cameras(cameras=(turned,))), "overhead")
    assert (found.instance == NOTHING).all()
    assert np.isinf(found.depth).all()
    np.testing.assert_allclose(np.abs(found.position[2] - found.eye[2]), 1, atol=1e-5)
    assert found.alone.sum() == 0


def test_a_camera_that_is_not_there(caster, base_scenario):
    with pytest.raises(UnknownName, match="unknown camera 'side' - accepted: overhead, wrist"):
        caster.cast(base_scenario, "side")


def test_hits_say_where_on_which_triangle_rays_end():
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    shape = RayShape(vertices, np.array([[0, 1, 2]], np.int32))
    found = shape.hits(np.array([0.25, 0.5, 2.0]), np.array([[1.0, 0.0, -1.0], [0.0, 0.0, -1.0]]))
    assert found.rays.tolist() == [1]
    assert found.faces.tolist() == [0]
    assert [float(one[0]) for one in (found.distances, found.u, found.v)] == pytest.approx([2.0, 0.25, 0.5])
    assert not len(shape.hits(np.zeros(3), np.empty((0, 3))).rays)


def test_the_side_of_a_pin_is_round(cell, base_scenario):
    name = "dowel_pin_8x20"
    pose = Pose.of(cell.feed.pose_to_world.apply((0.0, 0.0, 0.1)), (0.6, 0.1, 0.2, 0.7))
    pin = Item(name="pin", part=name, zone="feed", pose_to_world=pose)
    scenario = base_scenario.varied(layout=base_scenario.layout.replaced(items=(pin,)))
    found = GBufferCaster.of(cell, builtin_catalogue([name])).cast(scenario, "overhead")
    normal, position = (
        np.stack([plane[0] for plane in vector], axis=1)[found.instance[0] == 0]
        for vector in (found.normal, found.position)
    )
    normal, position = normal @ pose.rotation, pose.inverse().apply(position)
    around, outward = normal[:, :2], position[:, :2]
    side = np.linalg.norm(outward, axis=1) > 0.0039
    assert side.sum() > 30
    np.testing.assert_allclose(_unit(around[side]), _unit(outward[side]), atol=0.02)


def _unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_threads_stand_in_their_own_way_and_flat_faces_do_not(gbuffer, base_scenario):
    shown, self_open = gbuffer.instance[0], gbuffer.self_open[0]
    bolts = [index for index, item in enumerate(base_scenario.layout.items) if "bolt" in item.part]
    washers = [index for index, item in enumerate(base_scenario.layout.items) if "washer" in item.part]
    assert bolts
    threads = np.isin(shown, bolts) & (self_open < 0.8)
    assert threads.sum() > 50
    assert (self_open[shown >= len(base_scenario.layout.items)] == 1).all()
    assert (self_open[np.isin(shown, washers)] > 0.9).all()
    assert self_open[threads].mean() == pytest.approx(2 / 3, abs=0.08)


def test_a_groove_of_a_right_angle_is_open_as_its_form_factor_says():
    """Two long walls at a right angle: each sees the other with 1 - sin 45 degrees = 0.29 (Howell 2010, C-16)."""
    length, count = 50.0, 40
    edges = np.linspace(0, 1, count + 1)
    near, far = edges[:-1], edges[1:]
    corners, faces = [], []
    for axis in (np.array([1.0, 0.0, 1.0]), np.array([-1.0, 0.0, 1.0])):
        for low, high in zip(near, far, strict=True):
            ends = np.array([0, length, 0])
            quad = np.stack([low * axis - ends, low * axis + ends, high * axis + ends, high * axis - ends])
            start = len(corners) * 4
            corners.append(quad)
            turn = [[0, 2, 1], [0, 3, 2]] if axis[0] > 0 else [[0, 1, 2], [0, 2, 3]]
            faces += [[start + one for one in triangle] for triangle in turn]
    shape = RayShape(np.concatenate(corners), np.array(faces, np.int32))
    assert 1 - shape.grooves.open.mean() == pytest.approx(0.29, abs=0.04)
    assert (shape.grooves.outward[:, 2] > 0.5).all()
