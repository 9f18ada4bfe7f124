"""What built-in parts are made of: density, friction and the look of the bare surface."""

from __future__ import annotations

from dataclasses import dataclass

from scenegen.scenario import Look


@dataclass(frozen=True)
class Material:
    """A material with its finish."""

    name: str
    density_kg_m3: float
    friction: float
    """Sliding friction coefficient against a plastic or steel tray, dry to slightly oily."""
    look: Look


def _metal(name: str, density_kg_m3: float, color: tuple[float, float, float], roughness: float) -> Material:
    return Material(name, density_kg_m3, 0.4, Look(color=color, metallic=1.0, roughness=roughness))


STEEL = _metal("ground steel", 7850, (0.55, 0.55, 0.56), 0.25)
ZINC = _metal("zinc-plated steel", 7850, (0.62, 0.65, 0.69), 0.32)
BLACK_OXIDE = _metal("black-oxide steel", 7850, (0.055, 0.057, 0.062), 0.38)
SPRING_STEEL = _metal("spring steel, phosphated", 7850, (0.16, 0.155, 0.15), 0.45)
CHROME_STEEL = _metal("bearing steel", 7810, (0.66, 0.66, 0.67), 0.15)
BRONZE = _metal("bronze CuSn8", 8800, (0.62, 0.36, 0.16), 0.35)
BRASS = _metal("brass", 8500, (0.78, 0.57, 0.2), 0.3)
ALUMINIUM = _metal("anodised aluminium", 2700, (0.72, 0.73, 0.74), 0.4)
SWARF = _metal("steel swarf, heat-tinted", 7850, (0.42, 0.36, 0.38), 0.3)
RUBBER = Material("cable rubber", 1300, 0.8, Look(color=(0.02, 0.02, 0.022), roughness=0.6))
FABRIC = Material("coated glove fabric", 350, 0.8, Look(color=(0.03, 0.13, 0.42), roughness=0.9))
