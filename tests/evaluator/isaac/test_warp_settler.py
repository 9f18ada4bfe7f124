"""MuJoCo-Warp says what MuJoCo says of nuts that lie apart, are stacked, fall, or are not there."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from scenegen.cell import InventoryItem
from scenegen.errors import InvalidOption, InvalidRecord, UnknownName
from scenegen.geometry import Pose, quat_about
from scenegen.nominal import nominal_fixtures, nominal_matter
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.settle import Settler
from scenegen.physics.settling import SettleRequest
from scenegen.scenario import Item, Layout

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mujoco_warp") is None,
    reason="MuJoCo-Warp is not installed - run: pip install 'scenegen[isaac]'",
)

PART = "hex_nut_m6"
NUTS = 4


@pytest.fixture(scope="module")
def nut_cell(cell):
    """A cell of four nuts."""
    return cell.replaced(inventory=(InventoryItem(part=PART, count=NUTS),), fill=(1, 1))


@pytest.fixture(scope="module")
def nut(catalogue):
    return catalogue[PART]


@pytest.fixture(scope="module")
def plain(nut_cell, nut):
    """MuJoCo itself."""
    return Settler(nut_cell, Catalogue([nut]))


@pytest.fixture(scope="module")
def warp(nut_cell, nut, plain):
    """Three worlds of MuJoCo-Warp on the processor."""
    from evaluator.isaac.warp_settler import WarpSettler

    return WarpSettler(nut_cell, Catalogue([nut]), device="cpu", worlds=3, settler=plain)


@pytest.fixture(scope="module")
def scenes(nut_cell, nut):
    """Scenes by name: apart, stacked, one that falls off its edge, one that is dropped, and none at all."""
    flat = nut.stable_poses[0]
    height, thick = flat.height_m, 2 * flat.height_m

    def layout(*places):
        items = []
        for index, (x, y, z, *turn) in enumerate(places):
            inside = Pose.of((x, y, height + z), *(turn or [flat.quat_xyzw]))
            pose = nut_cell.feed.pose_to_world.after(inside)
            items.append(Item(name=f"{PART}_{index:02d}", part=PART, zone="feed", pose_to_world=pose))
        return Layout(fixtures=nominal_fixtures(nut_cell), items=tuple(items))

    tilted = quat_about((1, 0, 0), 0.6)
    return {
        "apart": layout((0, 0, 0), (0.04, 0, 0), (0, 0.04, 0)),
        "stacked": layout((0, 0, 0), (0.001, 0.001, thick), (0.04, 0.02, 0)),
        "overhanging": layout((0, 0, 0), (0.008, 0, thick + 2e-4)),
        "dropped": layout((0.03, 0.03, 0.02, tilted), (-0.03, 0, 0), (0, 0, 0), (-0.06, 0.05, 0)),
        "empty": layout(),
    }


def requests(scenes, nut):
    return [SettleRequest(layout, nominal_matter(layout, Catalogue([nut]))) for layout in scenes.values()]


def answers(warp, asked):
    for ticket, request in enumerate(asked):
        warp.submit(ticket, request)
    found = {}
    while len(found) < len(asked):
        found |= dict(warp.advance())
    return [found[ticket] for ticket in range(len(asked))]


@pytest.fixture(scope="module")
def both(warp, plain, scenes, nut):
    """What both say of each scene, by name; there are more scenes than worlds."""
    asked = requests(scenes, nut)
    mine = [plain.settle(one.layout, one.matter) for one in asked]
    return dict(zip(scenes, zip(mine, answers(warp, asked), strict=True), strict=True))


def test_what_rests_rests_in_both(both):
    for name in ("apart", "stacked"):
        mujoco, warp = both[name]
        assert warp.finite
        assert max(warp.drift_m.values()) < 1e-4, name
        assert max(warp.rotation_rad.values()) < 0.01, name
        assert warp.speed_m_s < 0.01
        assert warp.penetration_m == pytest.approx(mujoco.penetration_m, abs=5e-6)
        assert warp.seconds == pytest.approx(mujoco.seconds, abs=0.1)


def test_what_falls_falls_in_both(both):
    for name in ("overhanging", "dropped"):
        mujoco, warp = both[name]
        moved = max(mujoco.drift_m, key=lambda item: mujoco.drift_m[item])
        assert mujoco.drift_m[moved] > 0.002, name
        assert warp.drift_m[moved] > 0.002, name


def test_nothing_comes_to_rest_where_nothing_is(both):
    mujoco, warp = both["empty"]
    assert warp.drift_m == mujoco.drift_m == {}
    assert warp.speed_m_s == warp.penetration_m == 0.0


def test_alone_or_among_others_it_says_the_same(warp, scenes, nut, both):
    for name, request in list(zip(scenes, requests(scenes, nut), strict=True))[1:3]:
        assert warp.settle(request.layout, request.matter) == both[name][1], name


def test_matter_and_moved_fixtures_reach_the_world(warp, plain, nut, scenes):
    """Heavier nuts in a feed that was moved rest on it; without the feed's move they fall by as much."""
    layout = scenes["stacked"]
    shift = np.array([0.01, -0.02, 0.005])
    fixtures = tuple(
        one.replaced(pose_to_world=Pose.of(one.pose_to_world.position + shift, one.pose_to_world.quat))
        for one in layout.fixtures
    )
    items = tuple(
        one.replaced(pose_to_world=Pose.of(one.pose_to_world.position + shift, one.pose_to_world.quat))
        for one in layout.items
    )
    moved = layout.replaced(fixtures=fixtures, items=items)
    heavy = Catalogue([replace(nut, mass=replace(nut.mass, mass_kg=0.05), friction=0.9)])
    matter = nominal_matter(moved, heavy)
    mujoco, warp_says = plain.settle(moved, matter), warp.settle(moved, matter)
    assert max(warp_says.drift_m.values()) < 2e-4
    assert warp_says.penetration_m == pytest.approx(mujoco.penetration_m, rel=0.1)
    still = moved.replaced(fixtures=layout.fixtures)
    assert min(warp.settle(still, matter).drift_m.values()) > 0.004


def test_without_nudges_there_are_fewer_steps(warp, scenes, nut):
    request = requests(scenes, nut)[1]
    before = warp.steps
    warp.settle(request.layout, request.matter)
    nudged, before = warp.steps - before, warp.steps
    warp.settle(request.layout, request.matter, nudge=False)
    assert warp.steps - before < nudged


def test_bad_scenes_are_refused_as_by_mujoco(warp, scenes, nut):
    request = requests(scenes, nut)[0]
    with pytest.raises(UnknownName, match="unknown matter of item 'hex_nut_m6_02'"):
        warp.settle(request.layout, request.matter.replaced(items=request.matter.items[:2]))
    stranger = request.layout.items[0].model_copy(update={"part": "washer"})
    layout = request.layout.replaced(items=(stranger, *request.layout.items[1:]))
    with pytest.raises(InvalidRecord, match="hex_nut_m6_00 holds part 'washer' - accepted: 'hex_nut_m6'"):
        warp.settle(layout, request.matter)


def test_where_contacts_are_lost_mujoco_answers(warp, plain, scenes, nut, monkeypatch):
    request = requests(scenes, nut)[1]
    before = warp.overflowed
    with monkeypatch.context() as patch:
        patch.setattr(warp._worlds, "lost", lambda: np.ones(warp._worlds.count, bool))
        settled = warp.settle(request.layout, request.matter)
    assert settled == plain.settle(request.layout, request.matter)
    assert warp.overflowed == before + 1


def test_what_is_forgotten_is_never_answered(warp, scenes, nut):
    for ticket, request in enumerate(requests(scenes, nut)):
        warp.submit(ticket, request)
    warp.advance()
    warp.forget()
    assert [warp.advance() for _ in range(30)] == [[]] * 30


def test_a_verdict_can_say_by_what_it_was_simulated(warp):
    engine = warp.engine
    assert engine.startswith("mujoco-warp 3.")
    assert " on cpu, mujoco 3." in engine
    assert engine.endswith(" where contacts overflow")


def test_an_unknown_device_is_refused(nut_cell, nut):
    from evaluator.isaac.warp_settler import WarpSettler

    with pytest.raises(InvalidOption, match="--device cuda:99 - accepted: one that Warp finds here: cpu"):
        WarpSettler(nut_cell, Catalogue([nut]), device="cuda:99", worlds=1)
