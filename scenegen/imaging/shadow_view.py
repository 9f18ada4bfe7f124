"""Where a shadow map looks from and what it spans, for many worlds at once; as `cast_shadow_map` has it for one."""

from __future__ import annotations

from typing import Any

from scenegen.imaging.gbuffer import GBuffer
from scenegen.imaging.light_set import AreaLight
from scenegen.imaging.shadow_map import FILLED, NEAR_M, ShadowMap
from scenegen.imaging.vectors import Frame, cross, dot, minus, plus, times, unit

STRIDE_PX = 8
"""Every so many rows and columns of the camera's image a pixel says where shadows may fall."""
_UPRIGHT = 0.999
"""Cosine to the vertical above which the map is turned by Y in place of Z (see `geometry.look_at`)."""


def shadow_view(light: AreaLight, gbuffer: GBuffer, *, xp: Any, size_px: int) -> ShadowMap:
    """Aim a map from the middle of a light at what cameras see; nothing casts a shadow in it yet.

    Args:
        light: The light.
        gbuffer: What the cameras see, b images.
        xp: Array namespace.
        size_px: Pixels along each side.
    """
    spots, shown = _receivers(gbuffer)
    # Where nothing is shown, all spots count.
    shown = shown | ~xp.any(shown, axis=1).reshape((-1, 1))
    low, high = zip(*(_bounds(values, shown, xp) for values in spots), strict=True)
    middle = times(plus(low, high), 0.5)
    toward = minus(light.center, middle)
    shrink = xp.clip(NEAR_M / xp.sqrt(dot(toward, toward)), None, 1.0)
    eye = plus(middle, toward, shrink)
    axes = _axes(unit(toward, xp), xp)
    local = axes.local(minus(spots, eye))
    depth = xp.clip(local[2], 1e-6, None)
    left, across = _bounds(local[0] / depth, shown, xp)
    top, down = _bounds(local[1] / depth, shown, xp)
    focal = FILLED * size_px / xp.clip(xp.maximum(across - left, down - top), 1e-6, None)
    return ShadowMap(
        inverse_depth=xp.zeros((focal.shape[0], size_px * size_px), dtype=focal.dtype, device=focal.device),
        size_px=size_px,
        eye=eye,
        right=axes.x,
        down=axes.y,
        ahead=axes.z,
        focal_px=focal,
        middle_px=(
            size_px / 2 - focal * (left + across) / 2,
            size_px / 2 - focal * (top + down) / 2,
            xp.zeros_like(focal),
        ),
        half_u=times(axes.local(light.half_u), shrink),
        half_v=times(axes.local(light.half_v), shrink),
    )


def _receivers(gbuffer: GBuffer) -> tuple[Any, Any]:
    """Positions of some pixels, and whether they show anything, shape [b, n]."""
    strided = [gbuffer.plane(one)[:, ::STRIDE_PX, ::STRIDE_PX] for one in (*gbuffer.position, gbuffer.instance)]
    x, y, z, instance = (one.reshape((one.shape[0], -1)) for one in strided)
    return (x, y, z), instance >= 0


def _bounds(values: Any, shown: Any, xp: Any) -> tuple[Any, Any]:
    """Least and greatest value of what is shown, each of shape [b, 1]."""
    far = xp.full_like(values, xp.inf)
    low, high = xp.amin(xp.where(shown, values, far), axis=1), xp.amax(xp.where(shown, values, -far), axis=1)
    return low.reshape((-1, 1)), high.reshape((-1, 1))


def _axes(back: Any, xp: Any) -> Frame:
    """Axes along rows, along columns and ahead of a camera that looks against `back`, up as near to Z as can be."""
    zero, one = xp.zeros_like(back[0]), xp.ones_like(back[0])
    upright = xp.abs(back[2]) > _UPRIGHT
    right = unit(cross((zero, xp.where(upright, one, zero), xp.where(upright, zero, one)), back), xp)
    return Frame(right, cross(right, back), times(back, -1.0))
