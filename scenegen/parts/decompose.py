"""Any solid to a few convex collider pieces: one hull where that is enough, else an approximate decomposition."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from manifold3d import Manifold

from scenegen.geometry import Array
from scenegen.parts.mass import volume_and_center
from scenegen.parts.mesh import M_PER_MM, convex_hull, mesh_of

CONVEX_SHARE = 0.97
"""A solid that fills this share of its hull is taken for convex."""
MAX_PIECES = 16
MAX_CORNERS = 64
"""Corners of one piece: few, since simulators test each against each."""
CONCAVITY = 0.1
"""How deep a piece's hull may cover a hollow, as a share of the part's size (the paper uses 0.01 to 0.1)."""
SEED = 1
ORIGIN = np.zeros(3)


def convex_pieces(solid: Manifold) -> tuple[Array, ...]:
    """Cut a solid [mm] into convex pieces (Wei et al., "CoACD", 2022); the same solid gives the same pieces.

    Returns:
        Corners of each piece [mm], shape [k, 3].
    """
    mesh = mesh_of(solid, origin_mm=ORIGIN)
    corners, triangles = convex_hull(mesh.vertices)
    hull_volume, _ = volume_and_center(corners, triangles)
    volume, _ = volume_and_center(mesh.vertices, mesh.faces)
    if volume >= CONVEX_SHARE * hull_volume:
        return (_few_corners(corners / M_PER_MM),)
    import coacd  # heavy: only who adds a part pays for it

    coacd.set_log_level("error")
    vertices, faces = cast(Any, mesh.vertices / M_PER_MM), cast(Any, mesh.faces)
    pieces = coacd.run_coacd(
        coacd.Mesh(vertices, faces),
        threshold=CONCAVITY,
        max_convex_hull=MAX_PIECES,
        preprocess_mode="off",
        resolution=500,
        mcts_iterations=30,
        mcts_max_depth=2,
        decimate=True,
        max_ch_vertex=MAX_CORNERS,
        seed=SEED,
    )
    return tuple(_few_corners(np.asarray(vertices, float)) for vertices, _ in pieces)


def _few_corners(corners_mm: Array) -> Array:
    """Keep the corners that reach farthest in evenly spread directions; extremes along the axes are always kept."""
    if len(corners_mm) <= MAX_CORNERS:
        return corners_mm
    index = np.arange(4 * MAX_CORNERS) + 0.5
    turn, height = index * np.pi * (1 + 5**0.5), 1 - index / (2 * MAX_CORNERS)  # Fibonacci sphere
    flat = np.sqrt(1 - height**2)
    spread = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), height])
    directions = np.concatenate([np.eye(3), -np.eye(3), spread])
    reached = dict.fromkeys(np.argmax(corners_mm @ directions.T, axis=0).tolist())
    return corners_mm[list(reached)[:MAX_CORNERS]]
