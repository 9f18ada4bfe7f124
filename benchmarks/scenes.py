"""The scenes that benchmarks measure: a cell with thirty parts in its tray, and boxes in a square."""

import numpy as np
import yaml

from scenegen.base import sample_base
from scenegen.cell import Cell
from scenegen.cells.loader import builtin_text
from scenegen.parts.build import part_of_drawing
from scenegen.parts.builtin import builtin_catalogue
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.family import Drawing
from scenegen.parts.material import ZINC
from scenegen.parts.pieces import block_piece
from scenegen.parts.solid import prism
from scenegen.scenario import Scenario
from scenegen.streams import stream

BOX_MM = 60.0
THIRTY = {"hex_bolt_m6x20": 8, "hex_bolt_m8x20": 7, "hex_nut_m6": 8, "hex_nut_m8": 7}


def thirty_part_text() -> str:
    """Return the `fasteners` cell with thirty targets in every scene, as YAML."""
    data = yaml.safe_load(builtin_text("fasteners"))
    data["name"] = "thirty"
    data["inventory"] = [{"part": part, "count": count} for part, count in THIRTY.items()]
    data["fill"] = [30, 30]
    return yaml.safe_dump(data, sort_keys=False)


def thirty_part_cell() -> tuple[Cell, Catalogue]:
    """Return that cell with its parts."""
    cell = Cell.from_data(yaml.safe_load(thirty_part_text()), what="thirty")
    return cell, builtin_catalogue([item.part for item in cell.inventory])


def thirty_part_bases(cell: Cell, parts: Catalogue, count: int) -> list[Scenario]:
    """Sample base scenes of thirty parts."""
    return [sample_base(cell, parts, rng=stream("benchmark", index)) for index in range(count)]


def box_cell(count: int, side_m: float) -> tuple[Cell, Catalogue]:
    """Return a cell whose square feed receives boxes of 6 cm with any yaw.

    Args:
        count: How many boxes.
        side_m: Inner side of the feed [m].
    """
    data = yaml.safe_load(builtin_text("fasteners"))
    data.update(name="boxes", inventory=[{"part": "box_60", "count": count}], fill=[count, count])
    data["rules"] = [{"match": "box_60", "bin": data["bins"][0]["name"]}]
    data["feed"]["size_m"] = [side_m, side_m]
    half = BOX_MM / 2
    corners = [(-half, -half), (half, -half), (half, half), (-half, half)]
    drawing = Drawing(prism(corners, 0, BOX_MM), (block_piece((-half, -half, 0), (half, half, BOX_MM)),))
    part = part_of_drawing(
        "box_60", drawing, family="box", label="box", standard="", size={"side": BOX_MM}, material=ZINC
    )
    return Cell.from_data(data, what="boxes"), Catalogue([part])


def generator(seed: int) -> np.random.Generator:
    """Return a generator of its own for each repeat."""
    return stream("benchmark", "repeat", seed)
