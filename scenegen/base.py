"""Sample a base: parts at rest in the feed, everything else nominal, before any axis has touched it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from scenegen.cell import Cell, Role
from scenegen.nominal import nominal_fixtures, nominal_scenario
from scenegen.parts.catalogue import Catalogue
from scenegen.place import PlaceOptions, place
from scenegen.scenario import Layout, Scenario, Task
from scenegen.wording import instruct


def sample_base(
    cell: Cell, parts: Catalogue, *, rng: np.random.Generator, options: PlaceOptions | None = None
) -> Scenario:
    """Sample a base scenario.

    Args:
        cell: The cell.
        parts: Its parts.
        rng: Source of randomness.
        options: How parts are placed.

    Returns:
        A scenario with as many targets in the feed as the cell's `fill` allows, look-alikes among them where there are
        any, and an instruction that speaks of them.

    Raises:
        PlacementFailed: A part found no place in the feed.
    """
    slots = draw_slots(cell, parts, rng=rng)
    items = place(cell, parts, slots=slots, zone="feed", rng=rng, options=options)
    layout = Layout(fixtures=nominal_fixtures(cell), items=items)
    template = cell.instructions[int(rng.integers(len(cell.instructions)))]
    present = sorted({item.part for item in items})
    task = Task(rules=cell.rules, instruction=instruct(cell, parts, cell.rules, present=present, template=template))
    return nominal_scenario(cell, parts, layout, task)


def draw_slots(cell: Cell, parts: Catalogue, *, rng: np.random.Generator) -> tuple[str, ...]:
    """Draw which targets lie in the feed: a number within the cell's `fill`, of the inventory without replacement.

    One pair of look-alikes is taken first where the inventory has one (else two different parts), the rest uniformly.

    Returns:
        Slot names in the inventory's order; each part uses its first slots.
    """
    stock = {item.part: item.count for item in cell.inventory if item.role is Role.TARGET}
    count = int(rng.integers(cell.fill[0], cell.fill[1] + 1))
    chosen = list(_pair(list(stock), parts, rng=rng)[:count])
    rest = [part for part, number in stock.items() for _ in range(number - chosen.count(part))]
    chosen += [rest[index] for index in rng.permutation(len(rest))[: count - len(chosen)].tolist()]
    taken = Counter(chosen)
    return tuple(slot for item in cell.inventory for slot in item.slots()[: taken[item.part]])


def _pair(targets: Sequence[str], parts: Catalogue, *, rng: np.random.Generator) -> tuple[str, ...]:
    """Draw two parts that are easily mistaken for each other, or any two different ones, or what there is."""
    pairs = [(a, b) for a in targets for b in targets if a != b]
    alike = [(a, b) for a, b in pairs if b in parts[a].look_alikes]
    accepted = alike or pairs or [tuple(targets)]
    return accepted[int(rng.integers(len(accepted)))]
