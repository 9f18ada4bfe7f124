"""Peaks and where they lie: perfect maps give back the true grasps, within a pixel."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evaluator.vision.batches import batch_of
from evaluator.vision.labels import labels_of
from evaluator.vision.net import ANGLES, Maps
from evaluator.vision.peaks import NO_ROOM, directions, peaks_of
from evaluator.vision.room import MORE_PX, Fingers, missing_room
from evaluator.vision.sighting import Sighting
from scenegen.geometry import Pose
from scenegen.imaging.pinhole import pixel_rays, project
from scenegen.imaging.renderer import Renderer
from scenegen.nominal import nominal_cameras, nominal_motion


def perfect(labels, classes):
    """What a net would say that makes no error."""
    rows = labels.rows()[None]
    image = np.zeros((1, *labels.region.shape, 3), np.float32)
    batch = batch_of(image, labels.region[None], rows, classes=classes)
    spot = torch.logit(batch.spot.clamp(1e-6, 1 - 1e-6))
    shape = (1, *spot.shape[2:])
    angle, width, height = torch.full((1, ANGLES, *spot.shape[2:]), -9.0), torch.zeros(shape), torch.zeros(shape)
    image, row, column = batch.near
    angle[image, :, row, column] = torch.logit(batch.angle.clamp(1e-4, 1 - 1e-4))
    width[image, row, column], height[image, row, column] = batch.size.T
    region = torch.nn.functional.one_hot(batch.region, classes + 1).permute(0, 3, 1, 2).float()
    return Maps(region, spot, angle, width, height)


@pytest.fixture(scope="module")
def labels(cell, catalogue, base_scenario, subject):
    gbuffer = Renderer(cell, catalogue).gbuffer(base_scenario, "overhead")
    camera = base_scenario.cameras.cameras[0]
    return labels_of(base_scenario, gbuffer, camera, cell=cell, parts=catalogue, subject=subject)


@pytest.fixture(scope="module")
def sighting(cell, subject):
    return Sighting(cell, subject)


def test_perfect_maps_give_back_the_grasps(sighting, labels, subject):
    peaks = peaks_of(perfect(labels, len(subject.classes)), sighting.fingers)[0]
    assert len(peaks.part) == len(labels.part) > 5
    for row, (part, pixel) in enumerate(zip(peaks.part, peaks.pixel, strict=True)):
        away = np.linalg.norm(labels.pixel - pixel, axis=1)
        mine = int(away.argmin())
        assert away[mine] < 0.5
        assert labels.part[mine] == part
        assert peaks.height[row] == pytest.approx(labels.size[mine, 1], abs=1e-4)
        wider_px = (peaks.width[row, 0] - labels.size[mine, 0]) * sighting.fingers.opening
        assert -1e-3 <= wider_px <= 2 * 3 + 1e-3
        assert labels.angle[mine][round(peaks.angle[row, 0] / np.pi * ANGLES) % ANGLES] > 0.4


def test_grasps_lie_at_their_true_places_within_a_pixel(cell, sighting, base_scenario, labels, subject):
    seen = sighting.grasps(peaks_of(perfect(labels, len(subject.classes)), sighting.fingers)[0])
    assert set(seen.peak.tolist()) == set(range(len(labels.part)))
    shown = project(base_scenario.cameras.cameras[0], seen.middle)
    heights = labels.size[:, 1] * cell.robot.gripper.finger_depth_m + cell.feed.pose_to_world.position[2]
    for row in range(len(seen.peak)):
        mine = int(np.linalg.norm(labels.pixel - shown[row], axis=1).argmin())
        assert np.linalg.norm(labels.pixel[mine] - shown[row]) < 0.5
        assert seen.part[row] == labels.part[mine]
        assert seen.middle[row, 2] == pytest.approx(heights[mine], abs=1e-4)
        assert seen.width_m[row] >= labels.size[mine, 0] * cell.robot.gripper.opening_m - 1e-4
        assert seen.tip_m[row] <= seen.middle[row, 2]
        nearest = np.linalg.norm([item.pose_to_world.position[:2] - seen.middle[row, :2]
                                  for item in base_scenario.layout.items], axis=1).min()  # fmt: skip
        assert nearest < 0.012


@given(st.floats(0, np.pi, exclude_max=True), st.floats(0.1, 1.0))
def test_a_closing_direction_is_found_between_the_steps(angle, best):
    away = angle - np.arange(ANGLES) * np.pi / ANGLES
    away = (away + np.pi / 2) % np.pi - np.pi / 2
    closes = best * np.exp(-0.5 * (away / 0.14) ** 2)[None]
    found, fits, nearest = directions(closes, closes)
    assert abs((found[0, 0] - angle + np.pi / 2) % np.pi - np.pi / 2) < 0.01
    assert fits[0, 0] <= best + 1e-9
    assert (fits[0, 1:] <= fits[0, 0]).all()
    assert nearest[0, 0] == closes.argmax()


def test_a_direction_without_room_gives_way_to_another():
    closes = np.zeros((1, ANGLES))
    closes[0, [3, 12]] = 0.9, 0.6
    worth = closes.copy()
    worth[0, 3] *= NO_ROOM
    found, fits, nearest = directions(closes, worth)
    assert nearest[0, :2].tolist() == [12, 3]
    assert fits[0, :2] == pytest.approx([0.6, 0.9 * NO_ROOM])
    assert found[0, 0] == pytest.approx(12 * np.pi / ANGLES, abs=np.pi / ANGLES / 2)


@given(st.lists(st.tuples(st.floats(20, 200), st.floats(20, 200)), min_size=1, max_size=5))
def test_rays_through_pixels_undo_projection_even_with_distortion(cell, pixels):
    camera = _wrist(cell)
    rays = pixel_rays(camera, np.array(pixels))
    points = camera.pose_to_world.apply(0.3 * rays)
    np.testing.assert_allclose(project(camera, points), np.array(pixels), atol=1e-3)


def _wrist(cell):
    return next(one for one in nominal_cameras(cell, nominal_motion(cell)).cameras if one.name == "wrist")


def test_what_lies_beside_the_feed_is_left_out(cell, sighting, labels, subject):
    peaks = peaks_of(perfect(labels, len(subject.classes)), sighting.fingers)[0]
    there = Pose(position_m=(0.5, 0.5, 0.004))
    elsewhere = cell.replaced(feed=cell.feed.replaced(pose_to_world=there))
    assert len(Sighting(elsewhere, subject).grasps(peaks).peak) == 0


def test_an_empty_image_has_no_peaks(sighting, subject):
    spot = torch.full((2, len(subject.classes), 16, 16), -5.0)
    flat = torch.zeros((2, 16, 16))
    maps = Maps(torch.zeros((2, len(subject.classes) + 1, 32, 32)), spot, torch.zeros((2, ANGLES, 16, 16)), flat, flat)
    found = peaks_of(maps, sighting.fingers)
    assert [len(one.part) for one in found] == [0, 0]
    assert len(sighting.grasps(found[0]).peak) == 0


FINGERS = Fingers(opening=40.0, play=2.0, thickness=6.0, width=8.0)


def missing(occupied, width_px):
    """Room that is missing in the middle of a picture, by direction."""
    pixel = torch.full((1, 1, 2), occupied.shape[0] / 2)
    return missing_room(occupied[None], pixel, torch.tensor([[width_px / FINGERS.opening]]), FINGERS)[0, 0]


def test_fingers_have_room_where_nothing_lies_beside_a_part():
    picture = torch.zeros((120, 120), dtype=torch.bool)
    picture[55:65, 55:65] = True
    assert (missing(picture, 10)[0], missing(picture, 10)[ANGLES // 2]) == (0, 0)
    assert missing(picture, 4)[0] == pytest.approx(1, abs=1)
    assert missing(picture, 1)[0] == pytest.approx(3, abs=1)
    assert torch.isinf(missing(picture, 39)).sum() == 0


def test_a_neighbour_takes_the_room_along_its_direction_alone():
    picture = torch.zeros((120, 120), dtype=torch.bool)
    picture[55:65, 55:65] = True
    picture[50:70, 69:90] = True
    found = missing(picture, 10)
    assert torch.isinf(found[0])
    assert found[ANGLES // 2] == 0
    beyond = torch.zeros((120, 120), dtype=torch.bool)
    beyond[:, 60 + 5 + 2 + 6 + 2 :] = True
    assert missing(beyond, 10)[0] == 0


@given(st.integers(0, ANGLES - 1), st.integers(1, MORE_PX - 2))
def test_what_is_missing_is_what_a_part_is_wider(step, wider):
    row, column = torch.meshgrid(torch.arange(200) + 0.5 - 100, torch.arange(200) + 0.5 - 100, indexing="ij")
    angle = step * np.pi / ANGLES
    part = (column * np.cos(angle) + row * np.sin(angle)).abs() <= 10 + wider
    assert missing(part, 20 - 2 * FINGERS.play)[step] == pytest.approx(wider, abs=1.5)
