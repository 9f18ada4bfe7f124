"""Time the shading of many worlds at once on a GPU: three lights, with and without a shadow, up to photos of 8 bits.

Needs a CUDA device, torch, numpy and pydantic, and the file that `gpu_inputs.py` wrote elsewhere.
"""

import argparse
import datetime
import gc
import json
import platform
import statistics
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from gpu_worlds import Worlds, worlds_of  # noqa: E402
from harness import Rows, table  # noqa: E402

from scenegen.imaging.batch import Batch, BatchCamera, Step, compiled  # noqa: E402
from scenegen.imaging.stacked import moved  # noqa: E402

WARM_UPS, RUNS = 3, 30
CHECKED = 8
"""Worlds that numpy shades as well, one of each scene."""
DEFAULT_FUSION = 64
"""What torch fuses at most if it is not asked for more."""
GRAPHS = "one kernel, graphs"
MODES: Mapping[str, Mapping[str, Any] | None] = {
    "eager": None,
    "torch default": {"max_fusion_size": DEFAULT_FUSION},
    "few kernels": {"max_fusion_size": 250},
    "one kernel": {},
    "one kernel, tuned": {"max_autotune": True},
    "one kernel, searched": {"coordinate_descent_tuning": True},
    "one kernel, unguarded": {"assert_indirect_indexing": False},
    GRAPHS: {"triton.cudagraphs": True},
    "one graph": {},
}
"""How steps run; settings of torch's compiler beside those of `compiled`. `tuned` is `max-autotune-no-cudagraphs`,
`graphs` is `reduce-overhead`, `searched` tries block sizes one after the other, `unguarded` does not check indices,
`one graph` compiles all lights in one piece."""
STEPS = ("no shadow", "map alone", "map given", "map made", "openness alone", "photos", "photos, lens faults")
NOTES = (
    "Each world has its own lights: the scene's key light and hall light moved and dimmed at random, and a bar beside"
    " them; eight scenes of the `fasteners` cell, seen at 128 x 128, are repeated. The bar and the hall light cast no"
    " shadow.",
    "`no shadow`: luminance under three rectangular lights, the open share of each pixel given. `map given`: the key"
    " light with a shadow from a map of 192 x 192. `map alone`: drawing that map of parts and bins at their places."
    " `map made`: drawing it and shading with it. `openness alone`: the open share of each pixel. `photos`: map,"
    " shading, exposure, noise and 8 bits, nominal sensors. `lens faults`: with blur, vignetting and veiling glare.",
    "`compile s` is the first call, whatever the cache already held; `GiB` the most memory that tensors took, inputs"
    " included; times are wall times between synchronisations.",
)


def main() -> None:
    """Measure what was asked for; results are written after each row, so that a time limit loses none."""
    options = asked()
    if options.device == "cpu":
        torch.set_num_threads(1)
    data = np.load(options.inputs)
    report = Report(options.out, options.name, options.device)
    for count in options.worlds:
        worlds = worlds_of(data, count, seed=count)
        for mode in options.modes:
            bench = Bench(moved(worlds, partial(torch.asarray, device=options.device)), mode, options.device)
            for step in options.steps:
                report.add({"mode": mode, "worlds": count, "step": step, **bench.measured(step, runs=options.runs)})
            report.agree({"mode": mode, "worlds": count, **agreement(bench, worlds)})
            del bench
            forget(compiled_too=mode != "eager")


def asked() -> argparse.Namespace:
    """Read the command line; refuse a machine without a CUDA device unless the processor was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, required=True, help="the file that gpu_inputs.py wrote")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--name", default="gpu", help="name of the results")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="cpu: a trial of the script")
    parser.add_argument("--worlds", type=int, nargs="+", default=[1024])
    parser.add_argument("--modes", nargs="+", default=["eager", "one kernel"], choices=list(MODES), metavar="MODE")
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=STEPS, metavar="STEP")
    parser.add_argument("--runs", type=int, default=RUNS, help="timed calls of each step")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("there is no CUDA device - run this where there is one, or try it out: --device cpu --worlds 4")
    return options


class Bench:
    """The steps of one mode on worlds that are on the device already."""

    def __init__(self, worlds: Worlds, mode: str, device: str) -> None:
        self.worlds, self._mode, self._device = worlds, mode, device
        self._blockers = worlds.blockers(torch)
        whole, settings = mode == "one graph", MODES[mode]
        fuse = None if settings is None else compiled(torch, settings)
        self.camera = BatchCamera(xp=torch, fuse=None if whole else fuse)
        self._radiance: Step = self.camera.radiance
        if whole and fuse is not None:
            camera = BatchCamera(xp=torch)
            self._radiance = fuse(lambda batch: camera.radiance(batch))
        self._map: Any = None

    def run(self, step: str) -> Any:
        """Run one step once."""
        camera, worlds = self.camera, self.worlds
        if self._mode == GRAPHS:
            # Results of the last run may be overwritten now.
            torch.compiler.cudagraph_mark_step_begin()
        match step:
            case "no shadow":
                return self._radiance(self._batch(None))
            case "map given":
                return self._radiance(self._batch(self.map()))
            case "map alone":
                return self.drawn()
            case "map made":
                return self._radiance(self._batch(self.drawn()))
            case "openness alone":
                return camera.open_shares(worlds.gbuffer)
            case "photos":
                return camera.photos(self._batch(self.drawn()), worlds.sensors, worlds.words)
            case _:
                return camera.photos(self._batch(self.drawn()), worlds.faulty_sensors, worlds.words)

    def map(self) -> Any:
        """Return the key light's map, drawn once."""
        if self._map is None:
            # A graph's results lie where its next run puts its own.
            self._map = moved(self.drawn(), lambda one: one.clone())
        return self._map

    def drawn(self) -> Any:
        """Draw the key light's map."""
        worlds = self.worlds
        key = worlds.lights.areas[0]
        return self.camera.shadow_map(self._blockers, worlds.items, worlds.fixtures, key, worlds.gbuffer)

    def measured(self, step: str, *, runs: int) -> dict[str, Any]:
        """Time a step; what does not fit into memory says so."""
        try:
            self._settle()
            start = time.perf_counter()
            self.run(step)
            self._settle()
            first_s = time.perf_counter() - start
            for _ in range(WARM_UPS):
                self.run(step)
            seconds = self._timed(step, runs)
        except torch.cuda.OutOfMemoryError:
            return {"min ms": "out of memory", "median ms": "", "images/s": "", "GiB": "", "compile s": ""}
        return {
            "min ms": 1e3 * min(seconds),
            "median ms": 1e3 * statistics.median(seconds),
            "images/s": self.worlds.count / min(seconds),
            "GiB": torch.cuda.max_memory_allocated() / 2**30 if self._device == "cuda" else 0.0,
            "compile s": 0.0 if self._mode == "eager" else first_s,
        }

    def _timed(self, step: str, runs: int) -> list[float]:
        if self._device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        seconds = []
        for _ in range(runs):
            self._settle()
            start = time.perf_counter()
            self.run(step)
            self._settle()
            seconds.append(time.perf_counter() - start)
        return seconds

    def _settle(self) -> None:
        if self._device == "cuda":
            torch.cuda.synchronize()

    def _batch(self, shadow: Any) -> Batch:
        worlds = self.worlds
        return Batch(worlds.gbuffer, worlds.surfaces, worlds.lights, (shadow, None, None), worlds.open_share)


def agreement(bench: Bench, worlds: Worlds) -> dict[str, float]:
    """Compare the first worlds with those that numpy shades, a map each of their own."""
    first = worlds.first(CHECKED)
    camera = BatchCamera(xp=np)
    shadow = camera.shadow_map(first.blockers(np), first.items, first.fixtures, first.lights.areas[0], first.gbuffer)
    batch = Batch(first.gbuffer, first.surfaces, first.lights, (shadow, None, None), first.open_share)
    light = np.stack(camera.radiance(batch))
    photos = camera.photos(batch, first.sensors, first.words)

    def fetched(values: Any) -> Any:
        return values[: len(photos)].cpu().numpy()

    theirs = np.stack([fetched(plane) for plane in bench.run("map made")])
    apart = np.abs(theirs - light)
    bytes_apart = np.abs(fetched(bench.run("photos")).astype(int) - photos)
    depth = fetched(bench.run("map alone").inverse_depth)
    return {
        "max abs cd/m2": float(apart.max()),
        "brightest cd/m2": float(light.max()),
        "median rel": float(np.median(apart / np.maximum(light, 1e-3))),
        "px beyond 0.1 %": float((apart > 1e-3 * np.maximum(light, 1e-3)).any(axis=0).mean()),
        "map px apart": float((np.abs(depth - shadow.inverse_depth) > 1e-4 * shadow.inverse_depth.max()).mean()),
        "bytes apart": float((bytes_apart > 0).mean()),
        "max byte": int(bytes_apart.max()),
    }


class Report:
    """Rows that are written as they come."""

    def __init__(self, folder: Path, name: str, device: str) -> None:
        self._folder, self._name, self._device = folder, name, device
        self._rows: Rows = []
        self._checks: Rows = []
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, row: dict[str, Any]) -> None:
        """Add a timing."""
        self._rows.append(row)
        self._write(row)

    def agree(self, row: dict[str, Any]) -> None:
        """Add a comparison with numpy."""
        self._checks.append(row)
        self._write(row)

    def _write(self, row: dict[str, Any]) -> None:
        facts = {
            "date": datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "command": " ".join(["python", "benchmarks/imaging/gpu.py", *map(shortened, sys.argv[1:])]),
            "device": torch.cuda.get_device_name() if self._device == "cuda" else f"cpu ({platform.machine()})",
            "python": platform.python_version(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda if self._device == "cuda" else None,
            "numpy": np.__version__,
        }
        body = {**facts, "rows": self._rows, "agreement with numpy": self._checks}
        (self._folder / f"{self._name}.json").write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
        about = (
            f"{facts['date']}, `{facts['command']}`, {facts['device']}, torch {facts['torch']}, CUDA {facts['cuda']},"
        )
        lines = ["# Many worlds on a GPU", "", f"{about} Python {facts['python']}.", "", *table(self._rows), ""]
        if self._checks:
            lines += [f"Against numpy, the first {CHECKED} worlds:", "", *table(self._checks), ""]
        text = "\n".join([*lines, *(f"- {note}" for note in NOTES), ""])
        (self._folder / f"{self._name}.md").write_text(text, encoding="utf-8")
        print(json.dumps(row), flush=True)


def shortened(word: str) -> str:
    """Return a word of the command line without the folders of the machine it ran on."""
    word = Path(word).name if word.startswith("/") else word
    return f'"{word}"' if " " in word or "," in word else word


def forget(*, compiled_too: bool) -> None:
    """Drop cached memory, and compiled code where there is any."""
    if compiled_too:
        torch.compiler.reset()
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
