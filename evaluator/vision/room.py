"""Whether there is room for the fingers beside a part, by what the net says each pixel shows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import torch
from torch import Tensor

from evaluator.vision.net import ANGLES

MORE_PX = 8
"""The fingers may open by up to so many pixels more on each side than the net says."""
_ACROSS = 9
"""Points across a finger at which pixels are looked at."""


@dataclass(frozen=True)
class Fingers:
    """Sizes of the gripper as the camera sees them on the floor of the feed [px]."""

    opening: float
    """Distance of the open pads."""
    play: float
    """How far they open beyond a part on each side."""
    thickness: float
    """Size of a finger along the closing direction."""
    width: float
    """Size of a finger across it."""


def missing_room(occupied: Tensor, pixel: Tensor, width: Tensor, fingers: Fingers) -> Tensor:
    """Say how much farther the fingers must open so that they come down beside everything, along each direction.

    Args:
        occupied: Whether a pixel shows a part, shape [n, h, w].
        pixel: Column and row midway between the fingers [px], shape [n, p, 2].
        width: Distance of the contacts as a share of the opening, shape [n, p].
        fingers: The fingers.

    Returns:
        Pixels on each side, shape [n, p, ANGLES]; infinite where `MORE_PX` are not enough.
    """
    reach = ceil(fingers.opening / 2 + fingers.thickness) + 1
    near = _occupied_beside(occupied, pixel, reach, fingers)
    before = torch.nn.functional.pad(near.float().cumsum(dim=-1), (1, 0))
    missing = torch.full(near.shape[:-1], torch.inf, device=occupied.device)
    half = width * fingers.opening / 2 + fingers.play
    for more in range(MORE_PX, -1, -1):
        low = (half + more).floor().clamp(0, reach).long()
        high = (half + more + fingers.thickness).ceil().clamp(0, reach).long()
        shape = (*near.shape[:-1], 1)
        inside = before.gather(-1, high[..., None, None].expand(shape)) - before.gather(
            -1, low[..., None, None].expand(shape)
        )
        free = (inside[..., 0] < 0.5) & (half + more <= fingers.opening / 2 + fingers.play)[..., None]
        missing = torch.where(free, float(more), missing)
    return missing


def _occupied_beside(occupied: Tensor, pixel: Tensor, reach: int, fingers: Fingers) -> Tensor:
    """Tell at which distances from a pixel a finger on one side or the other would meet a part.

    Returns:
        Shape [n, p, ANGLES, reach], by distances of half a pixel, one and a half, and so on.
    """
    count, high, wide = occupied.shape
    floats = {"device": occupied.device, "dtype": torch.float32}
    angle = torch.arange(ANGLES, **floats) * (torch.pi / ANGLES)
    away = torch.arange(reach, **floats) + 0.5
    along = torch.stack([angle.cos(), angle.sin()], dim=-1)[:, None, None] * torch.cat([away, -away])[:, None, None]
    side = torch.linspace(-0.5, 0.5, _ACROSS, **floats) * fingers.width
    across = torch.stack([-angle.sin(), angle.cos()], dim=-1)[:, None, None] * side[:, None]
    spots = (pixel[:, :, None, None, None].float() + along + across).floor().long()
    column, row = spots[..., 0], spots[..., 1]
    there = (column >= 0) & (column < wide) & (row >= 0) & (row < high)
    image = torch.arange(count, device=occupied.device).view(-1, 1, 1, 1, 1).expand_as(column)
    met = (occupied[image, row.clamp(0, high - 1), column.clamp(0, wide - 1)] & there).any(dim=-1)
    return met[..., :reach] | met[..., reach:]
