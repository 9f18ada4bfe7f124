"""A part as USD prims: what its asset file holds, and under which names.

Standard attributes are what other tools read (32-bit floats); `scenegen:` attributes beside them hold exact numbers.
"""

from __future__ import annotations

import numpy as np

from scenegen.nominal import matter_of
from scenegen.parts.part import Collider, Mesh, Part
from scenegen.usd.boxes import oriented_box
from scenegen.usd.prim import Attribute, LayerTree, Prim
from scenegen.usd.shared_prims import (
    GUIDE,
    LABELS_SCHEMA,
    MATERIAL,
    box_attributes,
    label_attribute,
    mass_attributes,
    material,
    seen_as,
    touched_as,
)

PART, CONTENT = "scenegen:part", "scenegen:content"
MESH, COLLIDERS, LOOKS = "mesh", "Colliders", "Looks"
NORMALS = "primvars:normals"
EXACT_POINTS, EXACT_NORMALS = "scenegen:vertices", "scenegen:normals"
_HULL_SCHEMAS = ("PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "NewtonMeshCollisionAPI")
_TRIANGLES = Attribute("subdivisionScheme", "token", "none", uniform=True)


def part_tree(part: Part) -> LayerTree:
    """Lay out a part's asset file."""
    matter = matter_of(part, name=part.id)
    looks = f"/{part.id}/{LOOKS}"
    surface = f"{looks}/{MATERIAL}"
    colliders = tuple(_collider(i, c, part.label, surface) for i, c in enumerate(part.colliders))
    root = Prim(
        part.id,
        "Xform",
        kind="component",
        schemas=("PhysicsRigidBodyAPI", "PhysicsMassAPI", LABELS_SCHEMA),
        attributes=(label_attribute(part.label), *mass_attributes(matter), *_facts(part)),
        children=(
            _mesh(part.mesh, part.label, surface),
            Prim(COLLIDERS, "Scope", children=colliders),
            Prim(LOOKS, "Scope", children=(material(MATERIAL, part.look, matter.friction, scope=looks),)),
        ),
    )
    return LayerTree(part.id, (root,))


def _facts(part: Part) -> tuple[Attribute, ...]:
    mass, grasps = part.mass, part.grasps
    poses = part.stable_poses
    return (
        Attribute(PART, "string", part.id),
        Attribute(CONTENT, "string", part.content_id),
        Attribute("scenegen:family", "string", part.family),
        Attribute("scenegen:standard", "string", part.standard),
        Attribute("scenegen:dimensionNames", "string[]", tuple(part.dimensions)),
        Attribute("scenegen:dimensionValues", "double[]", tuple(part.dimensions.values())),
        Attribute("scenegen:lookAlikes", "string[]", part.look_alikes),
        Attribute("scenegen:massKg", "double", mass.mass_kg),
        Attribute("scenegen:centerOfMassM", "double3", mass.center_of_mass_m),
        Attribute("scenegen:diagonalInertiaKgM2", "double3", mass.diagonal_inertia_kg_m2),
        Attribute("scenegen:principalAxesXyzw", "double4", mass.principal_axes_xyzw),
        Attribute("scenegen:friction", "double", part.friction),
        Attribute("scenegen:stablePoseQuatsXyzw", "double4[]", tuple(pose.quat_xyzw for pose in poses)),
        Attribute("scenegen:stablePoseHeightsM", "double[]", tuple(pose.height_m for pose in poses)),
        Attribute("scenegen:stablePoseProbabilities", "double[]", tuple(pose.probability for pose in poses)),
        Attribute("scenegen:graspCentersM", "double3[]", grasps.centers_m),
        Attribute("scenegen:graspAxes", "double3[]", grasps.axes),
        Attribute("scenegen:graspWidthsM", "double[]", grasps.widths_m),
    )


def _mesh(mesh: Mesh, label: str, surface: str) -> Prim:
    normals, indices = np.unique(mesh.normals.reshape(-1, 3), axis=0, return_inverse=True)
    return Prim(
        MESH,
        "Mesh",
        schemas=("MaterialBindingAPI", LABELS_SCHEMA),
        attributes=(
            label_attribute(label),
            *_triangles(mesh.vertices, mesh.faces),
            Attribute(NORMALS, "normal3f[]", normals, interpolation="faceVarying"),
            Attribute(f"{NORMALS}:indices", "int[]", indices.ravel()),
            Attribute(EXACT_NORMALS, "double3[]", normals),
        ),
        relationships=(seen_as(surface),),
    )


def _collider(index: int, collider: Collider, label: str, surface: str) -> Prim:
    name = f"collider_{index:02d}"
    if collider.kind == "box":
        box = oriented_box(collider.vertices)
        return Prim(
            name,
            "Cube",
            schemas=("PhysicsCollisionAPI", "MaterialBindingAPI", LABELS_SCHEMA),
            attributes=(
                label_attribute(label),
                GUIDE,
                *box_attributes(box.pose, box.size_m),
                Attribute(EXACT_POINTS, "double3[]", collider.vertices),
                Attribute("scenegen:faces", "int[]", collider.faces.ravel()),
            ),
            relationships=(touched_as(surface),),
        )
    return Prim(
        name,
        "Mesh",
        schemas=(*_HULL_SCHEMAS, "MaterialBindingAPI", LABELS_SCHEMA),
        attributes=(
            label_attribute(label),
            GUIDE,
            *_triangles(collider.vertices, collider.faces),
            Attribute("physics:approximation", "token", "convexHull", uniform=True),
            Attribute("newton:maxHullVertices", "int", -1),
        ),
        relationships=(touched_as(surface),),
    )


def _triangles(vertices: np.ndarray, faces: np.ndarray) -> tuple[Attribute, ...]:
    points = np.asarray(vertices, np.float32)
    return (
        _TRIANGLES,
        Attribute("points", "point3f[]", points),
        Attribute("faceVertexCounts", "int[]", np.full(len(faces), 3, np.int32)),
        Attribute("faceVertexIndices", "int[]", np.ascontiguousarray(faces, np.int32).ravel()),
        Attribute("extent", "float3[]", np.stack([points.min(axis=0), points.max(axis=0)])),
        Attribute(EXACT_POINTS, "double3[]", np.asarray(vertices, np.float64)),
    )
