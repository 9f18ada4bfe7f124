"""Patterns and stains of surfaces on the simulator's device: `scenegen.imaging.coat`, a pixel a thread."""

# Warp compiles the functions of this file: types and operators are its own.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# pyright: reportAssignmentType=false, reportReturnType=false

from __future__ import annotations

import warp as wp

from scenegen.imaging.coat import DOT, MIX, PRIMES, WORD
from scenegen.imaging.coat_set import KINDS
from scenegen.optical import PatternKind

_CHECKER, _STRIPES, _SPECKLE, _WOOD = (
    KINDS.index(kind) for kind in (PatternKind.CHECKER, PatternKind.STRIPES, PatternKind.SPECKLE, PatternKind.WOOD)
)
_ROOM = 1.0 - 2.0 * DOT
"""How far a dot's middle may lie from the corner of its square, beyond its radius."""


@wp.struct
class Coat:
    """What lies over one surface; see `CoatSet`."""

    kind: wp.float32
    cosine: wp.float32
    sine: wp.float32
    patch_m: wp.float32
    level: wp.float32
    phase: wp.vec3f


@wp.func
def coat_layer(coat: Coat, local: wp.vec3f) -> int:
    """Return the layer that shows at a spot in the surface's frame [m]: 0 its own look, 1 the pattern, 2 the stain."""
    if coat.patch_m > 0.0 and _field(local / coat.patch_m + coat.phase) > coat.level:
        return 2
    if coat.kind > 0.5 and _in_pattern(coat, local):
        return 1
    return 0


@wp.func
def _in_pattern(coat: Coat, local: wp.vec3f) -> bool:
    kind = int(coat.kind + 0.5)
    u = coat.cosine * local[0] + coat.sine * local[1]
    v = coat.cosine * local[1] - coat.sine * local[0]
    second = _odd(wp.floor(u))
    if kind == wp.static(_CHECKER):
        second = _odd(wp.floor(u) + wp.floor(v))
    if kind == wp.static(_WOOD):
        second = _odd(wp.floor(u + 0.6 * wp.sin(0.9 * v) + 0.25 * wp.sin(2.3 * v + u)))
    if kind == wp.static(_SPECKLE):
        i, j = wp.floor(u), wp.floor(v)
        x = u - i - wp.static(DOT) - wp.static(_ROOM) * _hashed(i, j, 0.0, 1)
        y = v - j - wp.static(DOT) - wp.static(_ROOM) * _hashed(i, j, 0.0, 2)
        second = x * x + y * y < wp.static(DOT * DOT)
    return second


@wp.func
def _field(spot: wp.vec3f) -> float:
    x, y, z = wp.floor(spot[0]), wp.floor(spot[1]), wp.floor(spot[2])
    fx, fy, fz = _smooth(spot[0] - x), _smooth(spot[1] - y), _smooth(spot[2] - z)
    total = 0.0
    for corner in range(8):
        i, j, k = corner & 1, corner >> 1 & 1, corner >> 2 & 1
        wx = wp.where(i == 1, fx, 1.0 - fx)
        wy = wp.where(j == 1, fy, 1.0 - fy)
        wz = wp.where(k == 1, fz, 1.0 - fz)
        total += wx * wy * wz * _hashed(x + float(i), y + float(j), z + float(k), 0)
    return total


@wp.func
def _smooth(share: float) -> float:
    return share * share * (3.0 - 2.0 * share)


@wp.func
def _hashed(i: float, j: float, k: float, salt: int) -> float:
    mask = wp.int64(wp.static(WORD))
    word = wp.int64(salt) * wp.int64(wp.static(MIX))
    word = word ^ (wp.int64(i) * wp.int64(wp.static(PRIMES[0])) & mask)
    word = word ^ (wp.int64(j) * wp.int64(wp.static(PRIMES[1])) & mask)
    word = word ^ (wp.int64(k) * wp.int64(wp.static(PRIMES[2])) & mask)
    for _ in range(2):
        word = (word ^ (word >> wp.int64(16))) * wp.int64(wp.static(MIX)) & mask
    return float((word ^ (word >> wp.int64(16))) & wp.int64(0xFFFF)) / 65536.0


@wp.func
def _odd(number: float) -> bool:
    return number - 2.0 * wp.floor(number / 2.0) > 0.5
