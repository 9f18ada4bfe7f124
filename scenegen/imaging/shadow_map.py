"""Soft shadows of area lights: depth seen from a light, and how much of the light reaches a point."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from scenegen.geometry import Array, look_at
from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.light_set import AreaLight
from scenegen.imaging.vectors import dot, minus, on_processor, plus
from scenegen.scenario import Camera, Layout

if TYPE_CHECKING:  # casting rays takes embree, looking maps up does not
    from scenegen.imaging.robot_shape import Posture
    from scenegen.imaging.view import Viewer

SIZE_PX, LARGEST_PX = 192, 1024
"""Least and most pixels along each side of a map; the least are a millimetre or two each over a feed tray."""
_FINENESS = 0.85
"""Pixels of a map along a side for each one of the image: coarser maps leave teeth in shadows, finer ones nothing more
to see."""
NEAR_M = 50.0
"""A light farther away is looked at from here [m], in its direction, its size shrunk in proportion."""
FILLED = 0.94
"""Share of a map's side that the points it spans take up."""
_OFFSET_PX = 0.75
"""How far a point is lifted along its normal before it is looked up, in pixels of the map."""
_BIAS_M = 5e-4
"""What lies nearer to the light by less than this hides nothing [m]."""
_TAPS = tuple((((5 * k + 0.5) % 16) / 8 - 1, (k + 0.5) / 8 - 1) for k in range(16))
"""Sixteen points of the light, in halves of its sides, each in a row and a column of its own (a rank-1 lattice)."""


AIMED = 16
"""Lights and what their maps span, of which is remembered where the maps look from."""
_AT_ONCE = 1 << 17
"""Points times places of a light that are looked up at once: for few of them calls cost more than numbers do."""

Row = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class ShadowMap:
    """What a light sees, from its middle; one map an image, b of them."""

    inverse_depth: Any
    """One over the depth of what casts a shadow [1/m], 0 where nothing does; shape [b, size²], row by row."""
    size_px: int
    eye: Vector
    """Where the map was seen from, world frame [m]; each of shape [b, 1]."""
    right: Vector
    """Unit axis along the map's rows, world frame; each of shape [b, 1]."""
    down: Vector
    """Unit axis along its columns."""
    ahead: Vector
    """Unit axis of depth."""
    focal_px: Any
    """Pixels of the map for a unit of its plane; shape [b, 1]."""
    middle_px: Vector
    """Column and row [px] of the axis of depth, and 0; each of shape [b, 1]."""
    half_u: Vector
    """Half of the light's side along right, down and ahead [m]; each of shape [b, 1]."""
    half_v: Vector
    """Half of its other side."""


def map_size_px(pixels: int) -> int:
    """Return how many pixels along each side suit a map for an image of so many pixels."""
    return min(max(round(_FINENESS * math.sqrt(pixels)), SIZE_PX), LARGEST_PX)


def cast_shadow_map(
    viewer: Viewer,
    layout: Layout,
    light: AreaLight,
    receivers: Array,
    *,
    size_px: int = SIZE_PX,
    posture: Posture | None = None,
) -> ShadowMap:
    """Look at a layout from the middle of a light; the map spans the points that may receive shadows.

    Args:
        viewer: Places the cell's bodies.
        layout: What casts shadows; the table does not.
        light: The light, of one image.
        receivers: Points that may receive shadows [m], world frame, shape [n, 3].
        size_px: Pixels along each side; see `map_size_px`.
        posture: How the robot stands; None: it is not there.
    """
    spots = np.asarray(receivers, np.float64).tobytes()
    camera, empty = _aimed(_row(light.center), _row(light.half_u), _row(light.half_v), spots, size_px)
    depth = viewer.depth(viewer.look(layout, camera, posture))
    return replace(empty, inverse_depth=(1 / depth).astype(np.float32).reshape(1, -1))


@lru_cache(maxsize=AIMED)
def _aimed(center: Row, half_u: Row, half_v: Row, receivers: bytes, size_px: int) -> tuple[Camera, ShadowMap]:
    """Aim a map from the middle of a light at points, which come as bytes; nothing casts a shadow in it yet."""
    points = np.frombuffer(receivers).reshape(-1, 3)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    toward = np.array(center) - middle
    shrink = min(1.0, NEAR_M / float(np.linalg.norm(toward)))
    eye = middle + shrink * toward
    camera = _camera(eye, middle, points, size_px)
    axes = camera.pose_to_world.rotation * np.array([1.0, -1.0, -1.0])
    return camera, ShadowMap(
        inverse_depth=np.zeros((1, size_px**2), np.float32),
        size_px=size_px,
        eye=_vector(eye),
        right=_vector(axes[:, 0]),
        down=_vector(axes[:, 1]),
        ahead=_vector(axes[:, 2]),
        focal_px=np.full((1, 1), camera.focal_px[0], np.float32),
        middle_px=_vector(np.array([*camera.principal_px, 0.0])),
        half_u=_vector(shrink * np.array(half_u) @ axes),
        half_v=_vector(shrink * np.array(half_v) @ axes),
    )


def lit_share(shadow: ShadowMap, position: Vector, normal: Vector, *, xp: Any) -> Any:
    """Return the share of the light that reaches points, in [0, 1], shape [b, k].

    First the mean depth of what may hide the light is searched, then the light is looked at from there
    (percentage-closer soft shadows, Fernando 2005). What lies beyond the plane of the point's own surface hides
    nothing.

    Args:
        shadow: The map.
        position: Points [m], world frame, each of shape [b, k].
        normal: Unit normals there, world frame, each of shape [b, k].
        xp: Array namespace.
    """
    point = minus(position, shadow.eye)
    depth = xp.clip(dot(point, shadow.ahead), 1e-3, None)
    point = plus(point, normal, _OFFSET_PX * depth / shadow.focal_px)
    local = (dot(point, shadow.right), dot(point, shadow.down), xp.clip(dot(point, shadow.ahead), 1e-3, None))
    facing = (dot(normal, shadow.right), dot(normal, shadow.down), dot(normal, shadow.ahead))
    # Over the map one over the depth of the surface's plane is linear: n / (n p).
    reach = dot(facing, local)
    reach = xp.where(xp.abs(reach) > 1e-4, reach, -1e-4 * xp.ones_like(reach))
    inverse = 1 / local[2]
    slope = 1 / (shadow.focal_px * reach)
    lookup = _Lookup(
        shadow,
        column=local[0] * inverse * shadow.focal_px + shadow.middle_px[0],
        row=local[1] * inverse * shadow.focal_px + shadow.middle_px[1],
        inverse=inverse + _BIAS_M * inverse * inverse,
        tilt=(facing[0] * slope, facing[1] * slope),
        xp=xp,
    )
    nearest = xp.amax(shadow.inverse_depth, axis=1).reshape((-1, 1))
    spread = xp.clip(nearest - inverse, 0.0, None) * shadow.focal_px
    total, count = xp.zeros_like(inverse), xp.zeros_like(inverse)
    for u, v in _grouped(inverse, xp):
        seen, hides = lookup.at(u, v, spread)
        weight = xp.asarray(hides, dtype=inverse.dtype)
        total, count = total + xp.sum(weight * seen, axis=0), count + xp.sum(weight, axis=0)
    blocker = total / xp.clip(count, 1.0, None)
    spread = xp.clip(blocker - inverse, 0.0, None) * shadow.focal_px
    hidden = _hidden_of_one(lookup, spread) if on_processor(xp) and len(spread) == 1 else _hidden(lookup, spread, xp)
    return 1 - hidden * (1 / len(_TAPS))


def _hidden(lookup: _Lookup, spread: Any, xp: Any) -> Any:
    """Count the places on the light that points do not see, shape [b, k]; see `_Lookup.at` for the spread."""
    hidden = xp.zeros_like(spread)
    for u, v in _grouped(spread, xp):
        _, hides = lookup.at(u, v, spread)
        hidden = hidden + xp.sum(xp.asarray(hides, dtype=spread.dtype), axis=0)
    return hidden


def _hidden_of_one(lookup: _Lookup, spread: Array) -> Array:
    """Do what `_hidden` does for one image in numpy: where nothing hides the light, all places look the same."""
    middle = np.zeros((1, 1, 1), spread.dtype)
    _, hides = lookup.at(middle, middle, spread)
    hidden = hides[0].astype(spread.dtype) * len(_TAPS)
    soft = np.flatnonzero(spread[0] > 0)
    if len(soft):
        hidden[:, soft] = _hidden(lookup.some(soft), spread[:, soft], np)
    return hidden


def _grouped(like: Any, xp: Any) -> list[tuple[Any, Any]]:
    """Return the places on the light in groups that are looked up at once, each of shape [g, 1, 1]."""
    size = max(1, min(len(_TAPS), _AT_ONCE // max(like.shape[0] * like.shape[1], 1)))
    table = xp.asarray(_TAPS, dtype=like.dtype, device=like.device).reshape((-1, 2, 1, 1))
    starts = range(0, len(_TAPS), size)
    return [(table[start : start + size, 0], table[start : start + size, 1]) for start in starts]


class _Lookup:
    """Points of one map, and what is seen beside them."""

    def __init__(
        self, shadow: ShadowMap, *, column: Any, row: Any, inverse: Any, tilt: tuple[Any, Any], xp: Any
    ) -> None:
        self._shadow, self._xp = shadow, xp
        self._column, self._row, self._inverse, self._tilt = column, row, inverse, tilt
        b, p = shadow.inverse_depth.shape
        self._flat = shadow.inverse_depth.reshape((b * p,))
        self._start = xp.arange(b, device=column.device).reshape((b, 1)) * p

    def some(self, points: Any) -> _Lookup:
        """Return a lookup of some points alone, by their index, shape [j]."""
        column, row, inverse = (one[:, points] for one in (self._column, self._row, self._inverse))
        tilt = (self._tilt[0][:, points], self._tilt[1][:, points])
        return _Lookup(self._shadow, column=column, row=row, inverse=inverse, tilt=tilt, xp=self._xp)

    def at(self, u: Any, v: Any, spread: Any) -> tuple[Any, Any]:
        """Return one over the depth seen from points of the light, and whether that hides the light, shape [g, b, k].

        Args:
            u: Places on the light in halves of its side U, shape [g, 1, 1].
            v: Places in halves of its side V.
            spread: Pixels of the map for a metre on the light.
        """
        xp, shadow = self._xp, self._shadow
        x = (u * shadow.half_u[0] + v * shadow.half_v[0]) * spread
        y = (u * shadow.half_u[1] + v * shadow.half_v[1]) * spread
        last = shadow.size_px - 1
        x += self._column
        y += self._row
        column, row = xp.floor(xp.clip(x, 0.0, last)), xp.floor(xp.clip(y, 0.0, last))
        seen = self._flat[self._start + xp.asarray(row * shadow.size_px + column, dtype=xp.int64)]
        # The plane is taken where the map's ray is, so that a surface never hides itself.
        column += 0.5
        column -= self._column
        column *= self._tilt[0]
        row += 0.5
        row -= self._row
        row *= self._tilt[1]
        plane = self._inverse + column
        plane += row
        return seen, seen > xp.clip(plane, 1e-6, None)


def _camera(eye: Array, middle: Array, receivers: Array, size_px: int) -> Camera:
    """Return a square camera that just holds the receivers."""
    pose = look_at(eye, middle)
    local = (receivers - eye) @ pose.rotation
    plane = np.stack([local[:, 0], -local[:, 1]], axis=1) / np.maximum(-local[:, 2:], 1e-6)
    low, high = plane.min(axis=0), plane.max(axis=0)
    focal = FILLED * size_px / max(float((high - low).max()), 1e-6)
    principal = size_px / 2 - focal * (low + high) / 2
    return Camera(
        name="light",
        pose_to_world=pose,
        width_px=size_px,
        height_px=size_px,
        focal_px=(focal, focal),
        principal_px=(float(principal[0]), float(principal[1])),
        distortion=(0.0, 0.0, 0.0, 0.0, 0.0),
    )


def _row(vector: Vector) -> Row:
    x, y, z = (float(values[0, 0]) for values in vector)
    return x, y, z


def _vector(values: Array) -> Vector:
    x, y, z = (np.full((1, 1), value, np.float32) for value in values)
    return x, y, z
