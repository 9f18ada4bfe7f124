"""What the evaluator's loop costs beside Isaac Lab's bare one, in the same worlds, without and with cameras."""

import argparse
import itertools
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness import Rows, load_average, write_result  # noqa: E402

from evaluator.isaac.line import IsaacLine, open_line  # noqa: E402
from evaluator.policies.action_range import ActionRange  # noqa: E402
from evaluator.policies.checked import Checked  # noqa: E402
from evaluator.policies.latency import FixedLatency  # noqa: E402
from evaluator.policies.noop import Noop  # noqa: E402
from evaluator.policy import PolicySpec, as_numpy  # noqa: E402
from evaluator.rollout.pace import Pace  # noqa: E402
from evaluator.rollout.stream import Stream  # noqa: E402
from scenegen.base import sample_base  # noqa: E402
from scenegen.cell import Cell  # noqa: E402
from scenegen.cells.loader import load_cell  # noqa: E402
from scenegen.parts.builtin import builtin_catalogue  # noqa: E402
from scenegen.parts.catalogue import Catalogue  # noqa: E402
from scenegen.scenario import Scenario  # noqa: E402
from scenegen.streams import stream  # noqa: E402

SCENES = 64
"""Different scenes; worlds beyond them play them again."""
WARM_TICKS = 4
LOOK_HZ = 10.0
"""How often the policy with a camera looks [Hz]."""
TICKS = {"cpu": 100, "cuda": 200}
TURNS = 3
"""The loops take turns, so many each: other work on the machine strikes both."""
SHORT, LONG = (4,), (4, 16)
MARK = "result: "
NOTES = (
    "Both loops run in one process over the same worlds with the same scenes and robots, turn by turn: physics step"
    " 2.5 ms, eight a tick of 50 Hz. `bare`: `scene.write_data_to_sim()`, `sim.step(render=False)`,"
    " `scene.update(dt)` and nothing else, all at rest under their drives, never with images. `evaluator`: `Stream`"
    " with the policy `noop`, so states and contacts of all worlds are read, recorded and looked through each tick."
    " Each rate is the best of three turns.",
    "`overhead` camera: the policy acts ten times a second and each time asks for the photo of that camera, 224 pixels"
    " square; it is drawn and shaded. Overhead is of the time a tick. Memory is the process' peak, and on a GPU what"
    " torch and Warp took.",
)


class Enough(Exception):
    """So many ticks were timed."""


class Looking(Noop):
    """Holds the robots, and looks through a camera ten times a second."""

    def __init__(self, camera: str) -> None:
        super().__init__("looking")
        self.spec = PolicySpec("looking", self.spec.action, cameras=(camera,), rate_hz=LOOK_HZ)

    def act(self, observation: Any) -> Any:
        """Look, and hold."""
        for name in observation.camera_obs:
            as_numpy(observation.camera_obs[name])
        return super().act(observation)


class Loops:
    """One line of worlds, and the loops over it."""

    def __init__(self, line: IsaacLine, cell: Cell, parts: Catalogue, scenes: Sequence[Scenario]) -> None:
        self.line, self.cell, self.parts, self.scenes = line, cell, parts, scenes
        self.steps = round(1 / (line.rate_hz * cell.physics.timestep_s))

    def bare(self, ticks: int) -> float:
        """Return seconds a tick of Isaac Lab's own loop."""
        self.line.put(dict(enumerate(itertools.islice(itertools.cycle(self.scenes), self.line.count))))
        worlds: Any = self.line._worlds
        scene, simulation, step_s = worlds._scene, worlds._simulation, self.cell.physics.timestep_s

        def run(count: int) -> None:
            for _ in range(count * self.steps):
                scene.write_data_to_sim()
                simulation.step(render=False)
                scene.update(step_s)
            as_numpy(scene["slots"].data.body_link_pose_w.torch)  # what a GPU has not done yet

        run(WARM_TICKS)
        begun = time.perf_counter()
        run(ticks)
        return (time.perf_counter() - begun) / ticks

    def evaluator(self, ticks: int, policy: Noop) -> float:
        """Return seconds a tick of the evaluator's loop."""
        checked = Checked(policy, ActionRange.of(policy.spec.action, self.cell.robot))
        played = Stream(self.line, checked, self.cell, self.parts, latency=FixedLatency(0.0))
        times: list[float] = []

        def ticked(_: Pace) -> None:
            times.append(time.perf_counter())
            if len(times) > WARM_TICKS + ticks:
                raise Enough

        with suppress(Enough):
            for _ in played.run(self._endless(), ticked=ticked):
                pass
        checked.close()
        return (times[-1] - times[WARM_TICKS]) / (len(times) - 1 - WARM_TICKS)

    def _endless(self) -> Iterator[tuple[int, Scenario]]:
        yield from enumerate(itertools.cycle(self.scenes))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure one number of worlds, in this process."""
    worlds, device, ticks = options.one, options.device, options.ticks
    cell = load_cell(options.cell)
    parts = builtin_catalogue([item.part for item in cell.inventory])
    scenes = [sample_base(cell, parts, rng=stream("overhead", index)) for index in range(min(worlds, SCENES))]
    names = (cell.cameras[0].name,) if options.cameras else ()
    begun = time.perf_counter()
    with open_line(cell, parts, count=worlds, device=device, cameras=names, robot=options.robot) as line:
        opened_s = time.perf_counter() - begun
        loops = Loops(line, cell, parts, scenes)
        policy = Looking(*names) if names else Noop()
        loops.evaluator(WARM_TICKS, policy)  # kernels are compiled
        found = [(loops.bare(ticks), loops.evaluator(ticks, policy)) for _ in range(TURNS)]
        bare_s, whole_s = (min(one) for one in zip(*found, strict=True))
    row = {
        "worlds": worlds,
        "camera": "".join(names) or "none",
        "opening [s]": opened_s,
        "bare [ms a tick]": 1e3 * bare_s,
        "evaluator [ms a tick]": 1e3 * whole_s,
        "overhead": f"{whole_s / bare_s - 1:+.1%}",
        "env-steps/s": worlds / whole_s,
        "physics steps/s": worlds * loops.steps / whole_s,
    }
    return {**row, "memory [GB]": peak_gb(device)}


def peak_gb(device: str) -> str:
    """Return the peak of the process' memory, and of the device's [GB]."""
    host = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f}"
    if not device.startswith("cuda"):
        return host
    torch, warp = sys.modules["torch"], sys.modules["warp"]
    taken = torch.cuda.max_memory_allocated(device) + warp.get_mempool_used_mem_high(device)
    return f"{host}, device {taken / 1e9:.2f}"


def alone(options: argparse.Namespace, worlds: int, *, cameras: bool, ticks: int) -> dict[str, Any]:
    """Measure in a process of its own: Isaac Lab opens one scene a process, and peaks are a process'."""
    command = [sys.executable, __file__, "--one", str(worlds), "--device", options.device, "--ticks", str(ticks)]
    command += ["--cell", options.cell, *(["--robot", str(options.robot)] if options.robot else [])]
    command += ["--cameras"] if cameras else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith(MARK)).removeprefix(MARK))


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    parser.add_argument("--worlds", type=int, nargs="+", help="numbers of worlds")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda:0")
    parser.add_argument("--cell", default="fasteners", help="name of a built-in cell, or a file")
    parser.add_argument("--robot", type=Path, help="the robot's USD file, where its model cannot be converted")
    parser.add_argument("--ticks", type=int, help="ticks that are timed")
    parser.add_argument("--cameras", action="store_true", help="with --one: look through a camera")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    kind = options.device.partition(":")[0]
    ticks = options.ticks or TICKS[kind]
    if options.one:
        print(MARK + json.dumps(measure(options)))
        return
    load = load_average()
    name = "overhead" if kind == "cpu" else f"overhead_{kind}"
    rows: Rows = []
    for worlds in options.worlds or (LONG if options.long else SHORT):
        for cameras in (False, True):
            count = max(10, ticks // 5) if cameras else ticks
            rows.append(alone(options, worlds, cameras=cameras, ticks=count))
            # After each row: an hour's work is not lost with the last one.
            write_result(HERE, rows, title="What the evaluator's loop costs", notes=NOTES, load_before=load, name=name)


if __name__ == "__main__":
    main()
