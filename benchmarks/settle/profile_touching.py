"""Where does the check `settled` spend its time on thirty parts of which some lie on others? `profile_touching.txt`."""

import cProfile
import io
import os
import pstats
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from groups import LEVEL, axis_context, make  # noqa: E402
from harness import ROOT, machine  # noqa: E402
from scenes import fastener_cell  # noqa: E402

from scenegen.scenario import Scenario  # noqa: E402
from validators.check import CheckContext, Proof  # noqa: E402
from validators.settled import SETTLED  # noqa: E402

SCENES, LINES = 40, 20
WIDTH = 120


class Shares:
    """Shares of a profile's whole time, by function."""

    def __init__(self, stats: pstats.Stats) -> None:
        self._stats: dict = stats.stats  # type: ignore[attr-defined]
        self._total = sum(entry[2] for entry in self._stats.values())

    def cumulative(self, name: str) -> float:
        """Time within functions of this name and what they call."""
        return sum(entry[3] for key, entry in self._stats.items() if key[2] == name) / self._total

    def within(self, name: str, caller: str) -> float:
        """Time within functions of this name, as called by another one."""
        calls = [callers for key, (_, _, _, _, callers) in self._stats.items() if key[2] == name]
        return sum(time[3] for callers in calls for key, time in callers.items() if key[2] == caller) / self._total

    def own(self, text: str) -> float:
        """Time in functions whose name holds a text, without what they call."""
        return sum(entry[2] for key, entry in self._stats.items() if text in key[2]) / self._total

    def python(self) -> float:
        """Time in Python code itself, without built-in functions and extension modules."""
        return sum(entry[2] for key, entry in self._stats.items() if key[0] != "~") / self._total


def check_all(scenes: list[Scenario], context: CheckContext) -> tuple[int, int]:
    """Run the check on all scenes; return how many pass, and how many have findings."""
    proofs = [SETTLED.run(scenario, context, SETTLED.limits) for scenario in scenes]
    passed = sum(not list(proof.findings if isinstance(proof, Proof) else proof) for proof in proofs)
    return passed, len(proofs) - passed


def restless(scenes: list[Scenario], context: CheckContext) -> int:
    """Count scenes that do not come to sleep within the time limit of the check."""
    settled = [context.settler.settle(scenario.layout, scenario.matter, nudge=False) for scenario in scenes]
    return sum(one.seconds > SETTLED.limits["limit_s"] - 0.01 for one in settled)


def summary(shares: Shares, plain_s: float, profiled_s: float, passed: int, restless: int) -> str:
    """Say where the time goes."""
    about = machine()
    nudges = shares.cumulative("_nudge") + shares.cumulative("_moved")
    looks = shares.own("mj_collision") + shares.own("mj_kinematics")
    return (
        f"Check `settled`, {SCENES} scenes of 30 fasteners with three lying on others (axis stacking, level {LEVEL});"
        f" {passed} pass. {about['cores']} cores ({about['processor']}), mujoco {about['packages']['mujoco']}, one"
        f" process, load average {os.getloadavg()[0]:.2f}. Processor time without profiler"
        f" {1e3 * plain_s / SCENES:.1f} ms a scene, with it {1e3 * profiled_s / SCENES:.1f} ms. Shares of the latter:"
        f" mj_step {shares.own('mj_step'):.1%}; stepping (mj_step and the loop around it) until the first rest"
        f" {shares.within('_rest', '_run'):.1%}, after nudges {shares.within('_rest', '_nudge'):.1%}; the nudge test as"
        f" a whole, choosing whom to push and looking at the outcome included, {nudges:.1%}; mj_collision and"
        f" mj_kinematics outside the steps {looks:.1%}; loading layouts {shares.cumulative('load'):.1%}; the attempt to"
        f" prove rest by construction {shares.cumulative('_rests'):.1%}; own time of all Python functions together"
        f" {shares.python():.1%}. {restless} scenes do not sleep within {SETTLED.limits['limit_s']:g} s: they are"
        " stepped to that limit and are not nudged."
    )


def wrapped(text: str) -> list[str]:
    """Break a paragraph into lines."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def main() -> None:
    """Measure, profile and write the text."""
    cell, parts = fastener_cell(30)
    axis, context = axis_context(cell, parts), CheckContext.of(cell, parts)
    scenes = [make("touching", index, axis) for index in range(SCENES)]
    check_all(scenes[:3], context)
    start = time.process_time()
    passed, _ = check_all(scenes, context)
    plain_s = time.process_time() - start
    profiler = cProfile.Profile(time.process_time)
    start = time.process_time()
    profiler.runcall(check_all, scenes, context)
    profiled_s = time.process_time() - start
    text = io.StringIO()
    stats = pstats.Stats(profiler, stream=text)
    stats.sort_stats("tottime").print_stats(LINES)
    stats.sort_stats("cumulative").print_stats(LINES)
    body = [line.rstrip() for line in text.getvalue().replace(f"{ROOT}/", "").splitlines()]
    kept = [line for index, line in enumerate(body) if line or (index and body[index - 1])]
    paragraph = wrapped(summary(Shares(stats), plain_s, profiled_s, passed, restless(scenes, context)))
    (HERE / "profile_touching.txt").write_text("\n".join([*paragraph, *kept]) + "\n", encoding="utf-8")
    print("\n".join(paragraph))


if __name__ == "__main__":
    main()
