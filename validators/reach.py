"""Where the robot reaches from above, remembered on a grid: inverse kinematics once a grid point, not once a scene."""

from __future__ import annotations

from itertools import chain

import numpy as np

from scenegen.geometry import Array
from scenegen.robot import Arm

SPACING_M = (0.02, 0.02, 0.03)
"""Distance of grid points along x, y and z [m]."""

_AROUND = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])


class ReachMap:
    """Answers `Arm.reaches_top_down` for many points by the eight grid points around each.

    Where all eight are reached, the point between them counts as reached; where not, the point itself is solved. At the
    rim of the workspace the arm's solver fails in small pockets that the grid passes over: measured, 9 of 12,000 random
    points. Grid points are solved when they are first needed; the answers do not depend on what was asked before.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._known: dict[tuple[int, ...], bool] = {}
        """Whether grid points are reached, by their indices."""
        self._sure: dict[tuple[int, ...], bool] = {}
        """Whether all eight around a point are reached, by the lowest one's indices."""

    def reaches(self, points_m: Array) -> np.ndarray:
        """Tell which points the tool reaches from above.

        Args:
            points_m: Points [m], world frame, shape [n, 3].

        Returns:
            Booleans, shape [n].
        """
        boxes = [tuple(box) for box in np.floor(points_m / SPACING_M).astype(int).tolist()]
        new = [box for box in dict.fromkeys(boxes) if box not in self._sure]
        if new:
            self._solve(new)
        sure = np.array([self._sure[box] for box in boxes], bool)
        if not sure.all():
            sure[~sure] = self._arm.reaches_top_down(points_m[~sure])
        return sure

    def _solve(self, boxes: list[tuple[int, ...]]) -> None:
        around = [[tuple(corner) for corner in (np.array(box) + _AROUND).tolist()] for box in boxes]
        new = [corner for corner in dict.fromkeys(chain.from_iterable(around)) if corner not in self._known]
        if new:
            solved = self._arm.reaches_top_down(np.array(new) * SPACING_M)
            self._known.update(zip(new, solved.tolist(), strict=True))
        self._sure.update(
            (box, all(self._known[c] for c in corners)) for box, corners in zip(boxes, around, strict=True)
        )
