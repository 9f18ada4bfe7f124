"""Photos of a world as it is now, on the processor, with the scenario's light, surfaces and sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenegen.cell import Cell
from scenegen.geometry import Array, Pose
from scenegen.imaging.photographer import Photographer
from scenegen.imaging.render import Image
from scenegen.parts.catalogue import Catalogue
from scenegen.robot import Arm
from scenegen.scenario import Camera, Scenario


class Snapshots:
    """Takes photos of scenes of one cell while a robot works there; the robot itself is not seen.

    Args:
        cell: The cell.
        parts: Its parts.
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._cell, self._arm = cell, Arm(cell.robot)
        self._photographer = Photographer(cell, parts)

    def take(
        self, scenario: Scenario, items: Mapping[str, Pose], joints_rad: Array, cameras: Sequence[str]
    ) -> dict[str, Image]:
        """Photograph one world.

        Args:
            scenario: What it plays.
            items: Present poses of its items, world frame.
            joints_rad: Present joint angles, which carry cameras on the flange, shape [joints].
            cameras: Names of cameras of the cell.

        Returns:
            Camera -> sRGB, 8 bits, shape [h, w, 3].
        """
        layout = scenario.layout
        moved = tuple(item.replaced(pose_to_world=items[item.name]) for item in layout.items)
        now = scenario.varied(layout=layout.replaced(items=moved))
        taken = {}
        for name in cameras:
            camera = next(one for one in scenario.cameras.cameras if one.name == name)
            taken[name] = self._photographer.picture(now, self._placed(scenario, camera, joints_rad), oversampling=1)
        return taken

    def _placed(self, scenario: Scenario, camera: Camera, joints_rad: Array) -> Camera:
        """Move a camera on the flange along with the arm."""
        if next(one.mount for one in self._cell.cameras if one.name == camera.name) == "world":
            return camera
        start = self._arm.pose_flange_to_world(scenario.motion.robot_start_rad)
        held = start.inverse().after(camera.pose_to_world)
        return camera.replaced(pose_to_world=self._arm.pose_flange_to_world(joints_rad).after(held))
