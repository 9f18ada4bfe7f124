"""Look at every opinion of one untrusted layer: what it refers to, what it is, which numbers it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from pxr import Sdf, Usd

from scenegen.usd.refused import Refused

CODE = re.compile(r"Script|OmniGraph|ComputeGraph|Procedural|VDB|Field3D|sourceCode", re.IGNORECASE)
FOREIGN_SCHEMAS = ("Newton", "Physx", "Mjc", "Semantics", "OmniRtx")
UNBOUNDED = re.compile(r"^newton:|(break(Force|Torque)|[lL]imit|low|high|max[A-Z]\w*)$")
SHAPES = re.compile(r"^(xformOp:.*|points|extent|size|radius|height|width|inputs:(radius|width|height|length))$")
POSITIVE = re.compile(r"^physics:(mass|density|staticFriction|dynamicFriction|restitution|diagonalInertia)$")


class LayerScan:
    """Looks at every opinion of one layer."""

    def __init__(self, layer: Sdf.Layer, file: str, limits: Mapping[str, float], count: int) -> None:
        self.layer, self.file, self.limits = layer, file, limits
        self.count = count
        """Numbers seen so far, in this layer and those before it."""
        self.found: dict[str, None] = {}

    def dependencies(self) -> list[str]:
        """Refuse, or return all asset paths, in order."""
        self.found.update(dict.fromkeys(self.layer.subLayerPaths))
        self.layer.Traverse(Sdf.Path.absoluteRootPath, self.visit)
        return [path for path in self.found if path]

    def visit(self, path: Sdf.Path) -> None:
        """Look at one spec."""
        if path.pathElementCount > 2 * self.limits["depth"]:
            raise Refused(self.file, "depth", f"prims are nested deeper than {self.limits['depth']}")
        holder = path.IsPrimVariantSelectionPath()
        spec = self.layer.GetPrimAtPath(path) if holder else self.layer.GetObjectAtPath(path)
        if spec is None:
            return
        if isinstance(spec, Sdf.PrimSpec):
            self.prim(spec)
        elif isinstance(spec, Sdf.AttributeSpec) and CODE.search(spec.name):
            raise Refused(self.file, "code", f"{path} may hold code for another tool")
        for key in spec.ListInfoKeys():
            if key != "subLayerOffsets":  # has no form in Python; two numbers that shift time
                self.value(f"{path} {key}", spec.name if key in ("default", "timeSamples") else "", spec.GetInfo(key))

    def prim(self, spec: Sdf.PrimSpec) -> None:
        """Check a prim's type, its schemas, its nesting and its clips."""
        where = str(spec.path)
        if where.count("/") > self.limits["depth"]:
            raise Refused(self.file, "depth", f"prims are nested deeper than {self.limits['depth']}")
        if spec.typeName:
            self.schema(where, spec.typeName)
        for name in spec.GetInfo("apiSchemas").GetAddedOrExplicitItems() if spec.HasInfo("apiSchemas") else ():
            self.schema(where, name.partition(":")[0])
        if spec.HasInfo("clips") or spec.HasInfo("clipSets"):
            raise Refused(self.file, "clips", f"{where} reads its values from other files over time")

    def schema(self, where: str, name: str) -> None:
        """Accept schemas of OpenUSD and of the simulators, unless they carry code."""
        if CODE.search(name):
            raise Refused(self.file, "code", f"{where} is or applies {name!r}, which may hold code for another tool")
        known = not Usd.SchemaRegistry.GetTypeFromSchemaTypeName(name).isUnknown
        if not known and not name.startswith(FOREIGN_SCHEMAS):
            raise Refused(self.file, "type", f"{where} is or applies {name!r} - accepted: schemas of OpenUSD")

    def value(self, where: str, name: str, value: Any) -> None:
        """Collect asset paths and refuse numbers that are not finite or out of all proportion."""
        if isinstance(value, Sdf.AssetPath):
            self.found[value.path] = None
        elif isinstance(value, Sdf.AssetPathArray):
            self.found.update(dict.fromkeys(one.path for one in value))
        elif isinstance(value, (Sdf.ReferenceListOp, Sdf.PayloadListOp)):
            self.found.update(dict.fromkeys(item.assetPath for item in value.GetAddedOrExplicitItems()))
        elif isinstance(value, dict):
            for key, inner in value.items():
                self.value(f"{where} {key}", name, inner)
        elif not isinstance(value, (str, bool)):
            self.numbers(where, name, value)

    def numbers(self, where: str, name: str, value: Any) -> None:
        """Check numbers, vectors, matrices and arrays of them."""
        numbers = _plain_numbers(value)
        if numbers is None or not numbers.size:
            return
        self.count += numbers.size
        if self.count > self.limits["numbers"]:
            raise Refused(self.file, "numbers", f"its files hold more than {self.limits['numbers']} numbers")
        if np.isnan(numbers).any() or (np.isinf(numbers).any() and not UNBOUNDED.search(name)):
            raise Refused(self.file, "number", f"{where} is not finite - accepted: finite numbers")
        greatest, limit = float(np.abs(numbers).max()), self.limits["magnitude"]
        if SHAPES.search(name) and greatest > limit:
            raise Refused(self.file, "number", f"{where} holds {greatest:.3g} - accepted: up to {limit:g}")
        if POSITIVE.search(name) and numbers.min() < 0:
            raise Refused(self.file, "number", f"{where} holds {numbers.min():.3g} - accepted: no negative number")


def _plain_numbers(value: Any) -> np.ndarray | None:
    """Return the numbers of a value; None where it holds none."""
    if hasattr(value, "GetImaginary"):
        value = [*value.GetImaginary(), value.GetReal()]
    try:
        numbers = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return numbers.astype(np.float64).ravel() if numbers.dtype.kind in "fiu" else None
