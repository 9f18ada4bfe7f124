"""Settle: plain simulation, sleeping, early stop and rest by construction, held to a long fine reference."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import mujoco
import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from harness import best_of, load_average, write_result  # noqa: E402
from scenes import generator, thirty_part_bases, thirty_part_cell  # noqa: E402

from scenegen.geometry import Pose, angle_between, quat_about, quat_multiply  # noqa: E402
from scenegen.physics.contacts import ContactFinder  # noqa: E402
from scenegen.physics.model import SceneModel  # noqa: E402
from scenegen.physics.resting import rests_by_construction  # noqa: E402
from scenegen.physics.settle import Settler  # noqa: E402
from scenegen.scenario import Scenario  # noqa: E402
from validators.settled import SETTLED  # noqa: E402

FIXED_S = 1.0
REFERENCE_S, REFERENCE_STEP_S = 3.0, 0.001
NOTES = (
    "Every way answers the same question: does each part stay where it is, within the limits of the check `settled`?"
    " `apart`: 30 fasteners in stable poses. `disturbed`: the same with one part raised by 0.3 mm and tilted by 0.3 to"
    " 30 degrees, so that some stay within the limits and some fall.",
    f"Reference: {REFERENCE_S:g} s at a step of {REFERENCE_STEP_S * 1e3:g} ms, nothing sleeps, nothing is cut short."
    " False accept: accepted scenes that the reference rejects; false reject: the other way round.",
    "Plain and sleeping run for 1 s. Early stop and construction are what the check does.",
)

Accepts = Callable[[Scenario], bool]


def disturbed(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    """Return the scene with one item raised and tilted; about half of such scenes stay within the limits."""
    items = list(scenario.layout.items)
    index, heading = int(rng.integers(len(items))), rng.uniform(0, 2 * np.pi)
    lean = quat_about([np.cos(heading), np.sin(heading), 0.0], np.radians(10 ** rng.uniform(-0.5, 1.5)))
    pose = items[index].pose_to_world
    moved = Pose.of(pose.position + np.array([0.0, 0.0, 0.0003]), quat_multiply(lean, pose.quat))
    items[index] = items[index].model_copy(update={"pose_to_world": moved})
    return scenario.varied(layout=scenario.layout.model_copy(update={"items": tuple(items)}))


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
    return stays(scenario, scene.poses(scenario.layout))


def ways() -> dict[str, Accepts]:
    """Every way to decide, by name."""
    cell, parts = thirty_part_cell()
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


def reference() -> Accepts:
    """The long, fine simulation."""
    cell, parts = thirty_part_cell()
    scene = SceneModel(cell, parts, sleep=False)
    scene.model.opt.timestep = REFERENCE_STEP_S
    return lambda scenario: simulate(scene, scenario, REFERENCE_S)


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    options = parser.parse_args()
    load = load_average()
    count = 150 if options.long else 10
    rng = generator(2)
    apart = thirty_part_bases(*thirty_part_cell(), count)
    groups = {"apart": apart, "disturbed": [disturbed(scenario, rng) for scenario in apart]}
    truth = {name: [reference()(scenario) for scenario in scenes] for name, scenes in groups.items()}
    rows = []
    for way, accepts in ways().items():
        for name, scenes in groups.items():
            answers = [accepts(scenario) for scenario in scenes]
            seconds = best_of(lambda a=accepts, s=scenes: [a(scenario) for scenario in s], repeats=2)
            pairs = list(zip(answers, truth[name], strict=True))
            rows.append({"way": way, "scenes": f"{count} {name}", "scenes/s": count / seconds})
            rows[-1]["accepted"] = sum(answers)
            rows[-1]["false accepts"] = sum(answer and not true for answer, true in pairs)
            rows[-1]["false rejects"] = sum(true and not answer for answer, true in pairs)
    write_result(HERE, rows, title="Does it rest?", notes=NOTES, load_before=load)


if __name__ == "__main__":
    main()
