"""Draw what a light sees into shadow maps: many worlds at once, without casting rays.

Bodies come as triangles that are smaller than a pixel (`Micropolygons`), so that each covers the middle of one pixel at
most and all are drawn by one scatter; fixtures come as hollow blocks, which each pixel's ray meets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scenegen.imaging.blockers import Blockers, Placed, Trays
from scenegen.imaging.gbuffer import GBuffer, Vector
from scenegen.imaging.light_set import AreaLight
from scenegen.imaging.scatter import scatter_max
from scenegen.imaging.shadow_map import SIZE_PX, ShadowMap
from scenegen.imaging.shadow_view import shadow_view
from scenegen.imaging.vectors import dot, minus

_NEAREST_M = 1e-3
"""What lies nearer to the light, or behind it, casts no shadow [m]."""
_SEAM = 1e-6
"""Twice the area [px²] by which a pixel may lie beyond an edge, so that rounding leaves no gap between triangles."""
_LEVEL = 1e-9
"""Rays move at least this much along each axis for a metre of depth, so that they can be divided by it."""
_THIN = 1e-12
"""Twice the area of a triangle that covers nothing [px²]."""


def raster_shadow_map(
    blockers: Blockers,
    items: Placed,
    fixtures: Placed,
    light: AreaLight,
    gbuffer: GBuffer,
    *,
    xp: Any,
    size_px: int = SIZE_PX,
) -> ShadowMap:
    """Look at b worlds from the middle of a light; the map spans what the camera sees, as that of `cast_shadow_map`.

    Args:
        blockers: What casts shadows; the table does not.
        items: Where items are; those that are not there may be anywhere.
        fixtures: Where fixtures are.
        light: The light.
        gbuffer: What the camera sees.
        xp: Array namespace.
        size_px: Pixels along each side.
    """
    view = shadow_view(light, gbuffer, xp=xp, size_px=size_px)
    view = _no_finer(view, blockers, items, xp)
    drawn = xp.maximum(_triangles(view, blockers, items, xp), _trays(view, blockers.trays, fixtures, xp))
    return replace(view, inverse_depth=drawn)


def _no_finer(view: ShadowMap, blockers: Blockers, items: Placed, xp: Any) -> ShadowMap:
    """Widen the map until no triangle may be larger than a pixel."""
    if not items.position[0].shape[1]:
        return view
    depth = dot(minus(items.position, view.eye), view.ahead) - blockers.reach_m
    far = xp.full_like(depth, xp.inf)
    nearest = xp.amin(xp.where(depth > _NEAREST_M, depth, far), axis=1).reshape((-1, 1))
    focal = xp.minimum(view.focal_px, nearest / blockers.polygons.edge_m)
    shrunk = focal / view.focal_px
    middle = view.size_px / 2
    column, row, zero = view.middle_px
    return replace(
        view, focal_px=focal, middle_px=(middle + shrunk * (column - middle), middle + shrunk * (row - middle), zero)
    )


def _triangles(view: ShadowMap, blockers: Blockers, items: Placed, xp: Any) -> Any:
    """One over the depth of the nearest triangle at the middle of each pixel, 0 where there is none."""
    size, worlds = view.size_px, view.focal_px.shape[0]
    count = items.position[0].shape[1]
    rows = [[part.reshape((-1,))[blockers.body] for part in row] for row in _projection(view, items)]
    columns, downs, inverses, ahead = [], [], [], True
    for corner in blockers.polygons.corners:
        x, y, z = (values[blockers.triangle] for values in corner)
        across, down, depth = (row[0] * x + row[1] * y + row[2] * z + row[3] for row in rows)
        ahead = (depth > _NEAREST_M) & ahead
        inverse = 1 / xp.where(depth > _NEAREST_M, depth, xp.ones_like(depth))
        columns, downs, inverses = [*columns, across * inverse], [*downs, down * inverse], [*inverses, inverse]
    column, row = _middle(columns, xp), _middle(downs, xp)
    a, b, c = (
        (one - (column + 0.5), other - (row + 0.5), inverse)
        for one, other, inverse in zip(columns, downs, inverses, strict=True)
    )
    weights = (b[0] * c[1] - c[0] * b[1], c[0] * a[1] - a[0] * c[1], a[0] * b[1] - b[0] * a[1])
    area = weights[0] + weights[1] + weights[2]
    least, most = (pick(pick(weights[0], weights[1]), weights[2]) for pick in (xp.minimum, xp.maximum))
    covered = ((least >= -_SEAM) | (most <= _SEAM)) & (xp.abs(area) > _THIN) & ahead
    covered = covered & (column >= 0) & (column < size) & (row >= 0) & (row < size)
    # Over the map one over the depth of a triangle's plane is linear.
    value = dot(weights, (a[2], b[2], c[2])) / xp.where(covered, area, xp.ones_like(area))
    value = xp.where(covered, value, xp.zeros_like(value))
    spot = xp.clip(row, 0, size - 1) * size + xp.clip(column, 0, size - 1)
    place = xp.asarray(blockers.body // count, dtype=xp.int64) * (size * size) + xp.asarray(spot, dtype=xp.int64)
    return scatter_max(value, place, worlds * size * size, xp=xp).reshape((worlds, size * size))


def _projection(view: ShadowMap, items: Placed) -> tuple[tuple[Any, ...], ...]:
    """Factors by which x, y, z and 1 of a body's point give column times depth, row times depth, and depth."""
    where = minus(items.position, view.eye)
    ahead = tuple(dot(view.ahead, one) for one in (*items.axes, where))

    def onto(axis: Vector, middle: Any) -> tuple[Any, ...]:
        return tuple(
            view.focal_px * dot(axis, one) + middle * depth
            for one, depth in zip((*items.axes, where), ahead, strict=True)
        )

    return onto(view.right, view.middle_px[0]), onto(view.down, view.middle_px[1]), ahead


def _middle(values: list[Any], xp: Any) -> Any:
    """Whole part of the middle between the least and the greatest."""
    a, b, c = values
    return xp.floor((xp.minimum(xp.minimum(a, b), c) + xp.maximum(xp.maximum(a, b), c)) / 2)


def _trays(view: ShadowMap, trays: Trays, fixtures: Placed, xp: Any) -> Any:
    """One over the depth at which each pixel's ray meets the nearest fixture, 0 where it meets none."""
    size = view.size_px
    place = xp.arange(size * size, device=view.focal_px.device)
    column, row = (xp.asarray(one, dtype=view.focal_px.dtype) for one in (place % size, place // size))
    x, y = ((one + 0.5 - middle) / view.focal_px for one, middle in zip((column, row), view.middle_px, strict=False))
    # Start and direction of the rays along the axes of each fixture: factors of 1, x and y, each of shape [b, f].
    where = minus(view.eye, fixtures.position)
    starts, aheads, rights, downs = (fixtures.axes.local(one) for one in (where, view.ahead, view.right, view.down))
    nearest = xp.zeros_like(x)
    # One fixture after the other: all at once would hold fixtures x pixels numbers.
    for index in range(trays.low[0].shape[0]):
        one = slice(index, index + 1)
        start, inverse = [values[:, one] for values in starts], []
        for ahead, right, down in zip(aheads, rights, downs, strict=True):
            step = ahead[:, one] + right[:, one] * x + down[:, one] * y
            inverse.append(1 / xp.where(xp.abs(step) > _LEVEL, step, _LEVEL * xp.ones_like(step)))
        entry, leave = _slabs(start, inverse, [v[one] for v in trays.low], [v[one] for v in trays.high], xp)
        inner = _slabs(start, inverse, [v[one] for v in trays.hollow_low], [v[one] for v in trays.hollow_high], xp)
        # A ray that comes in through the hollow meets what it leaves the hollow by, unless it is out again before.
        through = (inner[0] <= entry) & (entry < inner[1])
        depth = xp.where(through, inner[1], entry)
        met = (entry < leave) & (entry > _NEAREST_M) & (depth < leave)
        nearest = xp.maximum(nearest, xp.where(met, 1 / xp.where(met, depth, xp.ones_like(depth)), xp.zeros_like(x)))
    return nearest


def _slabs(start: list[Any], inverse: list[Any], low: list[Any], high: list[Any], xp: Any) -> tuple[Any, Any]:
    """Where rays enter and leave blocks, in steps of the rays (Kay and Kajiya 1986); they miss if they leave first."""
    entries, leaves = [], []
    for origin, factor, lower, upper in zip(start, inverse, low, high, strict=True):
        one, other = (lower - origin) * factor, (upper - origin) * factor
        entries.append(xp.minimum(one, other))
        leaves.append(xp.maximum(one, other))
    (a, b, c), (d, e, f) = entries, leaves
    return xp.maximum(xp.maximum(a, b), c), xp.minimum(xp.minimum(d, e), f)
