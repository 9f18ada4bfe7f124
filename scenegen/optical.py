"""What lies over or in a plain surface: patches of another look, and patterns of a second colour."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from scenegen.geometry import Vec3
from scenegen.record import Positive, Real, Record, Share

Color = tuple[Share, Share, Share]
"""Linear RGB, each in [0, 1]."""


def mixed(first: Color, second: Color, share: float) -> Color:
    """Return the mean of two colours, the second of which covers a share of the surface."""
    red, green, blue = (one + share * (other - one) for one, other in zip(first, second, strict=True))
    return red, green, blue


class Stain(Record):
    """Patches of oxide, dirt or oil on a surface: where they are, the surface looks otherwise."""

    color: Color
    """Base colour of the patches, linear RGB."""
    metallic: Share = 0.0
    roughness: Annotated[Real, Field(ge=0.02, le=1)] = 0.5
    share: Share
    """Share of the surface that the patches cover."""
    patch_m: Positive
    """Typical size of a patch [m]."""
    phase: Vec3 = (0.0, 0.0, 0.0)
    """Where in the endless field of patches the surface lies: a shift in patch sizes, in the subject's own frame."""


class PatternKind(StrEnum):
    """How the two colours of a surface alternate; U and V are the surface's X and Y, turned by the pattern's angle."""

    CHECKER = "checker"
    """Squares of one size."""
    STRIPES = "stripes"
    """Stripes along V, as wide as the gaps between them."""
    SPECKLE = "speckle"
    """Dots at random places, about a size apart."""
    WOOD = "wood"
    """Wavy grain along V."""


SECOND_SHARE = {PatternKind.CHECKER: 0.5, PatternKind.STRIPES: 0.5, PatternKind.SPECKLE: 0.2, PatternKind.WOOD: 0.5}
"""Share of the surface that has the second colour, on average over many sizes; by definition of the kinds."""


class Pattern(Record):
    """A second colour that alternates with the look's own."""

    kind: PatternKind
    color: Color
    """The second colour, linear RGB."""
    size_m: Positive
    """Edge of a square, width of a stripe, distance of dots, width of the grain [m]."""
    angle_rad: Real = 0.0
    """Turn of the pattern about the surface's normal [rad]."""

    @property
    def second_share(self) -> float:
        """Share of the surface that has the second colour."""
        return SECOND_SHARE[self.kind]
