"""Whether files that were written in different ways say the same, alone and as stages."""

import filecmp
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pxr import Sdf, Usd

EVERY = 20
"""Every so many files are flattened, with the meshes of their parts."""


def same_bytes(file: Path, other: Path) -> bool:
    """Tell whether two files have the same bytes."""
    return filecmp.cmp(file, other, shallow=False)


class Contents(NamedTuple):
    """Hashes of what some files say."""

    layers: list[str]
    flattened: list[str]
    """Of every `EVERY`-th file's stage."""


def contents(files: Sequence[Path]) -> Contents:
    """Open files and hash what they say."""
    return Contents([layer_hash(file) for file in files], [flattened_hash(file) for file in files[::EVERY]])


def compared(found: Contents, expected: Contents) -> dict[str, str]:
    """Count the files that say what the expected ones say."""
    rows = {"layers equal": (found.layers, expected.layers), "flattened equal": (found.flattened, expected.flattened)}
    return {name: f"{sum(map(str.__eq__, *pair))} of {len(pair[0])}" for name, pair in rows.items()}


def layer_hash(file: Path) -> str:
    """Hash of a layer's own content, whatever its format."""
    return _hash(Sdf.Layer.OpenAsAnonymous(str(file)).ExportToString())


def flattened_hash(file: Path) -> str:
    """Hash of a file's flattened stage, without the names of its folders."""
    stage = Usd.Stage.Open(str(file))
    layer = stage.Flatten(addSourceFileComment=False)
    # Two levels up is the root of the library, as for all layers of layouts and scenes.
    return _hash(layer.ExportToString().replace(str(file.parents[2]), ""))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
