"""Layers through OpenUSD's own Sdf API: the reference that `text` is held to, and the way to binary `.usdc` files."""

from __future__ import annotations

from typing import Any

import newton_usd_schemas  # noqa: F401  (registers its schemas; must come before any use of pxr)
import numpy as np
from pxr import Gf, Sdf, Tf, Vt

from scenegen.usd.prim import Attribute, LayerTree, Prim

_VECTORS = {
    "float2": Gf.Vec2f, "float3": Gf.Vec3f, "double2": Gf.Vec2d, "double3": Gf.Vec3d, "double4": Gf.Vec4d,
    "int2": Gf.Vec2i, "point3f": Gf.Vec3f, "normal3f": Gf.Vec3f, "vector3f": Gf.Vec3f, "color3f": Gf.Vec3f,
    "quatf": Gf.Quatf,
}  # fmt: skip
_ARRAYS = {
    "token[]": Vt.TokenArray, "string[]": Vt.StringArray, "int[]": Vt.IntArray, "float[]": Vt.FloatArray,
    "double[]": Vt.DoubleArray, "float3[]": Vt.Vec3fArray, "point3f[]": Vt.Vec3fArray, "normal3f[]": Vt.Vec3fArray,
    "double3[]": Vt.Vec3dArray, "double4[]": Vt.Vec4dArray,
}  # fmt: skip
_NUMPY = {
    "int[]": np.int32, "float[]": np.float32, "double[]": np.float64, "float3[]": np.float32, "point3f[]": np.float32,
    "normal3f[]": np.float32, "double3[]": np.float64, "double4[]": np.float64,
}  # fmt: skip


def author(tree: LayerTree, *, extension: str = "usda") -> Sdf.Layer:
    """Author a tree into a new anonymous layer.

    Args:
        tree: What to author.
        extension: File format: `usda` or `usdc`.
    """
    layer = Sdf.Layer.CreateAnonymous(f".{extension}")
    root = layer.pseudoRoot
    root.SetInfo("kilogramsPerUnit", 1.0)
    root.SetInfo("metersPerUnit", 1.0)
    root.SetInfo("upAxis", "Z")
    layer.defaultPrim = tree.default_prim
    layer.subLayerPaths = list(tree.sub_layers)
    if tree.facts:
        layer.customLayerData = {"scenegen": dict(tree.facts)}
    with Sdf.ChangeBlock():
        for prim in tree.prims:
            _author_prim(root, prim)
    return layer


def says_the_same(text: str, tree: LayerTree) -> bool:
    """True if parsing a layer's text gives the layer that Sdf authors from the tree."""
    parsed = Sdf.Layer.CreateAnonymous(".usda")
    try:
        read = parsed.ImportFromString(text)
    except Tf.ErrorException:
        return False
    return read and parsed.ExportToString() == author(tree).ExportToString()


def _author_prim(parent: Sdf.PrimSpec, prim: Prim) -> None:
    specifier = Sdf.SpecifierDef if prim.specifier == "def" else Sdf.SpecifierOver
    spec = Sdf.PrimSpec(parent, prim.name, specifier, prim.type)
    if prim.kind:
        spec.kind = prim.kind
    if not prim.active:
        spec.active = False
    if prim.schemas:
        schemas = Sdf.TokenListOp()
        schemas.prependedItems = list(prim.schemas)
        spec.SetInfo("apiSchemas", schemas)
    if prim.references:
        spec.referenceList.prependedItems = [Sdf.Reference(path) for path in prim.references]
    for attribute in prim.attributes:
        _author_attribute(spec, attribute)
    for relationship in prim.relationships:
        target = Sdf.RelationshipSpec(spec, relationship.name, False)
        target.targetPathList.explicitItems = [Sdf.Path(path) for path in relationship.targets]
    for child in prim.children:
        _author_prim(spec, child)
    if prim.child_order:
        spec.nameChildrenOrder = list(prim.child_order)


def _author_attribute(parent: Sdf.PrimSpec, attribute: Attribute) -> None:
    variability = Sdf.VariabilityUniform if attribute.uniform else Sdf.VariabilityVarying
    kind = Sdf.ValueTypeNames.Find(attribute.type)
    spec = Sdf.AttributeSpec(parent, attribute.name, kind, variability, declaresCustom=attribute.custom)
    if attribute.value is not None:
        spec.default = _value(attribute.type, attribute.value)
    if attribute.interpolation:
        spec.SetInfo("interpolation", attribute.interpolation)
    if attribute.source:
        spec.connectionPathList.explicitItems = [Sdf.Path(attribute.source)]


def _value(kind: str, value: Any) -> Any:
    if kind in _NUMPY:
        array = np.ascontiguousarray(value, _NUMPY[kind])
        return _ARRAYS[kind].FromNumpy(array) if array.size else _ARRAYS[kind]()
    if kind in _ARRAYS:
        return _ARRAYS[kind](list(value))
    return _VECTORS[kind](*value) if kind in _VECTORS else value
