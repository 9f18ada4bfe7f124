"""Cells: the built-in ones are valid, and what is wrong with a file is said in sentences."""

import pytest
import yaml

from scenegen.cell import MAX_SLOTS, Cell, PhysicsModel
from scenegen.cells.loader import BUILTIN, builtin_text, load_cell, parse_cell
from scenegen.errors import InvalidRecord, UnknownName


@pytest.fixture
def data():
    return yaml.safe_load(builtin_text("fasteners"))


def problem(data):
    with pytest.raises(InvalidRecord) as caught:
        Cell.from_data(data, what="cell.yaml")
    return str(caught.value)


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_cells_are_valid_and_come_back_from_json(name):
    cell = load_cell(name)
    assert cell.name == name
    assert Cell.from_json(cell.canonical_json()) == cell
    assert len(cell.slots) <= MAX_SLOTS


@pytest.mark.parametrize("name", BUILTIN)
def test_every_record_key_of_a_built_in_cell_is_spelled_in_its_file(name):
    text = builtin_text(name)
    assert text.startswith("# yaml-language-server: $schema=./scenegen.schema.json\n")


def test_an_unknown_field_is_named_with_what_is_accepted(data):
    data["bins"][0]["colour"] = "red"
    assert problem(data) == (
        "cell.yaml: bins.0.colour: unknown field (value 'red') - accepted: size_m, wall_height_m, wall_thickness_m, "
        "floor_thickness_m, name, label, pose_to_world, look, capacity"
    )


def test_a_wrong_kind_of_feed_is_told(data):
    data["feed"]["kind"] = "hopper"
    assert problem(data) == "cell.yaml: feed: kind 'hopper' - accepted: 'tray', 'belt'"


def test_a_missing_kind_of_feed_is_told(data):
    del data["feed"]["kind"]
    assert problem(data) == "cell.yaml: feed: no 'kind' given - it is required"


def test_rules_name_bins_that_exist(data):
    data["rules"][0]["bin"] = "bin_x"
    assert problem(data) == "cell.yaml: rules: bin 'bin_x' does not exist - accepted: bin_a, bin_b, bin_c, bin_d"


def test_start_joints_stay_within_their_limits(data):
    data["robot"]["start_joints_rad"][3] = 0.5
    assert problem(data) == "cell.yaml: robot: start_joints_rad.3 is 0.5 rad - accepted: -3.0718 to -0.0698 rad"


def test_start_joints_are_one_a_joint(data):
    data["robot"]["start_joints_rad"].append(0.0)
    assert problem(data) == "cell.yaml: robot: start_joints_rad has 8 values - accepted: one a joint (7)"


def test_the_inventory_fits_the_simulator(data):
    data["inventory"][0]["count"] = 20
    assert problem(data) == "cell.yaml: inventory holds 46 items - accepted: at most 32 in all"


def test_limits_that_a_cell_leaves_out_do_not_change_its_name(data):
    """What a picture must show has defaults that cells were written without."""
    known = Cell.from_data(data)
    spelled = {"saturated_share": 0.95, "luminance": 0.002, "snr_db": 3.0}
    assert not spelled.keys() & known.limits.model_dump().keys()
    assert {name: getattr(known.limits, name) for name in spelled} == spelled
    data["limits"] |= spelled
    assert Cell.from_data(data).content_id == known.content_id
    data["limits"]["snr_db"] = 6.0
    stricter = Cell.from_data(data)
    assert stricter.content_id != known.content_id
    assert Cell.from_json(stricter.canonical_json()).limits.snr_db == 6.0


def test_fill_is_a_range_within_the_targets(data):
    data["fill"] = [10, 40]
    assert problem(data).startswith("cell.yaml: fill.1: 40 - accepted: less than or equal to 32")
    data["fill"] = [10, 30]
    assert problem(data) == "cell.yaml: fill is [10, 30] - accepted: fewest <= most <= 22 targets in inventory"


def test_names_are_unique(data):
    data["bins"][1]["name"] = "bin_a"
    assert problem(data) == "cell.yaml: bins: name 'bin_a' is used twice - accepted: unique names"


def test_datums_name_fixtures(data):
    data["datums"][0]["fixture"] = "door"
    assert problem(data) == "cell.yaml: datums: fixture 'door' - accepted: feed, bin_a, bin_b, bin_c, bin_d"


def test_text_that_is_no_yaml_gets_one_sentence():
    with pytest.raises(InvalidRecord, match=r"^cell\.yaml: not YAML "):
        parse_cell("a: [1", what="cell.yaml")


def test_an_unknown_cell_is_answered_with_a_suggestion():
    with pytest.raises(UnknownName) as caught:
        load_cell("fastener")
    assert str(caught.value) == "unknown cell 'fastener' - did you mean 'fasteners'?"


def test_a_missing_file_is_told():
    with pytest.raises(InvalidRecord) as caught:
        load_cell("nowhere.yaml")
    assert str(caught.value) == "nowhere.yaml: no such file - write one with `scenegen init`"


def test_contact_constants_follow_newton():
    # Newton maps ke, kd to MuJoCo's solref as (2 / kd, kd / (2 sqrt(ke))); its defaults 2500, 100 give (0.02, 1).
    assert PhysicsModel(contact_stiffness=2500, contact_damping=100).solref == (0.02, 1.0)
