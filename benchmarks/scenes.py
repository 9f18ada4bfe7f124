"""The scenes that benchmarks measure: cells with ten or thirty parts in the tray, and boxes in a square."""

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
FASTENERS = ("hex_bolt_m6x20", "hex_bolt_m8x20", "hex_nut_m6", "hex_nut_m8")
NAMES = {10: "ten", 12: "twelve", 30: "thirty"}
LIMIT = "Not with 60 parts: a layout holds at most 32 items, and a cell's inventory as many."
"""What the records refuse, for the results of benchmarks that would otherwise go further."""


def fastener_text(count: int) -> str:
    """Return the `fasteners` cell with ten, twelve or thirty targets in every scene, as YAML."""
    data = yaml.safe_load(builtin_text("fasteners"))
    data["name"] = NAMES[count]
    # As even as can be: bolts and nuts of the smaller size are one more.
    numbers = [count // 4 + (index in (0, 2)) for index in range(4)]
    data["inventory"] = [{"part": part, "count": number} for part, number in zip(FASTENERS, numbers, strict=True)]
    data["fill"] = [count, count]
    return yaml.safe_dump(data, sort_keys=False)


def fastener_cell(count: int) -> tuple[Cell, Catalogue]:
    """Return that cell with its parts."""
    cell = Cell.from_data(yaml.safe_load(fastener_text(count)), what=NAMES[count])
    return cell, builtin_catalogue([item.part for item in cell.inventory])


def thirty_part_text() -> str:
    """Return the `fasteners` cell with thirty targets in every scene, as YAML."""
    return fastener_text(30)


def thirty_part_cell() -> tuple[Cell, Catalogue]:
    """Return that cell with its parts."""
    return fastener_cell(30)


def fastener_bases(cell: Cell, parts: Catalogue, count: int) -> list[Scenario]:
    """Sample base scenes of a cell."""
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
