"""Kernels of the settle check over many worlds: load scenes, count quiet steps, measure, nudge, put back.

Worlds and slots are counted from 0; quaternions are wxyz as in MuJoCo; a slot's free joint has seven numbers in `qpos`
and six in `qvel`, in the order of the slots.
"""

import warp as wp

KEEP = 1
"""Remember where everything lies, and what of it may only be balanced."""
RESTORE = 2
"""Put everything back to where it was remembered, at rest."""
PUSH = 4
"""Stop everything and push what may only be balanced; from where is in the action's higher bits."""
RECOUNT = 8
"""Count quiet steps anew, as every other action does too."""
PUSH_SHIFT = 4
"""An action holds the number of a push's direction above its lowest four bits."""

FACTS = 6
"""Numbers that `measure` and its like say of a world."""
QUIET, HUGE, MOVED, SPEED, DEPTH, DOUBTFUL = range(FACTS)
"""Quiet steps in a row; 1 if a state is not finite or huge; greatest movement since what was remembered [m]; greatest
speed [m/s]; deepest contact [m]; how many items may only be balanced."""

wp.set_module_options({"enable_backward": False})


@wp.func
def _matrix(w: float, x: float, y: float, z: float) -> wp.mat33:
    """Rotation matrix of a unit quaternion."""
    return wp.mat33(
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@wp.kernel
def load_slots(
    rows: wp.array2d[float],
    worlds: wp.array[int],
    bodies: wp.array[int],
    first_geoms: wp.array[int],
    geom_counts: wp.array[int],
    numbers: int,
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    warmstart: wp.array2d[float],
    rest: wp.array2d[float],
    mass: wp.array2d[float],
    subtree_mass: wp.array2d[float],
    inertia: wp.array2d[wp.vec3],
    center: wp.array2d[wp.vec3],
    axes: wp.array2d[wp.quat],
    inverse_weight: wp.array2d[wp.vec2],
    gravcomp: wp.array2d[float],
    friction: wp.array2d[wp.vec3],
    present: wp.array2d[int],
):
    """Write the slots of some scenes into their worlds; threads: scenes × slots."""
    scene, slot = wp.tid()
    world, body, at = worlds[scene], bodies[slot], slot * numbers
    for i in range(7):
        qpos[world, 7 * slot + i] = rows[scene, at + i]
        rest[world, 7 * slot + i] = rows[scene, at + i]
    for i in range(6):
        qvel[world, 6 * slot + i] = 0.0
        warmstart[world, 6 * slot + i] = 0.0
    mass[world, body] = rows[scene, at + 7]
    subtree_mass[world, body] = rows[scene, at + 7]
    inertia[world, body] = wp.vec3(rows[scene, at + 8], rows[scene, at + 9], rows[scene, at + 10])
    center[world, body] = wp.vec3(rows[scene, at + 11], rows[scene, at + 12], rows[scene, at + 13])
    # MuJoCo-Warp's quaternions are wxyz in Warp's type, whose own order does not matter here.
    axes[world, body] = wp.quat(rows[scene, at + 14], rows[scene, at + 15], rows[scene, at + 16], rows[scene, at + 17])
    inverse_weight[world, body] = wp.vec2(rows[scene, at + 18], rows[scene, at + 19])
    for i in range(geom_counts[slot]):
        friction[world, first_geoms[slot] + i] = wp.vec3(rows[scene, at + 20], 0.0, 0.0)
    here = rows[scene, at + 21]
    present[world, slot] = int(here)
    # What is absent floats where it is parked.
    gravcomp[world, body] = 1.0 - here


@wp.kernel
def load_fixtures(
    rows: wp.array2d[float],
    worlds: wp.array[int],
    bodies: wp.array[int],
    first_geoms: wp.array[int],
    geom_counts: wp.array[int],
    first: int,
    numbers: int,
    boxes: wp.array2d[wp.vec3],
    place: wp.array2d[wp.vec3],
    turn: wp.array2d[wp.quat],
    box_places: wp.array2d[wp.vec3],
    box_turns: wp.array2d[wp.mat33],
):
    """Write the fixtures of some scenes into their worlds; threads: scenes × fixtures."""
    scene, fixture = wp.tid()
    world, body, at = worlds[scene], bodies[fixture], first + fixture * numbers
    origin = wp.vec3(rows[scene, at], rows[scene, at + 1], rows[scene, at + 2])
    w, x, y, z = rows[scene, at + 3], rows[scene, at + 4], rows[scene, at + 5], rows[scene, at + 6]
    place[world, body] = origin
    turn[world, body] = wp.quat(w, x, y, z)
    # MuJoCo-Warp places what is fixed only once, when its data are made. The boxes stand straight in their fixture.
    matrix = _matrix(w, x, y, z)
    for geom in range(first_geoms[fixture], first_geoms[fixture] + geom_counts[fixture]):
        box_places[world, geom] = origin + matrix @ boxes[0, geom]
        box_turns[world, geom] = matrix


@wp.kernel
def load_worlds(
    rows: wp.array2d[float],
    worlds: wp.array[int],
    last: int,
    mean_inertia: wp.array[float],
    time: wp.array[float],
    quiet: wp.array[int],
    overflow: wp.array[int],
):
    """Write what a world has once; threads: scenes."""
    scene = wp.tid()
    world = worlds[scene]
    mean_inertia[world] = rows[scene, last]
    time[world] = 0.0
    quiet[world] = 0
    overflow[world] = 0


@wp.kernel
def count_quiet(
    qvel: wp.array2d[float],
    lengths: wp.array[float],
    present: wp.array2d[int],
    tolerance: float,
    quiet: wp.array[int],
):
    """Count the steps for which all that is present was slower than what may sleep; threads: worlds."""
    world = wp.tid()
    awake = int(0)
    for slot in range(present.shape[1]):
        if present[world, slot] == 1:
            for i in range(6 * slot, 6 * slot + 6):
                # Also awake where it is not a number.
                if not (wp.abs(lengths[i] * qvel[world, i]) < tolerance):
                    awake = int(1)
    quiet[world] = wp.where(awake == 1, 0, quiet[world] + 1)


@wp.kernel
def measure_contacts(
    count: wp.array[int],
    distance: wp.array[float],
    geoms: wp.array[wp.vec2i],
    worlds: wp.array[int],
    geom_slots: wp.array[int],
    floors: wp.array[int],
    room: int,
    touching: wp.array2d[int],
    facts: wp.array2d[float],
):
    """Find the deepest contact, and what touches another item or a wall; threads: places for contacts."""
    contact = wp.tid()
    if contact >= wp.min(count[0], room):
        return
    world, pair = worlds[contact], geoms[contact]
    if distance[contact] >= 0.0:
        return
    wp.atomic_max(facts, world, DEPTH, -distance[contact])
    if floors[pair[0]] == 1 or floors[pair[1]] == 1:
        return
    for side in range(2):
        slot = geom_slots[pair[side]]
        if slot >= 0:
            touching[world, slot] = 1


@wp.kernel
def measure_slots(
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    rest: wp.array2d[float],
    present: wp.array2d[int],
    touching: wp.array2d[int],
    ups: wp.array2d[wp.vec3],
    radius: wp.array[float],
    quiet: wp.array[int],
    least_cosine: float,
    largest: float,
    doubtful: wp.array2d[int],
    facts: wp.array2d[float],
):
    """Measure each item of each world; threads: worlds × slots."""
    world, slot = wp.tid()
    if slot == 0:
        facts[world, QUIET] = float(quiet[world])
    doubtful[world, slot] = 0
    if present[world, slot] == 0:
        return
    q, v = 7 * slot, 6 * slot
    for i in range(7):
        if not (wp.abs(qpos[world, q + i]) < largest):
            facts[world, HUGE] = 1.0
    for i in range(6):
        if not (wp.abs(qvel[world, v + i]) < largest):
            facts[world, HUGE] = 1.0
    linear = wp.length(wp.vec3(qvel[world, v], qvel[world, v + 1], qvel[world, v + 2]))
    angular = wp.length(wp.vec3(qvel[world, v + 3], qvel[world, v + 4], qvel[world, v + 5]))
    wp.atomic_max(facts, world, SPEED, wp.max(linear, angular * radius[slot]))
    shift = wp.vec3(
        qpos[world, q] - rest[world, q],
        qpos[world, q + 1] - rest[world, q + 1],
        qpos[world, q + 2] - rest[world, q + 2],
    )
    # Warp's order does not matter to products that are used alike; the scalar part comes first here.
    before = wp.vec4(rest[world, q + 3], rest[world, q + 4], rest[world, q + 5], rest[world, q + 6])
    now = wp.vec4(qpos[world, q + 3], qpos[world, q + 4], qpos[world, q + 5], qpos[world, q + 6])
    # |a - b| of unit quaternions, of which b and -b are one rotation, is 2 sin(angle / 4).
    chord = wp.min(wp.length(now - before), wp.length(now + before))
    turn = 4.0 * wp.asin(wp.min(0.5 * chord, 1.0))
    wp.atomic_max(facts, world, MOVED, wp.max(wp.length(shift), turn * radius[slot]))
    # The world's vertical in the part's frame.
    up = wp.transpose(_matrix(now[0], now[1], now[2], now[3])) @ wp.vec3(0.0, 0.0, 1.0)
    best = float(-1.0)
    for i in range(ups.shape[1]):
        best = wp.max(best, wp.dot(ups[slot, i], up))
    if touching[world, slot] == 1 or best < least_cosine:
        doubtful[world, slot] = 1
        wp.atomic_add(facts, world, DOUBTFUL, 1.0)


@wp.kernel
def act(
    actions: wp.array[int],
    pushes: wp.array2d[wp.vec2],
    doubtful: wp.array2d[int],
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    warmstart: wp.array2d[float],
    rest: wp.array2d[float],
    held: wp.array2d[int],
    quiet: wp.array[int],
):
    """Do in each world what the host decided; threads: worlds × slots."""
    world, slot = wp.tid()
    action = actions[world]
    if action == 0:
        return
    if slot == 0:
        quiet[world] = 0
    if action & KEEP:
        held[world, slot] = doubtful[world, slot]
        for i in range(7 * slot, 7 * slot + 7):
            rest[world, i] = qpos[world, i]
    if action & RESTORE:
        for i in range(7 * slot, 7 * slot + 7):
            qpos[world, i] = rest[world, i]
    if action & (RESTORE | PUSH):
        for i in range(6 * slot, 6 * slot + 6):
            qvel[world, i] = 0.0
            warmstart[world, i] = 0.0
    if action & PUSH and held[world, slot] == 1:
        push = pushes[action >> PUSH_SHIFT, slot]
        qvel[world, 6 * slot] = push[0]
        qvel[world, 6 * slot + 1] = push[1]


@wp.kernel
def gather(
    now: wp.array2d[float],
    rest: wp.array2d[float],
    worlds: wp.array[int],
    kept: wp.array[int],
    found: wp.array2d[float],
):
    """Copy where things are, or were remembered, in some worlds; threads: worlds × numbers."""
    row, i = wp.tid()
    world = worlds[row]
    found[row, i] = wp.where(kept[row] == 1, rest[world, i], now[world, i])
