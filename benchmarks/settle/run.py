"""Settle: plain simulation, sleeping, early stop and rest by construction, held to a long fine reference."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
from scipy.stats import binomtest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from groups import FARTHEST_M, GROUPS, LEVEL, axis_context, make  # noqa: E402
from harness import Rows, best_of, load_average, write_result  # noqa: E402
from scenes import LIMIT, fastener_cell  # noqa: E402

from scenegen.axes.axis import AxisContext  # noqa: E402
from scenegen.geometry import Pose, angle_between  # noqa: E402
from scenegen.physics.contacts import ContactFinder  # noqa: E402
from scenegen.physics.model import SceneModel  # noqa: E402
from scenegen.physics.resting import rests_by_construction  # noqa: E402
from scenegen.physics.settle import Settler  # noqa: E402
from scenegen.scenario import Scenario  # noqa: E402
from validators.settled import SETTLED  # noqa: E402

FIXED_S = 1.0
REFERENCE_S, REFERENCE_STEP_S = 3.0, 0.001
TIMED = 12
"""Rates are taken over so many scenes of a group, in one process."""
SHORT, LONG = {10: 8, 30: 4}, {10: 60, 30: 24}
"""Parts in a scene, and scenes in each of the groups `apart` and `touching`; the other two have half as many."""
NOTES = (
    "Every way answers the same question: does each part stay where it is, within the limits of the check `settled`?"
    " `apart`: fasteners in stable poses. `disturbed`: the same with one part raised by 0.3 mm and tilted by 0.3 to"
    f" 30 degrees. `touching`: three parts lie on others (axis `stacking`, level {LEVEL}). `shifted`: the same with one"
    f" of those raised by 0.3 mm and moved aside by up to {FARTHEST_M * 1e3:g} mm. Of the moved ones some stay.",
    f"Reference: {REFERENCE_S:g} s at a step of {REFERENCE_STEP_S * 1e3:g} ms, nothing sleeps, nothing is cut short,"
    " nothing is nudged. `false accepts`: of the scenes that the way accepts, those that the reference rejects."
    " `false rejects`: of the scenes that the reference accepts, those that the way rejects. In brackets: 95 % interval"
    " (Clopper-Pearson). A touching scene that a nudge topples counts as a false reject, though the check means it.",
    "Plain and sleeping run for 1 s at the cell's own step of 2.5 ms. Early stop (with nudges) and construction are"
    f" what the check does. `scenes/s`: one process, {TIMED} scenes of the group at most, models built beforehand.",
    LIMIT,
)

Accepts = Callable[[Scenario], bool]


class Task(NamedTuple):
    """One scene to be judged."""

    parts: int
    group: str
    number: int


class Answer(NamedTuple):
    """What the reference and each way say of a scene."""

    truth: bool
    accepted: dict[str, bool]
    reference_s: float


def stays(scenario: Scenario, ends: Sequence[Pose]) -> bool:
    """Tell whether every item ended near where it began."""
    starts = [item.pose_to_world for item in scenario.layout.items]
    limits = SETTLED.limits
    return all(
        np.linalg.norm(end.position - start.position) <= limits["drift_m"]
        and angle_between(start.quat, end.quat) <= limits["rotation_rad"]
        for start, end in zip(starts, ends, strict=True)
    )


def simulate(scene: SceneModel, scenario: Scenario, seconds: float) -> bool:
    """Simulate for a fixed time and tell whether everything stays."""
    scene.load(scenario.layout, scenario.matter)
    mujoco.mj_step(scene.model, scene.data, nstep=round(seconds / scene.model.opt.timestep))
    return stays(scenario, [Pose.of(place[:3], place[3:]) for place in scene.places(scenario.layout)])


@cache
def ways(count: int) -> dict[str, Accepts]:
    """Every way to decide, by name, for scenes of so many parts."""
    cell, parts = fastener_cell(count)
    plain, sleeping = (SceneModel(cell, parts, sleep=sleep) for sleep in (False, True))
    settler, finder = Settler(cell, parts), ContactFinder(cell, parts)

    def early_stop(scenario: Scenario) -> bool:
        settled = settler.settle(scenario.layout, scenario.matter)
        return stays(scenario, [item.pose_to_world for item in settled.layout.items])

    def construction(scenario: Scenario) -> bool:
        return rests_by_construction(scenario.layout, parts, cell, finder=finder) or early_stop(scenario)

    return {
        "plain": lambda scenario: simulate(plain, scenario, FIXED_S),
        "sleeping": lambda scenario: simulate(sleeping, scenario, FIXED_S),
        "sleeping, early stop": early_stop,
        "by construction, else early stop": construction,
    }


@cache
def reference(count: int) -> Accepts:
    """The long, fine simulation."""
    scene = SceneModel(*fastener_cell(count), sleep=False)
    scene.model.opt.timestep = REFERENCE_STEP_S
    return lambda scenario: simulate(scene, scenario, REFERENCE_S)


@cache
def context(count: int) -> AxisContext:
    """What making scenes of so many parts needs."""
    return axis_context(*fastener_cell(count))


def judge(task: Task) -> Answer:
    """Let the reference and every way judge one scene."""
    scenario = make(task.group, task.number, context(task.parts))
    start = time.perf_counter()
    truth = reference(task.parts)(scenario)
    seconds = time.perf_counter() - start
    return Answer(truth, {way: accepts(scenario) for way, accepts in ways(task.parts).items()}, seconds)


def share(found: int, of: int) -> str:
    """Write a count with the interval of its share."""
    if of == 0:
        return "0 of 0"
    interval = binomtest(found, of).proportion_ci(0.95, method="exact")
    return f"{found} of {of} ({100 * interval.low:.2g} to {100 * interval.high:.2g} %)"


def rates(answers: Sequence[Answer], way: str) -> dict[str, str]:
    """Count what a way lets through and what it turns away wrongly."""
    accepted = [answer for answer in answers if answer.accepted[way]]
    true = [answer for answer in answers if answer.truth]
    return {
        "false accepts": share(sum(not answer.truth for answer in accepted), len(accepted)),
        "false rejects": share(sum(not answer.accepted[way] for answer in true), len(true)),
    }


def timed_row(group: str, parts: int, way: str, answers: Sequence[Answer]) -> dict[str, Any]:
    """Measure one way on one group."""
    scenes = [make(group, index, context(parts)) for index in range(min(TIMED, len(answers)))]
    accepts = ways(parts)[way]
    seconds = best_of(lambda: [accepts(scenario) for scenario in scenes])
    counted = {"parts": parts, "scenes": f"{len(answers)} {group}", "way": way, "scenes/s": len(scenes) / seconds}
    return {**counted, "accepted": sum(answer.accepted[way] for answer in answers), **rates(answers, way)}


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    options = parser.parse_args()
    load = load_average()
    sizes = LONG if options.long else SHORT
    numbers = {
        (parts, group): n if group in ("apart", "touching") else n // 2
        for parts, n in sizes.items()
        for group in GROUPS
    }
    tasks = [Task(parts, group, index) for (parts, group), n in numbers.items() for index in range(n)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(tasks, pool.map(judge, tasks), strict=True))
    rows: Rows = []
    for parts, group in numbers:
        answers = [answer for task, answer in found.items() if task[:2] == (parts, group)]
        rows += [timed_row(group, parts, way, answers) for way in ways(parts)]
    notes = [*NOTES, *pooled(found)]
    write_result(HERE, rows, title="Does it rest?", notes=notes, load_before=load)


def pooled(found: dict[Task, Answer]) -> list[str]:
    """Sum up, over all numbers of parts: parts apart against touching parts, and what the reference costs."""
    lines = []
    for what, groups in (("Parts apart", GROUPS[:2]), ("Touching parts", GROUPS[2:])):
        answers = [answer for task, answer in found.items() if task.group in groups]
        for way in answers[0].accepted:
            counts = rates(answers, way)
            lines.append(
                f"{what}, `{way}`: false accepts {counts['false accepts']}, false rejects {counts['false rejects']}."
            )
    seconds = sorted(answer.reference_s for answer in found.values())
    lines.append(
        f"{len(found)} scenes in all; one by the reference takes {seconds[len(seconds) // 2]:.2g} s (median, with"
        f" {os.cpu_count()} processes at once), which is why there are no more."
    )
    return lines


if __name__ == "__main__":
    main()
