"""How robots look in pictures: one look for the whole arm."""

from __future__ import annotations

from scenegen.scenario import Look, Surface

ROBOT = "robot"
"""Name of the arm among the instances of a G-buffer."""
ROBOT_SURFACE = Surface(subject=ROBOT, look=Look(color=(0.60, 0.61, 0.62), roughness=0.4))
"""Light grey lacquer, as covers of industrial arms have it; chosen by eye."""
