"""The camera from light to bytes: what each setting of the sensor does, and that equal arguments give equal bytes."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.imaging.exposure import MID_GREY, nominal_gain
from scenegen.imaging.lamps import planckian_color
from scenegen.imaging.noise import noise_seed
from scenegen.imaging.photo import NEUTRAL_K, develop, expose, photo, sensor_gain, srgb
from scenegen.scenario import CameraSensor

torch.set_num_threads(1)

NOMINAL = (0.01, 0.012, 0.02)
PLAIN = CameraSensor(camera="overhead")
DIRTY = CameraSensor(
    camera="wrist", exposure_ev=0.5, white_balance_k=5000.0, blur_px=1.2, snr_db=30.0, veil_share=0.1, vignetting=0.4,
    motion_px=4.0, motion_rad=0.7,
)  # fmt: skip


def _light(images=1, height=24, width=36):
    rng = np.random.default_rng(5)
    return tuple((100 * rng.random((images, height, width)) ** 2).astype(np.float32) for _ in range(3))


def _even(level, size=200):
    """Light that comes out at a level of the linear image in every colour."""
    return tuple(np.full((size, size), level / gain, np.float32) for gain in NOMINAL)


def test_nominal_sensors_only_apply_the_gain():
    light = _light()
    for gain, plane, found in zip(NOMINAL, light, expose(light, [PLAIN], nominal=NOMINAL, xp=np), strict=True):
        assert found == pytest.approx(gain * plane, rel=1e-6)


@settings(max_examples=15)
@given(st.floats(-6, 6))
def test_one_ev_more_doubles_the_image_whatever_the_lens_does(exposure):
    light = _light()
    once = expose(light, [DIRTY.replaced(exposure_ev=exposure)], nominal=NOMINAL, xp=np)
    twice = expose(light, [DIRTY.replaced(exposure_ev=exposure + 1)], nominal=NOMINAL, xp=np)
    for a, b in zip(once, twice, strict=True):
        assert b == pytest.approx(2 * a, rel=1e-4)


def test_light_of_the_balanced_temperature_turns_neutral():
    """Set to the temperature of a lamp, a camera that was balanced for `NEUTRAL_K` shows the lamp without a tint."""
    for kelvin in (3000.0, 5000.0, 9000.0):
        gain = sensor_gain(PLAIN.replaced(white_balance_k=kelvin), (1.0, 1.0, 1.0))
        lamp = np.array(planckian_color(kelvin)) / np.array(planckian_color(NEUTRAL_K))
        assert np.array(gain) * lamp == pytest.approx(1, rel=1e-6)


def test_a_higher_temperature_gives_a_warmer_picture():
    warm = sensor_gain(PLAIN.replaced(white_balance_k=9000.0), NOMINAL)
    assert warm[0] > NOMINAL[0]
    assert warm[2] < NOMINAL[2]


def test_vignetting_takes_its_share_in_the_corners_and_none_in_the_middle():
    even = tuple(np.full((1, 41, 61), 50.0) for _ in range(3))
    plane = expose(even, [PLAIN.replaced(vignetting=0.4)], nominal=(1.0, 1.0, 1.0), xp=np)[0][0]
    assert plane[20, 30] == pytest.approx(50)
    assert [plane[0, 0], plane[-1, 0], plane[0, -1], plane[-1, -1]] == pytest.approx([30] * 4)
    assert (np.diff(plane[20, 30:]) < 0).all()


def test_each_image_of_a_batch_has_its_own_sensor():
    light = _light(images=2)
    both = expose(light, [PLAIN, DIRTY], nominal=NOMINAL, xp=np)
    for index, sensor in enumerate((PLAIN, DIRTY)):
        alone = expose(tuple(plane[index : index + 1] for plane in light), [sensor], nominal=NOMINAL, xp=np)
        for mine, theirs in zip(alone, both, strict=True):
            assert theirs[index] == pytest.approx(mine[0], rel=1e-5)


def test_mid_grey_of_a_cell_comes_out_as_100(cell):
    """sRGB of 0.12728: 255 * (1.055 * 0.12728^(1/2.4) - 0.055) = 99.6."""
    gain = nominal_gain(cell)
    card = tuple(np.full((32, 32), MID_GREY / g) for g in gain)
    shot = photo(card, PLAIN.replaced(snr_db=80.0), nominal=gain, scenario_id="a", xp=np)
    assert shot.dtype == np.uint8
    assert shot.shape == (32, 32, 3)
    assert (shot == 100).mean() > 0.99


@pytest.mark.parametrize("snr_db", [10.0, 20.0, 30.0])
def test_photos_have_the_asked_signal_to_noise_ratio(snr_db):
    """Measured over many pixels of a photo of a grey card, decoded to linear light."""
    shot = photo(_even(MID_GREY), PLAIN.replaced(snr_db=snr_db), nominal=NOMINAL, scenario_id="a", xp=np)
    code = shot / 255.0
    linear = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    assert 20 * np.log10(linear.mean() / linear.std()) == pytest.approx(snr_db, abs=0.3)


def test_photos_repeat_and_differ_between_cameras_and_scenarios():
    light = _even(0.3, size=32)

    def shot(camera, scenario_id):
        return photo(light, PLAIN.replaced(camera=camera), nominal=NOMINAL, scenario_id=scenario_id, xp=np)

    first = shot("overhead", "a")
    assert first.tobytes() == shot("overhead", "a").tobytes()
    assert (first != shot("wrist", "a")).any()
    assert (first != shot("overhead", "b")).any()
    assert (first[..., 0] != first[..., 1]).any()


def test_what_saturates_is_white():
    assert (photo(_even(3.0, size=16), PLAIN, nominal=NOMINAL, scenario_id="a", xp=np) == 255).all()


def test_the_response_is_that_of_srgb():
    """IEC 61966-2-1: linear 0.2140 is half of the code range, 0.0031308 where the line ends."""
    found = srgb(np.array([-1.0, 0.0, 0.0031308, 0.21404, 1.0, 7.0]), xp=np)
    assert found == pytest.approx([0, 0, 0.04045, 0.5, 1, 1], abs=1e-5)


def test_a_photo_is_made_where_its_light_is():
    """Tensors of torch's `meta` device have no numbers and meet none of another device."""
    light = tuple(torch.zeros((2, 24, 36), device="meta") for _ in range(3))
    exposed = expose(light, [DIRTY], nominal=NOMINAL, xp=torch)
    assert develop(exposed, [DIRTY], [(1, 2), (3, 4)], xp=torch).device.type == "meta"


def test_numpy_and_torch_agree():
    light, sensors = _light(images=2), [PLAIN, DIRTY]
    tensors = tuple(torch.asarray(plane) for plane in light)
    mine = expose(light, sensors, nominal=NOMINAL, xp=np)
    theirs = expose(tensors, sensors, nominal=NOMINAL, xp=torch)
    for a, b in zip(mine, theirs, strict=True):
        assert b.dtype == torch.float32
        assert b.numpy() == pytest.approx(a, rel=1e-5, abs=1e-6)
    seeds = [noise_seed("a", sensor.camera) for sensor in sensors]
    bytes_apart = develop(mine, sensors, seeds, xp=np).astype(int) - develop(theirs, sensors, seeds, xp=torch).numpy()
    assert np.abs(bytes_apart).max() <= 1
    assert (bytes_apart != 0).mean() < 1e-3
