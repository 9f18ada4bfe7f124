"""Instance masks and hidden shares: against analytic pictures, and against the laws of occlusion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.base import sample_base
from scenegen.errors import UnknownName
from scenegen.geometry import Pose, look_at, quat_about
from scenegen.imaging.mask import NOTHING, MaskCaster, RayShape, container_boxes, silhouette
from scenegen.imaging.pinhole import camera_rays, project
from scenegen.nominal import nominal_fixtures, nominal_scenario
from scenegen.scenario import Camera, Item, Layout, Task
from scenegen.streams import stream

BOX_FACES = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6],
     [1, 3, 5], [3, 7, 5]], np.int32
)  # fmt: skip


@pytest.fixture(scope="module")
def caster(cell, catalogue):
    return MaskCaster(cell, catalogue)


def _camera(distortion=(0.0, 0.0, 0.0, 0.0, 0.0), height=0.8, size=100):
    return Camera(
        name="overhead",
        pose_to_world=Pose.of((0, 0, height)),
        width_px=size,
        height_px=size,
        focal_px=(200.0, 200.0),
        principal_px=(size / 2, size / 2),
        distortion=distortion,
    )


def _box(size):
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)]) - 0.5
    return RayShape(corners * size, BOX_FACES)


def _laid(cell, catalogue, *items):
    layout = Layout(fixtures=nominal_fixtures(cell), items=items)
    return nominal_scenario(cell, catalogue, layout, Task(rules=cell.rules, instruction="Sort."))


def _item(cell, catalogue, slot, x, y, z=0.0):
    part = cell.slots[slot].part
    rest = catalogue[part].stable_poses[0]
    pose = cell.feed.pose_to_world.after(Pose.of((x, y, rest.height_m + z), rest.quat_xyzw))
    return Item(name=slot, part=part, zone="feed", pose_to_world=pose)


def test_a_plate_covers_the_pixels_that_it_should():
    """A plate of 0.2 m by 0.1 m, 0.8 m below a camera of 200 px focal length: 50 by 25 pixels."""
    mask = silhouette(_box((0.2, 0.1, 1e-4)), _camera(), Pose())
    rows, columns = np.nonzero(mask)
    assert mask.sum() == pytest.approx(50 * 25, abs=60)
    assert np.ptp(columns) + 1 == pytest.approx(50, abs=1)
    assert np.ptp(rows) + 1 == pytest.approx(25, abs=1)


def test_image_axes_are_right_and_down():
    camera = _camera()
    assert project(camera, np.array([[0.1, 0.0, 0.0]]))[0] == pytest.approx([75, 50])
    assert project(camera, np.array([[0.0, 0.1, 0.0]]))[0] == pytest.approx([50, 25])
    rows, columns = np.nonzero(silhouette(_box((0.02, 0.02, 0.02)), camera, Pose.of((0.1, 0.1, 0.0))))
    assert (columns.mean(), rows.mean()) == pytest.approx((75, 25), abs=1)


@settings(max_examples=25, deadline=None)
@given(st.floats(-0.3, 0.3), st.floats(-0.2, 0.2), st.floats(-0.01, 0.01), st.floats(-0.01, 0.01))
def test_rays_undo_the_distortion_of_projection(k1, k2, p1, p2):
    camera = _camera((k1, k2, p1, p2, 0.0))
    rays = camera_rays(
        camera.width_px, camera.height_px, camera.focal_px, camera.principal_px, camera.distortion
    ).reshape(-1, 3)
    pixels = project(camera, camera.pose_to_world.apply(rays * 0.7)).reshape(100, 100, 2)
    expected = np.stack(np.meshgrid(np.arange(100) + 0.5, np.arange(100) + 0.5), axis=-1)
    np.testing.assert_allclose(pixels, expected, atol=1e-3)


def test_points_behind_the_camera_have_no_pixels():
    assert np.isnan(project(_camera(), np.array([[0.0, 0.0, 2.0]]))).all()
    assert not silhouette(_box((0.1, 0.1, 0.1)), _camera(), Pose.of((0, 0, 2))).any()


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 6.28), st.floats(-0.3, 0.3), st.floats(-0.2, 0.2))
def test_moving_camera_and_shape_together_changes_nothing(angle, x, y):
    shape, camera, pose = _box((0.2, 0.05, 0.1)), _camera(), Pose.of((0.03, 0.01, 0.1))
    move = Pose.of((x, y, 0.1), quat_about(np.array([0.3, 0.5, 1.0]), angle))
    moved = camera.model_copy(update={"pose_to_world": move.after(camera.pose_to_world)})
    differ = silhouette(shape, camera, pose) ^ silhouette(shape, moved, move.after(pose))
    assert differ.sum() <= 8  # pixels whose rays graze an edge


def test_the_mask_names_what_each_pixel_shows(caster, cell, catalogue):
    scenario = _laid(
        cell,
        catalogue,
        _item(cell, catalogue, "hex_nut_m8_00", 0.0, 0.0),
        _item(cell, catalogue, "hex_nut_m6_00", 0.05, 0),
    )
    mask, names = caster.instance_mask(scenario, "overhead")
    assert names == ("hex_nut_m8_00", "hex_nut_m6_00", "feed", "bin_a", "bin_b", "bin_c", "bin_d", "table")
    camera = scenario.cameras.cameras[0]
    for item in scenario.layout.items:
        part = catalogue[item.part]
        rim = item.pose_to_world.apply(part.collision_vertices).mean(axis=0) + np.array([0.0, 0.0045, 0.0])
        column, row = project(camera, rim[None])[0].astype(int)
        assert names[mask[row, column]] == item.name
    counts = {name: int((mask == index).sum()) for index, name in enumerate(names)}
    assert counts["hex_nut_m8_00"] > counts["hex_nut_m6_00"] > 40
    assert counts["feed"] > 30_000
    assert counts["bin_a"] == 0
    assert NOTHING not in mask


def test_the_hole_of_a_nut_is_seen_through(caster, cell, catalogue):
    item = _item(cell, catalogue, "hex_nut_m8_00", 0.0, 0.0)
    scenario = _laid(cell, catalogue, item)
    mask, names = caster.instance_mask(scenario, "overhead")
    column, row = project(scenario.cameras.cameras[0], item.pose_to_world.position[None])[0].astype(int)
    assert names[mask[row, column]] == "feed"


def test_masks_counts_and_shares_agree(caster, cell, catalogue):
    for index in range(4):
        scenario = sample_base(cell, catalogue, rng=stream("mask", index))
        mask, names = caster.instance_mask(scenario, "overhead")
        shares = caster.hidden_shares(scenario)
        for item in scenario.layout.items:
            visible = caster.visible_pixels(scenario, item.name)
            assert visible == int((mask == names.index(item.name)).sum())
            outline = caster.outline_pixels(scenario, item.name)
            assert caster.hidden_share(scenario, item.name) == 1 - visible / outline == shares[item.name]


@settings(max_examples=20, deadline=None)
@given(st.floats(0.0, 0.02))
def test_a_cover_hides_more_the_nearer_it_is_held(caster, cell, catalogue, aside):
    """What is covered grows with the cover's overlap; an item alone is wholly seen."""
    target = _item(cell, catalogue, "hex_nut_m6_00", 0.0, 0.0)
    cover = _item(cell, catalogue, "hex_nut_m8_00", aside, 0.0, z=0.02)
    further = _item(cell, catalogue, "hex_nut_m8_00", aside + 0.004, 0.0, z=0.02)
    alone = caster.hidden_share(_laid(cell, catalogue, target), "hex_nut_m6_00")
    near = caster.hidden_share(_laid(cell, catalogue, target, cover), "hex_nut_m6_00")
    far = caster.hidden_share(_laid(cell, catalogue, target, further), "hex_nut_m6_00")
    assert alone == 0.0
    assert near >= far - 0.12  # through the cover's hole a little more may be seen
    assert caster.hidden_share(_laid(cell, catalogue, target, cover), "hex_nut_m8_00") == 0.0


def test_an_item_out_of_view_is_wholly_hidden(caster, cell, catalogue):
    item = _item(cell, catalogue, "hex_nut_m6_00", 0.4, 0.0)
    scenario = _laid(cell, catalogue, item)
    assert caster.outline_pixels(scenario, item.name) == 0
    assert caster.hidden_share(scenario, item.name) == 1.0
    assert caster.hidden_shares(scenario) == {item.name: 1.0}


def test_walls_hide_what_lies_behind_them(caster, cell, catalogue):
    item = _item(cell, catalogue, "hex_nut_m6_00", 0.092, 0.0)
    scenario = _laid(cell, catalogue, item)
    camera = scenario.cameras.cameras[0]
    eye = cell.feed.pose_to_world.position + np.array([0.6, 0.0, 0.06])
    low = camera.model_copy(update={"pose_to_world": look_at(eye, item.pose_to_world.position)})
    aside = scenario.varied(cameras=scenario.cameras.model_copy(update={"cameras": (low,)}))
    assert caster.hidden_share(scenario, item.name) == 0.0
    assert caster.hidden_share(aside, item.name) > 0.5


def test_a_layout_that_changes_is_seen_to_change(caster, cell, catalogue):
    """The last view is remembered by what it showed, not by the caster's mood."""
    here = _laid(cell, catalogue, _item(cell, catalogue, "hex_nut_m6_00", 0.0, 0.0))
    there = _laid(cell, catalogue, _item(cell, catalogue, "hex_nut_m6_00", 0.4, 0.0))
    seen = [caster.visible_pixels(scene, "hex_nut_m6_00") for scene in (here, there, here)]
    assert seen[0] == seen[2] > 0 == seen[1]
    fresh = MaskCaster(cell, catalogue)
    assert fresh.visible_pixels(here, "hex_nut_m6_00") == seen[0]


def test_cameras_and_items_that_are_not_there(caster, cell, catalogue):
    scenario = _laid(cell, catalogue, _item(cell, catalogue, "hex_nut_m6_00", 0.0, 0.0))
    with pytest.raises(UnknownName, match="unknown camera 'top' - accepted: overhead, wrist"):
        caster.instance_mask(scenario, "top")
    for name in ("hex_nut_m6_01", "feed"):
        with pytest.raises(UnknownName, match=f"unknown item '{name}'"):
            caster.hidden_share(scenario, name)


def test_containers_have_a_floor_and_four_walls(cell):
    boxes = container_boxes(cell.feed)
    assert boxes.shape == (5, 2, 3)
    assert (boxes[:, 1] > boxes[:, 0]).all()
    volume = np.prod(boxes[:, 1] - boxes[:, 0], axis=1)
    x, y, t, h = *cell.feed.size_m, cell.feed.wall_thickness_m, cell.feed.wall_height_m
    outer, inner = (x + 2 * t) * (y + 2 * t), x * y
    assert volume.sum() == pytest.approx(outer * cell.feed.floor_thickness_m + (outer - inner) * h)


def test_the_table_ends_at_its_edge(caster, cell, catalogue):
    scenario = _laid(cell, catalogue, _item(cell, catalogue, "hex_nut_m6_00", 0.0, 0.0))
    camera = scenario.cameras.cameras[0]
    edge = (cell.table.pose_top_to_world.position_m[0] + cell.table.size_m[0] / 2, 0.0)
    over = camera.model_copy(update={"pose_to_world": Pose.of((*edge, 1.0))})
    aside = scenario.varied(cameras=scenario.cameras.model_copy(update={"cameras": (over,)}))
    mask, names = caster.instance_mask(aside, "overhead")
    assert (mask[:, :111] == names.index("table")).all()
    assert (mask[:, 113:] == NOTHING).all()
