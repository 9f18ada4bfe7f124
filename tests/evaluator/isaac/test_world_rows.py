"""Lights, surfaces and sensors of many worlds are those of each world's own scenario, whatever was there before."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra isaac")

from evaluator.isaac.world_looks import WorldLooks  # noqa: E402
from evaluator.isaac.world_sensors import WorldSensors  # noqa: E402
from scenegen.base import sample_base  # noqa: E402
from scenegen.geometry import Pose  # noqa: E402
from scenegen.imaging.coat_set import layered_surfaces  # noqa: E402
from scenegen.imaging.exposure import nominal_gain  # noqa: E402
from scenegen.imaging.noise import noise_seed  # noqa: E402
from scenegen.imaging.photo import expose, expose_with  # noqa: E402
from scenegen.imaging.scene_lights import scene_lights  # noqa: E402
from scenegen.nominal import nominal_fixtures  # noqa: E402
from scenegen.scenario import CameraSensor, Lights, Sensor, ShadowCaster, SphereLight  # noqa: E402
from scenegen.streams import stream  # noqa: E402

SIZE_PX = (12, 16)
FAULTS = {"exposure_ev": -0.7, "blur_px": 0.6, "veil_share": 0.2, "vignetting": 0.4, "motion_px": 2.0, "snr_db": 30.0}


@pytest.fixture(scope="module")
def scenes(cell, catalogue):
    return [sample_base(cell, catalogue, rng=stream("world-rows", index)) for index in range(3)]


@pytest.fixture(scope="module")
def names(cell):
    return (*cell.slots, *(fixture.name for fixture in nominal_fixtures(cell)), "table", "robot")


def lit(scene):
    lamp = SphereLight(name="lamp", luminance_nit=5000, position_m=(0.5, 0.1, 0.6), radius_m=0.02)
    card = ShadowCaster(name="card", size_m=(0.1, 0.2), pose_to_world=Pose.of((0.5, 0.0, 0.5)))
    return scene.varied(lights=Lights(lights=(*scene.lights.lights, lamp), shadow_casters=(card,)))


def test_lights_are_each_worlds_own_and_the_others_dark(names, scenes):
    looks = WorldLooks(names, 3, device="cpu")
    looks.put({0: scenes[0], 1: scenes[1]})
    looks.put({2: lit(scenes[2])})
    found = looks.lights([0, 2], torch.tensor([0, 2]))
    plain, rich = scene_lights(scenes[0]), scene_lights(lit(scenes[2]))
    assert len(found.areas) == len(rich.areas) == len(plain.areas) + 1
    assert len(found.cards) == 1
    for row, wanted in ((0, plain), (1, rich)):
        for ours, theirs in zip(found.areas, wanted.areas, strict=False):
            assert ours.center[1][row].item() == pytest.approx(theirs.center[1].item())
            assert ours.radiance[2][row].item() == pytest.approx(theirs.radiance[2].item())
        assert found.ambient.wall[0][row].item() == pytest.approx(wanted.ambient.wall[0].item())
    assert [float(one[0]) for one in found.areas[-1].radiance] == [0.0] * 3
    assert len(looks.lights([0, 1], torch.tensor([0, 1])).areas) == len(plain.areas)


def test_surfaces_are_those_that_were_written_last(names, scenes):
    looks = WorldLooks(names, 2, device="cpu")
    looks.put({0: scenes[0], 1: scenes[1]})
    looks.put({1: scenes[2]})
    surfaces, _ = looks.surfaces(torch.tensor([1, 0, 1]))
    for row, scene in enumerate((scenes[2], scenes[0], scenes[2])):
        wanted = layered_surfaces(scene, names)
        assert surfaces.metallic[row].numpy() == pytest.approx(wanted.metallic[0])
        assert surfaces.color[0][row].numpy() == pytest.approx(wanted.color[0][0])


def test_sensors_expose_as_each_scenarios_own_does(cell, scenes):
    faulty = scenes[1].varied(sensor=Sensor(sensors=(CameraSensor(camera="overhead", **FAULTS),)))
    plain, gain = scenes[0], nominal_gain(cell)
    sensors = WorldSensors("overhead", SIZE_PX, 2, nominal=gain, device="cpu")
    sensors.put({0: plain, 1: faulty})
    light = tuple(torch.as_tensor(stream("light", c).uniform(0, 500, (2, *SIZE_PX)).astype(np.float32)) for c in "rgb")
    found = expose_with(light, sensors.take([0, 1], torch.tensor([0, 1])), xp=torch)
    chosen = [next(s for s in scene.sensor.sensors if s.camera == "overhead") for scene in (plain, faulty)]
    wanted = expose(light, chosen, nominal=gain, xp=torch)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.numpy() == pytest.approx(theirs.numpy(), rel=1e-5)
    assert sensors.take([0], torch.tensor([0])).blurs == ()


def test_noise_is_the_scenarios_and_new_in_each_frame(cell, scenes):
    sensors = WorldSensors("overhead", SIZE_PX, 2, nominal=nominal_gain(cell), device="cpu")
    sensors.put({0: scenes[0], 1: scenes[1]})
    rows = torch.tensor([1, 0])
    first, second = sensors.words(rows), sensors.words(rows)
    assert [int(word[0, 0]) for word in first] == list(noise_seed(scenes[1].id, "overhead"))
    assert not torch.equal(first[0], second[0])
    sensors.put({0: scenes[0]})
    third = sensors.words(rows)
    assert torch.equal(third[0][1], first[0][1])
    assert not torch.equal(third[0][0], first[0][0])
