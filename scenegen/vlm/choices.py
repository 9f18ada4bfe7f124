"""What one scene offers to edits: the ids that each kind of edit may name, and the bounds of its amounts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from typing import Self

from scenegen.axes import color_shift, datum, lighting, misplacement, occlusion, pose, stacking, tilt
from scenegen.axes.axis import Severity, limits
from scenegen.axes.items import free_slots, targets_in
from scenegen.axes.phrases import LANGUAGES
from scenegen.cell import Cell, Role
from scenegen.parts.catalogue import Catalogue
from scenegen.record import Name, Record
from scenegen.scenario import Cause, DomeLight, Item, Scenario, SortRule
from scenegen.spoken import Vocabulary
from scenegen.vlm.edits import EDITS
from scenegen.wording import rules_present

NEIGHBOUR = "neighbour"
"""Stands for another target, where an edit asks for an occluder."""

LAMPS_K = (1800.0, 12000.0)
"""Colour temperatures of lamps and sky, as the checks accept them [K]."""


class Offer(Record):
    """One way in which a kind of edit may be filled in; a kind may have several."""

    op: Name
    names: dict[Name, tuple[Name, ...]] = {}
    """Accepted ids by field."""
    bounds: dict[Name, tuple[int, int]] = {}
    """Least and greatest accepted number by field."""


class Choices(Record):
    """All that a proposal for one scene may name."""

    offers: tuple[Offer, ...]
    words: Vocabulary
    rules: tuple[SortRule, ...]
    spoken: tuple[SortRule, ...]
    """The rules that speak of targets of the scene."""

    @classmethod
    def of(cls, scenario: Scenario, cell: Cell, parts: Catalogue, axes: Collection[str]) -> Self:
        """Find what a scene offers to the edits of some axes.

        Args:
            scenario: The scene.
            cell: Its cell.
            parts: Its parts.
            axes: Names of the axes whose edits are allowed.

        Returns:
            The choices; kinds of edits for which the scene, the inventory, the plant's causes or its envelope leave
            nothing to choose are not in it.
        """
        scene = _Scene(scenario, cell, parts)
        found = (offer for find in _FINDERS for offer in find(scene))
        chosen = {op for op, kind in EDITS.items() if kind.axis in axes}
        return cls(
            offers=tuple(offer for offer in found if offer.op in chosen and _leaves_a_choice(offer)),
            words=Vocabulary.of(cell, parts),
            rules=scenario.task.rules,
            spoken=rules_present(scenario.task.rules, parts, scene.present),
        )

    def ops(self) -> tuple[str, ...]:
        """Name the kinds of edits that are offered."""
        return tuple(dict.fromkeys(offer.op for offer in self.offers))


def _leaves_a_choice(offer: Offer) -> bool:
    return all(offer.names.values()) and all(low <= high for low, high in offer.bounds.values())


@dataclass(frozen=True)
class _Scene:
    scenario: Scenario
    cell: Cell
    parts: Catalogue

    @cached_property
    def targets(self) -> list[Item]:
        return targets_in(self.scenario, self.cell)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.targets)

    @cached_property
    def present(self) -> list[str]:
        slots = self.cell.slots
        return sorted({i.part for i in self.scenario.layout.items if slots[i.name].role is Role.TARGET})

    @cached_property
    def spare(self) -> dict[str, str]:
        """A free slot of each target of which the scene has others, by part."""
        slots = misplacement.spare(self.scenario, self.cell)
        return {self.cell.slots[slot].part: slot for slot in slots}

    def free(self, role: Role) -> dict[str, int]:
        parts = [self.cell.slots[slot].part for slot in free_slots(self.scenario, self.cell, role)]
        return {part: parts.count(part) for part in dict.fromkeys(parts)}

    def allows(self, cause: Cause) -> bool:
        return cause in self.cell.allowed_causes

    def whole(self, axis: str, severity: Severity, scale: float = 1.0, *, least: int = 1) -> tuple[int, int]:
        """Return the bounds of a quantity that only grows, in whole units of 1 / scale."""
        _, high = limits(severity, cell=self.cell, axis=axis)
        low = (severity.nominal + severity.least) * scale
        return max(least, ceil(low - 1e-9)), floor(high * scale + 1e-9)


def _range(unit: str, bounds: tuple[int, int]) -> dict[str, tuple[int, int]]:
    return {f"low_{unit}": bounds, f"high_{unit}": bounds}


def _moved(scene: _Scene) -> Iterator[Offer]:
    if scene.allows(Cause.JOSTLED):
        items = {"item": scene.names}
        yield Offer(op="move", names=items, bounds=_range("mm", scene.whole(pose.NAME, pose.OFFSET, 1e3)))
        yield Offer(op="turn", names=items, bounds=_range("deg", scene.whole(pose.NAME, pose.YAW)))


def _leant(scene: _Scene) -> Iterator[Offer]:
    if scene.allows(Cause.LEANING):
        yield Offer(op="tilt", names={"item": scene.names}, bounds=_range("deg", scene.whole(tilt.NAME, tilt.LEAN)))


def _piled(scene: _Scene) -> Iterator[Offer]:
    low, high = scene.whole(stacking.NAME, stacking.COUNT)
    if scene.allows(Cause.PILED) and len(scene.names) > 1 and low <= high:
        yield Offer(op="stack", names={"item": scene.names, "onto": scene.names})


def _hidden(scene: _Scene) -> Iterator[Offer]:
    by = tuple(scene.free(Role.OCCLUDER)) if scene.allows(Cause.OBSTRUCTION) else ()
    by += (NEIGHBOUR,) * (scene.allows(Cause.PILED) and len(scene.names) > 1)
    if any(camera.name == occlusion.CAMERA for camera in scene.cell.cameras):
        bounds = _range("percent", scene.whole(occlusion.NAME, occlusion.HIDDEN, 100.0))
        yield Offer(op="cover", names={"item": scene.names, "by": by}, bounds=bounds)


def _misplaced(scene: _Scene) -> Iterator[Offer]:
    most = scene.whole(misplacement.NAME, misplacement.COUNT)[1]
    if most < 1:
        return
    if scene.allows(Cause.FOREIGN_OBJECT):
        for part, count in scene.free(Role.FOREIGN).items():
            yield Offer(op="add_foreign", names={"part": (part,)}, bounds={"count": (1, min(count, most))})
    if scene.allows(Cause.MISFEED):
        if len(scene.names) > 1:
            yield Offer(op="misplace", names={"item": scene.names})
        yield from _wrong_bins(scene)
    if scene.allows(Cause.MIXED_LOT):
        yield from _swaps(scene)


def _wrong_bins(scene: _Scene) -> Iterator[Offer]:
    for part, slot in scene.spare.items():
        own = misplacement.bins_for(slot, scene.cell, scene.parts)
        bins = (box.name for box in scene.cell.bins if box.name not in own)
        room = tuple(box for box in bins if misplacement.room_in(scene.scenario, box, scene.cell) > 0)
        yield Offer(op="wrong_bin", names={"part": (part,), "bin": room})


def _swaps(scene: _Scene) -> Iterator[Offer]:
    """Of each part that is there more than once, so that the instruction goes on to speak of what is there."""
    for part in scene.present:
        items = tuple(item.name for item in scene.targets if item.part == part)
        alike = tuple(one for one in scene.spare if one != part and one in scene.parts[part].look_alikes)
        if len(items) > 1:
            yield Offer(op="swap", names={"item": items, "part": alike})


def _shifted(scene: _Scene) -> Iterator[Offer]:
    fixtures = tuple(dict.fromkeys(one.fixture for one in scene.cell.datums))
    shift, turn = (scene.whole(datum.NAME, one, s, least=0) for one, s in ((datum.SHIFT, 1e3), (datum.ROTATION, 1.0)))
    yield Offer(op="shift_datum", names={"fixture": fixtures}, bounds=_range("mm", shift) | _range("deg", turn))


def _coated(scene: _Scene) -> Iterator[Offer]:
    names = {"item": scene.names, "coat": tuple(color_shift.COATS)}
    bounds = _range("difference", scene.whole(color_shift.NAME, color_shift.SEEN))
    yield Offer(op="change_surface", names=names, bounds=bounds)


def _lit(scene: _Scene) -> Iterator[Offer]:
    dome = isinstance(scene.scenario.lights.lights[0], DomeLight)
    turn = (0, 0) if dome else scene.whole(lighting.NAME, lighting.TURN, least=0)
    strength, warmth = (limits(one, cell=scene.cell, axis=lighting.NAME) for one in (lighting.FACTOR, lighting.SHIFT))
    percent = (min(100, ceil(100 * strength[0] - 1e-9)), max(100, floor(100 * strength[1] + 1e-9)))
    now = scene.scenario.lights.lights[0].temperature_k
    kelvin = (min(0, ceil(max(warmth[0], LAMPS_K[0] - now))), max(0, floor(min(warmth[1], LAMPS_K[1] - now))))
    yield Offer(op="change_light", bounds=_range("percent", percent) | _range("kelvin", kelvin) | _range("deg", turn))


def _said(scene: _Scene) -> Iterator[Offer]:
    sought = {rule.bin for rule in rules_present(scene.scenario.task.rules, scene.parts, scene.present)}
    bins = tuple(box.name for box in scene.cell.bins if box.name in sought)
    if len(bins) > 1:
        yield Offer(op="relabel_bin", names={"bin": bins, "other": bins})
    yield Offer(op="rephrase", names={"language": ("en", *LANGUAGES)})


_FINDERS = (_misplaced, _moved, _leant, _hidden, _piled, _shifted, _coated, _lit, _said)
