"""How clearly a scene's departures from its nominal twin show in the cameras' images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scenegen.imaging.metered import OPTICAL, Floats, Metered, sensor_of
from scenegen.imaging.noise import noise_variance
from scenegen.imaging.scope import Places
from scenegen.scenario import Camera, CameraSensor, Facet, Scenario

ROUNDING = 1e-5
"""Largest difference of positions [m] and quaternions that is rounding."""
SAMPLE = 512
"""Most pixels of a surface beside the targets that are compared."""


def departed(scenario: Scenario, metered: Metered) -> tuple[Facet, ...]:
    """Return which of lights, surfaces, sensor and cameras are not as the cell has them."""
    changed = [facet for facet in OPTICAL if scenario.facet(facet) != metered.nominal_facet(scenario, facet)]
    if _moved(scenario.cameras.cameras, metered.nominal_cameras(scenario).cameras):
        changed.append(Facet.CAMERAS)
    return tuple(changed)


def _moved(cameras: Sequence[Camera], nominal: Sequence[Camera]) -> bool:
    """Tell whether cameras differ by more than rounding: those on the flange were carried there by the arm."""
    if len(cameras) != len(nominal):
        return True
    for one, other in zip(cameras, nominal, strict=True):
        here, there = one.pose_to_world, other.pose_to_world
        apart = np.abs(np.subtract((*here.position_m, *here.quat_xyzw), (*there.position_m, *there.quat_xyzw))).max()
        if apart > ROUNDING or one != other.replaced(pose_to_world=here):
            return True
    return False


def detectability(scenario: Scenario, facet: Facet, metered: Metered) -> float:
    """Say how well a camera could tell a scene from the same one with a nominal facet, by the clearest target.

    The root of the divergence J between the two images' distributions (Kullback 1959): with equal noise it is the
    detectability d' of an ideal observer, the root of the summed squared differences over the noise. Other noise counts
    too. Of surfaces that are no target's, their own pixels are compared.

    Args:
        scenario: A scene of the cell.
        facet: Lights, surfaces or sensor.
        metered: Measures scenes of the cell.

    Returns:
        d'; 0 where no image differs, 5 is seen with near certainty (Rose 1948).
    """
    twin = metered.unvaried(scenario, facet)
    shown = (_divergences(scenario, twin, facet, camera.name, metered) for camera in scenario.cameras.cameras)
    return float(np.sqrt(max((one for some in shown for one in some), default=0.0)))


def moved_pixels(scenario: Scenario, metered: Metered) -> int:
    """Count pixels that show another target than with nominal cameras, in the image where they are most [px]."""
    twin = metered.unvaried(scenario, Facet.CAMERAS)
    most = 0
    for camera in scenario.cameras.cameras:
        here, there = (_shown(one, camera.name, metered) for one in (scenario, twin))
        most = max(most, int((here != there).sum()) if here.shape == there.shape else here.size)
    return most


def _shown(scenario: Scenario, camera: str, metered: Metered) -> Places:
    """Index of the target that each pixel shows, or -1."""
    gbuffer, scope = metered.renderer.gbuffer(scenario, camera), metered.scope(scenario, camera)
    shown = np.full(gbuffer.height_px * gbuffer.width_px, -1)
    shown[scope.pixels[: scope.inside]] = np.repeat(np.arange(len(scope.names)), scope.visible)
    return shown


def _divergences(scenario: Scenario, twin: Scenario, facet: Facet, camera: str, metered: Metered) -> Iterator[float]:
    """Yield J for each target that a camera sees, or for the surfaces that changed."""
    sensors = sensor_of(scenario, camera), sensor_of(twin, camera)
    scope = metered.scope(scenario, camera)
    changed = _repainted(scenario, twin) if facet is Facet.SURFACES else set(scope.names)
    if changed & set(scope.names):
        here, there = (metered.exposed(one, camera) for one in (scenario, twin))
        each = _divergence(here, there, sensors)[: scope.inside]
        owners = np.repeat(np.arange(len(scope.names)), scope.visible)
        yield from np.bincount(owners, each, minlength=len(scope.names)).tolist()
    if facet is Facet.SURFACES:
        gbuffer = metered.renderer.gbuffer(scenario, camera)
        wanted = [index for index, name in enumerate(gbuffer.names) if name in changed - set(scope.names)]
        pixels = np.flatnonzero(np.isin(gbuffer.instance[0], wanted))
        pixels = pixels[:: max(1, len(pixels) // SAMPLE)]
        if len(pixels):
            here, there = (metered.exposed(one, camera, pixels) for one in (scenario, twin))
            yield float(_divergence(here, there, sensors).sum())


def _repainted(scenario: Scenario, twin: Scenario) -> set[str]:
    before = {surface.subject: surface for surface in twin.surfaces.surfaces}
    return {one.subject for one in scenario.surfaces.surfaces if before.get(one.subject) != one}


def _divergence(here: Floats, there: Floats, sensors: tuple[CameraSensor, CameraSensor]) -> Floats:
    """Return J of each pixel, its three colours together, shape [k]; values clip as the sensor does."""
    a, b = np.minimum(here, 1.0), np.minimum(there, 1.0)
    u, v = (noise_variance(level, sensor.snr_db) for level, sensor in zip((a, b), sensors, strict=True))
    return (0.5 * (u / v + v / u - 2) + 0.5 * (a - b) ** 2 * (1 / u + 1 / v)).sum(axis=0)
