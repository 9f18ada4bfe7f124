"""The quick look at all worlds never refuses a scene that is sorted."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judging.job import Job
from evaluator.judging.observed import Observed
from evaluator.judging.success import item_ends, succeeds
from evaluator.judging.trace import EndReason, Trace
from evaluator.rollout.goals import Goals
from evaluator.rollout.kinematic import KinematicLine
from scenegen.robot import Arm


@given(data=st.data())
def test_what_is_sorted_is_looked_at(small, catalogue, scenes, data):
    scene = data.draw(st.sampled_from(scenes))
    job, line = Job.of(scene, small, catalogue), KinematicLine(small, catalogue, count=1)
    line.put({0: scene})
    state = line.state()
    pose = state.slot_pose.copy()
    for item, name in enumerate(job.items):
        if job.wanted[item] and data.draw(st.booleans(), "it lies in its bin"):
            wanted = next(iter(job.wanted[item]))
            box, at = small.containers[wanted], job.fixtures[wanted]
            x, y = (data.draw(st.floats(-side / 2, side / 2)) for side in box.size_m)
            pose[0, line.slots.index(name), :3] = at.apply([x, y, job.radii_m[item]])
    state = dataclasses.replace(state, slot_pose=pose)
    goals = Goals(1, line.slots)
    goals.set(0, job)
    rows = [line.slots.index(name) for name in job.items]
    times = np.arange(30) * 0.02
    placed, _ = Arm(small.robot).tcp(state.joint_pos)
    trace = Trace(
        items=job.items, end=EndReason.DONE, time_s=times,
        joint_pos=np.repeat(state.joint_pos, 30, axis=0), joint_vel=np.zeros((30, state.joint_pos.shape[1])),
        gripper_opening=np.ones(30), tcp_pose=np.tile([*placed[0], 1.0, 0, 0, 0], (30, 1)),
        item_pose=np.repeat(pose[:, rows], 30, axis=0), item_vel=np.zeros((30, len(rows), 6)),
        finger_touch=np.zeros((30, len(rows)), bool),
    )  # fmt: skip
    if succeeds(item_ends(Observed.of(trace, job))):
        assert goals.near(state, np.array([0]))[0]
    empty = dataclasses.replace(state, finger_touch=np.ones_like(state.finger_touch))
    assert not goals.near(empty, np.array([0]))[0], "what is held is not sorted"
