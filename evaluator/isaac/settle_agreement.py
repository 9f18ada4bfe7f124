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

from evaluator.isaac.agreement import Agreement, compare
from scenegen.cell import Cell
from scenegen.cells.loader import load_cell
from scenegen.errors import MissingExtra
from scenegen.parts.builtin import builtin_catalogue
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.settle import Settler
from scenegen.scenario import Scenario

try:
    from evaluator.isaac.worlds import open_worlds
except ModuleNotFoundError as error:
    raise MissingExtra("Isaac Lab", "isaac") from error

PACKAGES = ("isaaclab", "newton", "mujoco-warp", "warp-lang", "mujoco")


def settle_agreement(
    cell: Cell, parts: Catalogue, scenarios: Sequence[Scenario], *, seconds: float, device: str = "cpu"
) -> Agreement:
    """Run scenarios of one cell in as many Isaac Lab worlds, and settle them by the check's own simulation.

    Args:
        cell: The cell.
        parts: Its parts.
        scenarios: One a world.
        seconds: Simulated time in Isaac Lab [s].
        device: Where Isaac Lab simulates, `cpu` or `cuda:0`.
    """
    settler = Settler(cell, parts)
    rests = [settler.settle(scenario.layout, scenario.matter).layout for scenario in scenarios]
    _say(f"settled {len(scenarios)} scenes; building their Isaac Lab worlds (the first time takes minutes)")
    with open_worlds(cell, parts, count=len(scenarios), device=device) as worlds:
        worlds.load(scenarios)
        worlds.run(seconds, progress=lambda now: _say(f"{now:.1f} of {seconds:.1f} s"))
        found, matter_error = worlds.poses(), worlds.matter_error()
    compared = [
        part
        for world, (scenario, rest, poses) in enumerate(zip(scenarios, rests, found, strict=True))
        for part in compare(world, scenario.layout, rest, poses)
    ]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    return Agreement(
        scenarios=tuple(scenario.id for scenario in scenarios),
        seconds=seconds,
        simulator=f"{versions} on {device}",
        matter_error=matter_error,
        parts=tuple(compared),
    )


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
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0")
    arguments = parser.parse_args()
    cell = load_cell(arguments.cell)
    parts = builtin_catalogue([item.part for item in cell.inventory])
    lines = arguments.scenarios.read_text(encoding="utf-8").splitlines()
    scenarios = [Scenario.from_json(line, what=f"{arguments.scenarios}:{i}") for i, line in enumerate(lines, 1)]
    agreement = settle_agreement(cell, parts, scenarios, seconds=arguments.seconds, device=arguments.device)
    arguments.result.write_text(agreement.canonical_json(), encoding="utf-8")


if __name__ == "__main__":
    main()
