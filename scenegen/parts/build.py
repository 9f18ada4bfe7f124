"""A drawing to a complete part: mesh, colliders, mass, resting poses and grasps from one parameter set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.grasp import antipodal_grasps
from scenegen.parts.mass import mass_properties, volume_and_center
from scenegen.parts.material import Material
from scenegen.parts.mesh import M_PER_MM, collider_of, is_watertight, mesh_of
from scenegen.parts.part import Part
from scenegen.parts.rest import stable_poses
from scenegen.record import quantise

UNSCALED = ("_count", "_deg", "_sign")
"""Endings of size names that are no lengths."""
GRASP_SEED = 20170
"""Grasps are part of the asset: the same part has the same grasps everywhere."""
SLIVER_MM = 1e-3
"""Details below this are taken out of the mesh."""


def build_part(part_id: str, family: Family, *, look_alikes: tuple[str, ...] = ()) -> Part:
    """Build one part of a family.

    Args:
        part_id: A row of the family's size table.
        family: The family.
        look_alikes: Ids of parts that are easily mistaken for it.
    """
    size = family.sizes[part_id]
    part = part_of_drawing(
        part_id,
        family.draw(size),
        family=family.name,
        label=family.label,
        standard=family.standard,
        size=size,
        material=family.material,
    )
    return replace(part, look_alikes=look_alikes)


def part_of_drawing(
    part_id: str, drawing: Drawing, *, family: str, label: str, standard: str, size: Size, material: Material
) -> Part:
    """Build a part from its drawing; its frame's origin is the solid's centre of mass, its axes are the drawing's.

    Args:
        part_id: Unique name, a valid USD prim name.
        drawing: Solid and collider pieces [mm].
        family: Name of the family.
        label: Semantic class.
        standard: Where the dimensions come from.
        size: The parameters [mm].
        material: Density, friction and look.
    """
    solid = drawing.solid.simplify(SLIVER_MM)
    raw = solid.to_mesh64()
    _, origin_mm = volume_and_center(np.asarray(raw.vert_properties)[:, :3], np.asarray(raw.tri_verts, np.int32))
    mesh = mesh_of(solid, origin_mm=origin_mm)
    assert is_watertight(mesh.faces), part_id
    colliders = tuple(collider_of(piece, origin_mm=origin_mm) for piece in drawing.pieces)
    mass = mass_properties(mesh.vertices, mesh.faces, density_kg_m3=material.density_kg_m3)
    points = np.concatenate([collider.vertices for collider in colliders])
    return Part(
        id=part_id,
        family=family,
        label=label,
        standard=standard,
        dimensions=in_metres(size),
        mesh=mesh,
        colliders=colliders,
        mass=mass,
        stable_poses=stable_poses(points, np.array(mass.center_of_mass_m)),
        grasps=antipodal_grasps(mesh, rng=np.random.default_rng(GRASP_SEED)),
        look=material.look,
        friction=material.friction,
    )


def in_metres(size: Size) -> dict[str, float]:
    """Convert a size row [mm] to metres; counts, angles and signs stay as they are."""
    return {name: quantise(value if name.endswith(UNSCALED) else value * M_PER_MM) for name, value in size.items()}
