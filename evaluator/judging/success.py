"""Whether an episode succeeded: where each item lies at its end, and whether it belongs there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evaluator.judging.observed import Observed
from evaluator.judging.rest import WINDOW_S, window_start
from evaluator.judging.zone import Place
from scenegen.cell import Role
from scenegen.record import Name, Record


class ItemEnd(Record):
    """Where one item was at the start of an episode and where it is at the end."""

    name: Name
    part: Name
    role: Role
    wanted: tuple[Name, ...]
    """Bins in which it belongs."""
    began: str
    """Zone at the start: a bin's name or a `Place`."""
    ended: str
    """Zone at the end; `in-grip` if a finger touched it within the last `WINDOW_S`, `in-motion` if it did not rest."""

    @property
    def placed(self) -> bool:
        """It lies released and at rest in its bin at the end."""
        return self.ended in self.wanted

    @property
    def to_sort(self) -> bool:
        """It is a target that did not lie in its bin at the start."""
        return self.role is Role.TARGET and self.began not in self.wanted

    @property
    def intrudes(self) -> bool:
        """It came into a bin in which it does not belong: a missorted target, or anything that is no target."""
        return not self.placed and self.ended != self.began and self.ended not in tuple(Place)


def item_ends(seen: Observed) -> tuple[ItemEnd, ...]:
    """Tell where the items of an episode began and ended, in layout order."""
    last = int(window_start(seen.trace.time_s, WINDOW_S)[-1])
    touched = np.any(seen.trace.finger_touch[last:], axis=0)
    found = []
    for item, name in enumerate(seen.job.items):
        began, ended = (seen.finder.name(item, seen.trace.item_pose[sample, item]) for sample in (0, -1))
        if touched[item]:
            ended = Place.HELD.value
        elif not seen.still[-1, item]:
            ended = Place.MOVING.value
        found.append(
            ItemEnd(
                name=name,
                part=seen.job.parts[item].id,
                role=seen.job.roles[item],
                wanted=tuple(sorted(seen.job.wanted[item])),
                began=str(began),
                ended=str(ended),
            )
        )
    return tuple(found)


def succeeds(items: Iterable[ItemEnd]) -> bool:
    """Tell whether a scene is sorted: every target lies in its bin, and nothing came into a bin that it is not for.

    Why the episode ended does not matter: a part that comes to rest in its bin in the very step of the timeout counts.
    """
    return all(item.placed if item.role is Role.TARGET else not item.intrudes for item in items)
