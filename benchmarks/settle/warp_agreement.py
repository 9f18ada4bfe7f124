"""Does MuJoCo-Warp say the same as MuJoCo of what rests? Ten fasteners a scene, on Warp's CPU device.

python benchmarks/settle/warp_agreement.py [--apart N] [--touching N] [--shifted N] [--worlds N]
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from groups import axis_context, make
from harness import Rows, write_result
from scenes import fastener_cell
from verdicts import accepted

from evaluator.isaac.warp_settler import WarpSettler
from scenegen.physics.settle import Settled
from scenegen.physics.settling import SettleRequest
from validators.intervals import Rate
from validators.settled import SETTLED

PARTS = 10


@dataclass(frozen=True)
class Pair:
    """What both simulators say of one scene."""

    group: str
    mujoco: Settled
    warp: Settled

    @property
    def verdicts(self) -> tuple[bool, bool]:
        """Whether MuJoCo and MuJoCo-Warp accept it."""
        return accepted(self.mujoco, SETTLED.limits), accepted(self.warp, SETTLED.limits)

    @property
    def apart_m(self) -> float:
        """Greatest difference of any item's drift [m]."""
        return max(abs(self.mujoco.drift_m[name] - drift) for name, drift in self.warp.drift_m.items())


def main() -> None:
    """Settle all scenes twice; write `warp.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    for group, number in (("apart", 40), ("touching", 80), ("shifted", 40)):
        parser.add_argument(f"--{group}", type=int, default=number, help=f"scenes of the group {group}")
    parser.add_argument("--worlds", type=int, default=16)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    numbers = {group: getattr(arguments, group) for group in ("apart", "touching", "shifted")}
    pairs, warp_s, mujoco_s = settled(numbers, worlds=arguments.worlds)
    rows: Rows = [_row(group, [pair for pair in pairs if pair.group == group]) for group in numbers]
    notes = [
        "Fasteners, ten a scene. `apart`: in stable poses. `touching`: three lie on others (axis `stacking`, level 3). "
        "`shifted`: the same with one of those raised by 0.3 mm and moved aside by up to 8 mm; some of these fall.",
        "`equal`: both accept or both reject, by the limits of the check `settled`; in brackets a 95 % interval. "
        "`drift differs`: greatest difference of any item's drift, where both accept.",
        f"{len(pairs)} scenes took {mujoco_s:.0f} s by MuJoCo and {warp_s:.0f} s by MuJoCo-Warp on one core, for which "
        f"it is not made, with {arguments.worlds} worlds: what it does on a GPU is in `gpu.md`.",
        *_disagreements(pairs),
    ]
    title = "Does MuJoCo-Warp say the same of what rests?"
    write_result(Path(__file__).parent, rows, title=title, notes=notes, load_before=load, name="warp")


def settled(numbers: dict[str, int], *, worlds: int) -> tuple[list[Pair], float, float]:
    """Settle scenes by both; return what they say, and the seconds that each took."""
    cell, parts = fastener_cell(PARTS)
    context = axis_context(cell, parts)
    scenes = [(group, make(group, i, context, seed=2)) for group, number in numbers.items() for i in range(number)]
    settler = WarpSettler(cell, parts, device="cpu", worlds=worlds, settler=context.settler)
    settler.settle(scenes[0][1].layout, scenes[0][1].matter)  # compiles
    start = time.perf_counter()
    for ticket, (_, scene) in enumerate(scenes):
        settler.submit(ticket, SettleRequest(scene.layout, scene.matter))
    answers: dict[int, Settled] = {}
    while len(answers) < len(scenes):
        answers |= {ticket: found for ticket, found in settler.advance() if isinstance(found, Settled)}
    warp_s, start = time.perf_counter() - start, time.perf_counter()
    mujoco = [context.settler.settle(scene.layout, scene.matter) for _, scene in scenes]
    pairs = [Pair(group, mujoco[i], answers[i]) for i, (group, _) in enumerate(scenes)]
    return pairs, warp_s, time.perf_counter() - start


def _row(group: str, pairs: Sequence[Pair]) -> dict[str, object]:
    equal = Rate.of(sum(pair.verdicts[0] == pair.verdicts[1] for pair in pairs), len(pairs))
    both = [pair for pair in pairs if all(pair.verdicts)]
    apart = np.array([pair.apart_m for pair in both]) * 1e6
    return {
        "scenes": f"{len(pairs)} {group}",
        "accepted by MuJoCo": sum(pair.verdicts[0] for pair in pairs),
        "by MuJoCo-Warp": sum(pair.verdicts[1] for pair in pairs),
        "equal": str(equal),
        "drift differs, median": f"{np.median(apart):.1f} µm",
        "95 %": f"{np.quantile(apart, 0.95):.1f} µm",
        "at most": f"{apart.max():.0f} µm",
        "same time to rest": f"{np.mean([abs(p.mujoco.seconds - p.warp.seconds) < 1e-6 for p in pairs]):.0%}",
    }


def _disagreements(pairs: Sequence[Pair]) -> list[str]:
    """Say of each scene on which they differ how far its parts drift."""
    return [
        f"Scene {i} ({pair.group}): {'accepted' if pair.verdicts[0] else 'rejected'} by MuJoCo with a drift of "
        f"{max(pair.mujoco.drift_m.values()) * 1e3:.2f} mm, {'accepted' if pair.verdicts[1] else 'rejected'} by "
        f"MuJoCo-Warp with {max(pair.warp.drift_m.values()) * 1e3:.2f} mm, {pair.warp.speed_m_s * 1e3:.1f} mm/s."
        for i, pair in enumerate(pairs)
        if pair.verdicts[0] != pair.verdicts[1]
    ]


if __name__ == "__main__":
    main()
