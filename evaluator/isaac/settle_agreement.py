"""Run scenarios in Isaac Lab and compare, part by part, with where the settle check says that everything rests.

`python -m evaluator.isaac.settle_agreement SCENARIOS.jsonl RESULT.json`: one scenario a line, one world a scenario.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evaluator.isaac.worlds import Poses, open_worlds
from scenegen.cell import Cell
from scenegen.cells.loader import load_cell
from scenegen.geometry import angle_between
from scenegen.parts.builtin import builtin_catalogue
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.settle import Settler
from scenegen.record import Name, NonNegative, Positive, Record
from scenegen.scenario import Scenario


class PartAgreement(Record):
    """One part of one scene: where the settle check and Isaac Lab say that it rests."""

    world: int
    item: Name
    distance_m: NonNegative
    """Between the two rest poses [m]."""
    rotation_rad: NonNegative
    """Between the two rest poses [rad]."""
    moved_m: NonNegative
    """How far it rests, after Isaac Lab, from where it started [m]."""


class Agreement(Record):
    """All parts of all scenes."""

    scenarios: tuple[str, ...]
    """Scenario ids, one a world."""
    seconds: Positive
    """Simulated time in Isaac Lab [s]."""
    simulator: str
    """Package versions."""
    parts: tuple[PartAgreement, ...]

    def disagreements(self, *, distance_m: float, rotation_rad: float) -> tuple[PartAgreement, ...]:
        """Return the parts that end farther apart than allowed [m, rad], worst first."""
        apart = [p for p in self.parts if p.distance_m > distance_m or p.rotation_rad > rotation_rad]
        return tuple(sorted(apart, key=lambda p: -max(p.distance_m / distance_m, p.rotation_rad / rotation_rad)))


def settle_agreement(cell: Cell, parts: Catalogue, scenarios: Sequence[Scenario], *, seconds: float) -> Agreement:
    """Run scenarios of one cell in as many Isaac Lab worlds, and settle them by the check's own simulation.

    Args:
        cell: The cell.
        parts: Its parts.
        scenarios: One a world.
        seconds: Simulated time in Isaac Lab [s].
    """
    settler = Settler(cell, parts)
    expected = [settler.settle(scenario.layout, scenario.matter).layout for scenario in scenarios]
    _say(f"settled {len(scenarios)} scenes; building their Isaac Lab worlds (first compilation takes minutes)")
    with open_worlds(cell, parts, count=len(scenarios)) as worlds:
        worlds.load(scenarios)
        worlds.run(seconds, progress=lambda now: _say(f"{now:.1f} of {seconds:.1f} s"))
        found = worlds.poses()
    compared = []
    for world, (scenario, layout, poses) in enumerate(zip(scenarios, expected, found, strict=True)):
        rest = {item.name: item.pose_to_world for item in layout.items}
        compared += _compare(world, scenario, rest, poses)
    return Agreement(
        scenarios=tuple(s.id for s in scenarios), seconds=seconds, simulator=_versions(), parts=tuple(compared)
    )


def _compare(world: int, scenario: Scenario, expected: Poses, found: Poses) -> list[PartAgreement]:
    compared = []
    for item in scenario.layout.items:
        wanted, pose = expected[item.name], found[item.name]
        compared.append(
            PartAgreement(
                world=world,
                item=item.name,
                distance_m=float(np.linalg.norm(pose.position - wanted.position)),
                rotation_rad=float(angle_between(wanted.quat, pose.quat)),
                moved_m=float(np.linalg.norm(pose.position - item.pose_to_world.position)),
            )
        )
    return compared


def _versions() -> str:
    names = ("isaaclab", "newton", "mujoco-warp", "warp-lang", "mujoco")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def _say(line: str) -> None:
    sys.stderr.write(f"[{time.strftime('%H:%M:%S')}] {line}\n")
    sys.stderr.flush()


def main() -> None:
    """Read scenarios, run them, write the agreement."""
    parser = argparse.ArgumentParser(prog="python -m evaluator.isaac.settle_agreement", description=__doc__)
    parser.add_argument("scenarios", type=Path, help="JSON lines: one scenario a line")
    parser.add_argument("result", type=Path, help="where the agreement goes (JSON)")
    parser.add_argument("--cell", default="fasteners", help="name of a built-in cell or path of a cell file")
    parser.add_argument("--seconds", type=float, default=1.0, help="simulated time [s]")
    arguments = parser.parse_args()
    cell = load_cell(arguments.cell)
    parts = builtin_catalogue([item.part for item in cell.inventory])
    lines = arguments.scenarios.read_text(encoding="utf-8").splitlines()
    scenarios = [Scenario.from_json(line, what=f"{arguments.scenarios}:{i}") for i, line in enumerate(lines, 1)]
    agreement = settle_agreement(cell, parts, scenarios, seconds=arguments.seconds)
    arguments.result.write_text(agreement.canonical_json(), encoding="utf-8")


if __name__ == "__main__":
    main()
