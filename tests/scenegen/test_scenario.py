"""Laws of scenarios: facets hash apart, ids follow content, round trips are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenegen.errors import InvalidRecord
from scenegen.geometry import Pose
from scenegen.scenario import (
    Asset,
    Camera,
    Cameras,
    CameraSensor,
    DistantLight,
    DomeLight,
    Facet,
    FixturePose,
    Item,
    ItemMatter,
    Layout,
    Lights,
    Look,
    Matter,
    Motion,
    RectLight,
    Scenario,
    Sensor,
    ShadowCaster,
    SortRule,
    SphereLight,
    Surface,
    Surfaces,
    Task,
)

number = st.floats(-10, 10, allow_nan=False)
positive = st.floats(1e-4, 100)
share = st.floats(0, 1)
kelvin = st.floats(1000, 20000)
vector = st.tuples(number, number, number)
quat = st.tuples(number, number, number, st.floats(0.5, 1)).map(lambda q: tuple(Pose.of((0, 0, 0), q).quat_xyzw))
pose = st.builds(Pose, position_m=vector, quat_xyzw=quat)
looks = st.builds(Look, color=st.tuples(share, share, share), metallic=share, roughness=st.floats(0.02, 1))
light = st.one_of(
    st.builds(DistantLight, name=st.just("sun"), illuminance_lux=positive, temperature_k=kelvin, quat_xyzw=quat),
    st.builds(
        RectLight,
        name=st.just("panel"),
        luminance_nit=positive,
        temperature_k=kelvin,
        size_m=st.tuples(positive, positive),
        pose_to_world=pose,
    ),
    st.builds(SphereLight, name=st.just("lamp"), luminance_nit=positive, radius_m=positive, position_m=vector),
    st.builds(DomeLight, name=st.just("sky"), luminance_nit=positive, temperature_k=kelvin),
)
caster = st.builds(ShadowCaster, name=st.just("card"), size_m=st.tuples(positive, positive), pose_to_world=pose)


def item_matter(name):
    return st.builds(
        ItemMatter,
        name=st.just(name),
        mass_kg=positive,
        center_of_mass_m=vector,
        diagonal_inertia_kg_m2=st.tuples(positive, positive, positive),
        principal_axes_xyzw=quat,
        friction=share,
    )


@st.composite
def scenarios(draw):
    """Any scenario: not one that a cell could hold, but one that every record accepts."""
    names = [f"bolt_{i:02d}" for i in range(draw(st.integers(0, 4)))]
    return Scenario(
        cell_id="c",
        assets=(Asset(part="bolt", content="f"),) if names else (),
        layout=Layout(
            fixtures=(FixturePose(name="feed", pose_to_world=draw(pose)),),
            items=tuple(Item(name=n, part="bolt", zone="feed", pose_to_world=draw(pose)) for n in names),
        ),
        matter=Matter(items=tuple(draw(item_matter(n)) for n in names)),
        motion=Motion(
            robot_start_rad=draw(st.tuples(*[number] * 6)),
            vibration_amplitude_m=draw(share),
            vibration_frequency_hz=draw(positive),
        ),
        surfaces=Surfaces(surfaces=tuple(Surface(subject=n, look=draw(looks)) for n in ["table", *names])),
        lights=Lights(
            lights=tuple(draw(st.lists(light, max_size=3, unique_by=lambda one: one.name))),
            shadow_casters=tuple(draw(st.lists(caster, max_size=1))),
        ),
        cameras=Cameras(
            cameras=(
                Camera(
                    name="overhead",
                    pose_to_world=draw(pose),
                    width_px=224,
                    height_px=224,
                    focal_px=(draw(positive), draw(positive)),
                    principal_px=(112, 112),
                    distortion=draw(st.tuples(*[number] * 5)),
                ),
            )
        ),
        sensor=Sensor(sensors=(CameraSensor(camera="overhead", exposure_ev=draw(number), blur_px=draw(positive)),)),
        task=Task(
            rules=(SortRule(match="bolt", bin="bin_a"),), instruction=draw(st.sampled_from(["Sort.", "Sortiere."]))
        ),
    )


@given(scenarios())
@settings(max_examples=50)
def test_a_scenario_comes_back_from_its_json_with_every_id(scenario):
    again = Scenario.from_json(scenario.canonical_json())
    assert again == scenario
    assert again.id == scenario.id
    assert again.facet_ids == scenario.facet_ids


@given(scenarios(), scenarios())
@settings(max_examples=30)
def test_equal_ids_mean_equal_scenarios(a, b):
    assert (a.id == b.id) == (a == b)
    assert a.changed(b) == {facet for facet in Facet if a.facet(facet) != b.facet(facet)}


@given(scenarios(), scenarios())
@settings(max_examples=30)
def test_a_varied_facet_changes_its_own_hash_alone(a, b):
    varied = a.varied(lights=b.lights)
    assert varied.changed(a) <= {Facet.LIGHTS}
    others = [facet for facet in Facet if facet is not Facet.LIGHTS]
    assert varied.key(*others) == a.key(*others)
    assert (varied.id == a.id) == (a.lights == b.lights)


@given(scenarios(), scenarios(), st.sampled_from(list(Facet)))
@settings(max_examples=30)
def test_keys_that_a_variant_takes_over_are_its_own(a, b, facet):
    groups = [(), *[(one,) for one in Facet], (Facet.LAYOUT, Facet.TASK), tuple(Facet)]
    for group in groups:
        a.key(*group)
    varied = a.varied(**{facet: b.facet(facet)})
    anew = Scenario.from_json(varied.canonical_json())
    assert [varied.key(*group) for group in groups] == [anew.key(*group) for group in groups]


@given(scenarios())
@settings(max_examples=20)
def test_keys_depend_on_cell_and_assets(scenario):
    assert scenario.varied(cell_id="d").key(Facet.LAYOUT) != scenario.key(Facet.LAYOUT)
    more = (*scenario.assets, Asset(part="nut", content="g"))
    assert scenario.varied(assets=more).id != scenario.id


def test_ids_never_change():
    """A changed id orphans every library: it may change only with SPEC_VERSION."""
    lights = Lights(lights=(DomeLight(name="sky", luminance_nit=100),))
    assert lights.content_id == PINNED


PINNED = "405538288c43622bdb6fda41"


def test_a_slot_holds_one_item():
    item = {"name": "bolt_00", "part": "bolt", "zone": "feed", "pose_to_world": {}}
    with pytest.raises(InvalidRecord) as caught:
        Layout.from_data({"fixtures": [], "items": [item, item]})
    assert str(caught.value) == "Layout: items: name 'bolt_00' is used twice - accepted: each slot once"


def test_items_are_found_by_name():
    item = Item(name="bolt_00", part="bolt", zone="feed", pose_to_world=Pose(position_m=(0, 0, 1)))
    layout = Layout(fixtures=(), items=(item,))
    np.testing.assert_allclose(layout.items[0].pose_to_world.position, (0, 0, 1))
    with pytest.raises(InvalidRecord, match=r"^Task: rules: "):
        Task.from_data({"rules": [], "instruction": "Sort."})
