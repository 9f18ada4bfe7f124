"""Meters of pictures: known values of drawn images, laws, and hidden shares of real scenes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.errors import UnknownName
from scenegen.geometry import Pose
from scenegen.imaging.caster import GBufferCaster
from scenegen.imaging.exposure import MID_GREY, nominal_gain
from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.mask import MaskCaster
from scenegen.imaging.measure import measure
from scenegen.imaging.photo import expose
from scenegen.imaging.renderer import Renderer
from scenegen.nominal import nominal_fixtures, nominal_scenario
from scenegen.scenario import CameraSensor, Item, Layout, Task

torch.set_num_threads(1)

PLAIN = CameraSensor(camera="overhead")
GAIN = (1.0, 1.0, 1.0)
NAMES = ("bolt", "nut", "table")


@pytest.fixture(scope="module")
def piled(cell, catalogue):
    """Nuts that lie on each other's edges, and a bolt beside them."""
    rest = {slot: catalogue[cell.slots[slot].part].stable_poses[0] for slot in cell.slots}

    def item(slot, x, z):
        pose = cell.feed.pose_to_world.after(Pose.of((x, 0.0, rest[slot].height_m + z), rest[slot].quat_xyzw))
        return Item(name=slot, part=cell.slots[slot].part, zone="feed", pose_to_world=pose)

    items = (item("hex_nut_m8_00", 0.0, 0.0), item("hex_nut_m8_01", 0.005, 0.007), item("hex_nut_m6_00", -0.004, 0.014))
    layout = Layout(fixtures=nominal_fixtures(cell), items=(*items, item("hex_bolt_m8x20_00", 0.05, 0.0)))
    return nominal_scenario(cell, catalogue, layout, Task(rules=cell.rules, instruction="Sort."))


def _gbuffer(instance, names=NAMES, alone=None):
    images, height, width = instance.shape
    flat = instance.reshape(images, -1)
    zeros = np.zeros(flat.shape, np.float32)
    if alone is None:
        alone = np.stack([(flat == index).sum(axis=1) for index in range(len(names))], axis=-1)
    return GBuffer(names, height, width, flat, (zeros,) * 3, (zeros,) * 3, zeros, (zeros[:, :1],) * 3, alone)


def _in_torch(gbuffer):
    return GBuffer(
        gbuffer.names, gbuffer.height_px, gbuffer.width_px, torch.asarray(gbuffer.instance), gbuffer.normal,
        gbuffer.position, gbuffer.depth, gbuffer.eye, torch.asarray(gbuffer.alone),
    )  # fmt: skip


def _squares(size=20):
    """A square of bolt and one of nut on the table; a column at the right shows nothing."""
    instance = np.full((1, size, size), 2)
    instance[0, 2:8, 2:8], instance[0, 10:16, 10:16], instance[0, :, -1] = 0, 1, -1
    return instance


def _painted(instance, *levels):
    """Grey levels of bolt, nut, table and nothing, as an image."""
    plane = np.array(levels, float)[instance]
    return plane, plane, plane


def _noisy(images=1, size=20):
    rng = np.random.default_rng(11)
    return tuple(rng.random((images, size, size)) * 1.5 for _ in range(3))


def test_drawn_squares_read_as_they_were_drawn():
    instance = _squares()
    image, nominal = _painted(instance, 0.5, 2.0, 0.25, 0.0), _painted(instance, 0.5, 0.5, 0.25, 0.0)
    read = measure(_gbuffer(instance, alone=np.array([[72, 36, 400]])), image, nominal, [PLAIN], xp=np)
    bolt, nut = read.meters("bolt"), read.meters("nut")
    assert (bolt.visible_px, nut.visible_px) == (36, 36)
    assert (bolt.hidden_share, nut.hidden_share) == pytest.approx((0.5, 0.0))
    assert (bolt.saturated_share, nut.saturated_share) == (0.0, 1.0)
    assert (bolt.luminance, nut.luminance) == pytest.approx((0.5, 1.0))
    assert bolt.contrast == pytest.approx(0, abs=1e-6)
    assert bolt.sharpness == pytest.approx(0.25 / 0.375)
    assert nut.sharpness == pytest.approx(0.75 / 0.625)
    assert bolt.color_difference == pytest.approx(0, abs=1e-6)
    # Grey against grey: L* is 76.07 and 100, S_L = 1 + 0.015 * 38.03² / sqrt(20 + 38.03²) = 1.567.
    assert nut.color_difference == pytest.approx(23.93 / 1.567, abs=0.01)
    assert nut.chroma_difference == pytest.approx(0, abs=1e-6)


def test_contrast_is_the_standard_deviation_of_luminance():
    instance, image = _squares(), _noisy()
    light = 0.2126 * image[0].clip(0, 1) + 0.7152 * image[1].clip(0, 1) + 0.0722 * image[2].clip(0, 1)
    read = measure(_gbuffer(instance), image, image, [PLAIN], xp=np)
    assert read.meters("nut").contrast == pytest.approx(light[instance == 1].std(), rel=1e-6)


def test_a_tint_shows_in_chroma_and_a_dimmer_does_not():
    instance = _squares()
    nominal = _painted(instance, 0.4, 0.4, 0.2, 0.0)
    dimmed = tuple(0.5 * plane for plane in nominal)
    tinted = (1.3 * nominal[0], nominal[1], 0.6 * nominal[2])
    dim = measure(_gbuffer(instance), dimmed, nominal, [PLAIN], xp=np).meters("bolt")
    tint = measure(_gbuffer(instance), tinted, nominal, [PLAIN], xp=np).meters("bolt")
    assert dim.color_difference > 10
    assert dim.chroma_difference == pytest.approx(0, abs=1e-6)
    assert tint.chroma_difference > 5


@pytest.mark.parametrize("snr_db", [20.0, 40.0])
def test_the_ratio_at_mid_grey_is_the_sensors(snr_db):
    instance = _squares()
    image = _painted(instance, MID_GREY, 2 * MID_GREY, 0.1, 0.0)
    read = measure(_gbuffer(instance), image, image, [PLAIN.replaced(snr_db=snr_db)], xp=np)
    assert read.meters("bolt").snr_db == pytest.approx(snr_db, abs=1e-4)
    assert snr_db + 3 < read.meters("nut").snr_db < snr_db + 6.03


def test_what_is_not_visible_is_unknown():
    read = measure(_gbuffer(np.full((1, 4, 4), 2)), _noisy(size=4), _noisy(size=4), [PLAIN], xp=np)
    assert read.meters("bolt").known() == {"visible_px": 0, "hidden_share": 1.0}
    assert read.meters("table").sharpness is None
    with pytest.raises(UnknownName, match=r"unknown item 'nutt' - did you mean 'nut'\?"):
        read.meters("nutt")


def test_black_items_have_no_signal():
    instance = _squares()
    black = _painted(instance, 0.0, 0.0, 0.0, 0.0)
    meters = measure(_gbuffer(instance), black, black, [PLAIN], xp=np).meters("nut")
    assert (meters.snr_db, meters.sharpness, meters.luminance, meters.color_difference) == (None, None, 0.0, 0.0)


@settings(max_examples=20)
@given(st.lists(st.floats(-8, 8), min_size=2, max_size=4))
def test_more_exposure_never_saturates_less(exposures):
    instance, light = _squares(), _noisy()
    shares = []
    for exposure in sorted(exposures):
        image = expose(light, [PLAIN.replaced(exposure_ev=exposure)], nominal=GAIN, xp=np)
        shares.append(measure(_gbuffer(instance), image, light, [PLAIN], xp=np).saturated_share[0])
    assert (np.diff(shares, axis=0) >= 0).all()


@pytest.mark.parametrize(
    ("field", "values"),
    [("blur_px", (0.0, 0.6, 1.2, 2.5)), ("motion_px", (0.0, 2.0, 4.0, 8.0)), ("veil_share", (0.0, 0.05, 0.2, 0.6))],
)
def test_blur_and_veil_lower_the_sharpness(field, values):
    instance = _squares()
    light = _painted(instance, 0.5, 0.6, 0.1, 0.1)
    read = []
    for value in values:
        image = expose(light, [PLAIN.replaced(**{field: value})], nominal=GAIN, xp=np)
        read.append(measure(_gbuffer(instance), image, light, [PLAIN], xp=np).sharpness[0, :2])
    assert (np.diff(read, axis=0) < 0).all()


def test_sharpness_does_not_change_with_exposure():
    instance = _squares()
    bright, dark = _painted(instance, 0.8, 0.5, 0.2, 0.1), _painted(instance, 0.2, 0.125, 0.05, 0.025)
    first = measure(_gbuffer(instance), bright, bright, [PLAIN], xp=np).sharpness
    assert measure(_gbuffer(instance), dark, dark, [PLAIN], xp=np).sharpness == pytest.approx(first)


def test_hidden_shares_are_those_of_the_mask_caster(cell, catalogue, piled):
    caster, cast = MaskCaster(cell, catalogue), GBufferCaster.of(cell, catalogue).cast
    hidden = []
    for camera in [camera.name for camera in piled.cameras.cameras]:
        gbuffer = cast(piled, camera)
        dark = (np.zeros((1, gbuffer.height_px, gbuffer.width_px)),) * 3
        read = measure(gbuffer, dark, dark, [PLAIN], xp=np)
        for item in piled.layout.items:
            meters = read.meters(item.name)
            hidden.append(meters.hidden_share)
            assert meters.hidden_share == pytest.approx(caster.hidden_share(piled, item.name, camera=camera), abs=1e-6)
            assert meters.visible_px == caster.visible_pixels(piled, item.name, camera=camera)
    assert sum(0.1 < share < 0.9 for share in hidden) >= 2


def test_every_camera_measures_a_shaded_scene(cell, catalogue, piled):
    renderer, gain = Renderer(cell, catalogue), nominal_gain(cell)
    for camera in [camera.name for camera in piled.cameras.cameras]:
        gbuffer = renderer.gbuffer(piled, camera)
        red, green, blue = np.moveaxis(renderer.radiance(piled, camera), -1, 0)[:, None]
        nominal = expose((red, green, blue), [PLAIN], nominal=gain, xp=np)
        brighter = expose((red, green, blue), [PLAIN.replaced(exposure_ev=1.0)], nominal=gain, xp=np)
        same, more = (measure(gbuffer, image, nominal, [PLAIN], xp=np) for image in (nominal, brighter))
        for item in piled.layout.items:
            before, after = same.meters(item.name), more.meters(item.name)
            assert before.color_difference == pytest.approx(0, abs=1e-6)
            assert after.color_difference > 1
            assert after.luminance > before.luminance
            assert after.snr_db > before.snr_db
            assert before.sharpness > 0.02


def test_meters_are_read_where_the_image_is():
    """Tensors of torch's `meta` device have no numbers and meet none of another device."""
    gbuffer = _in_torch(_gbuffer(_squares()))
    there = replace(gbuffer, instance=gbuffer.instance.to("meta"), alone=gbuffer.alone.to("meta"))
    image = tuple(torch.zeros((1, 20, 20), device="meta") for _ in range(3))
    read = measure(there, image, image, [PLAIN], xp=torch)
    assert {value.device.type for name, value in vars(read).items() if name != "names"} == {"meta"}


def test_one_nominal_image_serves_a_batch_and_torch_agrees():
    instance = np.concatenate([_squares(), _squares()[:, ::-1]])
    gbuffer, image, nominal = _gbuffer(instance), _noisy(images=2), _noisy()
    sensors = [PLAIN, PLAIN.replaced(snr_db=20.0)]
    mine = measure(gbuffer, image, nominal, sensors, xp=np)
    theirs = measure(
        _in_torch(gbuffer),
        tuple(torch.asarray(plane) for plane in image),
        tuple(torch.asarray(plane) for plane in nominal),
        sensors,
        xp=torch,
    )
    for name in ("bolt", "nut", "table"):
        for index in (0, 1):
            a, b = mine.meters(name, image=index), theirs.meters(name, image=index)
            assert a.known() == pytest.approx(b.known(), rel=1e-6, abs=1e-6)
    assert (mine.snr_db[1] < mine.snr_db[0]).all()
