"""What is particular to the axes that move or add items, or move fixtures and cameras."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from scenegen.axes.aim import Aim
from scenegen.axes.axis import LEVELS
from scenegen.axes.camera import CAMERA
from scenegen.axes.contact import CONTACT
from scenegen.axes.datum import DATUM
from scenegen.axes.items import fixture_pose, free_slots, targets_in, with_items, yaw_between
from scenegen.axes.misplacement import MISPLACEMENT, misplaced
from scenegen.axes.occlusion import CAMERA as CAMERA_OF_OCCLUSION
from scenegen.axes.occlusion import HIDDEN, OCCLUSION, hidden_shares, outline_px
from scenegen.axes.pose import POSE
from scenegen.axes.robot_start import ROBOT_START
from scenegen.axes.stacking import STACKING
from scenegen.axes.tilt import TILT
from scenegen.axes.vibration import VIBRATION
from scenegen.axes.view import in_view
from scenegen.cell import Role
from scenegen.errors import VariationFailed
from scenegen.footprint import footprint_at
from scenegen.geometry import quat_yaw
from scenegen.imaging.mask import MaskCaster
from scenegen.nominal import nominal_cameras
from scenegen.scenario import Cause, Item
from scenegen.streams import stream


def test_jostled_targets_keep_clear_of_all_others(ctx, bases):
    scene = POSE.vary(bases[0], 3, ctx=ctx, rng=stream("clear"))
    shapes = []
    for item in scene.layout.items:
        footprint, yaw = footprint_at(ctx.parts[item.part], item.pose_to_world.quat)
        shapes.append(footprint.at(complex(*item.pose_to_world.position_m[:2]), yaw))
    assert min(a.distance(b) for a, b in combinations(shapes, 2)) > 0.005 - 2e-6
    moved = [item for item in scene.layout.items if item.cause is Cause.JOSTLED]
    assert len(moved) > len(shapes) / 2


def test_pose_leaves_alone_what_leans_or_carries(ctx, bases, find):
    stacked, _ = find(STACKING, bases[0], 2, ctx, "first")
    scene = POSE.vary(stacked, 3, ctx=ctx, rng=stream("then"))
    for item in stacked.layout.items:
        if item.cause is Cause.PILED:
            assert scene.item(item.name) == item


def test_pose_is_measured_in_the_feed_s_own_frame(ctx, bases, find):
    only_feed = ctx.cell.replaced(datums=tuple(d for d in ctx.cell.datums if d.fixture == "feed"))
    inside = replace(ctx, cell=only_feed)
    shifted, _ = find(DATUM, bases[0], 5, inside, "shift")
    scene = POSE.vary(shifted, 1, ctx=ctx, rng=stream("small"))
    alone, both = POSE.measure(shifted, scene, ctx=ctx), POSE.measure(bases[0], scene, ctx=ctx)
    assert [q.value for q in both] == pytest.approx([q.value for q in alone], abs=2e-3)


@pytest.mark.parametrize("axis", [TILT, STACKING, OCCLUSION], ids=lambda axis: axis.name)
def test_what_was_settled_stays_when_it_is_settled_again(axis, ctx, scenes):
    for _, scene, _ in scenes(axis)[3]:
        again = ctx.settler.settle(scene.layout, scene.matter)
        assert max(again.drift_m.values()) < 1e-3
        assert max(again.rotation_rad.values()) < 0.03
        assert again.penetration_m < 5e-4


@pytest.mark.parametrize(
    ("axis", "cause"), [(TILT, Cause.LEANING), (STACKING, Cause.PILED), (OCCLUSION, Cause.OBSTRUCTION)],
    ids=lambda value: getattr(value, "name", str(value)),
)  # fmt: skip
def test_anomalies_carry_their_cause(axis, cause, ctx, scenes):
    found = [item for level in (1, 3, 5) for _, scene, _ in scenes(axis)[level] for item in scene.layout.items]
    assert any(item.cause is cause for item in found)


def test_tilt_needs_something_to_lean(ctx, bases):
    empty = with_items(bases[0], [], cell=ctx.cell, parts=ctx.parts)
    with pytest.raises(
        VariationFailed, match=r"^axis 'tilt' found no scene at level 2 \(not_leaning\): none of 0 trials"
    ):
        TILT.vary(empty, 2, ctx=ctx, rng=stream("empty"))


def test_misplacement_comes_in_all_its_ways(ctx, bases):
    causes, zones = set(), set()
    for seed in range(30):
        scene = MISPLACEMENT.vary(bases[0], 2, ctx=ctx, rng=stream("ways", seed))
        wrong = [scene.item(name) for name in sorted(misplaced(scene, ctx.cell, ctx.parts))]
        assert len(wrong) == 2
        assert len({item.cause for item in wrong}) == 1
        causes |= {item.cause for item in wrong}
        zones |= {item.zone for item in wrong}
        mixed = [item for item in wrong if item.cause is Cause.MIXED_LOT]
        for item in mixed:
            own = [other for other in scene.layout.items if other.zone == item.zone and other not in wrong]
            assert any(other.part in ctx.parts[item.part].look_alikes for other in own)
    assert causes == {Cause.FOREIGN_OBJECT, Cause.MISFEED, Cause.MIXED_LOT}
    assert {"feed", "table"} < zones


def test_misplacement_keeps_to_the_causes_that_the_plant_allows(ctx, bases):
    strict = ctx.cell.replaced(allowed_causes=("nominal", "foreign_object"))
    inside = replace(ctx, cell=strict)
    scene = MISPLACEMENT.vary(bases[0], 4, ctx=inside, rng=stream("strict"))
    assert {item.cause for item in scene.layout.items} == {Cause.NOMINAL, Cause.FOREIGN_OBJECT}
    with pytest.raises(VariationFailed, match=r"\(no_parts\): the inventory cannot have 5 parts misplaced"):
        MISPLACEMENT.vary(bases[0], 5, ctx=inside, rng=stream("strict"))


def test_occlusion_needs_something_that_hides(ctx, bases):
    bare = ctx.cell.replaced(inventory=tuple(i for i in ctx.cell.inventory if i.role is Role.TARGET))
    inside = replace(ctx, cell=bare)
    alone = with_items(bases[0], bases[0].layout.items[:1], cell=bare, parts=ctx.parts)
    with pytest.raises(VariationFailed, match=r"\(no_occluder\): nothing is left in the inventory that could hide"):
        OCCLUSION.vary(alone, 2, ctx=inside, rng=stream("bare"))


def test_occlusion_hides_what_was_asked(ctx, scenes):
    for level in LEVELS:
        for _, scene, name in scenes(OCCLUSION)[level]:
            aim = Aim.drawn(HIDDEN, level, cell=ctx.cell, axis=OCCLUSION.name, rng=stream(*name))
            shares = hidden_shares(scene, ctx)
            worst = max(shares, key=lambda one: shares[one])
            assert aim.hit(shares[worst], pixels=outline_px(scene, scene.item(worst), ctx))


def test_the_hidden_share_is_the_meter_s(ctx, scenes):
    for level in LEVELS:
        for _, scene, _ in scenes(OCCLUSION)[level]:
            read = ctx.metered.read(scene)[CAMERA_OF_OCCLUSION]
            (quantity,) = OCCLUSION.measure(scene, scene, ctx=ctx)
            assert quantity.value == pytest.approx(float(read.hidden_share.max()), abs=1e-6)
            for name, share in hidden_shares(scene, ctx).items():
                assert share == pytest.approx(read.meters(name).hidden_share, abs=1e-6)


def test_a_convex_outline_covers_at_least_what_is_seen(ctx, bases):
    masks = MaskCaster(ctx.cell, ctx.parts)
    for item in targets_in(bases[0], ctx.cell):
        true = masks.outline_pixels(bases[0], item.name)
        assert 0.95 * true < outline_px(bases[0], item, ctx) < 1.6 * true


def test_a_datum_carries_what_lies_in_its_fixture(ctx, bases):
    moved = 0
    for seed in range(12):
        scene = DATUM.vary(bases[0], 4, ctx=ctx, rng=stream("datum", seed))
        for fixture in scene.layout.fixtures:
            before = fixture_pose(bases[0].layout, fixture.name)
            moved += fixture.pose_to_world != before
            for item in bases[0].layout.items:
                if item.zone == fixture.name:
                    local = before.inverse().apply(item.pose_to_world.position)
                    now = fixture.pose_to_world.inverse().apply(scene.item(item.name).pose_to_world.position)
                    assert now == pytest.approx(local, abs=1e-6)
    assert moved == 12


def test_a_cell_without_datums_has_no_datum_axis(ctx, bases):
    inside = replace(ctx, cell=ctx.cell.replaced(datums=()))
    with pytest.raises(VariationFailed, match=r"\(no_datum\): the cell names no datum"):
        DATUM.vary(bases[0], 1, ctx=inside, rng=stream("none"))


def test_a_moved_camera_still_sees_every_target(ctx, bases):
    for seed in range(10):
        scene = CAMERA.vary(bases[1], 5, ctx=ctx, rng=stream("camera", seed))
        before, after = bases[1].cameras.cameras, scene.cameras.cameras
        points = np.array([item.pose_to_world.position for item in targets_in(scene, ctx.cell)])
        assert in_view(after[0], points).all()
        assert after[0] != before[0]
        assert after[1] == before[1]


def test_the_wrist_camera_goes_with_the_robot(ctx, bases):
    scene = ROBOT_START.vary(bases[0], 4, ctx=ctx, rng=stream("start"))
    expected = nominal_cameras(ctx.cell, scene.motion)
    for camera, nominal in zip(scene.cameras.cameras, expected.cameras, strict=True):
        assert camera.pose_to_world.position == pytest.approx(nominal.pose_to_world.position, abs=1e-6)
        assert abs(camera.pose_to_world.quat @ nominal.pose_to_world.quat) == pytest.approx(1.0, abs=1e-9)


def test_vibration_keeps_robot_and_belt(ctx, bases):
    motion = VIBRATION.vary(bases[0], 2, ctx=ctx, rng=stream("shake")).motion
    assert motion.robot_start_rad == bases[0].motion.robot_start_rad
    assert np.linalg.norm(motion.vibration_direction) == pytest.approx(1.0, abs=1e-6)


def test_contact_changes_one_property_of_targets_alone(ctx, bases):
    kinds = set()
    for seed in range(24):
        scene = CONTACT.vary(bases[0], 3, ctx=ctx, rng=stream("contact", seed))
        fields = {
            name
            for old, new in zip(bases[0].matter.items, scene.matter.items, strict=True)
            for name in type(old).model_fields
            if getattr(old, name) != getattr(new, name)
        }
        kinds.add(frozenset(fields))
        for old, new in zip(bases[0].matter.items, scene.matter.items, strict=True):
            ratio = np.array(new.diagonal_inertia_kg_m2) / old.diagonal_inertia_kg_m2
            assert ratio == pytest.approx([new.mass_kg / old.mass_kg] * 3, rel=1e-5)
    assert kinds == {
        frozenset({"friction"}), frozenset({"center_of_mass_m"}), frozenset({"mass_kg", "diagonal_inertia_kg_m2"})
    }  # fmt: skip


def test_items_are_added_in_inventory_order_with_nominal_values(ctx, bases):
    slot = free_slots(bases[0], ctx.cell, Role.FOREIGN)[0]
    part = ctx.cell.slots[slot].part
    heavy = bases[0].varied(
        matter=bases[0].matter.replaced(
            items=(bases[0].matter.items[0].replaced(friction=0.1), *bases[0].matter.items[1:])
        )
    )
    added = Item(name=slot, part=part, zone="feed", pose_to_world=bases[0].layout.items[0].pose_to_world)
    scene = with_items(heavy, [added, *heavy.layout.items], cell=ctx.cell, parts=ctx.parts)
    assert scene.layout.items[-1] == added
    assert scene.matter.items[0].friction == pytest.approx(0.1)
    assert scene.matter.items[-1].mass_kg == pytest.approx(ctx.parts[part].mass.mass_kg, rel=1e-6)
    assert part in [asset.part for asset in scene.assets]
    assert with_items(scene, heavy.layout.items, cell=ctx.cell, parts=ctx.parts) == heavy


@pytest.mark.parametrize("turn", [-3.0, -0.5, 0.0, 0.7, 3.1])
def test_yaw_between(turn):
    assert yaw_between(quat_yaw(0.4), quat_yaw(0.4 + turn)) == pytest.approx(turn)
