"""Kernels that gather what all worlds do after a tick into one buffer, and add up who presses on whom.

Worlds and slots are counted from 0. An owner says what a shape belongs to: a slot (0, 1, …), a fixture after the slots,
or one of the numbers below 0. Forces are added as whole numbers: then their order, which a GPU does not keep, makes no
difference.
"""

import warp as wp

NOTHING, FINGER, BODY = -3, -2, -1
"""What a shape belongs to besides slots and fixtures: neither, a finger, another part of the robot."""
PRESSED_BY_FINGER, PRESSED_BY_BODY, PRESSED_BY_FIXTURES = 0, 1, 2
"""Columns of the forces on a slot; each fixture has one."""
UNITS_PER_N = 2.0**30
"""Forces are counted in about a nanonewton."""
MOST_N = 1e7
"""Larger forces of one contact count as this [N]: 800 of them can be added up."""

wp.set_module_options({"enable_backward": False})


@wp.func
def _column(owner: int, slots: int) -> int:
    """Column of the forces on a slot that something presses on; -1 for what is not counted."""
    if owner == FINGER:
        return PRESSED_BY_FINGER
    if owner == BODY:
        return PRESSED_BY_BODY
    return wp.where(owner >= slots, PRESSED_BY_FIXTURES + owner - slots, -1)


@wp.kernel
def add_forces(
    count: wp.array[int],
    room: int,
    threads: int,
    worlds: wp.array[int],
    geoms: wp.array[wp.vec2i],
    addresses: wp.array2d[int],
    forces: wp.array2d[float],
    owners: wp.array[int],
    on_slot: wp.array3d[wp.int64],
    on_robot: wp.array[wp.int64],
):
    """Add up normal forces on slots, and of fixtures on the robot; each of `threads` takes every so manyeth contact."""
    for contact in range(wp.tid(), wp.min(count[0], room), threads):
        address = addresses[contact, 0]
        if address >= 0:
            world, pair = worlds[contact], geoms[contact]
            force = wp.clamp(forces[world, address], -MOST_N, MOST_N)
            # However small, what presses is not nothing.
            units = wp.int64(wp.ceil(force * UNITS_PER_N))
            for side in range(2):
                pressed = owners[wp.max(pair[side], 0)]
                column = _column(owners[wp.max(pair[1 - side], 0)], on_slot.shape[1])
                if pressed >= 0 and pressed < on_slot.shape[1] and column >= 0:
                    wp.atomic_add(on_slot, world, pressed, column, units)
                if (pressed == FINGER or pressed == BODY) and column >= PRESSED_BY_FIXTURES:
                    wp.atomic_add(on_robot, world, units)


@wp.kernel
def read_worlds(
    positions: wp.array2d[float],
    velocities: wp.array2d[float],
    torques: wp.array2d[float],
    arm: wp.array[int],
    fingers: wp.array[int],
    drives: wp.array[int],
    finger_m: float,
    lost_marks: int,
    overflow: wp.array[int],
    on_robot: wp.array[wp.int64],
    joint_pos: wp.array2d[float],
    joint_vel: wp.array2d[float],
    joint_torque: wp.array2d[float],
    opening: wp.array2d[float],
    fixture_force: wp.array2d[float],
    lost: wp.array2d[float],
    broken: wp.array2d[float],
):
    """Read the robots, and what a world has once, then forget forces and overflows; threads: worlds."""
    world = wp.tid()
    bad = float(0.0)
    for joint in range(arm.shape[0]):
        position, velocity = positions[world, arm[joint]], velocities[world, arm[joint]]
        if not (wp.isfinite(position) and wp.isfinite(velocity)):
            bad = float(1.0)
        joint_pos[world, joint] = position
        joint_vel[world, joint] = velocity
        joint_torque[world, joint] = torques[world, drives[joint]]
    way = float(0.0)
    for finger in range(fingers.shape[0]):
        way += positions[world, fingers[finger]]
    opening[world, 0] = way / float(wp.max(fingers.shape[0], 1)) / finger_m
    fixture_force[world, 0] = float(on_robot[world]) / UNITS_PER_N
    on_robot[world] = wp.int64(0)
    lost[world, 0] = wp.where((overflow[world] & lost_marks) != 0, 1.0, 0.0)
    overflow[world] = 0
    broken[world, 0] = bad


@wp.kernel
def read_slots(
    poses: wp.array2d[wp.transformf],
    velocities: wp.array2d[wp.spatial_vectorf],
    fastest_m_s: float,
    on_slot: wp.array3d[wp.int64],
    slot_pose: wp.array3d[float],
    slot_vel: wp.array3d[float],
    finger_touch: wp.array2d[float],
    body_touch: wp.array2d[float],
    slot_fixture: wp.array2d[float],
    broken: wp.array2d[float],
):
    """Read the slots after `read_worlds`, then forget the forces on them; threads: worlds × slots."""
    world, slot = wp.tid()
    place, turn = wp.transform_get_translation(poses[world, slot]), wp.transform_get_rotation(poses[world, slot])
    velocity = velocities[world, slot]
    sound = wp.bool(True)
    for i in range(3):
        slot_pose[world, slot, i] = place[i]
        # What is no number is not slower than anything.
        sound = sound and wp.isfinite(place[i]) and wp.abs(velocity[i]) < fastest_m_s
    for i in range(4):
        slot_pose[world, slot, 3 + i] = turn[i]
        sound = sound and wp.isfinite(turn[i])
    for i in range(6):
        slot_vel[world, slot, i] = velocity[i]
        sound = sound and wp.isfinite(velocity[i])
    if not sound:
        broken[world, 0] = 1.0
    finger_touch[world, slot] = wp.where(on_slot[world, slot, PRESSED_BY_FINGER] > wp.int64(0), 1.0, 0.0)
    body_touch[world, slot] = wp.where(on_slot[world, slot, PRESSED_BY_BODY] > wp.int64(0), 1.0, 0.0)
    hardest, most = int(-1), wp.int64(0)
    for column in range(PRESSED_BY_FIXTURES, on_slot.shape[2]):
        if on_slot[world, slot, column] > most:
            most = on_slot[world, slot, column]
            hardest = column - PRESSED_BY_FIXTURES
    slot_fixture[world, slot] = float(hardest)
    for column in range(on_slot.shape[2]):
        on_slot[world, slot, column] = wp.int64(0)
