"""A row holds what loading a scene would write."""

import numpy as np
import pytest

from scenegen.errors import UnknownName
from scenegen.nominal import nominal_matter
from scenegen.physics.model import SceneModel
from scenegen.physics.settle_rows import FIXTURE_NUMBERS, SLOT_NUMBERS, SettleRows


@pytest.fixture
def rows(block_cell, block_parts):
    return SettleRows(block_cell, block_parts)


def test_a_row_is_what_loading_writes(block_cell, block_parts, rows, scene):
    layout = scene(block_00=(0, 0, 0.02), block_04=(0.03, 0, 0.02))
    matter = nominal_matter(layout, block_parts)
    heavy = matter.replaced(items=tuple(one.replaced(mass_kg=0.3, friction=0.8) for one in matter.items))
    loaded = SceneModel(block_cell, block_parts, sleep=False)
    loaded.load(layout, heavy)
    row = rows.of(layout, heavy)
    assert row.shape == (rows.width,)
    slots = row[: SLOT_NUMBERS * 6].reshape(6, SLOT_NUMBERS)
    present = slots[:, 21] == 1
    assert present.tolist() == [True, False, False, False, True, False]
    model, body = loaded.model, rows.slot_bodies
    qpos = loaded.data.qpos.reshape(-1, 7).copy()
    qpos[:, :3] -= rows.origin_m
    for columns, wanted in (
        (slots[:, :7], qpos),
        (slots[:, 7], model.body_mass[body]),
        (slots[:, 8:11], model.body_inertia[body]),
        (slots[:, 11:14], model.body_ipos[body]),
        (slots[:, 14:18], model.body_iquat[body]),
        (slots[:, 18:20], model.body_invweight0[body]),
        (slots[:, 20], model.geom_friction[model.body_geomadr[body], 0]),
    ):
        np.testing.assert_allclose(columns, wanted, atol=1e-15)
    fixtures = row[SLOT_NUMBERS * 6 : -1].reshape(-1, FIXTURE_NUMBERS)
    np.testing.assert_allclose(fixtures[:, :3], model.body_pos[rows.fixture_bodies] - rows.origin_m)
    np.testing.assert_allclose(fixtures[:, 3:], model.body_quat[rows.fixture_bodies])
    assert row[-1] == model.stat.meaninertia


def test_what_was_written_before_leaves_no_trace(block_cell, block_parts, rows, scene):
    layout = scene(block_01=(0, 0, 0.02))
    matter = nominal_matter(layout, block_parts)
    first = rows.of(layout, matter)
    rows.of(layout, matter.replaced(items=(matter.items[0].replaced(mass_kg=2.0),)))
    np.testing.assert_array_equal(rows.of(layout, matter), first)


def test_nothing_sleeps_in_the_model(rows):
    assert (rows.model.tree_sleep_policy == 1).all()
    assert rows.floors.sum() == 1 + len(rows.fixture_bodies)


def test_a_scene_of_another_cell_is_refused(rows, scene):
    layout = scene(washer_00=(0, 0, 0.02))
    with pytest.raises(UnknownName, match="unknown slot 'washer_00'"):
        rows.of(layout, nominal_matter(layout.replaced(items=()), rows))
