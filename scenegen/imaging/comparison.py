"""How alike two pictures of one scene are: noise ratio, structure, order of the parts, blown-out shares."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log10

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.stats import rankdata

from scenegen.imaging.lamps import LUMINANCE, Floats

SIGMA_PX = 1.5
"""Width of the window of structural similarity [px]; with it 11 x 11 pixels count (Wang et al. 2004)."""
_C1, _C2 = 0.01**2, 0.03**2


@dataclass(frozen=True)
class PartsComparison:
    """How the parts of one picture agree with the truth."""

    parts: int
    """How many parts were compared."""
    luminance_spearman: float
    """Rank correlation of the parts' mean luminance."""
    luminance_ratio: float
    """Median of mean luminance over true mean luminance."""
    saturated_error: float
    """Mean absolute difference of the parts' saturated shares."""
    saturated_share: float
    """Mean of the parts' true saturated shares."""


def psnr_db(picture: Floats, truth: Floats) -> float:
    """Return the peak signal-to-noise ratio of values in [0, 1] [dB]; infinite for equal pictures."""
    error = float(np.mean((np.asarray(picture, float) - truth) ** 2))
    return -10 * log10(error) if error else inf


def ssim(picture: Floats, truth: Floats) -> float:
    """Return the mean structural similarity of two grey pictures (Wang et al. 2004), Gaussian window, in [-1, 1].

    Args:
        picture: Values in [0, 1], shape [h, w].
        truth: As `picture`.
    """
    one, two = np.asarray(picture, float), np.asarray(truth, float)
    mean_1, mean_2 = _blurred(one), _blurred(two)
    var_1, var_2 = _blurred(one * one) - mean_1**2, _blurred(two * two) - mean_2**2
    covariance = _blurred(one * two) - mean_1 * mean_2
    likeness = (2 * mean_1 * mean_2 + _C1) * (2 * covariance + _C2)
    return float(np.mean(likeness / ((mean_1**2 + mean_2**2 + _C1) * (var_1 + var_2 + _C2))))


def compare_parts(
    picture: Floats, truth: Floats, instance: NDArray[np.integer], parts: list[int], *, least_px: int = 12
) -> PartsComparison:
    """Compare parts by the luminance of their pixels.

    Args:
        picture: Linear colour, exposed: 1 saturates; shape [h, w, 3].
        truth: As `picture`.
        instance: Which thing each pixel shows, shape [h, w].
        parts: The values in `instance` that are parts.
        least_px: Parts of fewer pixels are left out [px].

    Returns:
        The comparison; its rank correlation is NaN for fewer than three parts.
    """
    seen = [mask for mask in (instance == part for part in parts) if mask.sum() >= least_px]
    means = np.array([[(image[mask] @ LUMINANCE).mean() for image in (picture, truth)] for mask in seen])
    shares = np.array([[(image[mask].max(axis=1) >= 1).mean() for image in (picture, truth)] for mask in seen])
    if not seen:
        return PartsComparison(0, np.nan, np.nan, np.nan, np.nan)
    return PartsComparison(
        parts=len(seen),
        luminance_spearman=float(np.corrcoef(rankdata(means, axis=0).T)[0, 1]) if len(seen) > 2 else np.nan,
        luminance_ratio=float(np.median(means[:, 0] / np.maximum(means[:, 1], 1e-9))),
        saturated_error=float(np.abs(shares[:, 0] - shares[:, 1]).mean()),
        saturated_share=float(shares[:, 1].mean()),
    )


def brightest_spot(luminance: Floats, mask: NDArray[np.bool_], *, share: float = 0.03) -> Floats:
    """Return column and row [px] of the centroid of a thing's brightest pixels, shape [2].

    Args:
        luminance: Shape [h, w].
        mask: Pixels of the thing, shape [h, w].
        share: Share of its pixels that count.
    """
    return np.argwhere(brightest(luminance, mask, share=share))[:, ::-1].mean(axis=0) + 0.5


def brightest(luminance: Floats, mask: NDArray[np.bool_], *, share: float = 0.03) -> NDArray[np.bool_]:
    """Tell which pixels are among a thing's brightest; at least one is, shape [h, w]."""
    count = max(1, round(share * int(mask.sum())))
    return mask & (luminance >= np.sort(luminance[mask])[-count])


def _blurred(values: Floats) -> Floats:
    return gaussian_filter(values, SIGMA_PX, truncate=3.5)
