"""What a net learns to see: the view of one cell."""

from __future__ import annotations

from scenegen.cell import Belt, Bin, Cell, CellCamera, Role, Tray
from scenegen.errors import UnknownName
from scenegen.parts.catalogue import Catalogue
from scenegen.record import Positive, Record
from scenegen.scenario import Asset, Light, Look

CAMERA = "overhead"
"""Name of the camera that it looks through."""


class Subject(Record):
    """All of a cell that decides what a net sees and what it shall answer; other changes leave its weights usable."""

    camera: CellCamera
    feed: Tray | Belt
    bins: tuple[Bin, ...]
    lights: tuple[Light, ...]
    table_look: Look
    feed_look: Look
    targets: tuple[Asset, ...]
    """The parts that are to be sorted, in the inventory's order: class 1 is the first, 0 is everything else."""
    opening_m: Positive
    """Sizes of the gripper that decide which grasps are free [m]."""
    finger_width_m: Positive
    finger_thickness_m: Positive
    finger_depth_m: Positive
    min_grasp_height_m: Positive

    @classmethod
    def of(cls, cell: Cell, parts: Catalogue) -> Subject:
        """Describe a cell.

        Args:
            cell: The cell.
            parts: Its parts.

        Raises:
            UnknownName: It has no overhead camera.
        """
        camera = next((one for one in cell.cameras if one.name == CAMERA and one.mount == "world"), None)
        if camera is None:
            raise UnknownName("world camera", CAMERA, [one.name for one in cell.cameras if one.mount == "world"])
        targets = [item.part for item in cell.inventory if item.role is Role.TARGET]
        gripper = cell.robot.gripper
        return cls(
            camera=camera,
            feed=cell.feed,
            bins=cell.bins,
            lights=cell.lights,
            table_look=cell.table_look,
            feed_look=cell.feed_look,
            targets=tuple(Asset(part=part, content=parts[part].content_id) for part in targets),
            opening_m=gripper.opening_m,
            finger_width_m=gripper.finger_width_m,
            finger_thickness_m=gripper.finger_thickness_m,
            finger_depth_m=gripper.finger_depth_m,
            min_grasp_height_m=gripper.min_grasp_height_m,
        )

    @property
    def classes(self) -> tuple[str, ...]:
        """Parts by class, from class 1."""
        return tuple(asset.part for asset in self.targets)
