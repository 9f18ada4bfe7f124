"""The closed set of units in which severities, measurements and limits are given."""

from enum import StrEnum

from scenegen.record import Name, Real, Record


class Unit(StrEnum):
    """Units, written as people write them."""

    NONE = "1"
    COUNT = "count"
    SHARE = "share"
    FACTOR = "factor"
    METRE = "m"
    MILLIMETRE = "mm"
    RADIAN = "rad"
    DEGREE = "deg"
    PIXEL = "px"
    PER_PIXEL = "1/px"
    LUX = "lx"
    NIT = "cd/m2"
    KELVIN = "K"
    KILOGRAM = "kg"
    NEWTON = "N"
    SECOND = "s"
    HERTZ = "Hz"
    METRE_PER_SECOND = "m/s"
    EXPOSURE_VALUE = "EV"
    DECIBEL = "dB"
    DELTA_E = "dE2000"


class Quantity(Record):
    """A named number with its unit."""

    name: Name
    value: Real
    unit: Unit
