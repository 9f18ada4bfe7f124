"""Scenarios as rows: present parts where they lie, absent ones parked, fixtures where they stand, tables shaking."""

import numpy as np
import pytest

from evaluator.isaac.prims import fixed_boxes, parking_pose
from evaluator.isaac.scene_rows import RowMaker
from scenegen.base import sample_base
from scenegen.errors import InvalidOption
from scenegen.geometry import Pose
from scenegen.streams import stream


@pytest.fixture(scope="module")
def maker(cell, catalogue):
    return RowMaker(cell, catalogue)


@pytest.fixture(scope="module")
def scenes(cell, catalogue):
    return [sample_base(cell, catalogue, rng=stream("rows", index)) for index in range(3)]


def test_rows_are_those_of_each_scenario_alone(maker, scenes):
    together = maker.rows(scenes)
    for row, scene in enumerate(scenes):
        alone = maker.rows([scene])
        for name in ("poses", "absent", "matter", "boxes", "joints", "shaking"):
            assert getattr(together, name)[row].tobytes() == getattr(alone, name)[0].tobytes()


def test_parts_lie_where_they_lie_and_absent_ones_float_apart(maker, scenes, cell):
    rows, present = maker.rows(scenes[:1]), {item.name: item for item in scenes[0].layout.items}
    assert 0 < rows.absent.sum() < len(cell.slots)
    for index, slot in enumerate(cell.slots):
        pose = present[slot].pose_to_world if slot in present else parking_pose(index)
        assert rows.absent[0, index] == (slot not in present)
        assert rows.poses[0, index] == pytest.approx([*pose.position_m, *pose.quat_xyzw])


def test_inertia_is_that_of_the_principal_axes(maker, scenes):
    rows = maker.rows(scenes[:1])
    assert np.linalg.eigvalsh(rows.inertia[0]) == pytest.approx(np.sort(rows.moments[0], axis=1), rel=1e-9)


def test_boxes_stand_with_their_fixture(maker, scenes, cell):
    scene = scenes[0]
    shift = Pose.of((0.01, -0.02, 0.0))
    moved = [one.replaced(pose_to_world=shift.after(one.pose_to_world)) for one in scene.layout.fixtures]
    rows = maker.rows([scene, scene.varied(layout=scene.layout.replaced(fixtures=tuple(moved)))])
    assert rows.boxes.shape == (2, len(fixed_boxes(cell)), 7)
    assert rows.boxes[1, :, :3] - rows.boxes[0, :, :3] == pytest.approx(
        np.tile(shift.position, (rows.boxes.shape[1], 1))
    )


def test_shaking_is_told_by_angular_frequency_and_unit_direction(maker, scenes):
    motion = scenes[0].motion.replaced(
        vibration_amplitude_m=0.001, vibration_frequency_hz=10.0, vibration_direction=(0.0, 3.0, 4.0)
    )
    found = maker.rows([scenes[0].varied(motion=motion)]).shaking[0]
    assert found == pytest.approx([0.001, 20 * np.pi, 0.0, 0.6, 0.8])


def test_empty_worlds_hold_no_part(maker, cell):
    rows = maker.empty(2)
    assert rows.absent.all()
    assert rows.joints == pytest.approx(np.tile(cell.robot.start_joints_rad, (2, 1)))


def test_a_moving_belt_is_refused(maker, scenes):
    moving = scenes[0].varied(motion=scenes[0].motion.replaced(belt_speed_m_s=0.1))
    with pytest.raises(InvalidOption) as caught:
        maker.rows([moving])
    accepted = "0: a belt that stands still, since moving belts are not simulated"
    assert str(caught.value) == f"belt_speed_m_s 0.1 - accepted: {accepted}"
