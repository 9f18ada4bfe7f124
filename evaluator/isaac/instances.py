"""What the pixels of a world's cameras show: from the simulator's shapes to numbers, and from numbers to instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.isaac.prims import FIXED, SLOT
from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.gbuffer import NOTHING
from scenegen.imaging.robot_look import ROBOT
from scenegen.nominal import nominal_fixtures

FIRST = 2
"""Isaac Lab's numbers begin with it: 0 is nothing that was hit, 1 is something without a name."""
PLACE = 4
"""Where a prim's name stands in a shape's path: `/World/envs/env_0/Slot_00/…`."""


def instance_names(cell: Cell) -> tuple[str, ...]:
    """Return what the G-buffers of a cell's worlds show: slots, feed and bins, table, robot."""
    return (*cell.slots, *(fixture.name for fixture in nominal_fixtures(cell)), "table", ROBOT)


def numbered(paths: Sequence[str]) -> tuple[NDArray[np.uint32], dict[int, str]]:
    """Number shapes by the prim of their world that they belong to.

    Args:
        paths: The shapes' paths.

    Returns:
        The number of each shape, shape [n], and the name of each number.
    """
    names = [(path.split("/", PLACE + 1)[PLACE:] or [""])[0] for path in paths]
    known = {name: number for number, name in enumerate(dict.fromkeys(names), FIRST)}
    numbers = np.array([known[name] for name in names], np.uint32)
    return numbers, {number: name for name, number in known.items()}


def instance_index(labels: Mapping[int, str], names: Sequence[str]) -> Array:
    """Return which name each of the simulator's numbers stands for, `NOTHING` for none, shape [numbers].

    Args:
        labels: The name of the prim that each number stands for (`idToLabels`).
        names: Names as `instance_names` has them.
    """
    index = np.full(max(labels) + 1, NOTHING)
    longest_first = sorted(names, key=len, reverse=True)
    for number, word in labels.items():
        if word.startswith(SLOT):
            index[number] = int(word.removeprefix(SLOT))
        elif word.startswith(FIXED):
            box = word.removeprefix(FIXED)
            owner = next(name for name in longest_first if box == name or box.startswith(f"{name}_"))
            index[number] = names.index(owner)
        elif word == "Robot":
            index[number] = names.index(ROBOT)
    return index
