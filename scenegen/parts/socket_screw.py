"""Hexagon socket head cap screws, thread up to the head (ISO 4762)."""

from __future__ import annotations

from scenegen.parts.family import Drawing, Family, Size
from scenegen.parts.material import BLACK_OXIDE
from scenegen.parts.pieces import round_piece
from scenegen.parts.solid import polygon, prism, turned
from scenegen.parts.thread import threaded_rod


def draw_socket_screw(size: Size) -> Drawing:
    """Draw a screw: the head's underside lies in z = 0, the head points up."""
    radius, height, length = size["head_diameter"] / 2, size["head_height"], size["length"]
    edge = 0.1 * size["thread"]
    barrel = turned([(0, 0), (radius, 0), (radius, height - edge), (radius - edge, height), (0, height)])
    socket = prism(polygon(6, size["socket"] / 2), height - size["socket_depth"], height + 1)
    rod = threaded_rod(size["thread"], size["pitch"], -length, 0.01)
    pieces = (round_piece(radius, 0, height), round_piece(size["thread"] / 2, -length, 0))
    return Drawing(solid=(barrel - socket) + rod, pieces=pieces)


def _row(thread: float, pitch: float, length: float, head: tuple[float, float], socket: tuple[float, float]) -> Size:
    return {
        "thread": thread,
        "pitch": pitch,
        "length": length,
        "head_diameter": head[0],
        "head_height": head[1],
        "socket": socket[0],
        "socket_depth": socket[1],
    }


SOCKET_SCREW = Family(
    name="socket_screw",
    label="socket_screw",
    standard="ISO 4762",
    material=BLACK_OXIDE,
    sizes={
        "socket_screw_m5x16": _row(5, 0.8, 16, (8.5, 5), (4, 2.5)),
        "socket_screw_m6x20": _row(6, 1.0, 20, (10, 6), (5, 3)),
        "socket_screw_m8x20": _row(8, 1.25, 20, (13, 8), (6, 4)),
    },
    draw=draw_socket_screw,
)
