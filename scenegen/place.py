"""Place parts at rest in a zone of the cell, clear of each other and of the walls."""

from __future__ import annotations

import cmath
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from scenegen.board import NONE, Board, Spots
from scenegen.cell import Cell
from scenegen.errors import PlacementFailed, UnknownName
from scenegen.footprint import Plane, Stencils, rectangle, stencils_at, stencils_of
from scenegen.geometry import Array, Pose, quat_multiply, quat_yaw
from scenegen.nominal import nominal_fixtures
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part, StablePose
from scenegen.record import NonNegative, Record
from scenegen.scenario import Cause, FixturePose, Item, Layout

BATCH = 24
"""Candidates that are drawn at once for one part."""

TABLE_MARGIN_M = 0.06
"""How far around the feed the zone `table` reaches [m]."""

FINGER_PLAY_M = 0.001
"""Room that a finger needs beyond its own thickness between a part and a wall [m]."""


class PlaceOptions(Record):
    """How parts are placed."""

    clearance_m: NonNegative = 0.005
    """Least distance between two parts [m]."""
    wall_clearance_m: NonNegative | None = None
    """Least distance between a part and a wall [m]; by default a finger fits between them."""
    attempts: Annotated[int, Field(ge=1, le=100_000)] = 400
    """Most candidates a part."""
    mode: Literal["sequential", "uniform"] = "sequential"
    """`sequential` inserts part after part; `uniform` is distributed as if whole scenes were drawn until one fits."""
    sweeps: Annotated[int, Field(ge=1, le=1000)] = 15
    """How often mode `uniform` draws every part anew."""

    def wall_m(self, cell: Cell) -> float:
        """Return the clearance to walls [m]."""
        if self.wall_clearance_m is not None:
            return self.wall_clearance_m
        return cell.robot.gripper.finger_thickness_m + FINGER_PLAY_M


@dataclass(frozen=True, eq=False)
class Zone:
    """A rectangle in which parts may lie; its frame sits at the centre of its floor."""

    name: str
    pose_to_world: Pose
    half_m: Array
    """Half of its length along X and along Y, less the clearance to its walls [m], shape [2]."""

    @cached_property
    def yaw_rad(self) -> float:
        """Turn of the zone about the vertical [rad]."""
        return float(2 * np.arctan2(self.pose_to_world.quat[2], self.pose_to_world.quat[3]))

    def to_zone(self, position_m: Sequence[float]) -> complex:
        """Map a position in the world [m], shape [2] or [3], into the zone's plane."""
        origin = self.pose_to_world.position_m
        return complex(position_m[0] - origin[0], position_m[1] - origin[1]) * cmath.rect(1.0, -self.yaw_rad)

    def to_world(self, places: Plane) -> Plane:
        """Map points of the zone's plane, any shape, to x + iy in the world [m]."""
        return places * cmath.rect(1.0, self.yaw_rad) + complex(*self.pose_to_world.position_m[:2])

    def poses(self, rests: Sequence[StablePose], places: Plane, yaws_rad: Array) -> list[Pose]:
        """Poses in the world of parts that rest on the zone's floor.

        Args:
            rests: In which stable pose each one rests.
            places: Where its frame's origin lies in the zone's plane, shape [n].
            yaws_rad: Its yaw in the zone's plane, shape [n].
        """
        world, floor = self.to_world(places), self.pose_to_world.position_m[2]
        quats = quat_multiply(quat_yaw(yaws_rad + self.yaw_rad), np.array([rest.quat_xyzw for rest in rests]))
        quats /= np.linalg.norm(quats, axis=1, keepdims=True)
        heights = [floor + rest.height_m for rest in rests]
        rows = zip(world.real.tolist(), world.imag.tolist(), heights, strict=True)
        return [
            Pose(position_m=row, quat_xyzw=quat) for row, quat in zip(rows, map(tuple, quats.tolist()), strict=True)
        ]


def zone_named(cell: Cell, name: str, fixtures: Iterable[FixturePose], *, wall_m: float) -> Zone:
    """Return a zone where it stands in a layout.

    Args:
        cell: The cell.
        name: `feed`, the name of a bin, or `table`: the table around the feed.
        fixtures: Where feed and bins stand.
        wall_m: Clearance to the walls [m].

    Raises:
        UnknownName: There is no such zone.
    """
    poses = {fixture.name: fixture.pose_to_world for fixture in fixtures}
    if name == "table":
        feed = poses["feed"].position
        half = np.array(cell.feed.size_m) / 2 + cell.feed.wall_thickness_m + TABLE_MARGIN_M
        height = cell.table.pose_top_to_world.position_m[2]
        return Zone(name, Pose(position_m=(feed[0], feed[1], height), quat_xyzw=poses["feed"].quat_xyzw), half)
    if name not in cell.containers:
        raise UnknownName("zone", name, [*cell.containers, "table"])
    return Zone(name, poses[name], np.array(cell.containers[name].size_m) / 2 - wall_m)


def spots_of(parts: Catalogue, zone: Zone, items: Sequence[Item]) -> Spots:
    """Return what items, at least one, cover in a zone's plane, shape [n]."""
    poses = [item.pose_to_world for item in items]
    quats = np.array([pose.quat_xyzw for pose in poses])
    stencils, kinds, yaws_rad = stencils_at([parts[item.part] for item in items], quats)
    places = np.array([zone.to_zone(pose.position_m) for pose in poses])
    return Spots(stencils, kinds, places, yaws_rad - zone.yaw_rad)


def _board_of(cell: Cell, parts: Catalogue, zone: Zone, layout: Layout, *, options: PlaceOptions) -> Board:
    """Lay out what already occupies a zone: all items of a layout and, on the table, its fixtures."""
    board = Board(zone.half_m, options.clearance_m)
    if layout.items:
        board.put([item.name for item in layout.items], spots_of(parts, zone, layout.items))
    if zone.name == "table":
        for fixture in layout.fixtures:
            box, pose = cell.containers[fixture.name], fixture.pose_to_world
            outer = np.array(box.size_m) + 2 * box.wall_thickness_m
            yaw_rad = 2 * np.arctan2(pose.quat[2], pose.quat[3]) - zone.yaw_rad
            board.block(f"fixture {fixture.name}", rectangle(zone.to_zone(pose.position_m), outer, yaw_rad))
    return board


class _Draws:
    """Draws candidates for some parts: stable pose by its probability, yaw and place uniform."""

    def __init__(self, chosen: Sequence[Part], half_m: Array) -> None:
        kinds = tuple(dict.fromkeys(chosen))
        self._stencils, first, borders = _stock(kinds)
        index = [kinds.index(part) for part in chosen]
        self._first, self._borders = first[index], borders[index]
        self._half_m = half_m

    def draw(self, rows: NDArray[np.intp], count: int, *, rng: np.random.Generator) -> Spots:
        """Draw `count` candidates for each part of `rows`, indices into the chosen parts, shape [n, count]."""
        uniform = rng.random((4, len(rows), count))
        stable = (uniform[0][..., None] >= self._borders[rows][:, None, :]).sum(axis=-1)
        half = np.maximum(self._half_m, 0.0)
        places = (uniform[1] * 2 - 1) * half[0] + 1j * (uniform[2] * 2 - 1) * half[1]
        kinds = self._first[rows][:, None] + stable
        return Spots(self._stencils, kinds, places, uniform[3] * 2 * np.pi)

    def stable(self, row: int, kind: int) -> int:
        """Return which stable pose of the part a footprint belongs to."""
        return int(kind - self._first[row])


@lru_cache(maxsize=64)
def _stock(kinds: tuple[Part, ...]) -> tuple[Stencils, NDArray[np.intp], Array]:
    """Return what draws of some parts need.

    Returns:
        All footprints of all parts; the index of each part's first one, shape [parts]; and inner borders of the stable
        poses' cumulated probabilities, padded, shape [parts, poses - 1].
    """
    counts = [len(part.stable_poses) for part in kinds]
    borders = np.full((len(kinds), max(counts) - 1), np.inf)
    for row, part in enumerate(kinds):
        cumulated = np.cumsum([pose.probability for pose in part.stable_poses])
        borders[row, : len(cumulated) - 1] = cumulated[:-1] / cumulated[-1]
    return *stencils_of(kinds), borders


def place(
    cell: Cell,
    parts: Catalogue,
    *,
    slots: Sequence[str],
    zone: str,
    rng: np.random.Generator,
    options: PlaceOptions | None = None,
    occupied: Layout | None = None,
) -> tuple[Item, ...]:
    """Place items at rest, in random order, clear of each other, of walls and of what is there.

    Args:
        cell: The cell.
        parts: Its parts.
        slots: Names of the simulator slots to fill.
        zone: `feed`, the name of a bin, or `table`: the table around the feed.
        rng: Source of randomness.
        options: Clearances, attempts and mode.
        occupied: What is there already and stays; the cell's nominal fixtures by default.

    Returns:
        The items in the order of `slots`, with cause `nominal`.

    Raises:
        PlacementFailed: A part found no place; says how many candidates each reason rejected.
        UnknownName: There is no such zone or slot.
    """
    options = options or PlaceOptions()
    chosen = _parts_of(cell, parts, slots)
    layout = occupied or Layout(fixtures=nominal_fixtures(cell), items=())
    area = zone_named(cell, zone, layout.fixtures, wall_m=options.wall_m(cell))
    if not chosen:
        return ()
    board = _board_of(cell, parts, area, layout, options=options)
    draws = _Draws(chosen, area.half_m)
    insertion = _Insertion(board, draws, tuple(slots), options, rng)
    insertion.insert_all()
    if options.mode == "uniform":
        insertion.sweep()
    kinds, places, yaws_rad = insertion.kinds, insertion.places, insertion.yaws_rad
    rests = [part.stable_poses[draws.stable(row, kinds[row])] for row, part in enumerate(chosen)]
    poses = area.poses(rests, places, yaws_rad)
    return tuple(
        Item(name=slot, part=part.id, zone=zone, cause=Cause.NOMINAL, pose_to_world=pose)
        for slot, part, pose in zip(slots, chosen, poses, strict=True)
    )


def _parts_of(cell: Cell, parts: Catalogue, slots: Sequence[str]) -> list[Part]:
    known = cell.slots
    for slot in slots:
        if slot not in known:
            raise UnknownName("slot", slot, known)
    return [parts[known[slot].part] for slot in slots]


class _Insertion:
    """Lays the parts of some slots down on a board; knows kind of footprint, place and yaw of each, shape [slots]."""

    def __init__(
        self, board: Board, draws: _Draws, slots: tuple[str, ...], options: PlaceOptions, rng: np.random.Generator
    ) -> None:
        self._board, self._draws, self._slots, self._options, self._rng = board, draws, slots, options, rng
        self.kinds = np.zeros(len(slots), np.intp)
        self.places = np.zeros(len(slots), complex)
        """In the zone's plane."""
        self.yaws_rad = np.zeros(len(slots))

    def insert_all(self) -> None:
        """Lay down every part, in random order, each at its first free candidate.

        Raises:
            PlacementFailed: A part found no place.
        """
        rows = self._rng.permutation(len(self._slots))
        rejections = self._lay_down(rows, self._draw(rows, self._options.attempts))
        for row, counts in rejections.items():
            raise PlacementFailed(self._slots[row], self._options.attempts, counts)

    def sweep(self) -> None:
        """Draw every part anew, given all others, many times over.

        Each draw is an exact draw from the part's conditional distribution, by rejection (or leaves the part where it
        is, when the attempts run out). So the sweeps are a Gibbs sampler, and what they leave unchanged is the
        distribution of whole-scene rejection (Robert and Casella 2004, Monte Carlo Statistical Methods, section 10.1).
        """
        for _ in range(self._options.sweeps):
            rows = np.arange(len(self._slots))
            spots = self._draw(rows, self._options.attempts)
            for row in rows:
                self._lay_down(rows[[row]], spots.some([row]))

    def _draw(self, rows: NDArray[np.intp], left: int) -> Spots:
        return self._draws.draw(rows, min(BATCH, left), rng=self._rng)

    def _lay_down(self, rows: NDArray[np.intp], spots: Spots) -> dict[int, Counter[str]]:
        """Lay parts down at their first free candidates, `spots` first; count why there is none within the attempts."""
        left = self._options.attempts
        rejections: dict[int, Counter[str]] = {row: Counter() for row in rows.tolist()}
        while True:
            counters = [rejections[row] for row in rows.tolist()]
            found = self._board.lay([self._slots[row] for row in rows], spots, counters)
            left -= spots.kinds.shape[1]
            laid = np.flatnonzero(found != NONE)
            chosen, done = spots.some((laid, found[laid])), rows[laid]
            self.kinds[done], self.places[done], self.yaws_rad[done] = chosen.kinds, chosen.places, chosen.yaws_rad
            rows = rows[found == NONE]
            if left <= 0 or not len(rows):
                return {row: rejections[row] for row in rows.tolist()}
            spots = self._draw(rows, left)
