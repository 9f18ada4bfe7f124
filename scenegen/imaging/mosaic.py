"""Cut patterned and stained solids into pieces of one look each, for renderers that know plain looks alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scenegen.geometry import Array
from scenegen.imaging.coat import Coat, pattern_mask, stain_mask
from scenegen.imaging.stage import Solid
from scenegen.scenario import Camera, Look, Surface

COARSEST = 0.3
"""Longest edge of a triangle as a share of the size of squares, stripes, dots or patches, so that none is missed."""
NEAREST_M = 0.1
"""What is nearer to the camera is cut as if it were here [m]."""
MARGIN = 0.2
"""How far beyond its edges an image counts as seen, as a share of its size: lenses bend what is near the edge."""

_PLAIN, _PATTERN, _STAIN, _MEAN = range(4)


def pieces(solid: Solid, coat: Coat, camera: Camera) -> list[tuple[Look, Solid]]:
    """Cut a solid where its look changes.

    Triangles that the camera sees are halved at their longest edge until they are small beside pattern and patches,
    and on until one look fills them or they are as small as a pixel; the look at their middle is theirs. What the
    camera does not see has the mean of the looks.

    Args:
        solid: The solid, world frame.
        coat: Its pattern and stain.
        camera: The camera with its pose.

    Returns:
        The looks that show, each with its triangles; together they are the solid.
    """
    coarse_m = COARSEST * _detail_m(coat)
    triangles, normals = np.asarray(solid.triangles, float), np.asarray(solid.normals, float)
    done: list[tuple[Array, Array, NDArray[np.int8]]] = []
    while len(triangles):
        longest_m = np.linalg.norm(triangles - np.roll(triangles, -1, axis=1), axis=2).max(axis=1)
        longest_px = _seen_px(triangles, normals, camera)
        seen = longest_px > 0
        middles = (triangles + np.roll(triangles, -1, axis=1)) / 2
        shown = _shown(coat, np.concatenate([triangles, middles], axis=1))
        mixed = (shown != shown[:, :1]).any(axis=1)
        cut = (longest_px > 1) & (mixed | (longest_m > coarse_m))
        look = np.where(seen | (longest_m <= coarse_m), _shown(coat, triangles.mean(axis=1)), _MEAN)
        done.append((triangles[~cut], normals[~cut], look[~cut]))
        triangles, normals = _halved(triangles[cut], normals[cut])
    triangles, normals, looks = (np.concatenate(parts) for parts in zip(*done, strict=True))
    return [
        (look, Solid(triangles[looks == index], normals[looks == index]))
        for index, look in _looks(coat.surface).items()
        if (looks == index).any()
    ]


def _seen_px(triangles: Array, normals: Array, camera: Camera) -> Array:
    """Length of the longest edge in a camera's image [px], 0 for what is turned away or beside the image, shape [n]."""
    eye, size = camera.pose_to_world.position, np.array([camera.width_px, camera.height_px])
    faces = (np.einsum("nij,nij->ni", normals, eye - triangles) > 0).any(axis=1)
    local = camera.pose_to_world.inverse().apply(triangles)
    depth = np.maximum(-local[..., 2:], NEAREST_M)
    places = local[..., :2] / depth * np.array(camera.focal_px) * (1, -1) + np.array(camera.principal_px)
    inside = (places.max(axis=1) > -MARGIN * size) & (places.min(axis=1) < (1 + MARGIN) * size)
    edges = np.linalg.norm(places - np.roll(places, -1, axis=1), axis=2).max(axis=1)
    return np.where(faces & inside.all(axis=1) & (local[..., 2] < 0).any(axis=1), np.maximum(edges, 1e-6), 0.0)


def _looks(surface: Surface) -> dict[int, Look]:
    """Return the looks of a surface: plain, of its pattern, of its stain, and their mean."""
    look, pattern, stain = surface.look, surface.pattern, surface.stain
    looks = {_PLAIN: look}
    if pattern is not None:
        looks[_PATTERN] = look.replaced(color=pattern.color)
    if stain is not None:
        looks[_STAIN] = Look(color=stain.color, metallic=stain.metallic, roughness=stain.roughness)
    share, other = (stain.share, looks[_STAIN]) if stain is not None else (0.0, look)
    looks[_MEAN] = Look(
        color=surface.mean_color,
        metallic=look.metallic + share * (other.metallic - look.metallic),
        roughness=look.roughness + share * (other.roughness - look.roughness),
    )
    return looks


def _shown(coat: Coat, spots: Array) -> NDArray[np.int8]:
    """Say which look spots [m] show, world frame, shape [..., 3] to [...]."""
    local = coat.pose_to_world.inverse().apply(spots)
    position = (local[..., 0], local[..., 1], local[..., 2])
    shown = np.full(local.shape[:-1], _PLAIN, np.int8)
    if coat.surface.pattern is not None:
        shown[pattern_mask(coat.surface.pattern, position, xp=np) > 0] = _PATTERN
    if coat.surface.stain is not None:
        shown[stain_mask(coat.surface.stain, position, xp=np) > 0] = _STAIN
    return shown


def _detail_m(coat: Coat) -> float:
    """Size of what repeats on the surface [m]."""
    pattern, stain = coat.surface.pattern, coat.surface.stain
    return min(*([] if pattern is None else [pattern.size_m]), *([] if stain is None else [stain.patch_m]), np.inf)


def _halved(triangles: Array, normals: Array) -> tuple[Array, Array]:
    """Cut triangles in the middle of their longest edge; corners and normals, shapes [n, 3, 3] to [2 n, 3, 3]."""
    lengths = np.linalg.norm(triangles - np.roll(triangles, -1, axis=1), axis=2)
    # Turned so that the longest edge runs from the first corner to the second.
    order = (np.argmax(lengths, axis=1)[:, None] + np.arange(3)) % 3
    rows = np.arange(len(triangles))[:, None]
    (a, b, c), (one, two, three) = (np.moveaxis(values[rows, order], 1, 0) for values in (triangles, normals))
    middle, between = (a + b) / 2, one + two
    between = between / np.maximum(np.linalg.norm(between, axis=1, keepdims=True), 1e-12)
    return (
        np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]),
        np.concatenate([np.stack([one, between, three], axis=1), np.stack([between, two, three], axis=1)]),
    )
