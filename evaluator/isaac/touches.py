"""Who touches whom in all worlds, and how hard: read from MuJoCo-Warp's contacts after a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import warp as wp
from isaaclab_newton.physics import NewtonManager

from evaluator.isaac.prims import FIXED, SLOT

NOTHING, FINGER, BODY = -3, -2, -1
"""What a shape belongs to besides slots (0, 1, …) and, after them, fixtures."""


@dataclass(frozen=True, eq=False)
class Touches:
    """Contacts of all worlds; w worlds, s slots."""

    finger: torch.Tensor
    """A finger touches the slot's part, shape [w, s]."""
    body: torch.Tensor
    """Another part of the robot touches it, shape [w, s]."""
    fixture: torch.Tensor
    """Index of the fixture that it touches hardest, -1 for none, shape [w, s]."""
    fixture_force_n: torch.Tensor
    """Normal force between robot and fixtures, added up [N], shape [w]."""


class TouchReader:
    """Reads contacts of a solver that is ready.

    Args:
        slots: How many slots there are.
        fixtures: Names of the fixtures, as prims have them; `table` among them.
        worlds: How many worlds there are.
    """

    def __init__(self, *, slots: int, fixtures: Sequence[str], worlds: int) -> None:
        self._slots, self._fixtures, self._worlds = slots, tuple(fixtures), worlds
        solver: Any = NewtonManager._solver
        model = solver.mj_model
        names = [model.geom(index).name for index in range(model.ngeom)]
        device = _torch(solver.mjw_data.nacon).device
        self._owner = torch.tensor([self._owner_of(name) for name in names], device=device)

    def read(self) -> Touches:
        """Return the contacts of the last step."""
        solver: Any = NewtonManager._solver
        data = solver.mjw_data
        contact = data.contact
        # The buffers have room for many times the contacts that there are.
        live = slice(0, min(int(_torch(data.nacon)[0]), contact.dist.shape[0]))
        world, address = _torch(contact.worldid)[live].long(), _torch(contact.efc_address)[live, 0].long()
        force = torch.where(address >= 0, _torch(data.efc.force)[world, address.clip(0)], 0.0)
        pair = self._owner[_torch(contact.geom)[live].long().clip(0)]
        total = self._slots + len(self._fixtures) + 3
        forces = torch.zeros((self._worlds, total, total), device=force.device)
        forces.index_put_((world, pair[:, 0] + 3, pair[:, 1] + 3), force, accumulate=True)
        forces = forces + forces.transpose(1, 2)
        items = slice(3, 3 + self._slots)
        on_fixture = forces[:, items, 3 + self._slots :]
        hardest = on_fixture.max(dim=2)
        robot = forces[:, 1:3, 3 + self._slots :]
        return Touches(
            finger=forces[:, items, FINGER + 3] > 0,
            body=forces[:, items, BODY + 3] > 0,
            fixture=torch.where(hardest.values > 0, hardest.indices, -1),
            fixture_force_n=robot.sum(dim=(1, 2)),
        )

    def _owner_of(self, name: str) -> int:
        """Tell from a shape's path what it belongs to."""
        for token in name.split("/"):
            if token.startswith(SLOT):
                return int(token.removeprefix(SLOT))
            if token.startswith(FIXED):
                box = token.removeprefix(FIXED)
                found = [one for one in self._fixtures if box == one or box.startswith(f"{one}_")]
                return self._slots + self._fixtures.index(max(found, key=len)) if found else NOTHING
            if "finger" in token:
                return FINGER
        return BODY if "/Robot/" in name else NOTHING


def _torch(array: Any) -> torch.Tensor:
    return wp.to_torch(array)
