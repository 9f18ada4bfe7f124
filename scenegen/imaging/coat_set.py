"""Patterns and stains as numbers: which of three looks a surface shows at a spot, for many worlds at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scenegen.imaging.coat import stain_level
from scenegen.imaging.light_set import SurfaceSet
from scenegen.imaging.robot_look import ROBOT_SURFACE
from scenegen.imaging.scene_surfaces import PLAIN
from scenegen.optical import PatternKind
from scenegen.scenario import Scenario, Surface

KINDS = (None, PatternKind.CHECKER, PatternKind.STRIPES, PatternKind.SPECKLE, PatternKind.WOOD)
"""Patterns by number; 0 is none."""
LAYERS = 3
"""Looks of a surface: its own, its pattern's second colour, its stain's."""


class CoatSet(NamedTuple):
    """What lies over the surfaces of b worlds; each array of shape [b, m], one column an instance."""

    kind: Any
    """Number of the pattern (`KINDS`)."""
    cosine: Any
    """Cosine of the pattern's angle over its size [1/m]."""
    sine: Any
    """Its sine over its size [1/m]."""
    patch_m: Any
    """Typical size of a stain's patch [m]; 0 where there is no stain."""
    level: Any
    """The field of patches lies above this where the stain is."""
    phase_x: Any
    """Shift of the field in patch sizes along the subject's X."""
    phase_y: Any
    phase_z: Any


def coat_set(scenario: Scenario, names: tuple[str, ...]) -> CoatSet:
    """Return the patterns and stains of a scene, arrays of shape [1, m].

    Args:
        scenario: The scene.
        names: Instances of its G-buffer.
    """
    found = {surface.subject: surface for surface in scenario.surfaces.surfaces}
    rows = [_coat(found.get(name)) for name in names]
    return CoatSet(*np.array(rows, np.float32).T[:, None])


def layered_surfaces(scenario: Scenario, names: tuple[str, ...]) -> SurfaceSet:
    """Return the looks of a scene's instances, layer by layer, arrays of shape [1, LAYERS * m].

    Args:
        scenario: The scene.
        names: Instances of its G-buffer; what has no surface is grey, the robot as `robot_look` has it.
    """
    found = {surface.subject: surface for surface in (ROBOT_SURFACE, *scenario.surfaces.surfaces)}
    layers = zip(*(_layers(found.get(name)) for name in names), strict=True)
    rows = [row for layer in layers for row in layer]
    red, green, blue, metallic, roughness = np.array(rows, np.float32).T[:, None]
    return SurfaceSet(color=(red, green, blue), metallic=metallic, roughness=roughness)


def _coat(surface: Surface | None) -> tuple[float, ...]:
    pattern, stain = (None, None) if surface is None else (surface.pattern, surface.stain)
    turn = (0.0, 0.0, 0.0)
    if pattern is not None:
        angle = pattern.angle_rad
        turn = (KINDS.index(pattern.kind), np.cos(angle) / pattern.size_m, np.sin(angle) / pattern.size_m)
    if stain is None:
        return *turn, 0.0, 0.0, 0.0, 0.0, 0.0
    return *turn, stain.patch_m, stain_level(stain.share), *stain.phase


def _layers(surface: Surface | None) -> tuple[tuple[float, ...], ...]:
    if surface is None:
        return (PLAIN,) * LAYERS
    look, pattern, stain = surface.look, surface.pattern, surface.stain
    own = (*look.color, look.metallic, look.roughness)
    second = own if pattern is None else (*pattern.color, look.metallic, look.roughness)
    return own, second, own if stain is None else (*stain.color, stain.metallic, stain.roughness)
