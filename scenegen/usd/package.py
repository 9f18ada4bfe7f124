"""Scenes as `.usdz` packages that are whole in themselves, and such packages as folders laid out like a library.

A package holds a scene's layers byte by byte under their paths below the library's root, so that their relative paths
lead to the same layers inside the package; a first layer stands before them and notes the cell's specification, for
which a package may hold no file of its own.
"""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pxr import Tf, UsdUtils

from scenegen.errors import UnreadableStage, UnsafeStage
from scenegen.facet import SPEC_VERSION
from scenegen.usd.files import ASSETS, CELLS, cell_record_path
from scenegen.usd.note import CELL, scene_note
from scenegen.usd.prim import LayerTree
from scenegen.usd.stage import quietly
from scenegen.usd.text import layer_text
from scenegen.usd.untrusted import DEFAULT_LIMITS, refuse_unsafe

PACKAGE = ".usdz"
FIRST = "scene.usda"
"""The package's first entry, the root of its stage."""
ALIGNMENT = 64
"""Where the data of an entry may begin [byte]; so says the specification of usdz."""
_PADDING = 0x1986
"""Id of the extra field that OpenUSD pads entries with."""
_LOCAL_HEADER = 30
_EPOCH = (1980, 1, 1, 0, 0, 0)


def needed_files(scene: Path, root: Path) -> list[str]:
    """Name every file that a scene is made of, itself first, relative to the root.

    Variants that are not selected, and textures, count as well.

    Args:
        scene: The scene's root layer.
        root: The folder that everything must lie in.

    Raises:
        UnsafeStage: Something leads out of the root, or cannot be found; names it.
        UnreadableStage: The scene cannot be parsed.
    """
    real_root = os.path.realpath(root)
    with quietly():
        try:
            layers, assets, unresolved = UsdUtils.ComputeAllDependencies(str(scene))
        except Tf.ErrorException as error:
            raise UnreadableStage(str(scene), "/", f"not a USD file ({str(error).splitlines()[-1].strip()})") from error
    if not layers:
        raise UnreadableStage(str(scene), "/", "not a USD file")
    if unresolved:
        detail = f"it needs {unresolved[0]!r}, which cannot be found"
        raise UnsafeStage(str(scene), "missing", f"{detail} - accepted: files below {real_root}")
    found = dict.fromkeys([*(_file(layer.realPath) for layer in layers), *(_file(asset) for asset in assets)])
    for file in found:
        if os.path.commonpath([os.path.realpath(file), real_root]) != real_root:
            raise UnsafeStage(str(scene), "outside", f"it needs {file} - accepted: files below {real_root}")
    return [os.path.relpath(os.path.realpath(file), real_root) for file in found]


def package_bytes(scene: Path, *, root: Path, also: Iterable[str] = ()) -> bytes:
    """Return a `.usdz` package of a scene with everything that it needs; equal scenes give equal bytes.

    Args:
        scene: The scene's root layer, below the root.
        root: A folder laid out like a library's; nothing from elsewhere gets into the package.
        also: Further files below the root to pack: the assets of parts that only the cell's inventory names.

    Raises:
        UnsafeStage: The scene needs a file from elsewhere, or one that is missing; names it.
        UnreadableStage: The scene cannot be parsed, or its cell's specification is missing.
    """
    names = needed_files(scene, root)
    note = scene_note(scene)
    try:
        cell = (root / cell_record_path(note.cell_id or "")).read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadableStage(str(scene), "/", f"the cell's specification cannot be read ({error.strerror})") from error
    facts = (
        (CELL, cell),
        ("cellId", note.cell_id or ""),
        ("scenarioId", note.scenario_id or ""),
        ("specVersion", SPEC_VERSION),
    )
    first = layer_text(LayerTree("World", (), (f"./{names[0]}",), facts)).encode()
    further = sorted({*names[1:], *also})
    files = ((name, (root / name).read_bytes()) for name in (names[0], *further))
    return _zip([(FIRST, first), *files])


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Lay a package of ours out in a scratch folder for as long as the context lasts; yield the scene's root layer.

    Any other file, and a package that carries no cell, is yielded as it is.

    Raises:
        UnsafeStage: The package breaks a rule for untrusted input.
    """
    if path.suffix.lower() != PACKAGE or not path.is_file():
        yield path
        return
    refuse_unsafe(path, root=path.absolute().parent)
    note = scene_note(path)
    if note.cell is None or note.cell_id is None or not note.cell_id.isalnum():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="scenegen-") as folder:
        root = Path(folder)
        for name in (CELLS, ASSETS):
            (root / name).mkdir()
        first = _extract(path, root)
        (root / cell_record_path(note.cell_id)).write_text(note.cell, encoding="utf-8")
        yield first


def _file(path: str) -> str:
    """Return the file of a resolved path; for what lies in a package, the package."""
    return path.partition("[")[0]


def _zip(entries: Iterable[tuple[str, bytes]]) -> bytes:
    """Pack entries without compression, each one's data aligned."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries:
            info = zipfile.ZipInfo(name, date_time=_EPOCH)
            begin = buffer.tell() + _LOCAL_HEADER + len(name.encode()) + 4
            padding = -begin % ALIGNMENT
            info.extra = _PADDING.to_bytes(2, "little") + padding.to_bytes(2, "little") + b"\0" * padding
            archive.writestr(info, data)
    return buffer.getvalue()


def _extract(path: Path, root: Path) -> Path:
    """Lay the entries of a package out, whose names and kinds were checked; return the first one's file."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        names = [entry.filename for entry in entries]
        twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if twice is not None:
            raise UnsafeStage(str(path), "package", f"package entry {twice!r} stands in it twice - accepted: once")
        if len(entries) > DEFAULT_LIMITS.layers or sum(entry.file_size for entry in entries) > path.stat().st_size:
            detail = f"{len(entries)} entries that claim more than the file holds"
            raise UnsafeStage(str(path), "package", f"{detail} - accepted: {DEFAULT_LIMITS.layers} entries")
        real_root = os.path.realpath(root)
        for entry in entries:
            target = root / entry.filename
            if os.path.commonpath([os.path.realpath(target), real_root]) != real_root:
                raise UnsafeStage(str(path), "outside", f"package entry {entry.filename!r} leads out of the package")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(entry))
    return root / names[0]
