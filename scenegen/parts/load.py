"""Part files of any kind to triangles: STL, OBJ, GLB, STEP and USD."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from scenegen.errors import MissingExtra, UnreadableStage, UnsafeStage, UnusablePart
from scenegen.geometry import Array
from scenegen.parts.rays import Indices
from scenegen.usd.mesh_file import read_mesh

MESH_ENDINGS = (".stl", ".obj", ".glb")
STEP_ENDINGS = (".step", ".stp")
USD_ENDINGS = (".usd", ".usda", ".usdc", ".usdz")
MAX_BYTES = 100_000_000
STEP_MAGIC = b"ISO-10303-21"
STEP_DEFLECTION_MM, STEP_ANGLE_RAD = 0.02, 0.3
"""How far triangles may be from the true surface of a STEP model."""


def load_triangles(path: Path) -> tuple[Array, Indices]:
    """Read the triangles of a file, all of its bodies together.

    Args:
        path: The file; its ending says what it is.

    Returns:
        Vertices, shape [n, 3], and triangles, shape [m, 3]. STEP and USD files come in metres; the others in the unit
        that they were drawn in (GLB: metres, by its standard).

    Raises:
        UnusablePart: The file does not exist, has an unknown ending, is too big, or cannot be read.
        MissingExtra: The file is a STEP model and its reader is not installed.
    """
    ending = path.suffix.lower()
    if ending not in (*MESH_ENDINGS, *STEP_ENDINGS, *USD_ENDINGS):
        accepted = ", ".join((*MESH_ENDINGS, *STEP_ENDINGS, *USD_ENDINGS))
        raise UnusablePart(str(path), f"unknown kind of file {ending!r}", f"accepted: {accepted}")
    if not path.is_file():
        raise UnusablePart(str(path), "no such file", "name an existing file")
    if path.stat().st_size > MAX_BYTES:
        size = path.stat().st_size / 1e6
        raise UnusablePart(str(path), f"{size:.0f} MB is too big", f"simplify it to at most {MAX_BYTES / 1e6:.0f} MB")
    if ending in USD_ENDINGS:
        return _from_usd(path)
    data = path.read_bytes()
    return (
        _from_mesh(path, _step_to_glb(path, data), ".glb") if ending in STEP_ENDINGS else _from_mesh(path, data, ending)
    )


def _from_usd(path: Path) -> tuple[Array, Indices]:
    try:
        return read_mesh(path)
    except (UnreadableStage, UnsafeStage) as error:
        raise UnusablePart(str(path), f"cannot be read as USD ({error})", "export it again from your tool") from error


def _step_to_glb(path: Path, data: bytes) -> bytes:
    try:
        import cascadio
    except ImportError as error:
        raise MissingExtra("reading STEP files", "steps") from error
    glb = b""
    if data.lstrip().startswith(STEP_MAGIC):
        glb = cascadio.load(data, file_type="step", tol_linear=STEP_DEFLECTION_MM, tol_angular=STEP_ANGLE_RAD)
    if not glb:
        raise UnusablePart(str(path), "cannot be read as STEP", "export it again, as AP214 or AP242")
    return glb


def _from_mesh(path: Path, data: bytes, ending: str) -> tuple[Array, Indices]:
    import trimesh  # takes seconds to import: only who adds a part pays for it

    kind = ending[1:]
    try:
        # Read from memory: a model's materials and buffers in other files are not followed.
        loaded = trimesh.load_scene(io.BytesIO(data), file_type=kind, process=False, skip_materials=True).to_mesh()
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise UnusablePart(
            str(path), f"cannot be read as {kind.upper()} ({reason})", "export it again from your tool"
        ) from error
    vertices: Array = np.array(loaded.vertices, np.float64).reshape(-1, 3)
    faces: Indices = np.array(loaded.faces, np.int64).reshape(-1, 3)
    return vertices, faces
