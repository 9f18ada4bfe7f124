"""Find which things of a layout touch, overlap or nearly touch, by their true collision shapes."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.model import SceneModel
from scenegen.scenario import Layout


@dataclass(frozen=True)
class Contact:
    """Where two things touch, overlap or come near each other."""

    a: str
    """Name of an item, `table`, `feed` or a bin; fixtures come first, items in inventory order."""
    b: str
    """Name of the item that comes later; never a fixture, since fixtures do not meet each other."""
    depth_m: float
    """Penetration [m]; negative for a gap."""
    position_m: tuple[float, float, float]
    """Point midway between the two surfaces [m], world frame."""


class ContactFinder:
    """Finds contacts in any layout of a cell, without moving anything.

    Example:
        >>> finder = ContactFinder(cell, parts)  # doctest: +SKIP
        >>> [c.depth_m for c in finder.contacts(scenario.layout)]  # doctest: +SKIP
        [0.00002]
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._scene = SceneModel(cell, parts, sleep=False)
        self._scene.model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
        # The deepest point of each pair of pieces is enough.
        self._scene.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)
        self._last: tuple[Layout, float, tuple[Contact, ...]] | None = None

    def contacts(self, layout: Layout, *, margin_m: float = 0.0) -> tuple[Contact, ...]:
        """Find the deepest contact of each pair of things.

        Args:
            layout: The layout; a fixture's floor and walls count as one thing.
            margin_m: Also report pairs whose gap is below this [m].

        Returns:
            One contact a pair, in the order of fixtures and inventory.
        """
        if self._last is not None and self._last[0] is layout and self._last[1] == margin_m:
            return self._last[2]
        scene = self._scene
        scene.load(layout)
        scene.model.opt.o_margin = margin_m
        mujoco.mj_kinematics(scene.model, scene.data)
        mujoco.mj_collision(scene.model, scene.data)
        found = deepest_contacts(scene)
        self._last = (layout, margin_m, found)
        return found


def deepest_contacts(scene: SceneModel) -> tuple[Contact, ...]:
    """Reduce a model's present contacts to the deepest one of each pair of things."""
    contact, owners = scene.data.contact, scene.owners
    pairs = np.sort(scene.model.geom_bodyid[contact.geom], axis=1)
    order = np.lexsort((contact.dist, pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    first = np.ones(len(order), bool)
    first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    chosen = order[first]
    rows = zip(pairs[first].tolist(), contact.dist[chosen].tolist(), contact.pos[chosen].tolist(), strict=True)
    return tuple(Contact(owners[a], owners[b], -distance, tuple(position)) for (a, b), distance, position in rows)
