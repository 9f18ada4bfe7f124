"""Layers through Usd's stage, prim and attribute API: the way that OpenUSD's tutorials teach."""

from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, Vt

from scenegen.usd.prim import Attribute, LayerTree, Prim

_SCALARS = {"double3": Gf.Vec3d, "float2": Gf.Vec2f, "float3": Gf.Vec3f, "color3f": Gf.Vec3f, "quatf": Gf.Quatf}
_SCALARS |= {"double2": Gf.Vec2d, "point3f": Gf.Vec3f, "vector3f": Gf.Vec3f, "int2": Gf.Vec2i}
_ARRAYS = {"token[]": Vt.TokenArray, "string[]": Vt.StringArray, "int[]": Vt.IntArray, "double[]": Vt.DoubleArray}
_ARRAYS |= {"float[]": Vt.FloatArray}


def author_on_stage(tree: LayerTree, file: Path) -> Sdf.Layer:
    """Author a tree through a stage into a new layer that is not saved yet.

    Args:
        tree: What to author.
        file: Where the layer will be saved; relative references are resolved from there.
    """
    layer = Sdf.Layer.New(Sdf.FileFormat.FindByExtension(file.suffix[1:]), str(file))
    stage = Usd.Stage.Open(layer)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    if tree.facts:
        stage.SetMetadata("customLayerData", {"scenegen": dict(tree.facts)})
    for prim in tree.prims:
        _author_prim(stage, Sdf.Path.absoluteRootPath, prim)
    layer.defaultPrim = tree.default_prim
    # Last, and without the stage: it would compose the other layers with every change.
    del stage
    layer.subLayerPaths = list(tree.sub_layers)
    return layer


def _author_prim(stage: Usd.Stage, parent: Sdf.Path, prim: Prim) -> None:
    path = parent.AppendChild(prim.name)
    made = stage.DefinePrim(path, prim.type) if prim.specifier == "def" else stage.OverridePrim(path)
    if prim.kind:
        Usd.ModelAPI(made).SetKind(prim.kind)
    if not prim.active:
        made.SetActive(False)
    for schema in prim.schemas:
        made.AddAppliedSchema(schema)
    for reference in prim.references:
        made.GetReferences().AddReference(reference)
    for attribute in prim.attributes:
        _author_attribute(made, attribute)
    for relationship in prim.relationships:
        made.CreateRelationship(relationship.name, False).SetTargets([Sdf.Path(one) for one in relationship.targets])
    for child in prim.children:
        _author_prim(stage, path, child)
    if prim.child_order:
        made.SetChildrenReorder(list(prim.child_order))


def _author_attribute(prim: Usd.Prim, attribute: Attribute) -> None:
    variability = Sdf.VariabilityUniform if attribute.uniform else Sdf.VariabilityVarying
    kind = Sdf.ValueTypeNames.Find(attribute.type)
    made = prim.CreateAttribute(attribute.name, kind, attribute.custom, variability)
    if attribute.value is not None:
        made.Set(_value(attribute.type, attribute.value))
    if attribute.interpolation:
        made.SetMetadata("interpolation", attribute.interpolation)
    if attribute.source:
        made.SetConnections([Sdf.Path(attribute.source)])


def _value(kind: str, value: Any) -> Any:
    if kind in _ARRAYS:
        return _ARRAYS[kind](list(value))
    return _SCALARS[kind](*value) if kind in _SCALARS else value
