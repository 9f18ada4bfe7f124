"""Many worlds at once give what scenes give one by one, eager and compiled, on every device."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from scenegen.base import sample_base
from scenegen.geometry import Pose
from scenegen.imaging.batch import Batch, BatchCamera, compiled
from scenegen.imaging.blockers import blockers_of, placed
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.exposure import nominal_gain
from scenegen.imaging.feed_region import FeedRegion
from scenegen.imaging.micropolygons import fixture_trays, micropolygons
from scenegen.imaging.noise import noise_seed, seed_words
from scenegen.imaging.photo import photo, sensor_set
from scenegen.imaging.render import enlarged
from scenegen.imaging.renderer import Renderer
from scenegen.imaging.scene_lights import scene_lights
from scenegen.imaging.scene_surfaces import scene_surfaces
from scenegen.imaging.stacked import filled, moved, renumbered, stacked
from scenegen.nominal import nominal_fixtures
from scenegen.scenario import Cameras, CameraSensor, Lights, RectLight, ShadowCaster
from scenegen.streams import stream

torch.set_num_threads(1)

SIZE_PX = 128
RELATIVE, STRAY = 2e-3, 2e-3
"""How far pixels may be apart, as a share of their brightness, and how many may be farther: those at which a tap of a
shadow falls on the other side of a pixel's edge."""
SENSORS = (
    CameraSensor(camera="overhead"),
    CameraSensor(camera="overhead", exposure_ev=0.5, blur_px=0.8, veil_share=0.05, vignetting=0.3),
    CameraSensor(camera="overhead", exposure_ev=-1.0, white_balance_k=5000.0, snr_db=30.0, motion_px=2.0),
)


TORCH_WARNS = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
"""The compiler calls what torch itself has deprecated."""


class Worlds:
    """Three scenes of the `fasteners` cell: the cell's own lights, a lamp more, and a card."""

    def __init__(self, cell, catalogue):
        self.cell, self.catalogue = cell, catalogue
        scenes = [sample_base(cell, catalogue, rng=stream("tests", "batch", index)) for index in range(3)]
        scenes = [
            scene.varied(cameras=Cameras(cameras=(enlarged(scene.cameras.cameras[0], SIZE_PX / 224),)))
            for scene in scenes
        ]
        own = scenes[0].lights.lights
        lamp = RectLight(
            name="lamp", luminance_nit=8000, size_m=(0.2, 0.05), pose_to_world=Pose.of((0.45, 0.1, 0.9), (0, 0, 0, 1))
        )
        card = ShadowCaster(name="card", size_m=(0.12, 0.1), pose_to_world=Pose.of((0.5, 0.1, 0.6)))
        self.scenes = [
            scenes[0],
            scenes[1].varied(lights=Lights(lights=(*own, lamp))),
            scenes[2].varied(lights=Lights(lights=own, shadow_casters=(card,))),
        ]
        self.words = [noise_seed(scene.id, "overhead") for scene in self.scenes]

    def photographed(self, xp, *, device="cpu", fuse=None):
        """Radiance, shape [3, b, h, w], and photos of the batch."""
        convert = np.asarray if xp is np else lambda one: torch.asarray(one, device=device)
        gbuffer, surfaces, lights, items, fixtures, polygons, trays = (moved(one, convert) for one in self._records())
        camera = BatchCamera(xp=xp, fuse=fuse)
        slots = list(self.cell.slots)
        parts = list(dict.fromkeys(item.part for item in self.cell.inventory))
        bodies = np.array([parts.index(self.cell.slots[slot].part) for slot in slots])
        present = np.array([[slot in {i.name for i in s.layout.items} for slot in slots] for s in self.scenes])
        blockers = blockers_of(polygons, trays, bodies, present, like=gbuffer.depth, xp=xp)
        shadows = tuple(camera.shadow_map(blockers, items, fixtures, light, gbuffer) for light in lights.areas)
        batch = Batch(gbuffer, surfaces, lights, shadows, camera.open_shares(gbuffer))
        radiance = camera.radiance(batch)
        sensors = sensor_set(SENSORS, nominal=nominal_gain(self.cell), like=radiance[0], xp=xp)
        words = seed_words(self.words, like=radiance[0], xp=xp)
        return tuple(
            one if xp is np else one.cpu().numpy() for one in (xp.stack(radiance), camera.photos(batch, sensors, words))
        )

    def _records(self):
        caster = GBufferCaster.of(self.cell, self.catalogue)
        names = (*self.cell.slots, *(fixture.name for fixture in nominal_fixtures(self.cell)), "table")
        parts = list(dict.fromkeys(item.part for item in self.cell.inventory))
        there = [{item.name: item.pose_to_world for item in scene.layout.items} for scene in self.scenes]
        parked = Pose(position_m=(0.0, 0.0, -5.0))
        return (
            stacked([renumbered(caster.cast(scene, "overhead"), names) for scene in self.scenes]),
            stacked([scene_surfaces(scene, names) for scene in self.scenes]),
            stacked(filled([scene_lights(scene) for scene in self.scenes])),
            _placed([[one.get(slot, parked) for slot in self.cell.slots] for one in there]),
            _placed([[fixture.pose_to_world for fixture in scene.layout.fixtures] for scene in self.scenes]),
            micropolygons(self.catalogue, parts),
            fixture_trays(self.cell),
        )


def _placed(rows):
    positions = np.array([[pose.position for pose in row] for row in rows], np.float32)
    return placed(positions, np.array([[pose.quat for pose in row] for row in rows], np.float32))


@pytest.fixture(scope="module")
def worlds(cell, catalogue):
    return Worlds(cell, catalogue)


@pytest.fixture(scope="module")
def eager(worlds):
    return worlds.photographed(torch)


def _alike(found, expected):
    """Compare radiance and photos: all but a few pixels within rounding."""
    (light, photos), (true_light, true_photos) = found, expected
    apart = np.abs(light - true_light) > RELATIVE * true_light + 1e-3
    assert apart.any(axis=0).mean() < STRAY
    assert light.mean() == pytest.approx(true_light.mean(), rel=1e-4)
    assert photos.dtype == np.uint8
    assert (np.abs(photos.astype(int) - true_photos) > 1).any(axis=-1).mean() < STRAY


def test_a_batch_gives_what_its_scenes_give_one_by_one(monkeypatch, worlds, eager):
    """One by one, with shadow maps that rays have cast and that span the view, as those of a batch do."""
    monkeypatch.setattr(FeedRegion, "holds", lambda _, position: np.zeros(position[0].shape, bool))
    renderer = Renderer(worlds.cell, worlds.catalogue)
    light = np.stack([renderer.radiance(scene, "overhead") for scene in worlds.scenes])
    photos = [
        photo(tuple(np.moveaxis(one, -1, 0)), sensor, nominal=nominal_gain(worlds.cell), scenario_id=s.id, xp=np)
        for one, sensor, s in zip(light, SENSORS, worlds.scenes, strict=True)
    ]
    _alike(eager, (np.moveaxis(light, -1, 0), np.stack(photos)))


def test_numpy_and_torch_give_the_same_batch(worlds, eager):
    _alike(eager, worlds.photographed(np))


def test_steps_are_captured_whole_and_in_32_bits(worlds, eager):
    """Nothing in a step makes torch leave its graph, and no step widens its numbers."""
    graphs = []

    def capture(graph, inputs):
        graphs.append(graph)
        return graph

    fuse = lambda step, *, varying=False: torch.compile(step, fullgraph=True, backend=capture)  # noqa: E731
    found = worlds.photographed(torch, fuse=fuse)
    assert all((mine == theirs).all() for mine, theirs in zip(found, eager, strict=True))
    kinds = {
        value.dtype
        for graph in graphs
        for node in graph.graph.nodes
        if isinstance(value := node.meta.get("example_value"), torch.Tensor)
    }
    assert torch.float32 in kinds
    assert torch.float64 not in kinds
    # Openness, map, surroundings, light, exposure, development; three lights take the same step.
    assert len(graphs) == 6


@pytest.mark.slow
@TORCH_WARNS
def test_compiled_steps_give_the_same_batch(worlds, eager):
    _alike(worlds.photographed(torch, fuse=compiled(torch)), eager)


@pytest.mark.gpu
@TORCH_WARNS
def test_a_gpu_gives_the_same_batch(worlds, eager):
    first = worlds.photographed(torch, device="cuda", fuse=compiled(torch))
    again = worlds.photographed(torch, device="cuda", fuse=compiled(torch))
    _alike(first, eager)
    assert all((mine == theirs).all() for mine, theirs in zip(first, again, strict=True))


def test_photographing_loads_neither_ray_caster_nor_simulator():
    """Rollouts run where only numpy, pydantic and torch are installed."""
    code = (
        "import sys, scenegen.imaging.batch, scenegen.imaging.stacked\n"
        "heavy = {'embreex', 'manifold3d', 'mujoco', 'networkx', 'pxr', 'scipy', 'shapely', 'trimesh', 'yaml'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
