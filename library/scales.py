"""The differences that hardly show, by quantity: the units in which scenes are compared."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from scenegen.errors import InvalidOption, UnknownName

_DEG = math.pi / 180


@dataclass(frozen=True)
class Scale:
    """The difference in one quantity that counts as 1."""

    value: float
    """In the first of `units`; a share where that is `%`."""
    units: Mapping[str, float]
    """How the difference may be written, and what one of each is in the unit in which scenes hold the quantity."""
    doc: str

    @property
    def text(self) -> str:
        """The scale as people write it."""
        return f"{self.value:g}{next(iter(self.units))}"

    def in_units(self, distance: float) -> str:
        """Return a distance along this quantity in its unit."""
        value = distance * self.value
        if "%" in self.units:
            value = 100 * math.expm1(distance * math.log1p(self.value / 100))
        return f"{value:.3g} {next(iter(self.units))}".strip()


_SHARE, _LENGTH, _PLAIN = {"%": 0.01}, {"mm": 1e-3, "m": 1.0}, {"": 1.0}
SCALES: dict[str, Scale] = {
    "position": Scale(2.0, _LENGTH, "where items, fixtures, lights, cards, cameras and stains are"),
    "angle": Scale(2.0, {"deg": _DEG, "rad": 1.0}, "how they are turned; joint angles of the robot"),
    "light": Scale(5.0, _SHARE, "luminance or illuminance of a light, as a factor"),
    "temperature": Scale(100.0, {"K": 1.0}, "colour temperature of a light, white balance"),
    "size": Scale(5.0, _SHARE, "extent of a light or a card, as a factor"),
    "mass": Scale(2.0, _SHARE, "mass of an item, as a factor"),
    "center": Scale(0.5, _LENGTH, "centre of mass in the part's frame"),
    "inertia": Scale(2.0, _SHARE, "shape of the inertia tensor: entries by its trace"),
    "friction": Scale(2.0, _SHARE, "friction coefficient, as a factor"),
    "color": Scale(0.02, _PLAIN, "base colour, linear RGB"),
    "finish": Scale(0.05, _PLAIN, "metallic and roughness"),
    "vibration": Scale(0.1, _LENGTH, "amplitude of the shaking"),
    "frequency": Scale(0.5, {"Hz": 1.0}, "frequency of the shaking"),
    "speed": Scale(5.0, {"mm/s": 1e-3, "m/s": 1.0}, "speed of the belt"),
    "exposure": Scale(0.1, {"EV": 1.0}, "exposure of a camera"),
    "noise": Scale(1.0, {"dB": 1.0}, "signal-to-noise ratio of a camera"),
    "blur": Scale(0.1, {"px": 1.0}, "lens blur and motion blur of a camera"),
    "cover": Scale(0.02, _PLAIN, "share of a surface that a stain covers; veil and vignetting of a camera"),
    "pixel": Scale(1.0, {"px": 1.0}, "focal length and principal point of a camera"),
    "distortion": Scale(0.005, _PLAIN, "distortion coefficients of a camera"),
}  # fmt: skip
"""By quantity. Position: the print of one pixel of the overhead camera is 1 mm; a grasp forgives 2 mm."""


def parse_scales(text: str) -> dict[str, Scale]:
    """Return the scales with some replaced, from `position=1mm,angle=0.5deg,light=3%`.

    Raises:
        UnknownName: There is no such quantity.
        InvalidOption: A value or a unit is none.
    """
    scales = dict(SCALES)
    for piece in filter(None, text.split(",")):
        name, _, value = (one.strip() for one in piece.partition("="))
        if name not in SCALES:
            raise UnknownName("quantity", name, SCALES)
        units = SCALES[name].units
        match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:e-?\d+)?)\s*(\S*)", value)
        if not match or match[2] not in units or float(match[1]) <= 0:
            first = next(iter(units))
            accepted = " or ".join(f"{name}=NUMBER{unit}" for unit in units)
            raise InvalidOption("--threshold", piece.strip(), f"{accepted} above 0, for example {name}=1{first}")
        chosen = {match[2]: units[match[2]], **units}
        scales[name] = Scale(float(match[1]), chosen, SCALES[name].doc)
    return scales
