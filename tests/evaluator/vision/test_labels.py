"""Labels: each free part has a grasp where the picture shows it, holes belong to parts, mirrors mirror the labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.vision.batches import PIECE_PX, batch_of, turned
from evaluator.vision.labels import LIMITS, labels_of, regions
from evaluator.vision.net import ANGLES
from evaluator.vision.subject import Subject
from scenegen.errors import UnknownName
from scenegen.imaging.renderer import Renderer
from scenegen.posed import Posed
from validators.grasp import free_grasps


@pytest.fixture(scope="module")
def labelled(cell, catalogue, base_scenario, subject):
    gbuffer = Renderer(cell, catalogue).gbuffer(base_scenario, "overhead")
    camera = base_scenario.cameras.cameras[0]
    return labels_of(base_scenario, gbuffer, camera, cell=cell, parts=catalogue, subject=subject), gbuffer


def test_each_part_that_can_be_taken_has_a_grasp_on_its_own_pixels(labelled, cell, catalogue, base_scenario, subject):
    labels, _ = labelled
    items = base_scenario.layout.items
    feed = base_scenario.layout.fixtures[0].pose_to_world
    _, free = free_grasps(Posed.of(items, catalogue), LIMITS, cell.robot.gripper, cell.feed, feed)
    able = [subject.classes.index(item.part) + 1 for item, some in zip(items, free.any(axis=1), strict=True) if some]
    assert sorted(labels.part.tolist()) == sorted(able)
    for kind, (column, row) in zip(labels.part, labels.pixel, strict=True):
        around = labels.region[int(row) - 4 : int(row) + 5, int(column) - 4 : int(column) + 5]
        assert (around == kind).any()
    assert labels.angle.max(axis=1) == pytest.approx(1.0, abs=0.25)
    assert (labels.size > 0).all()
    assert (labels.size < 1).all()


def test_what_is_seen_through_a_hole_counts_to_the_part(labelled, base_scenario, subject):
    labels, gbuffer = labelled
    shown = gbuffer.plane(gbuffer.instance)[0]
    feed = gbuffer.names.index("feed")
    through = (labels.region > 0) & (shown == feed)
    nuts = [index + 1 for index, part in enumerate(subject.classes) if "nut" in part]
    assert through.sum() > 0
    assert set(np.unique(labels.region[through])) <= set(nuts)


def test_foreign_parts_are_background(labelled, base_scenario, subject):
    _, gbuffer = labelled
    others = subject.replaced(targets=subject.targets[1:])
    found = regions(base_scenario, gbuffer, others)
    here = np.isin(gbuffer.plane(gbuffer.instance)[0], _of_part(gbuffer, base_scenario, subject.classes[0]))
    assert here.any()
    assert (found[here] == 0).all()


def _of_part(gbuffer, scenario, part):
    names = {item.name for item in scenario.layout.items if item.part == part}
    return [index for index, name in enumerate(gbuffer.names) if name in names]


@given(st.integers(0, 7))
def test_turning_a_picture_turns_its_labels(pictures, turn):
    image, region, rows = pictures.images[0], pictures.regions[0], pictures.rows[0]
    _, region_t, rows_t = turned(image, region, rows, turn)
    before, after = (_maps(picture, parts, pictures.classes) for picture, parts in ((region, rows), (region_t, rows_t)))
    for kind in range(pictures.classes):
        expected = turned(image, before.spot[0, kind].numpy(), rows, turn)[1]
        np.testing.assert_allclose(after.spot[0, kind].numpy(), expected, atol=1e-5)
    again = rows_t
    for _ in range(3 if turn in (5, 6) else 1):
        again = turned(image, region, again, turn)[2]
    np.testing.assert_allclose(again, rows, atol=1e-4)


def _maps(region, rows, classes):
    image = np.zeros((1, *region.shape, 3), np.float32)
    return batch_of(image, region[None], rows[None], classes=classes)


def test_a_mirror_reverses_angles():
    rows = np.zeros((1, 5 + ANGLES), np.float32)
    rows[0, 5 + 2] = 1.0
    blank = np.zeros((16, 16, 3), np.uint8), np.zeros((16, 16), np.uint8)
    for turn, place in ((0, 2), (1, ANGLES - 2), (2, ANGLES - 2), (3, 2), (4, ANGLES // 2 - 2)):
        assert turned(*blank, rows, turn)[2][0, 5:].argmax() == place


def test_pieces_show_what_their_labels_say(pictures):
    batch = pictures.draw(16, rng=np.random.default_rng(0))
    assert batch.images.shape == (16, PIECE_PX, PIECE_PX, 3)
    image, row, column = batch.near
    assert len(image) > 0
    there = batch.region[image, (2 * row + 1), (2 * column + 1)]
    assert (there > 0).float().mean() > 0.6
    assert float(batch.spot.max()) > 0.8


def test_the_same_numbers_give_the_same_picture(maker):
    (scenario, first), (_, second) = (maker.nominal(7, 1) for _ in range(2))
    assert first.image.tobytes() == second.image.tobytes()
    assert first.labels.rows().tobytes() == second.labels.rows().tobytes()
    assert maker.nominal(7, 1, use="held out")[0].id != scenario.id


def test_a_cell_needs_an_overhead_camera(cell, catalogue):
    blind = cell.replaced(cameras=cell.cameras[1:])
    with pytest.raises(UnknownName, match="unknown world camera 'overhead'"):
        Subject.of(blind, catalogue)


def test_only_what_is_seen_asks_for_new_weights(cell, catalogue, subject):
    other = cell.replaced(limits=cell.limits.replaced(takt_s=9.0), name="other")
    assert Subject.of(other, catalogue).content_id == subject.content_id
    darker = cell.replaced(feed_look=cell.feed_look.replaced(roughness=0.9))
    assert Subject.of(darker, catalogue).content_id != subject.content_id
