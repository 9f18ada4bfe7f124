"""Surfaces of a plant as looks: bare, plated and painted metal, and what time and handling make of it.

Base colours of metals are their mirror reflectances at normal incidence in linear sRGB; roughness is perceptual (USD,
`UsdPreviewSurface`). Finishes of the built-in parts are those of their materials.
"""

from __future__ import annotations

from scenegen.errors import UnknownName
from scenegen.parts.material import BLACK_OXIDE, BRASS, STEEL, ZINC
from scenegen.scenario import Look

LOOKS: dict[str, Look] = {
    # Iron is 0.56, 0.53, 0.56 by its optical constants (FreeSnell's tables in K. Beason 2009, "Measured reflectance").
    "bare_steel": STEEL.look,
    # Cu-Zn 70-30 is 0.91, 0.78, 0.42 where it is polished (optical constants of Querry 1985); tarnish darkens it.
    "brass": BRASS.look,
    # Below its passivated layer zinc is greyer than its optical constants say; chosen by eye.
    "zinc": ZINC.look,
    "black_oxide": BLACK_OXIDE.look,
    # Light machine grey, half gloss: a surface of refractive index 1.5 over a scattering base; chosen by eye.
    "painted": Look(color=(0.59, 0.62, 0.60), roughness=0.45),
    # Rust scatters and does not mirror: of metals only unweathered ones are conductors (Filament's material notes).
    "oxidised": Look(color=(0.26, 0.11, 0.045), roughness=0.9),
    # A film of dirt that half of the light passes; chosen by eye.
    "stained": Look(color=(0.30, 0.27, 0.24), metallic=0.5, roughness=0.55),
    # Oil fills the grooves, so that steel mirrors as sharply as shading allows, and takes a sixth of its light: by eye.
    "oily": Look(color=(0.46, 0.46, 0.44), metallic=1.0, roughness=0.15),
}
"""Looks by name."""


def look_named(name: str) -> Look:
    """Return the look of that name.

    Args:
        name: For example `bare_steel`.

    Raises:
        UnknownName: There is none.
    """
    look = LOOKS.get(name)
    if look is None:
        raise UnknownName("look", name, LOOKS)
    return look
