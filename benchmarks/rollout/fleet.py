"""How long do thousands of scenes take with one policy, streamed through many worlds, and how do they end?

python benchmarks/rollout/fleet.py SCENES.jsonl.xz --cell FILE --out FOLDER [--worlds 4096] [--device cuda:0]: needs no
library; `fleet_inputs.py` writes the scenes. Set WARP_CACHE_PATH to keep the compiled kernels.
"""

import argparse
import json
import lzma
import resource
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import table

from evaluator.isaac.line import open_line
from evaluator.judging.episode import Episode, EpisodeKey
from evaluator.policies.action_range import ActionRange
from evaluator.policies.checked import Checked
from evaluator.policies.context import PolicyContext
from evaluator.policies.latency import FixedLatency
from evaluator.policies.registry import make_policy
from evaluator.rollout.jury import Judge, Jury, judges
from evaluator.rollout.pace import Pace
from evaluator.rollout.stream import Stream, wanted_cameras
from scenegen.cells.loader import load_cell
from scenegen.parts.builtin import builtin_catalogue
from scenegen.scenario import Scenario

SAY_EVERY = 250
"""Ticks between two lines of progress."""
CALLS = ("tick", "state", "put", "command", "images")
"""What a line of worlds does, each timed by itself."""


class OutOfTime(Exception):
    """The time limit was reached."""


class Clock:
    """Adds up how long calls take; a GPU's work counts for the call that waits for it."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def time(self, thing: Any, name: str) -> None:
        """Time a method of an object from now on."""
        method = getattr(thing, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            try:
                return method(*arguments, **named)
            finally:
                self.seconds[name] += time.perf_counter() - begun

        setattr(thing, name, timed)


class Fleet:
    """Scenes, a policy and worlds; `run` plays, and what it found stands in the fields afterwards, cut off or not."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.cell = load_cell(options.cell)
        self.parts = builtin_catalogue([item.part for item in self.cell.inventory])
        with lzma.open(options.scenes, "rt", encoding="utf-8") as file:
            self.facts = [json.loads(line) for _, line in zip(range(options.count), file, strict=False)]
        self.scenes = [Scenario.model_validate_json(json.dumps(one["scenario"])) for one in self.facts]
        self.clock, self.episodes, self.ticks, self.busy = Clock(), list[Episode](), 0, 0
        self.opened_s = self.first_s = self.rolled_s = self.judged_s = 0.0
        self.device_gb: float | None = None

    def run(self, options: argparse.Namespace) -> None:
        """Play all scenes."""
        made = make_policy(options.policy, PolicyContext(self.cell, self.parts, 0))
        cameras, begun = wanted_cameras(made.spec, self.cell), time.perf_counter()
        judge = Judge(self.cell, self.parts)
        with (
            Jury(judge, processes=judges(options.worlds)) as jury,
            open_line(
                self.cell,
                self.parts,
                count=options.worlds,
                device=options.device,
                cameras=cameras,
                robot=options.robot,
            ) as line,
        ):
            self.opened_s = time.perf_counter() - begun
            print(f"{options.worlds} worlds are open after {self.opened_s:.1f} s", flush=True)
            policy = Checked(made, ActionRange.of(made.spec.action, self.cell.robot))
            for name in CALLS:
                self.clock.time(line, name)
            self.clock.time(policy, "act")
            stream = Stream(line, policy, self.cell, self.parts, latency=FixedLatency(0.0))
            self._play(stream, jury, options.limit_s)
            if options.device.startswith("cuda"):
                free, whole = sys.modules["torch"].cuda.mem_get_info()
                self.device_gb = (whole - free) / 1e9
            policy.close()

    def _play(self, stream: Stream, jury: Jury, limit_s: float) -> None:
        begun = time.perf_counter()

        def ticked(pace: Pace) -> None:
            self.ticks, self.busy, self.rolled_s = self.ticks + 1, self.busy + pace.worlds, time.perf_counter() - begun
            if self.ticks == 1:
                self.first_s = self.rolled_s
            if self.ticks % SAY_EVERY == 0:
                each = {name: round(1e3 * seconds / self.ticks, 1) for name, seconds in self.clock.seconds.items()}
                print(
                    f"{self.rolled_s:.0f} s, {self.ticks} ticks, {pace.worlds} busy, {self.judged} judged, ms {each}",
                    flush=True,
                )
            if self.rolled_s > limit_s:
                raise OutOfTime

        with suppress(OutOfTime):
            for done in stream.run(iter(enumerate(self.scenes)), ticked=ticked):
                jury.add(done, EpisodeKey(run_id="fleet", scenario_id=done.scenario.id, seed=done.index))
                self.episodes += [one.episode for one in jury.judged()]
        self.episodes += [one.episode for one in jury.judged(wait=True)]
        self.judged_s = time.perf_counter() - begun

    @property
    def judged(self) -> int:
        """How many episodes were judged."""
        return len(self.episodes)

    def speed(self, options: argparse.Namespace) -> dict[str, Any]:
        """Return what it cost."""
        steps = round(1 / (50 * self.cell.physics.timestep_s))
        each = {f"{name} [ms a tick]": 1e3 * took / max(self.ticks, 1) for name, took in self.clock.seconds.items()}
        return {
            "policy": options.policy,
            "scenes": len(self.scenes),
            "worlds": options.worlds,
            "opening [s]": self.opened_s,
            "first tick [s]": self.first_s,
            "rolling [s]": self.rolled_s,
            "with judging [s]": self.judged_s,
            "episodes": self.judged,
            "ticks": self.ticks,
            "env-steps/s": self.busy / max(self.rolled_s, 1e-9),
            "physics steps/s": options.worlds * steps * self.ticks / max(self.rolled_s, 1e-9),
            **each,
            "host peak [GB]": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
            "device [GB]": self.device_gb,
        }

    def ends(self) -> list[dict[str, Any]]:
        """Return how episodes ended, by axis and level."""
        rows: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
        for episode in self.episodes:
            facts = self.facts[episode.key.seed]
            row = rows[facts["axis"], facts["level"]]
            wanted = [item for item in episode.items if item.to_sort]
            row["episodes"] += 1
            row["success"] += episode.outcome.value == "success"
            row["sorted"] += sum(item.placed for item in wanted)
            row["parts"] += len(wanted)
            row[f"category {episode.category.value if episode.category else episode.outcome.value}"] += 1
        found = []
        for (axis, level), row in sorted(rows.items()):
            categories = ((name.removeprefix("category "), n) for name, n in row.items() if name.startswith("category"))
            others = ", ".join(f"{name} {n}" for name, n in sorted(categories) if name != "success")
            found.append(
                {
                    "axis": axis,
                    "level": level,
                    "episodes": row["episodes"],
                    "success": f"{row['success'] / row['episodes']:.1%}",
                    "parts sorted": f"{row['sorted'] / max(row['parts'], 1):.1%}",
                    "otherwise": others,
                }
            )
        return found


def main() -> None:
    """Play and write what was found, cut off or not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", type=Path)
    parser.add_argument("--cell", required=True, help="name of a built-in cell, or a file")
    parser.add_argument("--out", type=Path, required=True, help="folder for NAME.json and NAME.md")
    parser.add_argument("--name", default="fleet")
    parser.add_argument("--policy", default="vision")
    parser.add_argument("--worlds", type=int, default=4096)
    parser.add_argument("--count", type=int, default=10_000, help="scenes, from the first on")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda:0")
    parser.add_argument("--robot", type=Path, help="the robot's USD file, where its model cannot be converted")
    parser.add_argument("--limit-s", type=float, default=3600.0, help="end after so many seconds of rolling")
    options = parser.parse_args()
    fleet = Fleet(options)
    print(f"{len(fleet.scenes)} scenes", flush=True)
    try:
        fleet.run(options)
    finally:
        speed, ends = fleet.speed(options), fleet.ends()
        options.out.mkdir(parents=True, exist_ok=True)
        reasons = Counter(one.reason for one in fleet.episodes if one.reason).most_common(8)
        facts = {"command": sys.argv[1:], "speed": speed, "ends": ends, "reasons": reasons}
        (options.out / f"{options.name}.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        text = "\n".join(
            [*table([{"": name, "value": value} for name, value in speed.items()]), "", *table(ends or [speed])]
        )
        (options.out / f"{options.name}.md").write_text(text + "\n", encoding="utf-8")
        print(text, reasons, sep="\n", flush=True)


if __name__ == "__main__":
    main()
