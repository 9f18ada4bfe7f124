"""Inspect one untrusted USD file; run by `untrusted` in a process of its own, under limits on memory and time.

The request on standard input is `{"path", "root", "limits"}`, the answer `null` or `{"file", "rule", "detail"}`.
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

from pxr import Sdf, Tf, Usd

from scenegen.usd.layer_scan import LayerScan
from scenegen.usd.prim_count import PrimCount
from scenegen.usd.refused import Refused

LAYERS = (".usd", ".usda", ".usdc", ".usdz")
IMAGES = (".png", ".jpg", ".jpeg", ".exr", ".hdr")
PACKED = (*LAYERS[:3], *IMAGES)
ODD_PATH = re.compile(r"[`<>\\\[\]\x00-\x1f]|:SDF_FORMAT_ARGS:")
SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*:")


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
        queue, numbers = deque([first]), 0
        while queue:
            identifier = queue.popleft()
            if identifier in self.layers:
                continue
            if len(self.layers) >= self.limits["layers"]:
                raise Refused(self.path, "layers", f"it reaches more than {self.limits['layers']} files")
            layer = self.parse(identifier)
            self.layers[identifier] = layer
            scan = LayerScan(layer, identifier, self.limits, numbers)
            dependencies, numbers = scan.dependencies(), scan.count
            for asset in dependencies:
                target = self.resolve(layer, identifier, asset)
                if target is not None:
                    queue.append(target)
        count = PrimCount(self.layers, self.resolve).stack(first, Sdf.Path.absoluteRootPath)
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
            raise Refused(self.path, "syntax", _last_line(error)) from error
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
            raise Refused(identifier, "syntax", _last_line(error)) from error
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


def _last_line(error: BaseException) -> str:
    """Return the last line of an error of OpenUSD: what it is about."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it cannot be parsed"


def main() -> None:
    """Answer the request on standard input."""
    request = json.load(sys.stdin)
    path, limits = request["path"], request["limits"]
    resource.setrlimit(resource.RLIMIT_DATA, (limits["memory_bytes"],) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limits["seconds"]),) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(50_000)
    answer = None
    try:
        Inspector(path, request["root"], limits).run()
    except Refused as refused:
        answer = refused.answer
    except Tf.ErrorException as error:
        answer = {"file": path, "rule": "syntax", "detail": _last_line(error)}
    except MemoryError:
        answer = {"file": path, "rule": "resources", "detail": "reading it needs too much memory"}
    except RecursionError:
        answer = {"file": path, "rule": "depth", "detail": "its prims or references are nested too deeply"}
    sys.stdout.write(json.dumps(answer))
