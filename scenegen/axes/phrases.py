"""Other words for the same instruction: sentences, names and units in English, German and Spanish."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

FRAMES: tuple[tuple[str, str], ...] = (
    ("Please clear the feed: {rules}.", "put the {things} into {box}"),
    ("Here is what goes where: {rules}.", "{box} gets the {things}"),
    ("Take the parts out one by one; {rules}.", "the {things} belong in {box}"),
    ("{rules}, until nothing is left in the feed.", "move all {things} to {box}"),
    ("Everything must end up in its place: {rules}.", "drop {things} in {box}"),
)
"""English sentences, and how each of them says one rule."""

SYNONYMS: Mapping[str, str] = {
    "hex_bolt": "hexagon head bolts",
    "socket_screw": "Allen screws",
    "hex_nut": "hexagon nuts",
    "flat_washer": "plain washers",
    "spur_gear": "toothed gear wheels",
    "ball_bearing": "deep groove bearings",
    "bushing": "plain bearing bushings",
    "dowel_pin": "locating pins",
    "stepped_shaft": "shouldered shafts",
    "l_bracket": "angle brackets",
    "flange": "pipe flanges",
    "compression_spring": "coil springs",
    "retaining_ring": "circlips",
}
"""What else a class of parts is called, in the plural."""

NUMBERS: Mapping[int, str] = {
    3: "three", 4: "four", 5: "five", 6: "six", 8: "eight", 10: "ten", 12: "twelve", 14: "fourteen", 15: "fifteen",
    16: "sixteen", 20: "twenty", 22: "twenty-two", 24: "twenty-four", 25: "twenty-five", 30: "thirty",
}  # fmt: skip
"""Numbers as words."""

RANKS: Mapping[int, tuple[str, ...]] = {1: ("",), 2: ("smaller", "larger"), 3: ("smallest", "middle-sized", "largest")}
"""What parts of one class are called by their size alone, smallest first."""
APART = 1.1
"""How many times as heavy the larger of two parts is, at least, where they are told apart so."""


@dataclass(frozen=True)
class Language:
    """How one language says an instruction."""

    frame: str
    rule: str
    last: str
    """Between the last two of an enumeration."""
    box: str
    """A bin with a short label."""
    marked: str
    """A bin that is known by what is printed on it."""
    teeth: str
    hands: tuple[str, str]
    """Left-hand, right-hand."""
    kinds: Mapping[str, str]
    """Classes of parts, in the plural."""

    def sized(self, kind: str, size: str) -> str:
        """Put the size of a part after its kind."""
        if match := re.fullmatch(r"(\d+)-tooth", size):
            size = self.teeth.format(match[1])
        sides = {"left-hand": self.hands[0], "right-hand": self.hands[1]}
        return f"{kind} {sides.get(size, size)}".strip()


GERMAN = Language(
    frame="Sortiere die Teile: {rules}.",
    rule="{things} in {box}",
    last="und",
    box="Behälter {label}",
    marked="den Behälter mit der Aufschrift {label}",
    teeth="mit {} Zähnen",
    hands=("links", "rechts"),
    kinds={
        "hex_bolt": "Sechskantschrauben",
        "socket_screw": "Innensechskantschrauben",
        "hex_nut": "Sechskantmuttern",
        "flat_washer": "Unterlegscheiben",
        "spur_gear": "Stirnräder",
        "ball_bearing": "Kugellager",
        "bushing": "Buchsen",
        "dowel_pin": "Zylinderstifte",
        "stepped_shaft": "Stufenwellen",
        "l_bracket": "Winkel",
        "flange": "Flansche",
        "compression_spring": "Druckfedern",
        "retaining_ring": "Sicherungsringe",
    },
)

SPANISH = Language(
    frame="Clasifica las piezas: {rules}.",
    rule="{things} en {box}",
    last="y",
    box="la caja {label}",
    marked="la caja marcada {label}",
    teeth="de {} dientes",
    hands=("izquierda", "derecha"),
    kinds={
        "hex_bolt": "tornillos hexagonales",
        "socket_screw": "tornillos Allen",
        "hex_nut": "tuercas hexagonales",
        "flat_washer": "arandelas planas",
        "spur_gear": "engranajes rectos",
        "ball_bearing": "rodamientos de bolas",
        "bushing": "casquillos",
        "dowel_pin": "pasadores cilíndricos",
        "stepped_shaft": "ejes escalonados",
        "l_bracket": "escuadras",
        "flange": "bridas",
        "compression_spring": "muelles de compresión",
        "retaining_ring": "anillos de retención",
    },
)

LANGUAGES: Mapping[str, Language] = {"de": GERMAN, "es": SPANISH}
"""Second languages by code."""


def size_variant(size: str) -> str | None:
    """Say a size in other words: `M6` is six-millimetre; None where there are none."""
    match = re.fullmatch(r"M(\d+)|(\d+) mm|(\d+)-tooth", size)
    if match is None:
        return {"left-hand": "left", "right-hand": "right"}.get(size)
    value = int(next(group for group in match.groups() if group))
    return f"{NUMBERS.get(value, str(value))}-{'tooth' if match[3] else 'millimetre'}"


def edit_distance(before: str, after: str) -> int:
    """Return the least number of letters to insert, delete or replace: Levenshtein's distance.

    One column of the table is two bit vectors, as in Myers 1999, "A fast bit-vector algorithm for approximate string
    matching", in Hyyrö's form of 2003.
    """
    if not before:
        return len(after)
    places: dict[str, int] = {}
    for index, letter in enumerate(before):
        places[letter] = places.get(letter, 0) | 1 << index
    full, last = (1 << len(before)) - 1, 1 << (len(before) - 1)
    up, down, distance = full, 0, len(before)
    for letter in after:
        equal = places.get(letter, 0)
        diagonal = (((equal & up) + up) ^ up) | equal | down
        right_up, right_down = down | ~(diagonal | up), diagonal & up
        distance += bool(right_up & last) - bool(right_down & last)
        right_up, right_down = (right_up << 1) | 1, right_down << 1
        up, down = (right_down | ~(diagonal | right_up)) & full, right_up & diagonal & full
    return distance
