"""Vectors as three arrays: products, lengths, and a frame about a normal."""

from __future__ import annotations

from typing import Any, NamedTuple

from scenegen.imaging.gbuffer import Vector


def dot(a: Vector, b: Vector) -> Any:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def plus(a: Vector, b: Vector, factor: Any = 1.0) -> Vector:
    """Return a + factor b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


def minus(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def times(a: Vector, factor: Any) -> Vector:
    """Return a times a number or an array."""
    return a[0] * factor, a[1] * factor, a[2] * factor


def product(a: Vector, b: Vector) -> Vector:
    """Return the product of two colours, part by part."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


def unit(a: Vector, xp: Any) -> Vector:
    """Return the vectors at length one; a zero vector stays zero."""
    return times(a, 1.0 / xp.sqrt(xp.clip(dot(a, a), 1e-30, None)))


def on_processor(xp: Any) -> bool:
    """Tell whether arrays lie where looking at them costs no wait, so that work may depend on what they hold."""
    return xp.__name__ == "numpy"


class Frame(NamedTuple):
    """A right-handed frame about a normal; `local` has the normal along Z."""

    x: Vector
    y: Vector
    z: Vector

    def local(self, a: Vector) -> Vector:
        """Return world vectors in this frame."""
        return dot(self.x, a), dot(self.y, a), dot(self.z, a)


def frame_about(normal: Vector, xp: Any) -> Frame:
    """Build a frame about unit normals without branches (Duff et al. 2017, "Building an Orthonormal Basis")."""
    x, y, z = normal
    sign = xp.where(z >= 0, xp.ones_like(z), -xp.ones_like(z))
    a = -1.0 / (sign + z)
    b = x * y * a
    return Frame((1 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y), normal)
