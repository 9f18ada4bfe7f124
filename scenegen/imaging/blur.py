"""Blur of lens and motion: sums of shifted images; light that would leave the image is mirrored back at its border."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, cos, exp, floor, sin
from typing import Any

from scenegen.imaging.gbuffer import Vector

REACH = 3.0
"""Standard deviations after which the lens blur ends: 0.3 % of a Gaussian's weight lie beyond."""
STEPS_PER_PIXEL = 4
"""Moments of the exposure that are followed for each pixel of motion."""

Shift = tuple[int, int]
"""Rows down and columns to the right [px]."""
Taps = Mapping[Shift, float]
"""Weights by shift; they sum to 1."""
Shifts = tuple[tuple[Shift, Any], ...]
"""Shifts and how much each weighs in each image, shape [b, 1, 1]: a blur that is ready for any number of batches."""


def blurred(image: Vector, blurs: Sequence[Shifts], *, xp: Any) -> Vector:
    """Blur images by sums of shifted copies, one sum after the other.

    Args:
        image: Linear colours, each of shape [b, h, w].
        blurs: The sums, with weights of each image or the same for all.
        xp: The array library.
    """
    for shifts in blurs:
        image = _sum_shifted(image, shifts, xp)
    return image


def lens_blur(sigma_px: Sequence[float], *, like: Any, xp: Any) -> tuple[Shifts, ...]:
    """Return a Gaussian blur, the usual stand-in for the point spread of a lens slightly out of focus.

    Sampled at whole pixels and cut off at `REACH`. The mean of each image is kept.

    Args:
        sigma_px: Standard deviation [px] of each image, or one for all.
        like: An array whose type and device the weights get.
        xp: The array library.

    Returns:
        Sums along columns and along rows; none if no image is blurred.
    """
    if not any(sigma_px):
        return ()
    down = [{(offset, 0): weight for offset, weight in _gaussian(sigma).items()} for sigma in sigma_px]
    right = [{(0, offset): weight for offset, weight in _gaussian(sigma).items()} for sigma in sigma_px]
    return _shifts(down, like, xp), _shifts(right, like, xp)


def motion_blur(length_px: Sequence[float], angle_rad: Sequence[float], *, like: Any, xp: Any) -> tuple[Shifts, ...]:
    """Return the blur along a line that an even motion during the exposure leaves.

    Each moment's image is shifted by parts of a pixel with bilinear weights; the middle of the line stays in place. The
    mean is kept but for light that crosses the border on one side only.

    Args:
        length_px: Length of the line [px] of each image, or one for all.
        angle_rad: Its direction from the X axis (right) toward Y (down) [rad], as many.
        like: An array whose type and device the weights get.
        xp: The array library.

    Returns:
        One sum; none if nothing moves.
    """
    if not any(length_px):
        return ()
    return (_shifts([line_taps(*line) for line in zip(length_px, angle_rad, strict=True)], like, xp),)


def line_taps(length_px: float, angle_rad: float) -> Taps:
    """Return the weights of a line of that length [px] and direction [rad] through the middle of a pixel."""
    steps = max(1, ceil(STEPS_PER_PIXEL * length_px))
    taps: dict[tuple[int, int], float] = {}
    for step in range(steps):
        along = ((step + 0.5) / steps - 0.5) * length_px
        y, x = round(along * sin(angle_rad), 6), round(along * cos(angle_rad), 6)
        row, column = floor(y), floor(x)
        for r, row_weight in ((row, 1 - (y - row)), (row + 1, y - row)):
            for c, column_weight in ((column, 1 - (x - column)), (column + 1, x - column)):
                if row_weight * column_weight > 0:
                    taps[r, c] = taps.get((r, c), 0.0) + row_weight * column_weight / steps
    return taps


def _gaussian(sigma_px: float) -> Mapping[int, float]:
    reach = ceil(REACH * sigma_px)
    weights = {i: exp(-0.5 * (i / sigma_px) * (i / sigma_px)) if sigma_px else 1.0 for i in range(-reach, reach + 1)}
    total = sum(weights.values())
    return {offset: weight / total for offset, weight in weights.items()}


def _shifts(taps: Sequence[Taps], like: Any, xp: Any) -> Shifts:
    """Gather the taps of all images by shift."""
    shifts = sorted({shift for one in taps for shift in one})
    return tuple((shift, _column([one.get(shift, 0.0) for one in taps], like, xp)) for shift in shifts)


def _sum_shifted(image: Vector, shifts: Shifts, xp: Any) -> Vector:
    """Sum shifted copies of planes [b, h, w]."""
    reach = [max(abs(shift[axis]) for shift, _ in shifts) for axis in (0, 1)]
    first = image[0]
    height, width = first.shape[1:]
    rows, columns = (_mirrored(size, by, first, xp) for size, by in zip((height, width), reach, strict=True))

    def summed(plane: Any) -> Any:
        wide = plane[:, rows, :][:, :, columns]
        total = 0.0
        for (down, right), weight in shifts:
            top, left = reach[0] - down, reach[1] - right
            total = total + weight * wide[:, top : top + height, left : left + width]
        return total

    return summed(image[0]), summed(image[1]), summed(image[2])


def _mirrored(size: int, by: int, like: Any, xp: Any) -> Any:
    """Indices of an axis that is continued by its mirror image on both sides."""
    turns = xp.arange(-by, size + by, device=like.device) % (2 * size)
    return xp.minimum(turns, 2 * size - 1 - turns)


def _column(values: list[float], like: Any, xp: Any) -> Any:
    return xp.asarray(values, dtype=like.dtype, device=like.device).reshape((-1, 1, 1))
