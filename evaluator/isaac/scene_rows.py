"""Scenarios as plain arrays, a row a world: what is written into a simulator when worlds take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.isaac.prims import fixed_boxes, parking_pose
from scenegen.cell import Cell
from scenegen.errors import InvalidOption
from scenegen.geometry import Array, Pose, quat_to_matrix
from scenegen.nominal import matter_of, nominal_fixtures, nominal_motion
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import FixturePose, ItemMatter, Motion, Scenario


@dataclass(frozen=True, eq=False)
class SceneRows:
    """n scenarios of one cell with s slots, b boxes of fixtures and j joints."""

    poses: Array
    """Poses of the slots' parts, position [m] and quaternion xyzw, world frame, shape [n, s, 7]."""
    absent: NDArray[np.bool_]
    """The slot is empty: its part floats far below, shape [n, s]."""
    matter: Array
    """Mass [kg], centre of mass [m], principal moments [kg m²] and axes, friction; part's frame, shape [n, s, 12]."""
    boxes: Array
    """Poses of the boxes of `fixed_boxes`, world frame, shape [n, b, 7]."""
    joints: Array
    """Where the robot starts [rad], shape [n, j]."""
    shaking: Array
    """Amplitude [m], angular frequency [rad/s] and unit direction of the table's shaking, shape [n, 5]."""

    @property
    def mass(self) -> Array:
        """Masses [kg], shape [n, s]."""
        return self.matter[..., 0]

    @property
    def center(self) -> Array:
        """Centres of mass in the parts' frames [m], shape [n, s, 3]."""
        return self.matter[..., 1:4]

    @property
    def moments(self) -> Array:
        """Principal moments of inertia about them [kg m²], shape [n, s, 3]."""
        return self.matter[..., 4:7]

    @property
    def axes(self) -> Array:
        """Principal axes in the parts' frames, quaternion xyzw, shape [n, s, 4]."""
        return self.matter[..., 7:11]

    @property
    def friction(self) -> Array:
        """Sliding friction, shape [n, s]."""
        return self.matter[..., 11]

    @property
    def inertia(self) -> Array:
        """Inertia about the centre of mass in the part's axes [kg m²], shape [n, s, 3, 3]."""
        turn = quat_to_matrix(self.axes)
        return np.asarray((turn * self.moments[..., None, :]) @ np.swapaxes(turn, -1, -2))


class RowMaker:
    """Turns scenarios of a cell into rows.

    Args:
        cell: The cell.
        parts: Its parts.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._slot = {name: index for index, name in enumerate(cell.slots)}
        self._parked = np.array([_row(parking_pose(index)) for index in range(len(self._slot))])
        nominal = [matter_of(parts[item.part], name=slot) for slot, item in cell.slots.items()]
        self._matter = np.array([_matter(matter) for matter in nominal])
        self._centers: dict[str, list[tuple[int, tuple[float, float, float]]]] = {}
        for index, (fixture, center) in enumerate(fixed_boxes(cell).values()):
            self._centers.setdefault(fixture, []).append((index, center))
        self._boxes = np.empty((sum(len(boxes) for boxes in self._centers.values()), 7))
        self._stand(self._boxes, nominal_fixtures(cell))
        self._motion = nominal_motion(cell)

    def empty(self, count: int) -> SceneRows:
        """Return rows of worlds in which no part is: nominal fixtures, the robot at its start."""
        return SceneRows(
            poses=np.tile(self._parked, (count, 1, 1)),
            absent=np.ones((count, len(self._slot)), bool),
            matter=np.tile(self._matter, (count, 1, 1)),
            boxes=np.tile(self._boxes, (count, 1, 1)),
            joints=np.tile(np.array(self._motion.robot_start_rad), (count, 1)),
            shaking=np.zeros((count, 5)),
        )

    def rows(self, scenarios: Sequence[Scenario]) -> SceneRows:
        """Return the rows of scenarios, in their order.

        Raises:
            InvalidOption: A belt moves.
        """
        rows = self.empty(len(scenarios))
        for row, scenario in enumerate(scenarios):
            motion = scenario.motion
            if motion.belt_speed_m_s != 0:
                accepted = "0: a belt that stands still, since moving belts are not simulated"
                raise InvalidOption("belt_speed_m_s", motion.belt_speed_m_s, accepted)
            for item in scenario.layout.items:
                rows.poses[row, self._slot[item.name]] = _row(item.pose_to_world)
                rows.absent[row, self._slot[item.name]] = False
            for one in scenario.matter.items:
                rows.matter[row, self._slot[one.name]] = _matter(one)
            self._stand(rows.boxes[row], scenario.layout.fixtures)
            rows.joints[row], rows.shaking[row] = motion.robot_start_rad, _shaking(motion)
        return rows

    def _stand(self, boxes: Array, fixtures: Sequence[FixturePose]) -> None:
        """Write the poses of fixtures' boxes, shape [b, 7]."""
        for fixture in fixtures:
            indices = [index for index, _ in self._centers[fixture.name]]
            boxes[indices, :3] = fixture.pose_to_world.apply([center for _, center in self._centers[fixture.name]])
            boxes[indices, 3:] = fixture.pose_to_world.quat


def _row(pose: Pose) -> tuple[float, ...]:
    return (*pose.position_m, *pose.quat_xyzw)


def _matter(matter: ItemMatter) -> tuple[float, ...]:
    moments, axes = matter.diagonal_inertia_kg_m2, matter.principal_axes_xyzw
    return (matter.mass_kg, *matter.center_of_mass_m, *moments, *axes, matter.friction)


def _shaking(motion: Motion) -> tuple[float, ...]:
    direction = np.array(motion.vibration_direction)
    unit = direction / max(float(np.linalg.norm(direction)), 1e-9)
    return (motion.vibration_amplitude_m, 2 * np.pi * motion.vibration_frequency_hz, *unit.tolist())
