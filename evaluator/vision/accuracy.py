"""How well an eye sees: parts found and named, grasps that would hold, pixels told apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evaluator.vision.closing import Feed
from evaluator.vision.eye import Eye
from evaluator.vision.labels import PLAY_M
from evaluator.vision.pictures import Picture
from evaluator.vision.sighting import Sighted
from evaluator.vision.subject import Subject
from scenegen.cell import Cell
from scenegen.geometry import Array
from scenegen.parts.catalogue import Catalogue
from scenegen.posed import Posed
from scenegen.scenario import Scenario
from validators.grasp import GRASP, free_grasps

REACH_M = 0.012
"""A grasp this near to a part's centre of mass is meant for it [m]: half as far as the longest parts are."""
ASKEW_RAD = np.radians(10.0)
"""Fingers turn a part that lies askew between them by up to so much while they close."""


@dataclass
class Accuracy:
    """Counts over pictures; add up pictures with `add`."""

    classes: tuple[str, ...]
    pickable: int = 0
    """Targets that could be taken right away."""
    named: int = 0
    """... and were found and named rightly."""
    graspable: int = 0
    """... and whose grasp would hold, too."""
    seen: int = 0
    """Places that the eye pointed at."""
    wrong: int = 0
    """... where there was no target, or another one: what would be sorted wrongly or grasped in vain."""
    sure: int = 0
    """Pictures whose surest peak is a right part with a grasp that would hold, of those where anything can be taken."""
    pictures: int = 0
    """Pictures where anything can be taken."""
    shared: Array = field(default_factory=lambda: np.zeros(0))
    """Pixels that both say are of a class, background first, shape [classes + 1]."""
    either: Array = field(default_factory=lambda: np.zeros(0))
    """Pixels that one of both says are of a class, shape [classes + 1]."""

    def __post_init__(self) -> None:
        """Begin with no pixels."""
        self.shared, self.either = (np.zeros(len(self.classes) + 1) for _ in range(2))

    def add(self, outcome: Outcome, found: NDArray[np.integer], region: NDArray[np.integer]) -> None:
        """Count one picture.

        Args:
            outcome: What the eye pointed at.
            found: Class of each pixel as the net has it, shape [h, w].
            region: As it is, shape [h, w].
        """
        self.pickable += len(outcome.named)
        self.named += int(outcome.named.sum())
        self.graspable += int(outcome.graspable.sum())
        self.seen += outcome.seen
        self.wrong += outcome.wrong
        self.pictures += len(outcome.named) > 0
        self.sure += outcome.sure
        for kind in range(len(self.shared)):
            self.shared[kind] += ((found == kind) & (region == kind)).sum()
            self.either[kind] += ((found == kind) | (region == kind)).sum()

    def rates(self) -> dict[str, float | None]:
        """Return shares by name, 0 to 1; None where nothing was counted."""
        overlap = [_share(a, b) for a, b in zip(self.shared.tolist(), self.either.tolist(), strict=True)]
        return {
            "named": _share(self.named, self.pickable),
            "graspable": _share(self.graspable, self.pickable),
            "wrong": _share(self.wrong, self.seen),
            "first_pick": _share(self.sure, self.pictures),
            **{f"iou {name}": value for name, value in zip(("background", *self.classes), overlap, strict=True)},
        }


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an eye made of one picture; m targets that could be taken right away."""

    named: NDArray[np.bool_]
    """Found, and named rightly, shape [m]."""
    graspable: NDArray[np.bool_]
    """... and the grasp would hold, shape [m]."""
    seen: int
    wrong: int
    sure: bool


def measured(
    eye: Eye, pictures: Iterable[tuple[Scenario, Picture]], *, cell: Cell, parts: Catalogue
) -> Iterator[tuple[Outcome, NDArray[np.integer], NDArray[np.uint8]]]:
    """Let an eye look at pictures; yields what `Accuracy.add` takes, one a picture.

    Args:
        eye: The eye.
        pictures: Scenes and what the camera shows of them.
        cell: Their cell.
        parts: Its parts.
    """
    for scenario, picture in pictures:
        seen = eye.look(picture.image[None])[0]
        outcome = outcome_of(seen, scenario, cell=cell, parts=parts, subject=eye.subject)
        yield outcome, eye.regions(picture.image[None])[0], picture.labels.region


def outcome_of(seen: Sighted, scenario: Scenario, *, cell: Cell, parts: Catalogue, subject: Subject) -> Outcome:
    """Hold what an eye saw against the truth.

    Args:
        seen: The best grasp of each peak counts.
        scenario: The scene.
        cell: Its cell.
        parts: The cell's parts.
        subject: Which parts are told apart.
    """
    _, first = np.unique(seen.peak, return_index=True)
    items = scenario.layout.items
    if not items:
        return Outcome(np.zeros(0, bool), np.zeros(0, bool), len(first), len(first), False)
    kinds = np.array([subject.classes.index(item.part) + 1 if item.part in subject.classes else 0 for item in items])
    feed = next(one.pose_to_world for one in scenario.layout.fixtures if one.name == "feed")
    posed = Posed.of(items, parts)
    _, free = free_grasps(posed, GRASP.limits, cell.robot.gripper, cell.feed, feed)
    jaws = Feed(cell.robot.gripper, cell.feed, feed)
    named, holds = np.zeros(len(items), bool), np.zeros(len(items), bool)
    wrong, sure = 0, False
    for place, row in enumerate(first.tolist()):
        away = np.linalg.norm(posed.mass_centers[:, :2] - seen.middle[row, :2], axis=1)
        item = int(away.argmin())
        right = bool(away[item] <= REACH_M and kinds[item] == seen.part[row])
        opened = np.minimum(seen.width_m[row : row + 1] + 2 * PLAY_M, cell.robot.gripper.opening_m)
        touch = seen.middle[row : row + 1]
        good = (
            right
            and jaws.close_at(
                posed, item, touch, seen.yaw_rad[row : row + 1], open_m=opened, askew_rad=ASKEW_RAD
            ).holds[0]
        )
        wrong += not right
        named[item] |= right
        holds[item] |= good
        sure |= bool(good) and place == 0
    pickable = (kinds > 0) & free.any(axis=1)
    return Outcome(named[pickable], holds[pickable], len(first), wrong, sure and bool(pickable.any()))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
