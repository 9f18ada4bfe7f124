"""Measure what exposed images show of instances: whole images of a batch, or the pixels of a few items alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from scenegen.errors import UnknownName
from scenegen.imaging.ciede2000 import ciede2000
from scenegen.imaging.gbuffer import GBuffer, Vector
from scenegen.imaging.lab import lab
from scenegen.imaging.lamps import LUMINANCE
from scenegen.imaging.meters import Meters
from scenegen.imaging.noise import noise_variance
from scenegen.imaging.per_instance import per_instance
from scenegen.imaging.scope import Scope, sums_by_item
from scenegen.scenario import CameraSensor

_RED, _GREEN, _BLUE = LUMINANCE.tolist()
_WEIGHTS = LUMINANCE.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Readings:
    """The meters of every instance in every image (see `Meters`); NaN where a meter is unknown.

    Each array in 64 bits, shape [b, len(names)].
    """

    names: tuple[str, ...]
    visible_px: Any
    hidden_share: Any
    saturated_share: Any
    color_difference: Any
    chroma_difference: Any
    luminance: Any
    contrast: Any
    sharpness: Any
    snr_db: Any

    def meters(self, name: str, *, image: int = 0) -> Meters:
        """Return the meters of one instance in one image as a record.

        Raises:
            UnknownName: No instance has that name.
        """
        if name not in self.names:
            raise UnknownName("item", name, self.names)
        index = self.names.index(name)
        read = {meter: float(getattr(self, meter)[image, index]) for meter in Meters.model_fields}
        known = {meter: value for meter, value in read.items() if isfinite(value)}
        return Meters.model_validate({**known, "visible_px": int(known["visible_px"])})

    def image(self, index: int) -> Readings:
        """Return the readings of one image."""
        chosen = {meter: getattr(self, meter)[index : index + 1] for meter in Meters.model_fields}
        return Readings(names=self.names, **chosen)

    def only(self, names: Sequence[str]) -> Readings:
        """Return the meters of some instances, in the order asked for.

        Raises:
            UnknownName: No instance has such a name.
        """
        for name in names:
            if name not in self.names:
                raise UnknownName("item", name, self.names)
        chosen = [self.names.index(name) for name in names]
        return Readings(names=tuple(names), **{meter: getattr(self, meter)[:, chosen] for meter in Meters.model_fields})


def measure(
    gbuffer: GBuffer, exposed: Vector, nominal: Vector, sensors: Sequence[CameraSensor], *, xp: Any
) -> Readings:
    """Read all meters of all instances.

    Args:
        gbuffer: What the pixels show, b images.
        exposed: The linear images before noise and clipping (`photo.expose`), each of shape [b, h, w].
        nominal: The same views under nominal light with the nominal sensor, of b images or one.
        sensors: One an image, or one for all.
        xp: The array library.
    """
    flat = _flat(exposed)
    clipped = _clip(flat, xp)
    light = _luminance(clipped)
    plain = _spread(_clip(_flat(nominal), xp), light)
    saturated = xp.maximum(xp.maximum(flat[0], flat[1]), flat[2]) >= 1.0
    step, level = _border(gbuffer, light, xp)
    pixelwise = (xp.ones_like(light), saturated, light * light, *clipped, *plain, step, level)
    visible, *sums = per_instance(pixelwise, gbuffer.instance, len(gbuffer.names), xp=xp)
    return _readings(gbuffer.names, visible, xp.asarray(gbuffer.alone, dtype=xp.float64), sums, sensors, xp)


def measure_scopes(views: Sequence[tuple[Scope, Any, Any, CameraSensor]]) -> Readings:
    """Read all meters of some items in several views; they are those of `measure`, from fewer pixels.

    Args:
        views: For each view its scope (all of the same items), the linear values of the scope's pixels before noise and
            clipping, numpy, shape [3, k], the same under nominal light with the nominal sensor, and the sensor.

    Returns:
        The readings, one image a view.
    """
    sums = np.stack([_sums(scope, exposed, nominal) for scope, exposed, nominal, _ in views], axis=1)
    visible = np.stack([scope.visible for scope, *_ in views]).astype(float)
    alone = np.stack([scope.alone for scope, *_ in views]).astype(float)
    return _readings(views[0][0].names, visible, alone, list(sums), [sensor for *_, sensor in views], np)


def _sums(scope: Scope, exposed: Any, nominal: Any) -> Any:
    """Return what `_readings` takes of one view, shape [10, n]."""
    inside = scope.inside
    clipped = np.minimum(exposed, 1.0)
    light = _WEIGHTS @ clipped
    here, there = light[scope.inner], light[scope.outer]
    own = light[:inside]
    pixelwise = np.empty((8, inside), np.float32)
    pixelwise[0], pixelwise[1] = exposed[:, :inside].max(axis=0) >= 1.0, own * own
    pixelwise[2:5], pixelwise[5:] = clipped[:, :inside], np.minimum(nominal[:, :inside], 1.0)
    border = np.stack([np.abs(here - there), (here + there) / 2])
    return np.concatenate([sums_by_item(pixelwise, scope.visible), sums_by_item(border, scope.borders)])


def _readings(
    names: tuple[str, ...], visible: Any, alone: Any, sums: Sequence[Any], sensors: Sequence[CameraSensor], xp: Any
) -> Readings:
    """Turn sums over each item's pixels into its meters, shape [b, n] each."""
    pixels = xp.where(visible > 0, visible, xp.nan)
    saturated, squared, red, green, blue, *plain, step, level = (total / pixels for total in sums)
    color = (red, green, blue)
    mean = _luminance(color)
    scale = _luminance(plain) / xp.clip(mean, 1e-9, None)
    # Both differences at once: arrays of instances are so small that calls cost more than numbers.
    here = lab((xp.stack((red, red * scale)), xp.stack((green, green * scale)), xp.stack((blue, blue * scale))), xp=xp)
    differences = ciede2000(here, lab((plain[0], plain[1], plain[2]), xp=xp), xp=xp)
    snr = xp.asarray([sensor.snr_db for sensor in sensors], dtype=xp.float64, device=visible.device).reshape((-1, 1))
    return Readings(
        names=names,
        visible_px=visible,
        hidden_share=xp.clip(1.0 - visible / xp.clip(alone, 1.0, None), 0.0, 1.0),
        saturated_share=saturated,
        color_difference=differences[0],
        chroma_difference=differences[1],
        luminance=mean,
        contrast=xp.sqrt(xp.clip(squared - mean**2, 0.0, None)),
        sharpness=step / xp.where(level > 0, level, xp.nan),
        snr_db=10.0 * xp.log10(xp.where(mean > 0, mean, xp.nan) ** 2 / noise_variance(mean, snr)),
    )


def _border(gbuffer: GBuffer, light: Any, xp: Any) -> tuple[Any, Any]:
    """Steps and mean levels between each pixel and those of its four neighbours that show something else, [b, p]."""
    planes, shown = gbuffer.plane(light), gbuffer.plane(gbuffer.instance)
    across = _pairs(planes[:, :, :-1], planes[:, :, 1:], shown[:, :, :-1] != shown[:, :, 1:], xp)
    down = _pairs(planes[:, :-1], planes[:, 1:], shown[:, :-1] != shown[:, 1:], xp)
    column, row = xp.zeros_like(planes[:, :, :1]), xp.zeros_like(planes[:, :1])
    step, level = (
        xp.concat([x, column], 2) + xp.concat([column, x], 2) + xp.concat([y, row], 1) + xp.concat([row, y], 1)
        for x, y in zip(across, down, strict=True)
    )
    return step.reshape(light.shape), level.reshape(light.shape)


def _pairs(here: Any, there: Any, border: Any, xp: Any) -> tuple[Any, Any]:
    """Step and mean of neighbours on two sides of a border, 0 elsewhere."""
    return xp.where(border, xp.abs(here - there), 0.0), xp.where(border, (here + there) / 2, 0.0)


def _flat(image: Vector) -> Vector:
    red, green, blue = (plane.reshape((plane.shape[0], -1)) for plane in image)
    return red, green, blue


def _clip(image: Vector, xp: Any) -> Vector:
    return xp.clip(image[0], 0.0, 1.0), xp.clip(image[1], 0.0, 1.0), xp.clip(image[2], 0.0, 1.0)


def _spread(image: Vector, like: Any) -> Vector:
    """Repeat one image for a whole batch."""
    if image[0].shape == like.shape:
        return image
    return image[0] + 0.0 * like, image[1] + 0.0 * like, image[2] + 0.0 * like


def _luminance(color: Any) -> Any:
    return _RED * color[0] + _GREEN * color[1] + _BLUE * color[2]
