"""The twins of a failed episode that tell what it comes from: the same scene and seed with one thing changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import NamedTuple

from evaluator.judging.episode import EpisodeKey
from evaluator.policies.knowing import knowing
from evaluator.rollout.run import Run
from scenegen.cell import Cell
from scenegen.nominal import nominal_lights, nominal_sensor, nominal_surfaces
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Scenario


class Twin(StrEnum):
    """What is changed."""

    TRUTH = "truth"
    """The policy perceives the truth."""
    NOMINAL_LIGHT = "nominal_light"
    """Lights, surfaces and sensor are the cell's own; every pose is the same."""
    UNPERTURBED = "unperturbed"
    """The whole scene is its base."""


class Counterfactual(NamedTuple):
    """One twin of one failed episode, and where its own episode is kept."""

    of: EpisodeKey
    twin: Twin
    run: Run
    """Conditions of its rollout: the failed run's own, or of a run that explains it."""
    run_id: str
    scenario_id: str

    @property
    def place(self) -> tuple[str, str, int]:
        """Run, scenario and seed of its episode."""
        return self.run_id, self.scenario_id, self.of.seed


def twins_of(
    key: EpisodeKey,
    run: Run,
    *,
    scene: Scenario,
    base_id: str | None,
    nominal_id: str,
    own: Collection[tuple[str, int]],
) -> Iterator[Counterfactual]:
    """Name the twins of a failed episode that there can be.

    A policy that always knows the truth has a twin in its base alone: pictures do not concern it. A twin that is a
    scene of the run itself, with the same seed, is that episode and need not be rolled out again.

    Args:
        key: The failed episode.
        run: Its run.
        scene: Its scene.
        base_id: Its base, if that is known.
        nominal_id: The scene in nominal light.
        own: Scenario and seed of the run's own episodes.
    """
    policy = knowing(run.policy)
    scenes = [(Twin.UNPERTURBED, base_id)]
    if policy != run.policy:
        scenes.insert(0, (Twin.NOMINAL_LIGHT, nominal_id))
        if policy is not None:
            explaining = explaining_run(run, key, policy=policy)
            yield Counterfactual(key, Twin.TRUTH, explaining, explaining.content_id, scene.id)
    explaining = explaining_run(run, key, policy=run.policy)
    for twin, scenario_id in scenes:
        if scenario_id is None or scenario_id == scene.id:
            continue
        if (scenario_id, key.seed) in own:
            yield Counterfactual(key, twin, run, key.run_id, scenario_id)
        else:
            yield Counterfactual(key, twin, explaining, explaining.content_id, scenario_id)


def explaining_run(run: Run, key: EpisodeKey, *, policy: str) -> Run:
    """Return the conditions under which twins of an episode are rolled out where its own run does not hold them."""
    return run.replaced(policy=policy, seed=key.seed, explains=key.run_id)


def in_nominal_light(scene: Scenario, cell: Cell, parts: Catalogue) -> Scenario:
    """Return a scene with the cell's own lights, surfaces and sensor; every pose is the same."""
    surfaces = nominal_surfaces(cell, scene.layout, parts)
    return scene.varied(lights=nominal_lights(cell), surfaces=surfaces, sensor=nominal_sensor(cell))
