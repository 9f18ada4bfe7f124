"""Which of a cell's cameras a policy asks for."""

from __future__ import annotations

from evaluator.policy import PolicySpec
from scenegen.cell import Cell
from scenegen.errors import UnknownName

ALL = "*"
"""In place of a camera's name: all cameras of the cell."""


def policy_cameras(spec: PolicySpec, cell: Cell) -> tuple[str, ...]:
    """Return the names of the cameras whose images a policy asks for, in the cell's order.

    Raises:
        UnknownName: The cell has no camera of a name that the policy gives.
    """
    known = tuple(camera.name for camera in cell.cameras)
    if spec.cameras == (ALL,):
        return known
    for name in spec.cameras:
        if name not in known:
            raise UnknownName("camera", name, known)
    return tuple(name for name in known if name in spec.cameras)
