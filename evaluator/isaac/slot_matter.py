"""Masses, friction and places of fixtures, written into the worlds that are reset and into no other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
import warp as wp
from isaaclab_newton.physics import NewtonManager
from newton import ModelFlags

from evaluator.isaac.prims import fixed_boxes, slot_prim
from evaluator.isaac.scene_rows import SceneRows
from scenegen.cell import Cell
from scenegen.nominal import spin_damping
from scenegen.parts.catalogue import Catalogue


class SlotMatter:
    """Writes what scenarios say of matter into a running simulation.

    Newton's own way after masses changed derives all constants of all worlds anew, with a thousand kernels, and one
    that all worlds share (the mean inertia) from the first world. Slots are free bodies, whose constants follow from
    mass and inertia by hand: they are written into Newton's model and the solver for the worlds concerned alone.

    Args:
        cell: The cell.
        parts: Its parts.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._model: Any = NewtonManager.get_model()
        self._device = str(self._model.device)
        solver: Any = NewtonManager._solver
        self._solver = solver.mjw_model
        prims = [slot_prim(index) for index in range(len(cell.slots))]
        self._newton_body = _table(self._model.body_label, self._model.body_world, prims, self._device)[0]
        self._shape, self._slot_of_shape = _table(self._model.shape_label, self._model.shape_world, prims, self._device)
        self._box_shape, self._box_of_shape = _table(
            self._model.shape_label, self._model.shape_world, list(fixed_boxes(cell)), self._device
        )
        compiled = solver.mj_model
        names = [compiled.body(index).name for index in range(compiled.nbody)]
        bodies = [next(i for i, name in enumerate(names) if name.endswith(prim)) for prim in prims]
        self._body = torch.tensor(bodies, device=self._device)
        self._dof = torch.tensor(np.array(compiled.body_dofadr[bodies], dtype=np.int64), device=self._device)
        for offset in (3, 4, 5):
            damping = self._tensor(spin_damping(cell, parts))
            wp.to_torch(self._solver.dof_damping)[:, self._dof + offset] = damping

    def write(self, ids: torch.Tensor, rows: SceneRows) -> None:
        """Write the matter of some worlds.

        Args:
            ids: Numbers of the worlds, shape [n].
            rows: Their scenarios.
        """
        worlds = ids.long()
        floating = self._tensor(rows.absent)
        self._write_model(self._newton_body[:, worlds].T, rows, floating)
        self._write_derived(worlds[:, None], rows, floating)
        friction, places = self._tensor(rows.friction), self._tensor(rows.boxes)
        wp.to_torch(self._model.shape_material_mu)[self._shape[:, worlds]] = friction[:, self._slot_of_shape].T
        boxes = places[:, self._box_of_shape].transpose(0, 1)
        wp.to_torch(self._model.shape_transform)[self._box_shape[:, worlds]] = boxes
        NewtonManager.add_model_change(ModelFlags.SHAPE_PROPERTIES)

    def _write_model(self, body: torch.Tensor, rows: SceneRows, floating: torch.Tensor) -> None:
        """Write the bodies of Newton's model, by their indices, shape [n, slots]."""
        held = self._model
        inverse = np.linalg.inv(rows.inertia)
        wp.to_torch(held.body_mass)[body] = self._tensor(rows.mass)
        wp.to_torch(held.body_inv_mass)[body] = self._tensor(1 / rows.mass)
        wp.to_torch(held.body_com)[body] = self._tensor(rows.center)
        wp.to_torch(held.body_inertia)[body] = self._tensor(rows.inertia)
        wp.to_torch(held.body_inv_inertia)[body] = self._tensor(inverse)
        wp.to_torch(held.mujoco.gravcomp)[body] = floating

    def _write_derived(self, at: torch.Tensor, rows: SceneRows, floating: torch.Tensor) -> None:
        """Write the solver's mass properties and what it derives from them.

        MuJoCo's `invweight0` is the mean of the diagonal of the inverse inertia, by three: of the degrees of freedom,
        which move the body's origin, and of the body at its centre of mass.
        """
        mass, center, moments = (self._tensor(one) for one in (rows.mass, rows.center, rows.moments))
        axes = self._tensor(rows.axes)
        held, body = self._solver, self._body
        wp.to_torch(held.body_mass)[at, body] = mass
        wp.to_torch(held.body_subtreemass)[at, body] = mass
        wp.to_torch(held.body_subtreemass)[at[:, 0], 0] = wp.to_torch(held.body_mass)[at[:, 0]].sum(dim=1)
        wp.to_torch(held.body_ipos)[at, body] = center
        wp.to_torch(held.body_inertia)[at, body] = moments
        wp.to_torch(held.body_iquat)[at, body] = axes[..., [3, 0, 1, 2]]
        wp.to_torch(held.body_gravcomp)[at, body] = floating
        turning = (1 / moments).mean(dim=2)
        inverse = self._tensor(np.linalg.inv(rows.inertia))
        across = torch.cross(center[..., None].expand_as(inverse), inverse, dim=2)
        lever = -torch.cross(across, center[..., None, :].expand_as(inverse), dim=3)
        moving = 1 / mass + lever.diagonal(dim1=2, dim2=3).mean(dim=2)
        wp.to_torch(held.body_invweight0)[at, body] = torch.stack([1 / mass, turning], dim=2)
        for offset in range(6):
            wp.to_torch(held.dof_invweight0)[at, self._dof + offset] = moving if offset < 3 else turning

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(np.asarray(values, np.float32), device=self._device)


def _table(labels: Iterable[str], worlds: Any, prims: list[str], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Find what lies at or below the named prims in each world.

    Returns:
        Indices, shape [k, worlds], and which prim each of the k belongs to, shape [k].
    """
    order = {prim: index for index, prim in enumerate(prims)}
    found: dict[int, list[tuple[int, int]]] = {}
    for index, (label, world) in enumerate(zip(labels, worlds.numpy().tolist(), strict=True)):
        for name in label.split("/"):
            if name in order:
                found.setdefault(world, []).append((order[name], index))
    columns = [sorted(found[world]) for world in sorted(found)]
    owners = [owner for owner, _ in columns[0]]
    assert all([owner for owner, _ in column] == owners for column in columns)
    indices = [[index for _, index in column] for column in columns]
    return torch.tensor(indices, device=device).T, torch.tensor(owners, device=device)
