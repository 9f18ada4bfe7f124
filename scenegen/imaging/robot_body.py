"""A robot as triangles: its links, and how joints carry one on another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenegen.geometry import Array, Pose, quat_about


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body of a robot."""

    name: str
    triangles: Array
    """Corners of what is seen of it, in its own frame [m], shape [m, 3, 3]."""
    normals: Array
    """Unit normals at the corners, shape [m, 3, 3]."""
    carrier: int | None
    """Number of the link that carries it; None for one that stands on the ground."""
    before: Pose
    """Frame of its joint in the carrier's frame; without carrier its own in that of the file's default prim."""
    after: Pose
    """Its own frame in the joint's."""
    joint: str | None
    """Name of its joint; None where it cannot move."""
    axis: Array
    """Direction about which, or along which, it moves, in the joint's frame."""
    slides: bool
    """Whether it slides and does not turn."""


@dataclass(frozen=True, eq=False)
class RobotBody:
    """All links, carriers before what they carry."""

    links: tuple[Link, ...]

    def placed(self, root: Pose, travel: Mapping[str, float]) -> list[Pose]:
        """Return where links are.

        Args:
            root: Where the file's default prim stands.
            travel: Angle [rad] or way [m] of joints by name; the others stay at zero.
        """
        poses: list[Pose] = []
        for link in self.links:
            pose = (root if link.carrier is None else poses[link.carrier]).after(link.before)
            moved = 0.0 if link.joint is None else travel.get(link.joint, 0.0)
            if link.slides:
                pose = pose.after(Pose.of(moved * link.axis))
            elif moved:
                pose = pose.after(Pose.of((0, 0, 0), quat_about(link.axis, moved)))
            poses.append(pose.after(link.after))
        return poses
