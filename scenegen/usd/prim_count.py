"""Bound how many prims a file composes, without composing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pxr import Sdf

from scenegen.usd.refused import Refused


class PrimCount:
    """Counts, without composing, how many prims composition could make: each arc counts all that its target holds."""

    def __init__(self, layers: Mapping[str, Sdf.Layer], resolve: Callable[[Sdf.Layer, str, str], str | None]) -> None:
        self.layers, self.resolve = layers, resolve
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
            layer = self.layers[identifier]
            below = (self.target(identifier, path) for path in layer.subLayerPaths)
            found = [one for sub in below if sub for one in self.layers_of(sub, (*above, identifier))]
            self.stacks[identifier] = [identifier, *found]
        return self.stacks[identifier]

    def specs(self, identifier: str, path: Sdf.Path) -> int:
        """Count what a path of one layer holds, whatever it refers to included."""
        layer = self.layers[identifier]
        while not layer.GetPrimAtPath(path) and path != Sdf.Path.absoluteRootPath:
            path = path.GetParentPath()  # what it inherits from above is at most what is above
        key = (identifier, path)
        if key in self.known:
            count = self.known[key]
            if count is None:
                raise Refused(identifier, "cycle", f"{path} refers back to itself")
            return count
        self.known[key] = None
        spec = layer.GetPrimAtPath(path)
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
        return self.layers[identifier].GetDefaultPrimAsPath() or Sdf.Path.absoluteRootPath

    def target(self, identifier: str, asset: str) -> str | None:
        """Layer that an asset path of a layer leads to, if it exists."""
        name = self.resolve(self.layers[identifier], identifier, asset)
        return name if name in self.layers else None
