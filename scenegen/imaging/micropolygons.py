"""Cut the meshes of a cell's parts into triangles that shadow maps can be drawn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from manifold3d import Error

from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.imaging.blockers import Micropolygons, Trays
from scenegen.nominal import nominal_fixtures
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.mesh import M_PER_MM, solid_of
from scenegen.parts.part import Mesh

EDGE_M = 1.2e-3
"""No edge is longer [m]; a map shows no finer detail."""


def micropolygons(parts: Catalogue, names: Sequence[str], *, edge_m: float = EDGE_M) -> Micropolygons:
    """Cut the meshes of some parts, one after the other.

    Args:
        parts: All parts.
        names: Those that are cut, in their order.
        edge_m: The longest edge that is left [m].

    Raises:
        UnknownName: There is no part of that name.
    """
    cut = [finely_cut(parts[name].mesh, edge_m) for name in names]
    corners = np.concatenate(cut).astype(np.float32) if cut else np.empty((0, 3, 3), np.float32)
    first, second, third = (tuple(np.ascontiguousarray(corner.T)) for corner in corners.swapaxes(0, 1))
    return Micropolygons(
        corners=(first, second, third),
        starts=(0, *np.cumsum([len(one) for one in cut]).tolist()),
        edge_m=edge_m,
        reach_m=tuple(float(np.linalg.norm(one, axis=2).max()) for one in cut),
    )


def fixture_trays(cell: Cell) -> Trays:
    """Return feed and bins, in the order of `nominal_fixtures`."""
    low, high, hollow_low, hollow_high = [], [], [], []
    for fixture in nominal_fixtures(cell):
        box = cell.containers[fixture.name]
        (x, y), wall = (side / 2 for side in box.size_m), box.wall_thickness_m
        low.append((-x - wall, -y - wall, -box.floor_thickness_m))
        high.append((x + wall, y + wall, box.wall_height_m))
        hollow_low.append((-x, -y, 0.0))
        hollow_high.append((x, y, np.inf))
    return Trays(*(tuple(np.array(corner, np.float32).T) for corner in (low, high, hollow_low, hollow_high)))


def finely_cut(mesh: Mesh, edge_m: float) -> Array:
    """Return the corners [m] of triangles that cover a mesh, none with an edge longer than that, shape [n, 3, 3].

    Closed meshes are refined evenly first, which takes fewer triangles than halving long edges alone.
    """
    done, triangles = [], _refined(mesh, edge_m)
    while len(triangles):
        edges = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2)
        longest = edges.argmax(axis=1)
        long = edges.max(axis=1) > edge_m
        done.append(triangles[~long])
        rows = np.arange(len(triangles))[:, None]
        a, b, c = np.moveaxis(triangles[rows, (longest[:, None] + np.arange(3)) % 3][long], 1, 0)
        middle = (a + b) / 2
        triangles = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
    return np.concatenate(done)


def _refined(mesh: Mesh, edge_m: float) -> Array:
    solid = solid_of(mesh.vertices, mesh.faces)
    if solid.status() != Error.NoError:
        return mesh.vertices[mesh.faces]
    found = solid.refine_to_length(edge_m / M_PER_MM).to_mesh64()
    return np.asarray(found.vert_properties)[:, :3][np.asarray(found.tri_verts, np.int64)] * M_PER_MM
