"""Shadow maps that are drawn for many worlds at once are those that rays find for one."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.base import sample_base
from scenegen.geometry import look_at
from scenegen.imaging.blockers import blockers_of, placed
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.micropolygons import EDGE_M, finely_cut, fixture_trays, micropolygons
from scenegen.imaging.raster_map import raster_shadow_map
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.shadow_map import cast_shadow_map, lit_share
from scenegen.imaging.shadow_view import STRIDE_PX
from scenegen.imaging.stacked import moved, stacked
from scenegen.imaging.view import Viewer
from scenegen.parts.part import Mesh
from scenegen.scenario import Lights, RectLight
from scenegen.streams import stream

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def viewer(cell, catalogue):
    return Viewer(cell, catalogue)


@pytest.fixture(scope="module")
def polygons(cell, catalogue):
    return micropolygons(catalogue, list(catalogue))


@pytest.fixture(scope="module")
def scenes(cell, catalogue):
    return [sample_base(cell, catalogue, rng=stream("tests", "raster", index)) for index in range(3)]


def _light(scene, index=0):
    return scene_lights(scene).areas[index]


def _receivers(gbuffer):
    spots = np.stack([gbuffer.plane(one)[0, ::STRIDE_PX, ::STRIDE_PX] for one in gbuffer.position], axis=-1)
    return spots[gbuffer.plane(gbuffer.instance)[0, ::STRIDE_PX, ::STRIDE_PX] >= 0].astype(float)


def _placed(poses):
    position = np.array([[pose.position for pose in poses]], np.float32)
    return placed(position.reshape(1, -1, 3), np.array([[pose.quat for pose in poses]], np.float32).reshape(1, -1, 4))


def _bodies(scene):
    return _placed([item.pose_to_world for item in scene.layout.items])


def _drawn(cell, catalogue, polygons, scene, light, gbuffer):
    """The map of one scene, whose items are all there."""
    parts = list(catalogue)
    bodies = np.array([parts.index(item.part) for item in scene.layout.items], np.int64)
    present = np.ones((1, len(bodies)), bool)
    blockers = blockers_of(polygons, fixture_trays(cell), bodies, present, like=gbuffer.depth, xp=np)
    fixtures = _placed([fixture.pose_to_world for fixture in scene.layout.fixtures])
    return raster_shadow_map(blockers, _bodies(scene), fixtures, light, gbuffer, xp=np)


@pytest.mark.parametrize("camera", ["overhead", "wrist"])
@pytest.mark.parametrize("light", [0, 1], ids=["key", "hall"])
def test_drawn_maps_shade_what_cast_ones_shade(cell, catalogue, viewer, polygons, scenes, camera, light):
    for scene in scenes[:2]:
        gbuffer = GBufferCaster(viewer, cell).cast(scene, camera)
        drawn = _drawn(cell, catalogue, polygons, scene, _light(scene, light), gbuffer)
        cast = cast_shadow_map(viewer, scene.layout, _light(scene, light), _receivers(gbuffer))
        mine, theirs = (lit_share(one, gbuffer.position, gbuffer.normal, xp=np) for one in (drawn, cast))
        assert (theirs < 0.9).mean() > 0.01
        assert (np.abs(mine - theirs) > 0.1).mean() < 1e-3
        assert np.abs(mine - theirs).mean() < 1e-3


@settings(max_examples=15)
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.2, 1.5))
def test_fixtures_are_drawn_as_rays_meet_them(cell, catalogue, viewer, polygons, base_scenario, x, y, z):
    """From all sides, from low and from high: the same depth at every pixel, but for rays that graze an edge."""
    middle = cell.feed.pose_to_world.position
    pose = look_at(middle + np.array([x, y, z]), middle)
    lamp = RectLight(name="key", luminance_nit=1000, size_m=(0.1, 0.1), pose_to_world=pose)
    empty = base_scenario.varied(layout=base_scenario.layout.replaced(items=()), lights=Lights(lights=(lamp,)))
    gbuffer = GBufferCaster(viewer, cell).cast(empty, "overhead")
    drawn = _drawn(cell, catalogue, polygons, empty, _light(empty), gbuffer)
    cast = cast_shadow_map(viewer, empty.layout, _light(empty), _receivers(gbuffer))
    assert drawn.focal_px[0, 0] == pytest.approx(cast.focal_px[0, 0], rel=1e-3)
    apart = np.abs(drawn.inverse_depth - cast.inverse_depth) > 1e-3 * cast.inverse_depth.max()
    assert apart.mean() < 0.01


def test_absent_items_cast_no_shadow_and_items_before_the_light_widen_the_map(
    cell, catalogue, viewer, polygons, base_scenario
):
    gbuffer = GBufferCaster(viewer, cell).cast(base_scenario, "overhead")
    light, parts = _light(base_scenario), list(catalogue)
    fixtures = _placed([fixture.pose_to_world for fixture in base_scenario.layout.fixtures])
    center = np.concatenate(light.center).ravel()
    middle = cell.feed.pose_to_world.position
    near = placed(
        (middle + 0.8 * (center - middle))[None, None].astype(np.float32), np.eye(4, dtype=np.float32)[None, 3:]
    )
    views = []
    for present in (False, True):
        blockers = blockers_of(
            polygons,
            fixture_trays(cell),
            np.array([parts.index("hex_nut_m8")]),
            np.array([[present]]),
            like=gbuffer.depth,
            xp=np,
        )
        views.append(raster_shadow_map(blockers, near, fixtures, light, gbuffer, xp=np))
    without, with_nut = views
    distance = 0.2 * np.linalg.norm(center - middle)
    assert with_nut.focal_px[0, 0] < 0.5 * without.focal_px[0, 0]
    assert with_nut.focal_px[0, 0] * EDGE_M <= distance
    # The nut is drawn without holes: as large as its outline, which rays find.
    layout = base_scenario.layout.replaced(items=())
    assert without.inverse_depth.max() == pytest.approx(
        cast_shadow_map(viewer, layout, light, _receivers(gbuffer)).inverse_depth.max(), rel=1e-3
    )
    seen = (with_nut.inverse_depth > 0.5 / distance).reshape(with_nut.size_px, -1)
    rows, columns = np.nonzero(seen)
    filled = seen[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1].mean()
    assert len(rows) > 50
    assert 0.5 < filled < 0.9


def test_torch_draws_the_same_maps_for_a_batch(cell, catalogue, viewer, polygons, scenes):
    scenes = [scene.varied(layout=scene.layout.replaced(items=scene.layout.items[:6])) for scene in scenes]
    parts, count = list(catalogue), 6
    gbuffers = [GBufferCaster(viewer, cell).cast(scene, "overhead") for scene in scenes]
    gbuffer = stacked([replace(one, names=()) for one in gbuffers])
    light = stacked([_light(scene) for scene in scenes])
    items = stacked([_bodies(scene) for scene in scenes])
    fixtures = stacked([_placed([f.pose_to_world for f in scene.layout.fixtures]) for scene in scenes])
    bodies = np.array([parts.index(item.part) for item in scenes[0].layout.items])
    present = np.array([[True] * count, [True, False] * 3, [False] * count])
    batch = [polygons, fixture_trays(cell), items, fixtures, light, gbuffer]

    def drawn(xp, convert):
        triangles, trays, there, fixed, lamp, seen = (moved(one, convert) for one in batch)
        blockers = blockers_of(triangles, trays, bodies, present, like=seen.depth, xp=xp)
        return raster_shadow_map(blockers, there, fixed, lamp, seen, xp=xp)

    mine, theirs = drawn(np, np.asarray), drawn(torch, torch.from_numpy)
    again = drawn(torch, torch.from_numpy)
    assert theirs.inverse_depth.dtype == torch.float32
    assert torch.equal(theirs.inverse_depth, again.inverse_depth)
    apart = np.abs(theirs.inverse_depth.numpy() - mine.inverse_depth) > 1e-5 * mine.inverse_depth.max()
    assert apart.mean() < 1e-4
    assert (mine.inverse_depth[0] > 0).sum() >= (mine.inverse_depth[2] > 0).sum() > 0


@pytest.mark.parametrize("edge_m", [0.8e-3, 2e-3])
def test_cutting_keeps_the_surface_and_leaves_no_long_edge(catalogue, edge_m):
    for part in ("hex_nut_m8", "hex_bolt_m6x20", "dowel_pin_6x20"):
        mesh = catalogue[part].mesh
        cut = finely_cut(mesh, edge_m)
        edges = np.linalg.norm(np.roll(cut, -1, axis=1) - cut, axis=2)
        assert edges.max() <= edge_m * (1 + 1e-9)
        assert _area(cut) == pytest.approx(_area(mesh.vertices[mesh.faces]), rel=1e-4)


def test_open_meshes_are_cut_as_well():
    corners = np.array([[0.0, 0.0, 0.0], [0.01, 0.0, 0.0], [0.0, 0.005, 0.0]])
    sheet = Mesh(corners, np.array([[0, 1, 2]], np.int32), np.zeros((1, 3, 3)))
    cut = finely_cut(sheet, 1e-3)
    assert np.linalg.norm(np.roll(cut, -1, axis=1) - cut, axis=2).max() <= 1e-3
    assert _area(cut) == pytest.approx(0.5 * 0.01 * 0.005)


def _area(triangles):
    a, b, c = np.moveaxis(triangles, 1, 0)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
