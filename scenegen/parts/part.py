"""A part: one parameter set turned into mesh, colliders, mass, resting poses, grasps and a semantic class."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scenegen.geometry import Array
from scenegen.record import content_hash
from scenegen.scenario import Look

GRID_M = 1e-7
"""Geometry is rounded to this grid before it is hashed or written: far below any tolerance of a part."""

Faces = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Mesh:
    """A watertight triangle mesh in the part's frame."""

    vertices: Array
    """Positions [m], shape [n, 3]."""
    faces: Faces
    """Vertex indices, counter-clockwise seen from outside, shape [m, 3]."""
    normals: Array
    """Unit normals, one a face corner (faceVarying), shape [m, 3, 3]; smooth surfaces share them across edges."""


@dataclass(frozen=True, eq=False)
class Collider:
    """One convex piece of a compound collider."""

    kind: Literal["box", "hull"]
    vertices: Array
    """Corners of the convex hull in the part's frame [m], shape [k, 3]; a box has its eight corners."""
    faces: Faces
    """Triangles of the hull, outward, shape [m, 3]."""


@dataclass(frozen=True)
class MassProperties:
    """Mass, centre of mass and inertia."""

    mass_kg: float
    center_of_mass_m: tuple[float, float, float]
    """In the part's frame [m]."""
    diagonal_inertia_kg_m2: tuple[float, float, float]
    """Principal moments about the centre of mass [kg m²]."""
    principal_axes_xyzw: tuple[float, float, float, float]
    """Rotation of the principal axes in the part's frame."""


@dataclass(frozen=True)
class StablePose:
    """One way of resting on a plane."""

    quat_xyzw: tuple[float, float, float, float]
    """Rotation of the part's frame; yaw about the vertical is free."""
    height_m: float
    """Height of the part frame's origin above the plane [m]."""
    probability: float
    """Share of random drops that end so."""


@dataclass(frozen=True, eq=False)
class Grasps:
    """Antipodal grasps for a parallel gripper, in the part's frame."""

    centers_m: Array
    """Point midway between the pads [m], shape [k, 3]."""
    axes: Array
    """Unit closing direction, shape [k, 3]."""
    widths_m: Array
    """Distance between the two contacts [m], shape [k]."""


@dataclass(frozen=True, eq=False)
class Part:
    """Everything that scenegen knows of one part."""

    id: str
    """Unique name, a valid USD prim name, for example `hex_bolt_m6x20`."""
    family: str
    label: str
    """Semantic class, for example `hex_bolt`; what a person would call it."""
    standard: str
    """Where the dimensions come from, for example `ISO 4017`."""
    dimensions: dict[str, float]
    """The family's parameters [m unless the name says otherwise]."""
    mesh: Mesh
    colliders: tuple[Collider, ...]
    mass: MassProperties
    stable_poses: tuple[StablePose, ...]
    grasps: Grasps
    look: Look
    friction: float
    look_alikes: tuple[str, ...] = field(default=())
    """Ids of parts that are easily mistaken for this one."""

    @cached_property
    def content_id(self) -> str:
        """Hash of geometry, mass and look: what the asset file holds."""
        arrays = [self.mesh.vertices, *(collider.vertices for collider in self.colliders)]
        chunks = [np.round(a / GRID_M).astype("<i8").tobytes() for a in arrays]
        chunks.append(np.ascontiguousarray(self.mesh.faces, "<i4").tobytes())
        facts = (self.id, self.label, self.look.canonical_json(), f"{self.friction:.6g}", f"{self.mass.mass_kg:.6g}")
        return content_hash(*chunks, *(fact.encode() for fact in facts))

    @cached_property
    def collision_vertices(self) -> Array:
        """All collider corners in the part's frame [m], shape [k, 3]."""
        return np.concatenate([collider.vertices for collider in self.colliders])

    @cached_property
    def radius_m(self) -> float:
        """Greatest distance of a collider corner from the part frame's origin [m]."""
        return float(np.linalg.norm(self.collision_vertices, axis=1).max())
