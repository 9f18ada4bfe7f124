"""A cell as an Isaac Lab scene: fixed boxes, a slot for each part of the inventory, and the cell's physics model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from isaaclab.assets import AssetBaseCfg, RigidObjectCfg, RigidObjectCollectionCfg
from isaaclab.scene import InteractiveSceneCfg
from isaaclab.sim import CuboidCfg, UsdFileCfg, UsdPhysicsCollisionCfg
from isaaclab_newton.physics import MJWarpSolverCfg, NewtonCfg, NewtonShapeCfg
from isaaclab_newton.sim.schemas import MujocoRigidBodyCfg

from evaluator.isaac.arm_cfg import arm_cfg
from evaluator.isaac.camera_cfg import camera_cfg
from evaluator.isaac.prims import CAMERA, FIXED, parking_pose, slot_prim
from evaluator.isaac.robot_asset import RobotAsset
from scenegen.cell import Cell, PhysicsModel
from scenegen.geometry import Pose
from scenegen.nominal import nominal_fixtures
from scenegen.parts.catalogue import Catalogue
from scenegen.usd.part_file import write_part

CONTACTS_PER_WORLD = 600
"""Room for contacts in each world; a scene of 14 parts, five of them stacked, has about 190."""


def physics_cfg(physics: PhysicsModel) -> NewtonCfg:
    """Translate a cell's physics model: the same numbers that the settle check runs on."""
    solver = MJWarpSolverCfg(
        njmax=3 * CONTACTS_PER_WORLD,
        nconmax=CONTACTS_PER_WORLD,
        iterations=physics.iterations,
        integrator="implicitfast",
        impratio=physics.impratio,
        cone=physics.cone,
        # A flat face needs several contacts to rest on; MuJoCo has this on by default.
        enable_multiccd=True,
        tolerance=1e-8,
    )
    shape = NewtonShapeCfg(
        ke=physics.contact_stiffness,
        kd=physics.contact_damping,
        gap=physics.contact_gap_m,
        mu=physics.fixture_friction,
    )
    return NewtonCfg(solver_cfg=solver, default_shape_cfg=shape)


def scene_cfg(
    cell: Cell,
    parts: Catalogue,
    folder: Path,
    *,
    worlds: int,
    robot: RobotAsset | None = None,
    cameras: Sequence[str] = (),
) -> InteractiveSceneCfg:
    """Describe the worlds of a cell.

    Args:
        cell: The cell.
        parts: Its parts; their USD files are written into `folder`.
        folder: Where the part files go.
        worlds: Number of worlds; all stand at the origin, since worlds do not meet.
        robot: The cell's robot; none for worlds in which only parts move.
        cameras: Names of the cell's cameras that are there.
    """
    scene = InteractiveSceneCfg(num_envs=worlds, env_spacing=0.0, replicate_physics=True)
    table = cell.table
    half = (table.size_m[0] / 2, table.size_m[1] / 2, table.size_m[2] / 2)
    assets: dict[str, AssetBaseCfg] = {"table": _box_cfg("table", half, table.pose_top_to_world, (0.0, 0.0, -half[2]))}
    for fixture in nominal_fixtures(cell):
        for box, (size, center) in cell.containers[fixture.name].boxes().items():
            name = f"{fixture.name}_{box}"
            assets[name] = _box_cfg(name, size, fixture.pose_to_world, center)
    files = {}
    for part in dict.fromkeys(item.part for item in cell.inventory):
        files[part] = folder / f"{part}.usdc"
        write_part(parts[part], files[part])
    slots = {
        slot_prim(index): _slot_cfg(slot_prim(index), files[item.part], parking_pose(index))
        for index, item in enumerate(cell.slots.values())
    }
    if robot is not None:
        assets["robot"] = arm_cfg(cell.robot, robot)
    seen = {
        f"{CAMERA}{one.name}": camera_cfg(one, f"{CAMERA}{one.name}") for one in cell.cameras if one.name in cameras
    }
    # Isaac Lab reads a scene from the attributes of its description.
    for name, asset in {**assets, **seen, "slots": RigidObjectCollectionCfg(rigid_objects=slots)}.items():
        setattr(scene, name, asset)
    return scene


def _box_cfg(
    name: str, half: tuple[float, float, float], pose: Pose, center: tuple[float, float, float]
) -> AssetBaseCfg:
    x, y, z = (2 * h for h in half)
    return AssetBaseCfg(
        prim_path=f"{{ENV_REGEX_NS}}/{FIXED}{name}",
        spawn=CuboidCfg(size=(x, y, z), collision_props=[UsdPhysicsCollisionCfg()], semantic_tags=[("class", name)]),
        init_state=AssetBaseCfg.InitialStateCfg(pos=tuple(pose.apply(center).tolist()), rot=pose.quat_xyzw),
    )


def _slot_cfg(prim: str, file: Path, pose: Pose) -> RigidObjectCfg:
    return RigidObjectCfg(
        prim_path=f"{{ENV_REGEX_NS}}/{prim}",
        spawn=UsdFileCfg(usd_path=str(file), rigid_props=[MujocoRigidBodyCfg(gravcomp=1.0)]),
        init_state=RigidObjectCfg.InitialStateCfg(pos=pose.position_m, rot=pose.quat_xyzw),
    )
