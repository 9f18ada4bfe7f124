"""Records of single scenes become one of a batch, and nothing in them changes on the way."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from scenegen.base import sample_base
from scenegen.geometry import Pose
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.gbuffer import NOTHING
from scenegen.imaging.renderer import Renderer
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.scene_surfaces import scene_surfaces
from scenegen.imaging.shading import shade
from scenegen.imaging.stacked import filled, moved, renumbered, stacked
from scenegen.nominal import nominal_fixtures
from scenegen.scenario import Lights, RectLight, ShadowCaster
from scenegen.streams import stream


@pytest.fixture(scope="module")
def names(cell):
    return (*cell.slots, *(fixture.name for fixture in nominal_fixtures(cell)), "table")


@pytest.fixture(scope="module")
def gbuffers(cell, catalogue, base_scenario):
    caster = GBufferCaster.of(cell, catalogue)
    other = sample_base(cell, catalogue, rng=stream("tests", "stacked"))
    return [caster.cast(scene, "wrist") for scene in (base_scenario, other)]


def test_renumbered_pixels_keep_their_names(gbuffers, names):
    for gbuffer in gbuffers:
        found = renumbered(gbuffer, names)
        before = np.array([*gbuffer.names, "nothing"])[gbuffer.instance]
        assert (np.array([*names, "nothing"])[found.instance] == before).all()
        assert (gbuffer.instance == NOTHING).sum() == (found.instance == NOTHING).sum()
        for index, name in enumerate(gbuffer.names):
            assert found.alone[0, names.index(name)] == gbuffer.alone[0, index]


def test_a_name_that_the_batch_lacks_is_told(gbuffers):
    with pytest.raises(ValueError, match=r"^instance 'table' is not among the names of the batch$"):
        renumbered(gbuffers[0], gbuffers[0].names[:-1])


def test_rows_of_a_batch_are_those_of_its_scenes(gbuffers, names):
    apart = [renumbered(gbuffer, names) for gbuffer in gbuffers]
    both = stacked(apart)
    for row, one in enumerate(apart):
        assert (both.instance[row] == one.instance[0]).all()
        assert all((mine[row] == theirs[0]).all() for mine, theirs in zip(both.position, one.position, strict=True))
        assert (both.eye[2][row] == one.eye[2][0]).all()
    assert both.names == names


def test_records_that_differ_in_more_than_arrays_are_refused(gbuffers, names):
    one = renumbered(gbuffers[0], names)
    with pytest.raises(ValueError, match=r"^a batch of records that differ: 224 and 112 - accepted: equal ones$"):
        stacked([one, replace(one, height_px=112)])
    with pytest.raises(ValueError, match=r"^a batch of records that differ: an array and None - accepted: equal ones$"):
        stacked([one, replace(one, self_open=None)])


def test_moved_records_hold_the_same_numbers(gbuffers):
    found = moved(gbuffers[0], torch.from_numpy)
    assert found.names == gbuffers[0].names
    assert (found.normal[1].numpy() == gbuffers[0].normal[1]).all()


def test_lights_and_cards_that_are_filled_in_change_nothing(cell, catalogue, base_scenario):
    """A scene with the cell's lights and one with a lamp more and a card, shaded with the light sets of a batch."""
    lamp = RectLight(
        name="spot", luminance_nit=5000, size_m=(0.1, 0.1), pose_to_world=Pose.of((0.5, -0.1, 0.9), (0, 0, 0, 1))
    )
    card = ShadowCaster(name="card", size_m=(0.1, 0.1), pose_to_world=Pose.of((0.5, 0.1, 0.6)))
    bright = base_scenario.varied(lights=Lights(lights=(*base_scenario.lights.lights, lamp), shadow_casters=(card,)))
    plain, more = (scene_lights(scene) for scene in (base_scenario, bright))
    wider, same = filled([plain, more])
    assert (len(wider.areas), len(wider.cards)) == (len(same.areas), len(same.cards)) == (3, 1)
    assert wider.names == same.names == more.names
    gbuffer = Renderer(cell, catalogue).gbuffer(base_scenario, "overhead")
    surfaces = scene_surfaces(base_scenario, gbuffer.names)
    for mine, theirs in zip(*(shade(gbuffer, surfaces, one, xp=np) for one in (wider, plain)), strict=True):
        assert (mine == theirs).all()
    assert stacked(filled([plain, more])).areas[2].radiance[0].ravel().tolist() == [
        0.0,
        more.areas[2].radiance[0][0, 0],
    ]
