"""Light from all around: what a surface sees of floor, walls and ceiling, and where neighbours stand in the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.quad_light import cut_cosine
from scenegen.imaging.vectors import on_processor

CEILING_SINE = 0.70710678
"""Sine of the elevation above which the surroundings are ceiling: 45 degrees."""

_TAPS = (
    (1, 0), (0, 1), (2, -2), (-2, -2), (4, 1), (-1, 4), (5, -4), (-4, -6), (9, 2), (-2, 9), (8, -9), (-9, -7),
)  # fmt: skip
"""Neighbours that may stand in the way [px of an image `_HEIGHT_PX` high], each with the one opposite to it; near ones
catch contacts."""
_HEIGHT_PX = 224
"""Height of the images for which the neighbours were chosen [px]; in larger ones they are as far apart in the scene."""
_AROUND = tuple((sign * x, sign * y) for x, y in _TAPS for sign in (1, -1))
_FARTHEST = max(max(abs(x), abs(y)) for x, y in _TAPS)
_REACH_M = 0.03
"""Neighbours farther away count less and less [m]: about the height of a part or of a bin's wall."""
_STEEP = 0.08
"""Sine of elevation below which a neighbour does not hide anything: the roughness of depth itself."""


def diffuse_bands(up: Any, xp: Any) -> tuple[Any, Any, Any]:
    """Return the form factors of floor, walls and ceiling from a surface; they add up to one.

    Args:
        up: Z of the unit normal.
        xp: Array namespace.
    """
    floor = 0.5 - 0.5 * up
    # The ceiling is a cap of 45 degrees about the vertical: the square of its sine, times the cosine that is not cut.
    ceiling = CEILING_SINE**2 * cut_cosine(up, CEILING_SINE + xp.zeros_like(up), xp)
    return floor, 1 - floor - ceiling, ceiling


def mirror_bands(up: Any, alpha: Any, xp: Any) -> tuple[Any, Any, Any]:
    """Return the shares of floor, walls and ceiling in what a rough mirror shows; they add up to one.

    Args:
        up: Z of the unit mirror direction.
        alpha: Width of the distribution; edges between the bands are blurred by it.
        xp: Array namespace.
    """
    blur = 0.5 / xp.clip(1.5 * alpha, 0.02, None)
    above = _smooth(0.5 + up * blur, xp)
    ceiling = _smooth(0.5 + (up - CEILING_SINE) * blur, xp)
    return 1 - above, above - ceiling, ceiling


def open_shares(gbuffer: GBuffer, *, xp: Any, pixels: Any = None) -> Any:
    """Return the share of its surroundings that each pixel sees past its neighbours in the image, shape [b, k].

    Neighbours hide as much as they rise above the surface's plane: the mean of the sine squared over directions in the
    image, as horizon-based ambient occlusion has it (Bavoil and Sainz 2008). What the image does not show hides
    nothing; its border is repeated.

    Args:
        gbuffer: What the pixels show.
        xp: Array namespace.
        pixels: Which pixels, as places in an image's row of pixels, whole numbers of shape [k]; all if not given.
    """
    around = _Whole(gbuffer, xp) if pixels is None else _Chosen(gbuffer, pixels, xp)
    normal = around.normal
    hidden = xp.zeros_like(normal[0])
    for beside in around.neighbours():
        dx, dy, dz = (there - here for there, here in zip(beside, around.center, strict=True))
        square = dx * dx
        square += dy * dy
        square += dz * dz
        square += 1e-12
        dx *= normal[0]
        dy *= normal[1]
        dz *= normal[2]
        dx += dy
        dx += dz
        dx /= xp.sqrt(square)
        dx -= _STEEP
        rise = xp.clip(dx, 0.0, None)
        rise *= rise
        square *= 1 / _REACH_M**2
        square += 1
        rise /= square
        hidden = hidden + xp.sum(rise, axis=0)
    # Neighbours at several distances share a direction: the horizon there is higher than their mean.
    open_share = xp.clip(1 - hidden * (1.6 / len(_TAPS)), 0.1, 1.0)
    return open_share.reshape((gbuffer.depth.shape[0], -1))


def _step(gbuffer: GBuffer) -> int:
    """Pixels of this image for one of those that the neighbours were chosen in."""
    return max(round(gbuffer.height_px / _HEIGHT_PX), 1)


class _Whole:
    """All pixels and their neighbours, as images."""

    def __init__(self, gbuffer: GBuffer, xp: Any) -> None:
        self._step = _step(gbuffer)
        self._margin = self._step * _FARTHEST
        self._padded = [_padded(gbuffer.plane(values), self._margin, xp) for values in gbuffer.position]
        self._size = gbuffer.height_px, gbuffer.width_px
        self.center = [gbuffer.plane(values) for values in gbuffer.position]
        self.normal = [gbuffer.plane(values) for values in gbuffer.normal]

    def neighbours(self) -> Iterator[list[Any]]:
        """Yield the positions of the neighbours, each of shape [1, b, h, w]."""
        (height, width), margin = self._size, self._margin
        for x, y in _AROUND:
            down, right = margin + self._step * y, margin + self._step * x
            rows, columns = slice(down, down + height), slice(right, right + width)
            yield [plane[None, :, rows, columns] for plane in self._padded]


class _Chosen:
    """Some pixels of each image and their neighbours, in rows."""

    def __init__(self, gbuffer: GBuffer, pixels: Any, xp: Any) -> None:
        self._planes, self._xp, self._step = gbuffer.position, xp, _step(gbuffer)
        self._margin = self._step * _FARTHEST
        self._last = gbuffer.height_px - 1, gbuffer.width_px - 1
        self._row, self._column = pixels // gbuffer.width_px, pixels % gbuffer.width_px
        self.center = [plane[:, pixels] for plane in gbuffer.position]
        self.normal = [plane[:, pixels] for plane in gbuffer.normal]

    def neighbours(self) -> Iterator[list[Any]]:
        """Yield the positions of the neighbours, each of shape [24, b, k], at once."""
        xp = self._xp
        steps = [[self._step * one for one in side] for side in zip(*_AROUND, strict=True)]
        x, y = (xp.asarray(side, device=self._row.device).reshape((-1, 1)) for side in steps)
        if on_processor(xp) and self._is_within(self._margin):
            places = self._row * (self._last[1] + 1) + self._column + (y * (self._last[1] + 1) + x)
        else:
            row, column = xp.clip(self._row + y, 0, self._last[0]), xp.clip(self._column + x, 0, self._last[1])
            places = row * (self._last[1] + 1) + column
        yield [xp.moveaxis(plane[:, places], 0, 1) for plane in self._planes]

    def _is_within(self, margin: int) -> bool:
        """Tell whether all pixels lie so far from the border."""
        sides = zip((self._row, self._column), self._last, strict=True)
        return all(len(one) and one.min() >= margin and one.max() <= last - margin for one, last in sides)


def mirror_open(open_share: Any, n_view: Any, alpha: Any, xp: Any) -> Any:
    """Return the share of a mirror's view that neighbours leave open (Lagarde and de Rousiers 2014, 4.10.2).

    Args:
        open_share: What `open_shares` returns.
        n_view: Cosine between normal and viewer.
        alpha: Width of the distribution.
        xp: Array namespace.
    """
    power = xp.exp(-11.09 * alpha - 0.693147)
    base = xp.clip(n_view + open_share, 1e-4, None)
    return xp.clip(xp.exp(xp.log(base) * power) - 1 + open_share, 0.0, 1.0)


def _padded(plane: Any, margin: int, xp: Any) -> Any:
    """Repeat the border of images."""
    top, bottom = plane[:, :1], plane[:, -1:]
    plane = xp.concat([top] * margin + [plane] + [bottom] * margin, axis=1)
    left, right = plane[:, :, :1], plane[:, :, -1:]
    return xp.concat([left] * margin + [plane] + [right] * margin, axis=2)


def _smooth(x: Any, xp: Any) -> Any:
    bounded = xp.clip(x, 0.0, 1.0)
    return bounded * bounded * (3 - 2 * bounded)
