"""Attributes that several kinds of prims share: poses, sizes, labels, looks, masses and friction."""

from __future__ import annotations

from scenegen.geometry import Pose
from scenegen.record import quantise
from scenegen.scenario import ItemMatter, Look, Surface
from scenegen.usd.prim import Attribute, Prim, Relationship

POSE_OPS = ("xformOp:translate", "xformOp:orient")
POSE_ORDER = Attribute("xformOpOrder", "token[]", POSE_OPS, uniform=True)
BOX_ORDER = Attribute("xformOpOrder", "token[]", (*POSE_OPS, "xformOp:scale"), uniform=True)
GUIDE = Attribute("purpose", "token", "guide", uniform=True)
LABELS_SCHEMA = "SemanticsLabelsAPI:class"
LABELS = "semantics:labels:class"
MATERIAL, SHADER = "surface", "preview"
"""Names of a part's material and of every material's shader."""
STAIN_COLOR, STAIN_METALLIC, STAIN_ROUGHNESS = (
    "scenegen:stainColor",
    "scenegen:stainMetallic",
    "scenegen:stainRoughness",
)
STAIN_SHARE, STAIN_PATCH, STAIN_PHASE = "scenegen:stainShare", "scenegen:stainPatchM", "scenegen:stainPhase"
PATTERN_KIND, PATTERN_COLOR = "scenegen:patternKind", "scenegen:patternColor"
PATTERN_SIZE, PATTERN_ANGLE = "scenegen:patternSizeM", "scenegen:patternAngleRad"
"""What `UsdPreviewSurface` cannot say without textures stands beside its inputs, on the shader."""


def pose_attributes(pose: Pose) -> tuple[Attribute, ...]:
    """Transform of a prim: translate, then orient (w first)."""
    x, y, z, w = pose.quat_xyzw
    return (
        Attribute("xformOp:translate", "double3", pose.position_m),
        Attribute("xformOp:orient", "quatf", (w, x, y, z)),
        POSE_ORDER,
    )


def box_attributes(pose: Pose, size_m: tuple[float, float, float]) -> tuple[Attribute, ...]:
    """Transform and extent of a `Cube` of edge length one that is scaled to a box."""
    translate, orient, _ = pose_attributes(pose)
    return (
        Attribute("size", "double", 1.0),
        Attribute("extent", "float3[]", ((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))),
        translate,
        orient,
        Attribute("xformOp:scale", "float3", tuple(quantise(size) for size in size_m)),
        BOX_ORDER,
    )


def label_attribute(label: str) -> Attribute:
    """Semantic class of a prim and of all below it."""
    return Attribute(LABELS, "token[]", (label,))


def look_attributes(look: Look) -> tuple[Attribute, ...]:
    """Inputs of a `UsdPreviewSurface` shader."""
    return (
        Attribute("inputs:diffuseColor", "color3f", look.color),
        Attribute("inputs:metallic", "float", look.metallic),
        Attribute("inputs:roughness", "float", look.roughness),
    )


def surface_attributes(surface: Surface) -> tuple[Attribute, ...]:
    """Inputs of a surface's shader, and its stain and its pattern if it has them."""
    attributes = look_attributes(surface.look)
    if (stain := surface.stain) is not None:
        attributes += (
            Attribute(STAIN_COLOR, "color3f", stain.color),
            Attribute(STAIN_METALLIC, "float", stain.metallic),
            Attribute(STAIN_ROUGHNESS, "float", stain.roughness),
            Attribute(STAIN_SHARE, "float", stain.share),
            Attribute(STAIN_PATCH, "float", stain.patch_m),
            Attribute(STAIN_PHASE, "float3", stain.phase),
        )
    if (pattern := surface.pattern) is not None:
        attributes += (
            Attribute(PATTERN_KIND, "token", pattern.kind.value),
            Attribute(PATTERN_COLOR, "color3f", pattern.color),
            Attribute(PATTERN_SIZE, "float", pattern.size_m),
            Attribute(PATTERN_ANGLE, "float", pattern.angle_rad),
        )
    return attributes


def friction_attributes(friction: float) -> tuple[Attribute, ...]:
    """Friction of a physics material: the simulators know one sliding coefficient."""
    return (
        Attribute("physics:staticFriction", "float", friction),
        Attribute("physics:dynamicFriction", "float", friction),
    )


def mass_attributes(matter: ItemMatter) -> tuple[Attribute, ...]:
    """Explicit mass properties of a rigid body."""
    x, y, z, w = matter.principal_axes_xyzw
    return (
        Attribute("physics:mass", "float", matter.mass_kg),
        Attribute("physics:centerOfMass", "point3f", matter.center_of_mass_m),
        Attribute("physics:diagonalInertia", "float3", matter.diagonal_inertia_kg_m2),
        Attribute("physics:principalAxes", "quatf", (w, x, y, z)),
    )


def material(name: str, look: Look, friction: float, *, scope: str) -> Prim:
    """One material for both purposes: a preview surface and a physics material.

    Args:
        name: The material's name.
        look: Its surface.
        friction: Its sliding friction.
        scope: Path of the prim that it is defined under.
    """
    path = f"{scope}/{name}"
    shader = Prim(
        SHADER,
        "Shader",
        attributes=(
            Attribute("info:id", "token", "UsdPreviewSurface", uniform=True),
            *look_attributes(look),
            Attribute("outputs:surface", "token"),
        ),
    )
    return Prim(
        name,
        "Material",
        schemas=("PhysicsMaterialAPI",),
        attributes=(
            Attribute("outputs:surface", "token", source=f"{path}/{SHADER}.outputs:surface"),
            *friction_attributes(friction),
            Attribute("physics:restitution", "float", 0.0),
        ),
        children=(shader,),
    )


def seen_as(path: str) -> Relationship:
    """Bind a material for rendering; the prim applies `MaterialBindingAPI`."""
    return Relationship("material:binding", (path,))


def touched_as(path: str) -> Relationship:
    """Bind a material for physics, at the collider itself: UsdPhysics' parser does not look at its parents."""
    return Relationship("material:binding:physics", (path,))
