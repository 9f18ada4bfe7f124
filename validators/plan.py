"""The registered checks, and the plan that a verdict names."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from scenegen.verdict import CheckPlan, PlannedCheck
from validators.check import Check
from validators.exposed import EXPOSED
from validators.geometry import FLOATING, OVERLAP
from validators.grasp import GRASP
from validators.hidden import HIDDEN
from validators.instruction import INSTRUCTION, LEAK
from validators.looks import BIN_LOOKS
from validators.observable import OBSERVABLE
from validators.placed import OUTSIDE, REACH
from validators.resolved import RESOLVED
from validators.rules import CAPACITY, CAUSES, SORT_RULE
from validators.seen import SEEN
from validators.settled import SETTLED
from validators.spec_image import SPEC_CAMERAS, SPEC_SENSOR
from validators.spec_lights import SPEC_LIGHTS
from validators.spec_matter import SPEC_MATTER, SPEC_MOTION
from validators.spec_scene import SPEC_CELL, SPEC_LAYOUT
from validators.spec_surfaces import SPEC_SURFACES
from validators.spec_task import SPEC_TASK

CHECKS: tuple[Check, ...] = (
    SPEC_CELL,
    SPEC_LAYOUT,
    SPEC_MATTER,
    SPEC_MOTION,
    SPEC_SURFACES,
    SPEC_LIGHTS,
    SPEC_CAMERAS,
    SPEC_SENSOR,
    SPEC_TASK,
    OVERLAP,
    FLOATING,
    OUTSIDE,
    REACH,
    GRASP,
    HIDDEN,
    SETTLED,
    SEEN,
    EXPOSED,
    RESOLVED,
    OBSERVABLE,
    SORT_RULE,
    CAPACITY,
    CAUSES,
    BIN_LOOKS,
    INSTRUCTION,
    LEAK,
)
"""Every check of scenegen, cheapest tier first; a new check is registered by adding it here."""


def all_checks() -> tuple[Check, ...]:
    """Return every registered check."""
    return CHECKS


def plan_of(checks: Iterable[Check], *, engine: str | None = None) -> CheckPlan:
    """Write down checks with versions and limits, cheapest tier first, and the engine behind the physics.

    Args:
        checks: The checks.
        engine: Simulators and versions behind the check `settled`; MuJoCo here without it.
    """
    ordered = sorted(checks, key=lambda check: check.tier)
    return CheckPlan(
        checks=tuple(
            PlannedCheck(check=c.name, version=c.version, tier=c.tier, limits=dict(c.limits)) for c in ordered
        ),
        engine=engine or f"mujoco {version('mujoco')}",
    )
