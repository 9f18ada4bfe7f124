"""The built-in parts: every family's sizes, and which parts are mistaken for each other."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from scenegen.errors import UnknownName
from scenegen.parts.ball_bearing import BALL_BEARING
from scenegen.parts.build import build_part
from scenegen.parts.bushing import BUSHING
from scenegen.parts.cable import CABLE
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.chip import CHIP
from scenegen.parts.compression_spring import COMPRESSION_SPRING
from scenegen.parts.dowel_pin import DOWEL_PIN
from scenegen.parts.family import Family
from scenegen.parts.flange import FLANGE
from scenegen.parts.flat_washer import FLAT_WASHER
from scenegen.parts.glove import GLOVE
from scenegen.parts.hex_bolt import HEX_BOLT
from scenegen.parts.hex_nut import HEX_NUT
from scenegen.parts.l_bracket import L_BRACKET
from scenegen.parts.part import Part
from scenegen.parts.retaining_ring import BORE_RING, SHAFT_RING
from scenegen.parts.socket_screw import SOCKET_SCREW
from scenegen.parts.spur_gear import SPUR_GEAR
from scenegen.parts.stepped_shaft import STEPPED_SHAFT

FAMILIES: tuple[Family, ...] = (
    HEX_BOLT,
    SOCKET_SCREW,
    HEX_NUT,
    FLAT_WASHER,
    SPUR_GEAR,
    BALL_BEARING,
    BUSHING,
    DOWEL_PIN,
    STEPPED_SHAFT,
    L_BRACKET,
    FLANGE,
    COMPRESSION_SPRING,
    SHAFT_RING,
    BORE_RING,
    CABLE,
    GLOVE,
    CHIP,
)
"""Every built-in family, in the order of lists."""

LOOK_ALIKES: tuple[tuple[str, ...], ...] = (
    ("hex_bolt_m5x16", "hex_bolt_m6x16"),
    ("hex_bolt_m6x16", "hex_bolt_m6x20"),
    ("hex_bolt_m6x20", "hex_bolt_m8x20"),
    ("hex_bolt_m8x20", "hex_bolt_m8x25"),
    ("hex_nut_m5", "hex_nut_m6"),
    ("hex_nut_m6", "hex_nut_m8"),
    ("hex_nut_m8", "hex_nut_m10"),
    ("flat_washer_m5", "flat_washer_m6"),
    ("flat_washer_m6", "flat_washer_m8"),
    ("flat_washer_m8", "flat_washer_m10"),
    ("dowel_pin_5x20", "dowel_pin_6x20"),
    ("dowel_pin_6x20", "dowel_pin_8x20"),
    ("socket_screw_m5x16", "socket_screw_m6x20"),
    ("socket_screw_m6x20", "socket_screw_m8x20"),
    ("spur_gear_z20_m1", "spur_gear_z24_m1"),
    ("ball_bearing_608", "ball_bearing_6000"),
    ("ball_bearing_6000", "ball_bearing_6001"),
    ("bushing_8x11x10", "bushing_8x12x10"),
    ("bushing_8x12x10", "bushing_10x14x10"),
    ("stepped_shaft_d10", "stepped_shaft_d12"),
    ("l_bracket_left", "l_bracket_right"),
    ("flange_31_5_4_m5", "flange_40_4_m6"),
    ("flange_40_4_m6", "flange_50_4_m6"),
    ("compression_spring_1x8x20", "compression_spring_1x10x20"),
    ("retaining_ring_10", "retaining_ring_12"),
    ("retaining_ring_12", "retaining_ring_15"),
    ("retaining_ring_15", "retaining_ring_20"),
)
"""Groups of parts that are easily mistaken for each other."""


def builtin_ids() -> tuple[str, ...]:
    """Return the ids of all built-in parts, family by family."""
    return tuple(part_id for family in FAMILIES for part_id in family.sizes)


@cache
def builtin_part(part_id: str) -> Part:
    """Build a built-in part, once in a process.

    Raises:
        UnknownName: There is no built-in part of that id.
    """
    for family in FAMILIES:
        if part_id in family.sizes:
            return build_part(part_id, family, look_alikes=look_alikes_of(part_id))
    raise UnknownName("part", part_id, builtin_ids())


def look_alikes_of(part_id: str) -> tuple[str, ...]:
    """Return the ids of the parts that are easily mistaken for that one, in the order of `builtin_ids`."""
    others = {other for group in LOOK_ALIKES if part_id in group for other in group} - {part_id}
    return tuple(other for other in builtin_ids() if other in others)


def builtin_catalogue(ids: Iterable[str]) -> Catalogue:
    """Build the built-in parts of these ids, each once, in the order given.

    Raises:
        UnknownName: There is no built-in part of one of the ids.
    """
    return Catalogue(builtin_part(part_id) for part_id in dict.fromkeys(ids))
