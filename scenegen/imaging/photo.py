"""A camera from light to bytes: luminance of a scene -> exposed linear image -> photo.

Optics first (motion, lens blur, vignetting, veiling glare), then exposure and white balance, then noise, clipping, the
response curve and eight bits. The lens's distortion is in the rays already (`pinhole`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenegen.imaging.blur import blurred, lens_blur, motion_blur
from scenegen.imaging.exposure import Gain
from scenegen.imaging.gbuffer import Vector
from scenegen.imaging.lamps import planckian_color
from scenegen.imaging.noise import Seed, Words, noise_seed, noise_variance, normals, seed_words
from scenegen.imaging.sensor_set import SensorSet
from scenegen.imaging.vectors import product
from scenegen.imaging.veil import veil_of, veiled
from scenegen.scenario import CameraSensor

NEUTRAL_K = 6500.0
"""White balance at which the cell's nominal light is neutral [K]."""
_LEAST = 0.02
"""Least colour of a black body that a white balance still makes up for: below 2,000 K there is hardly any blue."""


def sensor_gain(sensor: CameraSensor, nominal: Gain) -> Gain:
    """Return a sensor's exposure and white balance by linear colour [m²/cd].

    One EV more doubles the image. A white balance of `NEUTRAL_K` leaves the nominal one; another shifts colours as if a
    camera in daylight were set to it: a higher temperature gives a warmer picture.

    Args:
        sensor: The sensor.
        nominal: Gain of the cell's cameras (`exposure.nominal_gain`).
    """
    neutral, balanced = planckian_color(NEUTRAL_K), planckian_color(sensor.white_balance_k)
    red, green, blue = (
        gain * 2.0**sensor.exposure_ev * here / max(there, _LEAST)
        for gain, here, there in zip(nominal, neutral, balanced, strict=True)
    )
    return red, green, blue


def expose(radiance: Vector, sensors: Sequence[CameraSensor], *, nominal: Gain, xp: Any) -> Vector:
    """Turn the light that a camera receives into its linear image, before noise and clipping.

    Args:
        radiance: Luminance by linear colour [cd/m²], each of shape [b, h, w].
        sensors: One an image, or one for all.
        nominal: Gain of the cell's cameras (`exposure.nominal_gain`).
        xp: The array library.

    Returns:
        Linear colours, 1 saturates, each of shape [b, h, w].
    """
    return expose_with(radiance, sensor_set(sensors, nominal=nominal, like=radiance[0], xp=xp), xp=xp)


def sensor_set(sensors: Sequence[CameraSensor], *, nominal: Gain, like: Any, xp: Any) -> SensorSet:
    """Bring the settings of sensors into arrays, for images of one size.

    Args:
        sensors: One an image, or one for all.
        nominal: Gain of the cell's cameras (`exposure.nominal_gain`).
        like: An array of shape [b, h, w]: type, device and size of the images.
        xp: The array library.
    """
    red, green, blue = zip(*(sensor_gain(sensor, nominal) for sensor in sensors), strict=True)
    return SensorSet(
        blurs=(
            *motion_blur([s.motion_px for s in sensors], [s.motion_rad for s in sensors], like=like, xp=xp),
            *lens_blur([s.blur_px for s in sensors], like=like, xp=xp),
        ),
        corner=_corner([s.vignetting for s in sensors], like, xp),
        veil=veil_of([s.veil_share for s in sensors], like=like, xp=xp),
        gain=(_column(red, like, xp), _column(green, like, xp), _column(blue, like, xp)),
        snr_db=_column([s.snr_db for s in sensors], like, xp),
    )


def expose_with(radiance: Vector, sensors: SensorSet, *, xp: Any) -> Vector:
    """Do what `expose` does with sensors that are arrays already; nothing but arithmetic on the images' device.

    Args:
        radiance: Luminance by linear colour [cd/m²], each of shape [b, h, w].
        sensors: One an image, or one for all.
        xp: The array library.
    """
    light = blurred(radiance, sensors.blurs, xp=xp)
    light = _vignette(light, sensors.corner, xp)
    return product(veiled(light, sensors.veil, xp=xp), sensors.gain)


def is_pointwise(sensor: CameraSensor) -> bool:
    """Tell whether each pixel of a camera's linear image depends on the light that meets this pixel alone."""
    return not (sensor.blur_px or sensor.motion_px or sensor.veil_share)


def expose_points(
    radiance: NDArray[Any], sensor: CameraSensor, pixels: NDArray[np.int64], *, size_px: tuple[int, int], nominal: Gain
) -> NDArray[Any]:
    """Turn the light of some pixels into linear values as `expose` does, for a sensor that is pointwise.

    Args:
        radiance: Luminance by linear colour [cd/m²], numpy, shape [3, k].
        sensor: The sensor.
        pixels: Places in the row of all pixels, `row * width + column`, shape [k].
        size_px: Height and width of the image.
        nominal: Gain of the cell's cameras (`exposure.nominal_gain`).
    """
    assert is_pointwise(sensor)
    gain = np.array(sensor_gain(sensor, nominal), radiance.dtype)[:, None]
    if not sensor.vignetting:
        return radiance * gain
    height, width = size_px
    rows, columns = np.divmod(pixels, width)
    tan2_share = ((2 * rows + 1 - height) ** 2 + (2 * columns + 1 - width) ** 2) / _corner2(height, width)
    kept = 1 / (1 + corner_tan2(sensor.vignetting) * tan2_share) ** 2
    return radiance * (gain * kept.astype(radiance.dtype))


def develop(exposed: Vector, sensors: Sequence[CameraSensor], seeds: Sequence[Seed], *, xp: Any) -> Any:
    """Turn exposed images into photos: noise, clipping, the response curve of sRGB, eight bits.

    Args:
        exposed: What `expose` returns, each of shape [b, h, w].
        sensors: One an image, or one for all.
        seeds: Seeds of the noise, one an image.
        xp: The array library.

    Returns:
        sRGB as whole numbers of 8 bits, shape [b, h, w, 3].
    """
    first = exposed[0]
    snr_db = _column([sensor.snr_db for sensor in sensors], first, xp)
    return develop_with(exposed, snr_db, seed_words(seeds, like=first, xp=xp), xp=xp)


def develop_with(exposed: Vector, snr_db: Any, words: Words, *, xp: Any) -> Any:
    """Do what `develop` does with sensors and seeds that are arrays already.

    Args:
        exposed: What `expose` returns, each of shape [b, h, w].
        snr_db: Signal-to-noise ratio at mid grey of each image or one for all [dB], shape [b, 1, 1].
        words: Words of the seeds of the noise (`noise.seed_words`), one an image.
        xp: The array library.

    Returns:
        sRGB as whole numbers of 8 bits, shape [b, h, w, 3].
    """
    first = exposed[0]
    draws = normals(3 * first.shape[1] * first.shape[2], words, like=first, xp=xp)
    draws = draws.reshape((-1, 3, *first.shape[1:]))
    planes = []
    for channel, plane in enumerate(exposed):
        level = xp.clip(plane, 0.0, None)
        noisy = level + draws[:, channel] * xp.sqrt(noise_variance(level, snr_db))
        planes.append(xp.asarray(xp.round(255.0 * srgb(noisy, xp=xp)), dtype=xp.uint8))
    return xp.stack(planes, -1)


def photo(radiance: Vector, sensor: CameraSensor, *, nominal: Gain, scenario_id: str, xp: Any) -> Any:
    """Return the photo that a scenario's camera takes; equal arguments give equal bytes.

    Args:
        radiance: Luminance by linear colour [cd/m²], each of shape [h, w].
        sensor: The camera's sensor.
        nominal: Gain of the cell's cameras (`exposure.nominal_gain`).
        scenario_id: The scenario; it and the camera's name seed the noise.
        xp: The array library.

    Returns:
        sRGB as whole numbers of 8 bits, shape [h, w, 3].
    """
    exposed = expose((radiance[0][None], radiance[1][None], radiance[2][None]), [sensor], nominal=nominal, xp=xp)
    return develop(exposed, [sensor], [noise_seed(scenario_id, sensor.camera)], xp=xp)[0]


def srgb(linear: Any, *, xp: Any) -> Any:
    """Clip linear light to [0, 1] and encode it as sRGB, 0 to 1 (IEC 61966-2-1)."""
    light = xp.clip(linear, 0.0, 1.0)
    return xp.where(light <= 0.0031308, 12.92 * light, 1.055 * xp.clip(light, 0.0031308, None) ** (1 / 2.4) - 0.055)


def _corner(corner_loss: Sequence[float], like: Any, xp: Any) -> Any:
    """Square of the tangent at which a lens sees the corners, by the share that they lose; None if none loses any."""
    if not any(corner_loss):
        return None
    return _column([corner_tan2(loss) for loss in corner_loss], like, xp)


def _vignette(image: Vector, corner: Any, xp: Any) -> Vector:
    """Darken images toward their corners by the cos⁴ law of natural vignetting (Kingslake 1983, Optical System Design).

    The lens's focal length is the one that loses the given share in the corners.
    """
    if corner is None:
        return image
    first = image[0]
    height, width = first.shape[1:]
    y, x = (
        (2.0 * xp.arange(size, dtype=first.dtype, device=first.device) + (1.0 - size)) ** 2 for size in (height, width)
    )
    tan2_share = (y[:, None] + x[None, :]) / _corner2(height, width)
    kept = 1.0 / (1.0 + corner * tan2_share) ** 2
    return image[0] * kept, image[1] * kept, image[2] * kept


def _corner2(height: int, width: int) -> int:
    """Square of the diagonal [px], twice the distance of a corner's pixel from the middle."""
    return (height - 1) ** 2 + (width - 1) ** 2


def corner_tan2(loss: float) -> float:
    """Return the squared tangent of the angle at which a corner is seen by a lens that loses such a share there."""
    return 1.0 / sqrt(max(1.0 - loss, 1e-6)) - 1.0


def _column(values: Sequence[float], like: Any, xp: Any) -> Any:
    return xp.asarray(list(values), dtype=like.dtype, device=like.device).reshape((-1, 1, 1))
