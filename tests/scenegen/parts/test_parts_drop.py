"""Holes are open: what fits through a hole falls through it, what does not fit stays on top."""

import mujoco
import numpy as np
import pytest

from scenegen.geometry import quat_to_matrix
from scenegen.parts.builtin import builtin_part


def meshes(name, part):
    return "".join(
        f'<mesh name="{name}{index}" vertex="{" ".join(f"{v:.7f}" for v in collider.vertices.ravel())}"/>'
        for index, collider in enumerate(part.colliders)
    )


def geoms(name, part):
    return "".join(f'<geom type="mesh" mesh="{name}{index}"/>' for index in range(len(part.colliders)))


def height_after_drop(dropped_id, fixed_id):
    """Height [m] of an upright part half a second after it was let go above the hole of a fixed one."""
    dropped, fixed = builtin_part(dropped_id), builtin_part(fixed_id)
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.001"/>
        <asset>{meshes("fixed", fixed)}{meshes("dropped", dropped)}</asset>
        <worldbody><body>{geoms("fixed", fixed)}</body>
        <body pos="0 0 0.016"><freejoint/>{geoms("dropped", dropped)}</body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    for _ in range(300):
        mujoco.mj_step(model, data)
    return float(data.qpos[2])


@pytest.mark.parametrize(
    ("pin", "ring"),
    [
        ("dowel_pin_6x20", "flat_washer_m6"),
        ("dowel_pin_8x20", "flat_washer_m8"),
        ("dowel_pin_5x20", "spur_gear_z20_m1"),
        ("dowel_pin_6x20", "ball_bearing_608"),
        ("dowel_pin_8x20", "retaining_ring_10"),
    ],
)
def test_a_pin_falls_through_a_hole_that_it_fits(pin, ring):
    assert height_after_drop(pin, ring) < -0.03


@pytest.mark.parametrize(
    ("pin", "ring"),
    [("dowel_pin_8x20", "flat_washer_m6"), ("dowel_pin_6x20", "hex_nut_m6"), ("dowel_pin_8x20", "hex_nut_m8")],
)
def test_a_pin_stays_on_a_hole_that_is_too_small(pin, ring):
    assert height_after_drop(pin, ring) > 0


@pytest.mark.parametrize("part_id", ["hex_nut_m6", "flat_washer_m8", "hex_bolt_m6x20"])
def test_simulated_drops_end_in_the_resting_poses_as_often_as_stated(part_id):
    part, drops = builtin_part(part_id), 80
    turns = [quat_to_matrix(pose.quat_xyzw).T @ [0.0, 0.0, -1.0] for pose in part.stable_poses]
    lowest = min(pose.height_m for pose in part.stable_poses)
    low = np.array([pose.height_m < 1.2 * lowest for pose in part.stable_poses])
    ends = [end_of_drop(part, rng) for rng in np.random.default_rng(5).spawn(drops)]
    angles = np.array([[turn @ end for turn in turns] for end in ends])
    known = angles.max(axis=1) > np.cos(np.deg2rad(3))
    assert known.mean() > 0.9
    share = low[angles[known].argmax(axis=1)].mean()
    stated = sum(pose.probability for pose, is_low in zip(part.stable_poses, low, strict=True) if is_low)
    assert share == pytest.approx(stated, abs=0.12)  # two standard deviations of 80 drops


def end_of_drop(part, rng):
    """Direction in the part's frame that points down after a tumbling drop on a plane."""
    inertia = " ".join(map(str, part.mass.diagonal_inertia_kg_m2))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.002" cone="elliptic" impratio="10"/>
        <default><geom friction="0.6" solref="0.005 1"/></default><asset>{meshes("part", part)}</asset>
        <worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.05"><freejoint/>
        <inertial pos="0 0 0" mass="{part.mass.mass_kg}" diaginertia="{inertia}"/>{geoms("part", part)}</body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qpos[3:] = rng.normal(size=4)
    data.qvel[3:] = 3 * rng.normal(size=3)
    for step in range(500):
        mujoco.mj_step(model, data)
        if step > 100 and np.abs(data.qvel).max() < 1e-3:
            break
    return data.xmat[1].reshape(3, 3).T @ [0.0, 0.0, -1.0]
