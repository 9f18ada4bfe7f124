"""The kernel that sets the gravity of tables that shake; see `shaking`."""

import warp as wp

wp.set_module_options({"enable_backward": False})


@wp.kernel
def shake(
    still: wp.array[wp.vec3],
    shaking: wp.array2d[wp.float64],
    timestep_s: wp.float64,
    step: wp.array[wp.float64],
    gravity: wp.array[wp.vec3],
):
    """Set gravity for the coming step, by the table's mean acceleration in it; threads: worlds."""
    world = wp.tid()
    amplitude, omega = shaking[world, 0], shaking[world, 1]
    now, then = step[world] * timestep_s, (step[world] + wp.float64(1.0)) * timestep_s
    acceleration = -amplitude * omega * (wp.sin(omega * then) - wp.sin(omega * now)) / timestep_s
    rest = still[world]
    gravity[world] = wp.vec3(
        float(wp.float64(rest[0]) - acceleration * shaking[world, 2]),
        float(wp.float64(rest[1]) - acceleration * shaking[world, 3]),
        float(wp.float64(rest[2]) - acceleration * shaking[world, 4]),
    )
    step[world] = step[world] + wp.float64(1.0)
