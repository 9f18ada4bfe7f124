"""Observations, contexts and checked policies for all tests of policies."""

import numpy as np
import pytest

from evaluator.policies.action_range import ActionRange
from evaluator.policies.checked import Checked
from evaluator.policies.context import PolicyContext
from evaluator.policies.registry import make_policy
from evaluator.policy import Observation
from scenegen.streams import stream


@pytest.fixture(scope="session")
def context(cell, catalogue):
    """The `fasteners` cell, seed 3."""
    return PolicyContext(cell, catalogue, 3)


@pytest.fixture(scope="session")
def observe(cell):
    """What some worlds show: a function of their numbers, and of which moment."""

    def observe(worlds=(0, 1, 2), moment=0):
        rows = []
        for world in worlds:
            rng = stream("tests", "observation", world, moment)
            joints = np.array(cell.robot.start_joints_rad) + rng.normal(0, 0.05, 7)
            quat = rng.normal(0, 1, 4)
            rows.append(
                {
                    "joint_pos": joints,
                    "joint_vel": rng.normal(0, 0.1, 7),
                    "gripper_pos": rng.uniform(0, 1, 1),
                    "tcp_pose": np.concatenate([rng.uniform(-0.5, 0.5, 3), quat / np.linalg.norm(quat)]),
                    "overhead_rgb": rng.integers(0, 256, (224, 224, 3), np.uint8),
                    "wrist_rgb": rng.integers(0, 256, (224, 224, 3), np.uint8),
                }
            )
        columns = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
        cameras = {key: columns.pop(key) for key in ("overhead_rgb", "wrist_rgb")}
        names, seeds = tuple(f"sort {world}" for world in worlds), tuple(10**15 + world for world in worlds)
        return Observation(tuple(worlds), names, columns, cameras, seeds=seeds)

    return observe


@pytest.fixture
def checked(context):
    """Wrap a policy, or the one that a text names; it is closed after the test."""
    made = []

    def checked(policy, deadline_s=5.0):
        policy = make_policy(policy, context) if isinstance(policy, str) else policy
        made.append(Checked(policy, ActionRange.of(policy.spec.action, context.cell.robot), deadline_s=deadline_s))
        return made[-1]

    yield checked
    for one in made:
        one.close()
