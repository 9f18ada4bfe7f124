"""Inspect one USD file in a process of its own: `python inspection.py` with a request on standard input.

The request is `{"path", "root", "limits"}`; the answer is `null` or `{"file", "rule", "detail"}`. This file runs alone,
under limits on memory and time that it sets before it touches OpenUSD; it imports nothing of scenegen.
"""

from __future__ import annotations

import json
import math
import os
import re
import resource
import sys
import zipfile
from collections import deque
from typing import Any

REQUEST = json.load(sys.stdin) if __name__ == "__main__" else {"limits": {}}
if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_DATA, (REQUEST["limits"]["memory_bytes"],) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(REQUEST["limits"]["seconds"]),) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

import numpy as np  # noqa: E402  (the limits come first)
from pxr import Sdf, Tf, Usd  # noqa: E402

LAYERS = (".usd", ".usda", ".usdc", ".usdz")
IMAGES = (".png", ".jpg", ".jpeg", ".exr", ".hdr")
PACKED = (*LAYERS[:3], *IMAGES)
ODD_PATH = re.compile(r"[`<>\\\[\]\x00-\x1f]|:SDF_FORMAT_ARGS:")
SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*:")
CODE = re.compile(r"Script|OmniGraph|ComputeGraph|Procedural|VDB|Field3D|sourceCode", re.IGNORECASE)
FOREIGN_SCHEMAS = ("Newton", "Physx", "Mjc", "Semantics", "OmniRtx")
UNBOUNDED = re.compile(r"^newton:|(break(Force|Torque)|[lL]imit|low|high|max[A-Z]\w*)$")
SHAPES = re.compile(r"^(xformOp:.*|points|extent|size|radius|height|width|inputs:(radius|width|height|length))$")
POSITIVE = re.compile(r"^physics:(mass|density|staticFriction|dynamicFriction|restitution|diagonalInertia)$")


class Refused(Exception):
    """A rule is broken."""

    def __init__(self, file: str, rule: str, detail: str) -> None:
        super().__init__(rule)
        self.answer = {"file": file, "rule": rule, "detail": detail}


class Inspector:
    """Follows a file to all that it can reach and looks at every opinion."""

    def __init__(self, path: str, root: str, limits: dict[str, Any]) -> None:
        self.path, self.root, self.limits = path, root, limits
        self.layers: dict[str, Sdf.Layer] = {}
        self.bytes = 0
        self.entries: dict[str, tuple[str, ...]] = {}
        """Names inside each package, in order; none for plain files."""

    def run(self) -> None:
        """Refuse or return."""
        first = self.admit(self.path, self.path)
        queue = deque([first])
        while queue:
            identifier = queue.popleft()
            if identifier in self.layers:
                continue
            if len(self.layers) >= self.limits["layers"]:
                raise Refused(self.path, "layers", f"it reaches more than {self.limits['layers']} files")
            layer = self.parse(identifier)
            self.layers[identifier] = layer
            for asset in LayerScan(layer, identifier, self).dependencies():
                target = self.resolve(layer, identifier, asset)
                if target is not None:
                    queue.append(target)
        count = Counter(self).stack(first, Sdf.Path.absoluteRootPath)
        if count > self.limits["prims"]:
            shown = str(count) if count < 10**9 else f"{count:.1e}"
            raise Refused(
                self.path, "prims", f"it composes up to {shown} prims - accepted: at most {self.limits['prims']}"
            )
        self.compose()

    def compose(self) -> None:
        """Compose what has passed, so that the reader's process meets nothing that this one did not survive."""
        try:
            stage = Usd.Stage.Open(self.path)
        except Tf.ErrorException as error:
            raise Refused(self.path, "syntax", last_line(error)) from error
        for count, _ in enumerate(stage.TraverseAll()):
            if count > self.limits["prims"]:
                raise Refused(self.path, "prims", f"it composes more than {self.limits['prims']} prims")

    def canonical(self, identifier: str) -> str:
        """Name a layer by the real path of its file (and its place in a package)."""
        package, bracket, inner = identifier.partition("[")
        return os.path.realpath(package) + bracket + inner

    def admit(self, identifier: str, source: str) -> str:
        """Check a file before it is opened; return its canonical name."""
        name = self.canonical(identifier)
        package = name.partition("[")[0]
        if os.path.commonpath([package, self.root]) != self.root:
            raise Refused(source, "outside", f"{identifier} leads to {package}, which is not below {self.root}")
        if package not in self.entries:
            self.bytes += os.path.getsize(package)
            self.entries[package] = self.package(package) if package.lower().endswith(".usdz") else ()
        if self.bytes > self.limits["file_bytes"]:
            raise Refused(source, "bytes", f"its files exceed {self.limits['file_bytes'] / 2**20:g} MiB")
        return f"{name}[{self.entries[package][0]}]" if self.entries[package] and name == package else name

    def package(self, file: str) -> tuple[str, ...]:
        """Check the entries of a `.usdz` package."""
        try:
            entries = zipfile.ZipFile(file).infolist()
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise Refused(file, "syntax", f"no usdz package ({error})") from error
        for entry in entries:
            name = entry.filename
            if name.startswith("/") or "\\" in name or ":" in name or ".." in name.split("/"):
                raise Refused(file, "outside", f"package entry {name!r} leads out of the package")
            if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
                raise Refused(file, "package", f"package entry {name!r} is compressed or encrypted - accepted: stored")
            if not name.lower().endswith(PACKED):
                raise Refused(file, "extension", f"package entry {name!r} - accepted: {', '.join(PACKED)}")
        names = tuple(entry.filename for entry in entries)
        if not names or not names[0].lower().endswith(LAYERS[:3]):
            raise Refused(file, "package", "its first entry is no USD layer")
        return names

    def parse(self, identifier: str) -> Sdf.Layer:
        """Parse one layer."""
        try:
            layer = Sdf.Layer.FindOrOpen(identifier)
        except Tf.ErrorException as error:
            raise Refused(identifier, "syntax", last_line(error)) from error
        if layer is None:
            raise Refused(identifier, "syntax", "it cannot be opened as a USD file")
        return layer

    def resolve(self, layer: Sdf.Layer, source: str, asset: str) -> str | None:
        """Check where an asset path leads; return the layer that it names, if it names one that exists."""
        self.spelling(source, asset)
        package, bracket, inner = source.partition("[")
        if bracket:
            return self.in_package(package, inner.rstrip("]"), asset)
        for found in (layer.ComputeAbsolutePath(asset), os.path.join(os.path.dirname(source), asset)):
            name = os.path.realpath(found.partition("[")[0])
            if os.path.isabs(found) and os.path.commonpath([name, self.root]) != self.root:
                raise Refused(source, "outside", f"asset {asset!r} leads to {name}, which is not below {self.root}")
        target = os.path.realpath(os.path.join(os.path.dirname(source), asset))
        if os.path.isfile(target):
            name = self.admit(target, source)
            return name if asset.lower().endswith(LAYERS) else None
        if asset.lower().endswith(LAYERS) and not asset.startswith(("./", "../")):
            raise Refused(source, "missing", f"asset {asset!r} does not stand beside it and would be searched for")
        return None

    def spelling(self, source: str, asset: str) -> None:
        """Check how an asset path is written."""
        if SCHEME.match(asset):
            raise Refused(source, "url", f"asset {asset!r} - accepted: relative paths below {self.root}")
        if asset.startswith("/"):
            raise Refused(source, "absolute", f"asset {asset!r} - accepted: relative paths below {self.root}")
        if ODD_PATH.search(asset):
            raise Refused(source, "path", f"asset {asset!r} - accepted: plain relative paths")
        if not asset.lower().endswith((*LAYERS, *IMAGES)):
            raise Refused(source, "extension", f"asset {asset!r} - accepted: {', '.join((*LAYERS, *IMAGES))}")

    def in_package(self, package: str, inner: str, asset: str) -> str | None:
        """Resolve an asset path of a layer in a package: it may not leave the package."""
        name = os.path.normpath(os.path.join(os.path.dirname(inner), asset))
        if name.startswith(("..", "/")):
            raise Refused(package, "outside", f"asset {asset!r} of {inner} leads out of the package")
        if name not in self.entries[package]:
            raise Refused(package, "missing", f"asset {asset!r} of {inner} is not in the package")
        return f"{package}[{name}]" if name.lower().endswith(LAYERS[:3]) else None


class LayerScan:
    """Looks at every opinion of one layer."""

    def __init__(self, layer: Sdf.Layer, file: str, inspector: Inspector) -> None:
        self.layer, self.file, self.limits = layer, file, inspector.limits
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
        spec = self.layer.GetObjectAtPath(path)
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
        numbers = plain_numbers(value)
        if numbers is None or not numbers.size:
            return
        if np.isnan(numbers).any() or (np.isinf(numbers).any() and not UNBOUNDED.search(name)):
            raise Refused(self.file, "number", f"{where} is not finite - accepted: finite numbers")
        greatest, limit = float(np.abs(numbers).max()), self.limits["magnitude"]
        if SHAPES.search(name) and greatest > limit:
            raise Refused(self.file, "number", f"{where} holds {greatest:.3g} - accepted: up to {limit:g}")
        if POSITIVE.search(name) and numbers.min() < 0:
            raise Refused(self.file, "number", f"{where} holds {numbers.min():.3g} - accepted: no negative number")


class Counter:
    """Counts, without composing, how many prims composition could make: each arc counts all that its target holds."""

    def __init__(self, inspector: Inspector) -> None:
        self.inspector = inspector
        self.known: dict[tuple[str, Sdf.Path], int | None] = {}
        self.stacks: dict[str, list[str]] = {}

    def stack(self, identifier: str, path: Sdf.Path) -> int:
        """Count what a path holds in a layer and its sublayers."""
        return sum(self.specs(one, path) for one in self.layers_of(identifier, ()))

    def layers_of(self, identifier: str, above: tuple[str, ...]) -> list[str]:
        """List a layer and all its sublayers."""
        if identifier in above:
            raise Refused(identifier, "cycle", "it is a sublayer of itself")
        if identifier not in self.stacks:
            layer = self.inspector.layers[identifier]
            below = (self.target(identifier, path) for path in layer.subLayerPaths)
            found = [one for sub in below if sub for one in self.layers_of(sub, (*above, identifier))]
            self.stacks[identifier] = [identifier, *found]
        return self.stacks[identifier]

    def specs(self, identifier: str, path: Sdf.Path) -> int:
        """Count what a path of one layer holds, whatever it refers to included."""
        layer = self.inspector.layers[identifier]
        while not layer.GetObjectAtPath(path) and path != Sdf.Path.absoluteRootPath:
            path = path.GetParentPath()  # what it inherits from above is at most what is above
        key = (identifier, path)
        if key in self.known:
            count = self.known[key]
            if count is None:
                raise Refused(identifier, "cycle", f"{path} refers back to itself")
            return count
        self.known[key] = None
        spec = layer.pseudoRoot if path == Sdf.Path.absoluteRootPath else layer.GetObjectAtPath(path)
        count = 1 + sum(self.specs(identifier, child) for child in self.below(spec))
        count += sum(self.stack(*target) for target in self.arcs(identifier, spec))
        self.known[key] = count
        return count

    def below(self, spec: Any) -> list[Sdf.Path]:
        """Children of a prim, in every variant."""
        paths = [child.path for child in spec.nameChildren]
        for variants in getattr(spec, "variantSets", {}).values():
            paths += [variant.primSpec.path for variant in variants.variantList]
        return paths

    def arcs(self, identifier: str, spec: Any) -> list[tuple[str, Sdf.Path]]:
        """Targets of a prim's composition arcs."""
        targets: list[tuple[str, Sdf.Path]] = []
        for key in ("references", "payload"):
            items = spec.GetInfo(key).GetAddedOrExplicitItems() if spec.HasInfo(key) else ()
            for item in items:
                layer = self.target(identifier, item.assetPath) if item.assetPath else identifier
                if layer is not None:
                    targets.append((layer, item.primPath or self.default_prim(layer)))
        for key in ("inheritPaths", "specializes"):
            items = spec.GetInfo(key).GetAddedOrExplicitItems() if spec.HasInfo(key) else ()
            targets += [(identifier, Sdf.Path(path)) for path in items]
        return targets

    def default_prim(self, identifier: str) -> Sdf.Path:
        """Path that a reference without a path leads to; the whole layer if it does not say."""
        return self.inspector.layers[identifier].GetDefaultPrimAsPath() or Sdf.Path.absoluteRootPath

    def target(self, identifier: str, asset: str) -> str | None:
        """Layer that an asset path of a layer leads to, if it exists."""
        name = self.inspector.resolve(self.inspector.layers[identifier], identifier, asset)
        return name if name in self.inspector.layers else None


def plain_numbers(value: Any) -> np.ndarray | None:
    """Return the numbers of a value; None where it holds none."""
    if hasattr(value, "GetImaginary"):
        value = [*value.GetImaginary(), value.GetReal()]
    try:
        numbers = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return numbers.astype(np.float64).ravel() if numbers.dtype.kind in "fiu" else None


def last_line(error: BaseException) -> str:
    """Return the last line of an error of OpenUSD: what it is about."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it cannot be parsed"


def main() -> None:
    """Answer the request."""
    sys.setrecursionlimit(50_000)
    answer = None
    try:
        Inspector(REQUEST["path"], REQUEST["root"], REQUEST["limits"]).run()
    except Refused as refused:
        answer = refused.answer
    except MemoryError:
        answer = {"file": REQUEST["path"], "rule": "resources", "detail": "reading it needs too much memory"}
    except RecursionError:
        answer = {"file": REQUEST["path"], "rule": "depth", "detail": "its prims or references are nested too deeply"}
    print(json.dumps(answer))  # noqa: T201


if __name__ == "__main__":
    main()
