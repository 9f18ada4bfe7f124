"""What a camera shows of one item, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from scenegen.record import NonNegative, Real, Record, Share
from scenegen.units import Unit

METER_VERSION = 1
"""Raised when a meter comes to measure something else."""


class Meters(Record):
    """How well one camera shows one item; measured on the linear image after the optics and before noise.

    Where none of the item is visible, meters of its pixels are None: unknown, not zero.
    """

    visible_px: Annotated[int, Field(ge=0)]
    """Pixels that show the item [count]."""
    hidden_share: Share
    """Share of the item's outline that other things hide; 1 where the camera would not see it even alone [share]."""
    saturated_share: Share | None = None
    """Share of its visible pixels with at least one colour at or above saturation, before clipping [share]."""
    color_difference: NonNegative | None = None
    """CIEDE2000 between its mean clipped colours here and under nominal light (Sharma et al. 2005) [dE2000]."""
    chroma_difference: NonNegative | None = None
    """The same with the mean colour scaled to the nominal luminance: what is left is hue and chroma [dE2000]."""
    luminance: Share | None = None
    """Mean luminance of its clipped pixels; 1 is saturated white [1]."""
    contrast: NonNegative | None = None
    """Root mean square contrast: standard deviation of its clipped luminance (Peli 1990) [1]."""
    sharpness: NonNegative | None = None
    """Step of luminance from pixel to pixel across its border, over the mean luminance there [1/px].

    The mean over all pairs of neighbours of which one shows the item and the other does not. It does not change with
    the exposure until pixels clip; blur and veiling glare lower it. None where the item fills the image.
    """
    snr_db: Real | None = None
    """Signal-to-noise ratio at its mean luminance, by the sensor's noise model, not from one noisy picture [dB].

    None where the item is black: there is no signal.
    """

    def known(self) -> Mapping[str, float]:
        """Return the meters that are known, by name."""
        return {name: value for name in METER_UNITS if (value := getattr(self, name)) is not None}


METER_UNITS = {
    "visible_px": Unit.COUNT,
    "hidden_share": Unit.SHARE,
    "saturated_share": Unit.SHARE,
    "color_difference": Unit.DELTA_E,
    "chroma_difference": Unit.DELTA_E,
    "luminance": Unit.NONE,
    "contrast": Unit.NONE,
    "sharpness": Unit.PER_PIXEL,
    "snr_db": Unit.DECIBEL,
}
"""Unit of each meter, in the order of `Meters`."""
