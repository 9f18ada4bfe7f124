"""Shapes are numbered by the prim of their world that they belong to, whatever the world."""

import numpy as np

from evaluator.isaac.instances import instance_index, instance_names, numbered
from scenegen.imaging.gbuffer import NOTHING
from scenegen.imaging.robot_look import ROBOT

PRIMS = ("Slot_00/part/mesh", "Slot_01/part/c0", "Fixed_table/geometry/mesh", "Fixed_feed_floor/g", "Robot/link1/v")


def test_prims_of_one_name_have_one_number_in_all_worlds():
    paths = [f"/World/envs/env_{world}/{prim}" for world in range(3) for prim in PRIMS]
    numbers, labels = numbered([*paths, "/World/ground", "loose"])
    assert numbers.dtype == np.uint32
    assert numbers[:15].reshape(3, 5).tolist() == [[2, 3, 4, 5, 6]] * 3
    assert numbers[15:].tolist() == [7, 7]
    assert labels == {2: "Slot_00", 3: "Slot_01", 4: "Fixed_table", 5: "Fixed_feed_floor", 6: "Robot", 7: ""}


def test_each_number_stands_for_an_instance_or_for_nothing(cell):
    names = instance_names(cell)
    _, labels = numbered([*(f"/World/envs/env_0/{prim}" for prim in PRIMS), "/World/ground"])
    index = instance_index(labels, names)
    assert index[:2].tolist() == [NOTHING, NOTHING]
    assert [names[place] for place in index[2:7]] == [*list(cell.slots)[:2], "table", "feed", ROBOT]
    assert index[7] == NOTHING
