"""A robot's base is bolted to the table: the two do not push each other."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from isaaclab.physics import PhysicsEvent
from isaaclab.sim import SimulationContext
from isaaclab_newton.physics import NewtonManager
from isaaclab_newton.physics.newton_manager_cfg import NewtonBuilderCfg
from newton import JointType


def filter_base_contact(simulation: SimulationContext) -> None:
    """Let no link that is fixed to the world collide with fixtures, from the next reset of the simulation on.

    Neither can move, so a contact between them has no effective mass: the solver would give it forces of 1e13 N and
    more, in which single precision loses all others.

    Args:
        simulation: A simulation whose scene is built.
    """

    def filter_pairs(_: object) -> None:
        physics: Any = simulation.cfg.physics
        builder: Any = simulation.get_or_create_backend(NewtonBuilderCfg(physics_cfg=physics))
        joints = zip(builder.joint_type, builder.joint_parent, builder.joint_child, strict=True)
        bolted = {child for kind, parent, child in joints if parent == -1 and kind == JointType.FIXED}
        fixtures, bases = defaultdict(list), defaultdict(list)
        for shape, (body, world) in enumerate(zip(builder.shape_body, builder.shape_world, strict=True)):
            if body == -1:
                fixtures[world].append(shape)
            elif body in bolted:
                bases[world].append(shape)
        for world, shapes in bases.items():
            for base in shapes:
                for fixture in fixtures[world]:
                    builder.add_shape_collision_filter_pair(base, fixture)

    NewtonManager.register_callback(filter_pairs, PhysicsEvent.MODEL_INIT, wrap_weak_ref=False)
