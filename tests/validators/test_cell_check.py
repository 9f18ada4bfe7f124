"""Faults of cells, each with the sentence that names the field."""

import pytest

from scenegen.axes.registry import AXES
from scenegen.geometry import Pose
from scenegen.parts.builtin import builtin_catalogue
from scenegen.scenario import SortRule
from validators.cell_check import check_cell, graspable_share
from validators.cell_view import camera_of
from validators.look_alikes import difference_px


def _sentences(cell, catalogue):
    return [found.sentence for found in check_cell(cell, catalogue, AXES)]


def _with(record, **fields):
    return record.model_copy(update=fields)


def _bin(cell, index, **fields):
    bins = list(cell.bins)
    bins[index] = _with(bins[index], **fields)
    return _with(cell, bins=tuple(bins))


def _camera(cell, **fields):
    return _with(cell, cameras=(_with(cell.cameras[0], **fields), *cell.cameras[1:]))


def test_the_built_in_cells_are_sound(cell, catalogue, rings):
    assert _sentences(cell, catalogue) == []
    assert _sentences(rings, builtin_catalogue([item.part for item in rings.inventory])) == []


def test_an_unknown_part(cell, catalogue):
    strange = _with(cell, inventory=(_with(cell.inventory[0], part="hex_bolt_m7x20"), *cell.inventory[1:]))
    assert _sentences(strange, catalogue)[0].startswith("inventory: part 'hex_bolt_m7x20' is not known - accepted: ")


@pytest.mark.parametrize(
    ("envelope", "sentence"),
    [
        ({"lightning": {}}, "envelope: axis 'lightning' is not known - accepted: "),
        (
            {"lighting": {"lux": (0, 1)}},
            "envelope.lighting: quantity 'lux' is not known - accepted: illuminance_factor, ",
        ),
        (
            {"lighting": {"illuminance_factor": (2, 1)}},
            "envelope.lighting.illuminance_factor: [2, 1] is empty - accepted: least <= greatest",
        ),
    ],
)
def test_a_strange_envelope(cell, catalogue, envelope, sentence):
    (found,) = _sentences(_with(cell, envelope=envelope), catalogue)
    assert found.startswith(sentence)


def test_an_unknown_cause(cell, catalogue):
    (found,) = _sentences(_with(cell, allowed_causes=("nominal", "earthquake")), catalogue)
    assert found.startswith("allowed_causes: 'earthquake' is not known - accepted: nominal, jostled, leaning")


def test_an_unknown_template_field(cell, catalogue):
    (found,) = _sentences(_with(cell, instructions=("Sort {things}.",)), catalogue)
    assert found == "instructions: {things} in 'Sort {things}.' is not known - accepted: {parts} and {rules}"


def test_undecidable_rules(cell, catalogue):
    twice = _with(cell, rules=(*cell.rules, SortRule(match="hex_nut", bin="bin_a")))
    assert _sentences(twice, catalogue) == [
        "rules: 2 rules match target 'hex_nut_m6' - accepted: exactly one",
        "rules: 2 rules match target 'hex_nut_m8' - accepted: exactly one",
    ]
    lacking = _with(cell, rules=cell.rules[1:])
    assert _sentences(lacking, catalogue) == ["rules: 0 rules match target 'hex_bolt_m6x20' - accepted: exactly one"]
    idle = _with(cell, rules=(*cell.rules, SortRule(match="gear", bin="bin_a")))
    assert _sentences(idle, catalogue)[0].startswith(
        "rules: 'gear' is nothing in the inventory - accepted: cable, chip"
    )


def test_a_bin_without_room(cell, catalogue):
    (found,) = _sentences(_bin(cell, 0, capacity=3), catalogue)
    assert found == (
        "bins: 'bin_a' has room for 3 parts, but its rules may send 6 - accepted: a capacity of at least 6"
    )


def test_fixtures_in_each_other(cell, catalogue):
    found = _sentences(_bin(cell, 1, pose_to_world=Pose(position_m=(0.45, 0.235, 0.004))), catalogue)
    assert found == ["bins: 'bin_b' and 'bin_a' overlap by 0.106 m - accepted: fixtures that stand apart"]


def test_fixtures_off_and_in_the_table(cell, catalogue):
    off = _sentences(_bin(cell, 0, pose_to_world=Pose(position_m=(0.42, 0.56, 0.004))), catalogue)
    assert "table: 'bin_a' reaches 0.048 m past its edge - accepted: fixtures on the table" in off
    sunk = _sentences(_bin(cell, 0, pose_to_world=Pose(position_m=(0.42, 0.235, -0.01))), catalogue)
    assert sunk == ["table: the floor of 'bin_a' is 0.012 m inside the table - accepted: above its top"]


def test_a_bin_out_of_reach(cell, catalogue):
    found = _sentences(_bin(cell, 0, pose_to_world=Pose(position_m=(0.83, 0.45, 0.004))), catalogue)
    assert found == [
        "robot: the tool does not reach above bin 'bin_a' from above - accepted: fixtures within its reach"
    ]


def test_a_camera_that_is_not_there_or_sees_too_little(cell, catalogue):
    assert _sentences(_camera(cell, name="top"), catalogue) == [
        "cameras: none is called 'overhead' with mount `world` - accepted: one that frames the feed from above"
    ]
    assert _sentences(_camera(cell, focal_px=(1600.0, 1600.0)), catalogue) == [
        "cameras: 'overhead' does not frame the whole feed - accepted: all four corners inside its picture"
    ]


def test_a_camera_that_is_too_coarse(cell, catalogue):
    found = _sentences(_camera(cell, focal_px=(320.0, 320.0)), catalogue)
    assert found[0] == "cameras: a pixel of 'overhead' is 0.0025 m on the feed - accepted: at most 0.0015 m"
    assert found[1].startswith("cameras: 'hex_bolt_m6x20' and 'hex_bolt_m8x20' go to different bins but differ by 1")
    assert found[1].endswith("- accepted: at least 2 px (a longer focal length, more pixels)")


def test_look_alikes_differ_by_what_the_camera_resolves(cell, catalogue):
    camera, feed = camera_of(cell.cameras[0]), cell.feed.pose_to_world
    across_flats_px = (13.0 - 10.0) / 1.0
    measured = difference_px(catalogue["hex_nut_m6"], catalogue["hex_nut_m8"], camera, feed)
    assert measured == pytest.approx(across_flats_px * 2 / 3**0.5, abs=0.5)  # across corners
    assert difference_px(catalogue["hex_nut_m6"], catalogue["hex_nut_m6"], camera, feed) < 0.2


def _tight(cell, opening_m):
    return _with(cell, robot=_with(cell.robot, gripper=_with(cell.robot.gripper, opening_m=opening_m)))


def test_a_part_that_the_gripper_cannot_take(cell, catalogue):
    found = _sentences(_tight(cell, 0.0105), catalogue)
    least = "(opening 0.0105 m, least height 0.0012 m) - accepted: parts that it can take"
    assert found == [
        f"inventory: the gripper has no grasp of 'hex_bolt_m8x20' from above in any resting pose {least}",
        f"inventory: the gripper has no grasp of 'flat_washer_m8' from above in any resting pose {least}",
    ]


def test_the_graspable_share_counts_poses_by_their_probability(cell, catalogue):
    part = catalogue["hex_nut_m8"]
    height = min(rest.height_m for rest in part.stable_poses)
    on_edge = sum(rest.probability for rest in part.stable_poses if rest.height_m > height * 1.2)
    assert graspable_share(part, cell) == 1.0
    assert graspable_share(part, _tight(cell, 0.0105)) == pytest.approx(on_edge, rel=1e-9)
    assert graspable_share(part, _tight(cell, 0.0085)) == 0.0
