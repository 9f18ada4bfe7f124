"""Scenarios to USD and back: the law, over every facet."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pxr import Sdf

from scenegen.geometry import Pose
from scenegen.nominal import nominal_fixtures, nominal_scenario
from scenegen.optical import Pattern, PatternKind, Stain
from scenegen.record import quantise
from scenegen.scenario import (
    Camera,
    Cameras,
    CameraSensor,
    Cause,
    DistantLight,
    DomeLight,
    FixturePose,
    Item,
    ItemMatter,
    Layout,
    Lights,
    Look,
    Matter,
    Motion,
    RectLight,
    Sensor,
    ShadowCaster,
    SortRule,
    SphereLight,
    Surface,
    Surfaces,
    Task,
)
from scenegen.usd.folder import StageFolder
from scenegen.usd.reader import read_cell_and_parts, read_scenario
from scenegen.usd.sdf import author
from scenegen.usd.text import layer_text

reals = st.floats(-10, 10, width=32).map(quantise)
positives = st.floats(2**-10, 1000, width=32).map(quantise)
shares = st.floats(0, 1, width=32).map(quantise) | st.integers(0, 1000).map(lambda share: share / 1000)
kelvins = st.floats(1000, 20000, width=32).map(quantise)
vectors = st.tuples(reals, reals, reals)
quats = st.tuples(reals, reals, reals, reals).filter(lambda q: sum(one * one for one in q) > 1e-3)
poses = st.builds(Pose.of, vectors, quats)
unit_quats = poses.map(lambda pose: pose.quat_xyzw)
names = st.sampled_from(["key", "hall", "surroundings", "lamp", "window", "a"])
colors = st.tuples(shares, shares, shares)
roughnesses = st.floats(0.0205078125, 1, width=32).map(quantise)
looks = st.builds(Look, color=colors, metallic=shares, roughness=roughnesses)
stains = st.builds(
    Stain, color=colors, metallic=shares, roughness=roughnesses, share=shares, patch_m=positives, phase=vectors
)
patterns = st.builds(Pattern, kind=st.sampled_from(PatternKind), color=colors, size_m=positives, angle_rad=reals)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30).map(
    lambda text: "".join(c for c in text if c in "\t\n" or (ord(c) > 31 and ord(c) != 127))
)
lights = st.one_of(
    st.builds(
        DistantLight,
        name=names,
        illuminance_lux=positives,
        temperature_k=kelvins,
        angle_rad=shares,
        quat_xyzw=unit_quats,
    ),
    st.builds(
        RectLight,
        name=names,
        luminance_nit=positives,
        temperature_k=kelvins,
        size_m=st.tuples(positives, positives),
        pose_to_world=poses,
    ),
    st.builds(
        SphereLight, name=names, luminance_nit=positives, temperature_k=kelvins, radius_m=positives, position_m=vectors
    ),
    st.builds(DomeLight, name=names, luminance_nit=positives, temperature_k=kelvins),
)
casters = st.builds(ShadowCaster, name=names, size_m=st.tuples(positives, positives), pose_to_world=poses)


def by_name(element: st.SearchStrategy, *, least: int = 0) -> st.SearchStrategy:
    return st.lists(element, min_size=least, max_size=4, unique_by=lambda one: one.name).map(tuple)


@st.composite
def layouts(draw, cell):
    slots = draw(st.lists(st.sampled_from(sorted(cell.slots)), max_size=5, unique=True))
    fixtures = [
        FixturePose(name=one.name, pose_to_world=draw(st.just(one.pose_to_world) | poses))
        for one in nominal_fixtures(cell)
    ]
    return Layout(
        fixtures=tuple(draw(st.permutations(fixtures))),
        items=tuple(
            Item(
                name=slot,
                part=cell.slots[slot].part,
                zone=draw(st.sampled_from(["feed", "table", *(b.name for b in cell.bins)])),
                cause=draw(st.sampled_from(Cause)),
                pose_to_world=draw(poses),
            )
            for slot in slots
        ),
    )


@st.composite
def matters(draw, base):
    changed = st.builds(
        dict,
        mass_kg=positives,
        center_of_mass_m=vectors,
        diagonal_inertia_kg_m2=st.tuples(positives, positives, positives),
        principal_axes_xyzw=unit_quats,
        friction=shares,
    )
    items = [
        draw(st.just(one) | changed.map(lambda facts, name=one.name: ItemMatter(name=name, **facts)))
        for one in base.matter.items
    ]
    return Matter(items=tuple(draw(st.permutations(items))))


@st.composite
def surfaces(draw, base):
    found = [
        Surface(
            subject=one.subject,
            look=draw(st.just(one.look) | looks),
            stain=draw(st.none() | stains),
            pattern=draw(st.none() | patterns),
        )
        for one in base.surfaces.surfaces
    ]
    return Surfaces(surfaces=tuple(draw(st.permutations(found))))


@st.composite
def views(draw, cell):
    """Cameras, some of them the cell's own, with a sensor each."""
    pixels = st.integers(16, 8192)
    camera = st.builds(
        Camera,
        name=st.sampled_from([*(c.name for c in cell.cameras), "extra"]),
        pose_to_world=poses,
        width_px=pixels,
        height_px=pixels,
        focal_px=st.tuples(positives, positives),
        principal_px=st.tuples(reals, reals),
        distortion=st.tuples(reals, reals, reals, reals, reals),
    )
    cameras = draw(by_name(camera, least=1))
    sensors = tuple(
        CameraSensor(
            camera=one.name,
            exposure_ev=draw(reals),
            white_balance_k=draw(kelvins),
            blur_px=draw(shares),
            snr_db=draw(st.floats(0, 80, width=32)),
            veil_share=draw(shares),
            vignetting=draw(shares),
            motion_px=draw(shares),
            motion_rad=draw(reals),
        )
        for one in cameras
    )
    return Cameras(cameras=cameras), Sensor(sensors=sensors)


@st.composite
def scenarios(draw, cell, parts):
    layout = draw(layouts(cell))
    rules = st.lists(
        st.builds(SortRule, match=st.sampled_from(sorted(parts)), bin=st.sampled_from([b.name for b in cell.bins])),
        min_size=1,
        max_size=3,
    )
    task = Task(
        rules=tuple(draw(st.just(cell.rules) | rules)),
        instruction=draw(texts),
        language=draw(st.sampled_from(["en", "de"])),
    )
    base = nominal_scenario(cell, parts, layout, task)
    cameras, sensor = draw(st.just((base.cameras, base.sensor)) | views(cell))
    motion = st.builds(
        Motion,
        robot_start_rad=st.lists(reals, min_size=7, max_size=7).map(tuple),
        vibration_amplitude_m=shares,
        vibration_frequency_hz=shares,
        vibration_direction=vectors,
        belt_speed_m_s=reals,
    )
    return base.varied(
        matter=draw(matters(base)),
        surfaces=draw(surfaces(base)),
        lights=draw(
            st.just(base.lights)
            | st.builds(Lights, lights=by_name(lights | st.sampled_from(cell.lights)), shadow_casters=by_name(casters))
        ),
        cameras=cameras,
        sensor=sensor,
        motion=draw(st.just(base.motion) | motion),
    )


@pytest.fixture(scope="module")
def folder(cell, catalogue, tmp_path_factory):
    return StageFolder(tmp_path_factory.mktemp("library"), cell, catalogue)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_reading_what_was_written_gives_the_scenario(data, cell, catalogue, folder):
    scenario = data.draw(scenarios(cell, catalogue))
    read = read_scenario(folder.write(scenario), trusted=True)
    assert read == scenario
    assert read.id == scenario.id


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_the_text_of_a_scene_is_what_sdf_authors(data, cell, catalogue, folder):
    scenario = data.draw(scenarios(cell, catalogue))
    writer = folder.writer
    for text, tree in (
        (writer.layout_layer(scenario), writer.layout_tree(scenario)),
        (writer.scene_layer(scenario), writer.scene_tree(scenario)),
    ):
        parsed = Sdf.Layer.CreateAnonymous(".usda")
        assert parsed.ImportFromString(text)
        assert parsed.ExportToString() == author(tree).ExportToString()
        assert text == layer_text(tree)


def test_a_base_scene_survives(base_scenario, folder):
    path = folder.write(base_scenario)
    assert read_scenario(path) == base_scenario


def test_the_cell_and_all_parts_of_its_inventory_come_back(cell, catalogue, base_scenario, folder):
    path = folder.write(base_scenario)
    for item in cell.inventory:
        folder.write_asset(item.part)
    read_cell, parts = read_cell_and_parts(path, trusted=True)
    assert read_cell == cell
    assert {name: part.content_id for name, part in parts.items()} == {
        item.part: catalogue[item.part].content_id for item in cell.inventory
    }


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_lights_keep_their_order(order, cell, base_scenario, folder):
    changed = base_scenario.varied(lights=Lights(lights=tuple(cell.lights[index] for index in order)))
    assert read_scenario(folder.write(changed), trusted=True).lights == changed.lights


def test_a_light_may_change_its_kind_and_others_may_go(cell, base_scenario, folder):
    lamp = SphereLight(name=cell.lights[1].name, luminance_nit=5.0, radius_m=0.1, position_m=(0.0, 1.0, 2.0))
    panel = RectLight(name=cell.lights[2].name, luminance_nit=5.0, size_m=(1.0, 2.0), pose_to_world=Pose())
    changed = base_scenario.varied(lights=Lights(lights=(panel, lamp)))
    assert read_scenario(folder.write(changed), trusted=True) == changed
