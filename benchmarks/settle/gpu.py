"""How many scenes a second settles a GPU, and does it say what the processor says?

python benchmarks/settle/gpu.py settle_inputs.jsonl.gz --out FOLDER: needs CUDA, mujoco, mujoco-warp, warp-lang, numpy
and pydantic, and the file that `gpu_inputs.py` writes anywhere else. Set WARP_CACHE_PATH to keep the compiled kernels.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from itertools import cycle, islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import warp as wp
from verdicts import Scene, accepted, read

from evaluator.isaac.warp_settler import WarpSettler
from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.settle import Settled
from scenegen.physics.settling import SettleRequest

GROUPS = {"touching": ("touching", "shifted"), "apart": ("apart",)}
ROUNDS = {"touching": 2, "apart": 16}
"""At least so many scenes a world are settled: worlds are refilled meanwhile, the last count little."""


def main() -> None:
    """Warm up, measure, write after every measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder for gpu.json and gpu.md")
    parser.add_argument("--device", default="cuda:0", help="cuda:0, or cpu for a trial of this script")
    parser.add_argument("--worlds", default="1024,256,4096", help="numbers of worlds, in this order")
    parser.add_argument("--seconds", type=float, default=170.0, help="no measurement begins later than this [s]")
    parser.add_argument("--warm", default="", help="only compile the kernels of this cell")
    arguments = parser.parse_args()
    start = time.perf_counter()
    cells, limits, scenes = read(arguments.inputs)
    if arguments.warm:
        _settle(WarpSettler(*cells[arguments.warm], device=arguments.device, worlds=8), _of(scenes, arguments.warm)[:8])
        return
    others = {name: _warm(arguments, name) for name in list(cells)[1:]}
    rows: list[dict[str, Any]] = []
    for name, cell in cells.items():
        if name in others:
            _wait(others[name], arguments.seconds - (time.perf_counter() - start))
        for worlds in map(int, arguments.worlds.split(",")):
            if time.perf_counter() - start > arguments.seconds:
                print(f"{name}, {worlds} worlds: not measured, out of time", flush=True)
                continue
            rows += _measure(cell, _of(scenes, name), limits, name=name, worlds=worlds, device=arguments.device)
            _write(arguments.out, rows, device=arguments.device, seconds=time.perf_counter() - start)


def _warm(arguments: argparse.Namespace, name: str) -> "subprocess.Popen[bytes]":
    """Compile another cell's kernels beside the first measurements; the size of a cell is part of its kernels."""
    command = [sys.executable, __file__, str(arguments.inputs), "--out", str(arguments.out)]
    return subprocess.Popen([*command, "--device", arguments.device, "--warm", name])


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait until kernels are compiled, or end that when time is out."""
    try:
        process.wait(timeout=max(1.0, seconds))
    except subprocess.TimeoutExpired:
        process.terminate()


def _of(scenes: Sequence[Scene], cell: str) -> list[Scene]:
    return [scene for scene in scenes if scene.cell == cell]


def _measure(
    cell: tuple[Cell, Catalogue],
    scenes: Sequence[Scene],
    limits: dict[str, float],
    *,
    name: str,
    worlds: int,
    device: str,
) -> list[dict[str, Any]]:
    begun = time.perf_counter()
    settler = WarpSettler(*cell, device=device, worlds=worlds)
    _settle(settler, scenes[:worlds])  # compiles and records what is not yet
    build = time.perf_counter() - begun
    print(f"{name}, {worlds} worlds: ready after {build:.1f} s", flush=True)
    rows = []
    for what, groups in GROUPS.items():
        chosen = [scene for scene in scenes if scene.group in groups]
        work = list(islice(cycle(chosen), max(len(chosen), ROUNDS[what] * worlds)))
        settled, steps, lost, begun = settler.settled, settler.steps, settler.overflowed, time.perf_counter()
        answers = _settle(settler, work)
        seconds = time.perf_counter() - begun
        row = {
            "cell": name,
            "scenes": what,
            "worlds": worlds,
            "settled": settler.settled - settled,
            "seconds": seconds,
            "scenes_per_s": len(work) / seconds,
            "steps_per_scene": (settler.steps - steps) / len(work),
            "world_steps_per_s": (settler.steps - steps) / seconds,
            "overflowed": settler.overflowed - lost,
            "build_s": build,
            **_agreement(work, answers, limits),
        }
        print(json.dumps(row), flush=True)
        rows.append(row)
    return rows


def _settle(settler: WarpSettler, scenes: Sequence[Scene]) -> list[Settled]:
    """Settle scenes side by side; an error of one ends the benchmark."""
    for ticket, scene in enumerate(scenes):
        settler.submit(ticket, SettleRequest(scene.layout, scene.matter))
    found: dict[int, Settled] = {}
    while len(found) < len(scenes):
        for ticket, answer in settler.advance():
            if not isinstance(answer, Settled):
                raise answer
            found[ticket] = answer
    return [found[ticket] for ticket in range(len(scenes))]


def _agreement(scenes: Sequence[Scene], answers: Sequence[Settled], limits: dict[str, float]) -> dict[str, Any]:
    """Compare verdicts and greatest drifts with the processor's."""
    verdicts = [accepted(answer, limits) for answer in answers]
    pairs = list(zip(scenes, verdicts, strict=True))
    both = [i for i, (scene, verdict) in enumerate(pairs) if scene.accepted and verdict]
    apart = [abs(max(answers[i].drift_m.values()) - scenes[i].drift_m) for i in both]
    return {
        "equal_verdicts": float(np.mean([scene.accepted == verdict for scene, verdict in pairs])),
        "only_here_accepted": sum(verdict and not scene.accepted for scene, verdict in pairs),
        "only_there_accepted": sum(scene.accepted and not verdict for scene, verdict in pairs),
        "drift_differs_p50_um": float(np.median(apart)) * 1e6 if apart else None,
        "drift_differs_p99_um": float(np.quantile(apart, 0.99)) * 1e6 if apart else None,
    }


def _write(folder: Path, rows: Sequence[dict[str, Any]], *, device: str, seconds: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    packages = {name: version(name) for name in ("mujoco", "mujoco-warp", "warp-lang", "numpy")}
    name = wp.get_device(device).name
    facts = {"device": name, "packages": packages, "seconds": seconds, "rows": list(rows)}
    (folder / "gpu.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    lines = [
        "# The settle check on a GPU",
        "",
        f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, `python benchmarks/settle/gpu.py`, {name}, "
        + ", ".join(f"{package} {number}" for package, number in packages.items())
        + ".",
        "",
        "| cell | scenes | worlds | scenes/s | world-steps/s | steps a scene | equal verdicts | overflowed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['cell']} | {row['settled']} {row['scenes']} | {row['worlds']:,} | {row['scenes_per_s']:,.0f} | "
        f"{row['world_steps_per_s']:,.0f} | {row['steps_per_scene']:.0f} | {row['equal_verdicts']:.1%} | "
        f"{row['overflowed']} |"
        for row in rows
    ]
    lines += [
        "",
        "- `scenes/s`: whole settle checks, from records to records, kernels warm; worlds are refilled meanwhile.",
        "- `equal verdicts`: the share of scenes that are accepted or rejected as by MuJoCo on a processor.",
        "- `steps a scene`: physics steps of all worlds, idle ones too, divided by the scenes.",
    ]
    (folder / "gpu.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
