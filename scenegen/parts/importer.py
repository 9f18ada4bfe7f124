"""A user's model file to a part, or a sentence that says why not and what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from manifold3d import Error, Manifold, OpType

from scenegen.errors import UnusablePart
from scenegen.geometry import Array
from scenegen.parts.build import part_of_drawing
from scenegen.parts.decompose import convex_pieces
from scenegen.parts.family import Drawing
from scenegen.parts.load import STEP_ENDINGS, USD_ENDINGS, load_triangles
from scenegen.parts.material import Material
from scenegen.parts.mesh import is_watertight, solid_of, weld
from scenegen.parts.part import Part
from scenegen.parts.rays import Indices

MIN_SIZE_M, MAX_SIZE_M = 0.0005, 0.5
"""Sizes of parts that a sorting cell handles."""
MAX_TRIANGLES = 20_000
UNITS = {"mm": 0.001, "cm": 0.01, "in": 0.0254, "m": 1.0}
"""Units that a file may be drawn in [m]."""


def import_part(
    file: Path, *, part_id: str, unit_m: float | None = None, label: str | None = None, material: Material
) -> Part:
    """Build a part from a model file.

    Args:
        file: STL, OBJ, GLB, STEP or USD.
        part_id: The new part's id, a valid USD prim name.
        unit_m: Length of the file's unit [m]; metres by default. STEP and USD files know their unit.
        label: Semantic class; the id by default.
        material: Density, friction and look.

    Raises:
        UnusablePart: The file cannot become a part; says why and what to do.
        MissingExtra: The file needs a reader that is not installed.
    """
    vertices, faces = load_triangles(file)
    knows_unit = file.suffix.lower() in (*STEP_ENDINGS, *USD_ENDINGS)
    if knows_unit and unit_m is not None:
        raise UnusablePart(str(file), "STEP and USD files carry their unit", "leave --unit away")
    _check_triangles(file, vertices, faces)
    vertices = vertices * (unit_m or 1.0)
    size_m = np.ptp(vertices[faces].reshape(-1, 3), axis=0)
    _check_size(file, size_m, unit_known=knows_unit)
    solid = _one_solid(file, vertices, faces)
    length, width, height = (float(v) * 1e3 for v in size_m)
    return part_of_drawing(
        part_id,
        Drawing(solid=solid, pieces=convex_pieces(solid)),
        family="imported",
        label=label or part_id,
        standard=f"file {file.name}",
        size={"length": length, "width": width, "height": height},
        material=material,
    )


def _check_triangles(file: Path, vertices: Array, faces: Indices) -> None:
    if len(faces) == 0:
        raise UnusablePart(str(file), "holds no triangles", "export the solid as a mesh")
    if len(faces) > MAX_TRIANGLES:
        raise UnusablePart(str(file), f"{len(faces)} triangles are too many", f"simplify it to at most {MAX_TRIANGLES}")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise UnusablePart(str(file), "triangles name vertices that do not exist", "export it again from your tool")
    if not np.isfinite(vertices).all():
        raise UnusablePart(str(file), "holds vertices that are not finite", "export it again from your tool")


def _check_size(file: Path, size_m: Array, *, unit_known: bool) -> None:
    largest = float(size_m.max())
    if MIN_SIZE_M <= largest <= MAX_SIZE_M:
        return
    fitting = [f"--unit {name}" for name, unit in UNITS.items() if MIN_SIZE_M <= largest * unit <= MAX_SIZE_M]
    remedy = f"if it is drawn in another unit, say {', '.join(fitting)}" if fitting and not unit_known else "rescale it"
    raise UnusablePart(str(file), f"is {largest:.3g} m long (accepted: 0.0005 m to 0.5 m)", remedy)


def _one_solid(file: Path, vertices: Array, faces: Indices) -> Manifold:
    """Check that the triangles bound one body of positive volume and return it [mm]; bodies that overlap are joined."""
    points, corners = weld(vertices, faces)
    if len(corners) == 0 or not is_watertight(corners):
        raise UnusablePart(
            str(file), "is not watertight", "close the holes of the mesh in your tool and export it again"
        )
    solid = solid_of(points, corners)
    if solid.status() != Error.NoError:
        raise UnusablePart(str(file), f"is no solid ({solid.status().name})", "mend the mesh in your tool")
    if solid.volume() < 0:
        solid = solid_of(points, corners[:, ::-1])
    shells = [shell for shell in solid.decompose() if shell.volume() > 0]
    if len(shells) > 1:
        solid = Manifold.batch_boolean(shells, OpType.Add)
        bodies = len(solid.decompose())
        if bodies > 1:
            raise UnusablePart(str(file), f"holds {bodies} separate bodies", "export one body a file")
    thinnest = float(np.ptp(points, axis=0).min())
    if solid.volume() < 1e-3 or thinnest < 1e-5:
        raise UnusablePart(str(file), "has no volume", "give the model a thickness and export it again")
    return solid
