"""A cell's inventory as one MuJoCo model, into which any layout of the cell can be loaded."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from scenegen.cell import Cell, PhysicsModel
from scenegen.errors import InvalidRecord, UnknownName
from scenegen.geometry import Array, Pose
from scenegen.nominal import matter_of, nominal_fixtures, spin_damping
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Collider, Part
from scenegen.scenario import Item, ItemMatter, Layout, Matter
from scenegen.usd.boxes import oriented_box

REST_SPEED_M_S = 0.003
"""Speed below which a body may fall asleep [m/s]; an angular speed counts at the body's size (MuJoCo's rule).

A part that stands on a polygon trembles by up to 0.002 m/s: collision detection returns four of its corners in turn.
"""

PARKING_M = 100.0
"""Where absent items stand [m, along X], each a metre from the next, asleep and far from everything."""

LEAST_INERTIAL = 1e-15
"""MuJoCo's least mass [kg] and moment of inertia [kg m²]."""

_TAG = "body:"
_BOX = mujoco.mjtGeom.mjGEOM_BOX
_MESH = mujoco.mjtGeom.mjGEOM_MESH
_FIXTURE = {"contype": 1, "conaffinity": 0}
_LOOSE = {"contype": 1, "conaffinity": 1}


class SceneModel:
    """One compiled model: table, feed and bins as fixed bodies, one free body for each slot of the inventory.

    Loading a layout writes poses, masses and friction; items that the layout lacks are parked asleep. What was loaded
    before leaves no trace: the state is reset as a whole, and every slot's properties are written where they differ.

    Example:
        >>> scene = SceneModel(cell, parts, sleep=True)  # doctest: +SKIP
        >>> scene.load(layout, matter)  # doctest: +SKIP
        >>> mujoco.mj_step(scene.model, scene.data)  # doctest: +SKIP
    """

    def __init__(self, cell: Cell, parts: Catalogue, *, sleep: bool) -> None:
        self.parts = parts
        self.slots = {slot: item.part for slot, item in cell.slots.items()}
        self.fixtures = tuple(cell.containers)
        self.model = _compile(cell, parts, sleep=sleep)
        self.data = mujoco.MjData(self.model)
        self.owners = tuple(self.model.body(body).name.removeprefix(_TAG) for body in range(self.model.nbody))
        """Name of the item or fixture that each body is; the first one is the world."""
        self._body = {owner: body for body, owner in enumerate(self.owners)}
        self._index = {slot: index for index, slot in enumerate(self.slots)}
        self._geoms = {slot: _geoms_of(self.model, self._body[slot]) for slot in self.slots}
        self._nominal = {slot: matter_of(parts[part], name=slot) for slot, part in self.slots.items()}
        self._bounds = {slot: _bounds(self.model, self._body[slot], parts[part]) for slot, part in self.slots.items()}
        self._written: dict[str, ItemMatter] = {}
        self.matters = 0
        """How often mass properties or friction were changed in the model."""
        self._write_matter({})
        self.model.dof_damping.reshape(-1, 6)[:, 3:] = spin_damping(cell, parts)[:, None]

    def load(self, layout: Layout, matter: Matter | None = None) -> None:
        """Put a layout's items and fixtures where it says, everything at rest.

        Args:
            layout: Poses; every fixture of the cell must be among them.
            matter: Mass properties and friction of every item; the parts' own ones by default.

        Raises:
            UnknownName: An item is no slot of the cell, or a fixture or an item's matter is missing.
            InvalidRecord: An item holds another part than its slot, or its matter is not a positive finite number.
        """
        present = self.write(layout, matter)
        model, data = self.model, self.data
        model.tree_sleep_policy[:] = mujoco.mjtSleepPolicy.mjSLEEP_INIT
        model.tree_sleep_policy[present] = mujoco.mjtSleepPolicy.mjSLEEP_ALLOWED
        mujoco.mj_resetData(model, data)
        qpos = data.qpos.reshape(-1, 7)
        for row, item in zip(present, layout.items, strict=True):
            x, y, z, w = item.pose_to_world.quat_xyzw
            qpos[row] = (*item.pose_to_world.position_m, w, x, y, z)

    def write(self, layout: Layout, matter: Matter | None = None) -> np.ndarray:
        """Write into the model, but not into its state, what a layout changes in it; see `load`.

        Returns:
            The items' rows in the arrays of free bodies, in layout order, shape [items].
        """
        self._check_items(layout.items)
        self._place_fixtures({fixture.name: fixture.pose_to_world for fixture in layout.fixtures})
        self._write_matter({} if matter is None else _matter_of(layout.items, matter))
        present = self.rows(layout)
        dofs = (present[:, None] * 6 + np.arange(6)).ravel()
        # The solver's tolerance is relative to this; absent items must not count.
        self.model.stat.meaninertia = self.model.dof_M0[dofs].mean() if len(dofs) else 1.0
        return present

    def rows(self, layout: Layout) -> Array:
        """Return the items' rows in the model's arrays of free bodies, in layout order, shape [items]."""
        return np.array([self._index[item.name] for item in layout.items], int)

    def places(self, layout: Layout) -> Array:
        """Return where the items are now, in layout order, quantised as records are.

        Returns:
            Position [m] and quaternion xyzw of each, shape [items, 7].
        """
        qpos = self.data.qpos.reshape(-1, 7)[self.rows(layout)]
        poses = [Pose.of(row[:3], row[[4, 5, 6, 3]]) for row in qpos]
        return np.array([(*pose.position_m, *pose.quat_xyzw) for pose in poses]).reshape(-1, 7)

    def _check_items(self, items: tuple[Item, ...]) -> None:
        for item in items:
            part = self.slots.get(item.name)
            if part is None:
                raise UnknownName("slot", item.name, self.slots)
            if part != item.part:
                raise InvalidRecord("layout", [f"items: {item.name} holds part {item.part!r} - accepted: {part!r}"])

    def _place_fixtures(self, poses: dict[str, Pose]) -> None:
        for name in self.fixtures:
            pose = poses.get(name)
            if pose is None:
                raise UnknownName("fixture", name, poses)
            x, y, z, w = pose.quat_xyzw
            self.model.body_pos[self._body[name]] = pose.position_m
            self.model.body_quat[self._body[name]] = (w, x, y, z)

    def _write_matter(self, given: dict[str, ItemMatter]) -> None:
        """Write mass properties and friction where they differ; slots that are not given get their part's own."""
        wanted = {**self._nominal, **given} if given else self._nominal
        if wanted is self._written:
            return
        old = self._written
        changed = [slot for slot, new in wanted.items() if new is not old.get(slot) and new != old.get(slot)]
        for slot in changed:
            self._write_slot(slot, wanted[slot])
        if changed:
            self._derive()
            self.matters += 1
        self._written = wanted

    def _derive(self) -> None:
        """Compute what follows from the masses: inverse weights, which scale the contacts' compliance."""
        model, sleep = self.model, int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        flags = model.opt.enableflags
        # Of what sleeps since the last scene, MuJoCo would keep the old ones.
        model.opt.enableflags = flags & ~sleep
        mujoco.mj_setConst(model, self.data)
        model.opt.enableflags = flags

    def _write_slot(self, slot: str, matter: ItemMatter) -> None:
        model, body = self.model, self._body[slot]
        x, y, z, w = matter.principal_axes_xyzw
        model.body_mass[body] = matter.mass_kg
        model.body_inertia[body] = matter.diagonal_inertia_kg_m2
        model.body_ipos[body] = matter.center_of_mass_m
        model.body_iquat[body] = (w, x, y, z)
        model.geom_friction[self._geoms[slot], 0] = matter.friction
        # MuJoCo keeps a body's bounding tree in the frame of its principal axes.
        frame = Pose.of(matter.center_of_mass_m, matter.principal_axes_xyzw)
        for node, corners in self._bounds[slot]:
            local = (corners - frame.position) @ frame.rotation
            low, high = local.min(axis=0), local.max(axis=0)
            model.bvh_aabb[node] = (*((low + high) / 2), *((high - low) / 2))


def _ignore(message: str) -> None:
    """Drop MuJoCo's warnings: what diverges is reported by `Settled`, and MuJoCo would write a log file besides."""


mujoco.set_mju_user_warning(_ignore)


def _compile(cell: Cell, parts: Catalogue, *, sleep: bool) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    _set_options(spec, cell.physics, sleep=sleep)
    table = cell.table
    half = (table.size_m[0] / 2, table.size_m[1] / 2, table.size_m[2] / 2)
    body = _fixed_body(spec, "table", table.pose_top_to_world)
    _add_box(body, half, (0.0, 0.0, -half[2]), cell.physics)
    for fixture in nominal_fixtures(cell):
        body = _fixed_body(spec, fixture.name, fixture.pose_to_world)
        for size, center in cell.containers[fixture.name].boxes().values():
            _add_box(body, size, center, cell.physics)
    for part in dict.fromkeys(item.part for item in cell.inventory):
        _add_meshes(spec, parts[part])
    for index, (slot, item) in enumerate(cell.slots.items()):
        _add_item(spec, slot, parts[item.part], cell.physics, x_m=PARKING_M + index)
    return spec.compile()


def _set_options(spec: mujoco.MjSpec, physics: PhysicsModel, *, sleep: bool) -> None:
    option = spec.option
    option.timestep = physics.timestep_s
    option.gravity = [0.0, 0.0, -physics.gravity_m_s2]
    cones = {"elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC, "pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL}
    option.cone = cones[physics.cone]
    option.impratio = physics.impratio
    option.iterations = physics.iterations
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    # A diverged state must be seen, not reset behind our back.
    option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    option.sleep_tolerance = REST_SPEED_M_S
    if sleep:
        option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)


def _fixed_body(spec: mujoco.MjSpec, name: str, pose: Pose) -> mujoco.MjsBody:
    x, y, z, w = pose.quat_xyzw
    return spec.worldbody.add_body(name=_tag(name), pos=pose.position_m, quat=(w, x, y, z))


def _add_box(body: mujoco.MjsBody, half: tuple[float, ...], center: tuple[float, ...], physics: PhysicsModel) -> None:
    friction = (physics.fixture_friction, 0.0, 0.0)
    body.add_geom(type=_BOX, size=half, pos=center, friction=friction, **_contact(physics), **_FIXTURE)


def _add_meshes(spec: mujoco.MjSpec, part: Part) -> None:
    for index, collider in enumerate(part.colliders):
        if collider.kind == "hull":
            spec.add_mesh(
                name=f"{part.id}/{index}",
                uservert=collider.vertices.ravel().tolist(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX,
            )


def _add_item(spec: mujoco.MjSpec, slot: str, part: Part, physics: PhysicsModel, *, x_m: float) -> None:
    # Off-centre mass properties, overwritten after compilation: the compiler specialises bodies whose mass is centred.
    body = spec.worldbody.add_body(
        name=_tag(slot),
        pos=(x_m, 0.0, 0.0),
        mass=part.mass.mass_kg,
        ipos=(1e-3, 2e-3, 3e-3),
        iquat=(0.5, 0.5, 0.5, 0.5),
        inertia=part.mass.diagonal_inertia_kg_m2,
        explicitinertial=True,
    )
    body.add_freejoint()
    friction = (part.friction, 0.0, 0.0)
    for index, collider in enumerate(part.colliders):
        shape = {"type": _MESH, "meshname": f"{part.id}/{index}"} if collider.kind == "hull" else _box_shape(collider)
        body.add_geom(friction=friction, **shape, **_contact(physics), **_LOOSE)


def _contact(physics: PhysicsModel) -> dict[str, object]:
    return {"solref": physics.solref, "condim": 3}


def _box_shape(collider: Collider) -> dict[str, object]:
    box = oriented_box(collider.vertices)
    x, y, z, w = box.pose.quat_xyzw
    return {"type": _BOX, "pos": box.pose.position_m, "size": [s / 2 for s in box.size_m], "quat": (w, x, y, z)}


def _tag(name: str) -> str:
    return f"{_TAG}{name}"


def _geoms_of(model: mujoco.MjModel, body: int) -> slice:
    return slice(int(model.body_geomadr[body]), int(model.body_geomadr[body] + model.body_geomnum[body]))


def _bounds(model: mujoco.MjModel, body: int, part: Part) -> list[tuple[int, Array]]:
    """Return each node of a body's bounding tree with the collider corners that it holds [m], part frame."""
    first = int(model.body_bvhadr[body])
    geom = int(model.body_geomadr[body])

    def corners(node: int) -> Array:
        if model.bvh_nodeid[node] >= 0:
            return part.colliders[int(model.bvh_nodeid[node]) - geom].vertices
        children = (int(child) for child in model.bvh_child[node] if child >= 0)
        return np.concatenate([corners(first + child) for child in children])

    return [(node, corners(node)) for node in range(first, first + int(model.body_bvhnum[body]))]


def _matter_of(items: tuple[Item, ...], matter: Matter) -> dict[str, ItemMatter]:
    by_name = {one.name: one for one in matter.items}
    found = {}
    for item in items:
        one = by_name.get(item.name)
        if one is None:
            raise UnknownName("matter of item", item.name, by_name)
        # Records refuse such values, but a record can be built without validation.
        numbers = (one.mass_kg, *one.diagonal_inertia_kg_m2)
        if not (all(map(math.isfinite, numbers)) and min(numbers) >= LEAST_INERTIAL):
            shown = f"mass {one.mass_kg:g} kg, inertia {', '.join(f'{v:g}' for v in numbers[1:])} kg m2"
            raise InvalidRecord("matter", [f"{item.name}: {shown} - accepted: finite numbers of at least 1e-15"])
        found[item.name] = one
    return found
