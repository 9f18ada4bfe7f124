"""From a scenario's surfaces to the looks of a G-buffer's instances, for shading."""

from __future__ import annotations

import numpy as np

from scenegen.imaging.light_set import SurfaceSet
from scenegen.imaging.robot_look import ROBOT_SURFACE
from scenegen.scenario import Scenario, Surface

PLAIN = (0.5, 0.5, 0.5, 0.0, 0.5)
"""Grey paint: the look of what has no surface of its own."""


def scene_surfaces(scenario: Scenario, names: tuple[str, ...]) -> SurfaceSet:
    """Turn a scenario's surfaces into arrays of one image, 32-bit floats of shape [1, m].

    Stains and patterns count by the shares that they cover.

    Args:
        scenario: The scene.
        names: The instances of its G-buffer; what has no surface is grey, the robot as `robot_look` has it.
    """
    found = {surface.subject: surface for surface in (ROBOT_SURFACE, *scenario.surfaces.surfaces)}
    owners = [name.partition("/")[0] for name in names]
    rows = [_row(found[owner]) if owner in found else PLAIN for owner in owners]
    red, green, blue, metallic, roughness = np.array(rows, np.float32).reshape(-1, 5).T[:, None]
    return SurfaceSet(color=(red, green, blue), metallic=metallic, roughness=roughness)


def _row(surface: Surface) -> tuple[float, float, float, float, float]:
    look, stain = surface.look, surface.stain
    share = 0.0 if stain is None else stain.share
    metallic = look.metallic if stain is None else look.metallic + share * (stain.metallic - look.metallic)
    roughness = look.roughness if stain is None else look.roughness + share * (stain.roughness - look.roughness)
    red, green, blue = surface.mean_color
    return red, green, blue, metallic, roughness
