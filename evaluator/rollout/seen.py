"""What a policy's cameras show: the images that it asks for, in the size that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.policies.resize import resize_with_pad
from evaluator.policy import PolicySpec, as_numpy
from evaluator.rollout.line import Line
from scenegen.cell import Cell
from scenegen.errors import UnknownName

ALL = ("*",)
"""What a policy names that wants all of the cell's cameras."""


def wanted_cameras(spec: PolicySpec, cell: Cell) -> tuple[str, ...]:
    """Return the cameras whose images a policy asks for, in the cell's order.

    Raises:
        UnknownName: The cell has no camera of a name that the policy gives.
    """
    known = tuple(camera.name for camera in cell.cameras)
    for name in spec.cameras:
        if name not in known and spec.cameras != ALL:
            raise UnknownName("camera", name, known)
    return known if spec.cameras == ALL else tuple(name for name in known if name in spec.cameras)


def camera_obs(line: Line, worlds: Sequence[int], spec: PolicySpec, cell: Cell) -> dict[str, Any]:
    """Photograph some worlds as a policy wants to see them; nothing is drawn where it wants no images.

    Args:
        line: The worlds.
        worlds: Numbers of the worlds, n of them.
        spec: What the policy asks for.
        cell: The cell.

    Returns:
        `<camera>_rgb`: sRGB of 8 bits, torch on the simulator's device, or numpy where it was scaled, [n, h, w, 3].
    """
    cameras = wanted_cameras(spec, cell)
    images = line.images(worlds, cameras) if cameras else {}
    return {f"{name}_rgb": _scaled(image, spec.image_px) for name, image in images.items()}


def _scaled(images: Any, size_px: tuple[int, int] | None) -> Any:
    if size_px is None or tuple(images.shape[1:3]) == size_px:
        return images
    return resize_with_pad(as_numpy(images), *size_px)
