"""Where the robot reaches from above, remembered on a grid: inverse kinematics once a grid point, not once a scene."""

from __future__ import annotations

import numpy as np

from scenegen.geometry import Array
from scenegen.robot import Arm

SPACING_M = (0.02, 0.02, 0.03)
"""Distance of grid points along x, y and z [m]."""

_AROUND = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])


class ReachMap:
    """Answers `Arm.reaches_top_down` for many points by the eight grid points around each.

    Where all eight are reached, so is the point between them; where not, the point itself is solved. Grid points are
    solved when they are first needed; the answers do not depend on what was asked before.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._known: dict[tuple[int, int, int], bool] = {}

    def reaches(self, points_m: Array) -> np.ndarray:
        """Tell which points the tool reaches from above.

        Args:
            points_m: Points [m], world frame, shape [n, 3].

        Returns:
            Booleans, shape [n].
        """
        if not len(points_m):
            return np.empty(0, bool)
        corners = np.floor(points_m / SPACING_M).astype(int)[:, None] + _AROUND
        keys = [tuple(key) for key in corners.reshape(-1, 3).tolist()]
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        if new:
            solved = self._arm.reaches_top_down(np.array(new) * SPACING_M)
            self._known.update(zip(new, solved.tolist(), strict=True))
        sure = np.asarray(np.array([self._known[key] for key in keys]).reshape(-1, 8).all(axis=1))
        if not sure.all():
            sure[~sure] = self._arm.reaches_top_down(points_m[~sure])
        return sure
