"""How far two scenes are apart: the greatest difference in any quantity, each in units of what hardly shows.

Every quantity has a scale in physical units; a distance of 1 means that one quantity differs by its scale. Items of one
part are interchangeable: they are matched so that the greatest difference is least. Whatever has no measure - which
parts there are, the words of the task, which lights - must be equal, or the scenes are not near at all. Rotations
are compared as they are: that a part may look the same from several sides is not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from library.scales import Scale
from scenegen.geometry import Array, quat_to_matrix
from scenegen.scenario import Facet

Data = Mapping[str, Any]
"""A facet as plain data, as its JSON gives it."""

Block = tuple[str, int, int]
"""A quantity and its columns: their Euclidean distance is the distance along it."""


@dataclass
class Columns:
    """Numbers of a scene in units of their scales, block by block, and what must be equal."""

    scales: Mapping[str, Scale]
    values: list[float] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    equal: list[object] = field(default_factory=list)

    def add(self, quantity: str, numbers: Sequence[float]) -> None:
        """Add a vector."""
        scale = self.scales[quantity]
        unit = scale.value * next(iter(scale.units.values()))
        self.blocks.append((quantity, len(self.values), len(self.values) + len(numbers)))
        self.values += [number / unit for number in numbers]

    def extend(self, other: Columns) -> None:
        """Add another one's numbers."""
        start = len(self.values)
        self.blocks += [(quantity, first + start, last + start) for quantity, first, last in other.blocks]
        self.values += other.values
        self.equal += other.equal

    def add_each(self, quantity: str, numbers: Iterable[float]) -> None:
        """Add scalars, each for itself."""
        for number in numbers:
            self.add(quantity, (number,))

    def add_factor(self, quantity: str, amounts: Iterable[float]) -> None:
        """Add amounts that are compared by their ratio."""
        step = math.log1p(self.scales[quantity].value * 0.01)
        for amount in amounts:
            self.blocks.append((quantity, len(self.values), len(self.values) + 1))
            self.values.append(math.log(max(amount, 1e-9)) / step)

    def add_pose(self, pose: Data) -> None:
        """Add a position, and a rotation: the chord 2 sin(angle/2) is the angle as long as it is small."""
        self.add("position", pose["position_m"])
        self.add("angle", (_matrix(pose["quat_xyzw"]) / math.sqrt(2)).ravel().tolist())


def _matrix(quat_xyzw: Sequence[float]) -> Array:
    return quat_to_matrix(np.asarray(quat_xyzw, float))


def _layout(data: Data, into: Columns) -> None:
    for fixture in sorted(data["fixtures"], key=lambda one: one["name"]):
        into.equal.append(fixture["name"])
        into.add_pose(fixture["pose_to_world"])


def _motion(data: Data, into: Columns) -> None:
    into.equal.append(len(data["robot_start_rad"]))
    into.add_each("angle", data["robot_start_rad"])
    into.add("vibration", (data["vibration_amplitude_m"],))
    if data["vibration_amplitude_m"]:
        into.equal.append("shaken")
        into.add("frequency", (data["vibration_frequency_hz"],))
        into.add("angle", data["vibration_direction"])
    into.add("speed", (data["belt_speed_m_s"],))


def _lights(data: Data, into: Columns) -> None:
    for light in sorted(data["lights"], key=lambda one: one["name"]):
        into.equal.append((light["kind"], light["name"]))
        into.add_factor("light", [light["illuminance_lux" if light["kind"] == "distant" else "luminance_nit"]])
        into.add("temperature", (light["temperature_k"],))
        match light["kind"]:
            case "distant":
                into.add("angle", (light["angle_rad"],))
                into.add("angle", _matrix(light["quat_xyzw"])[:, 2].tolist())
            case "rect":
                into.add_factor("size", light["size_m"])
                into.add_pose(light["pose_to_world"])
            case "sphere":
                into.add_factor("size", [light["radius_m"]])
                into.add("position", light["position_m"])
    for card in sorted(data["shadow_casters"], key=lambda one: one["name"]):
        into.equal.append(card["name"])
        into.add_factor("size", card["size_m"])
        into.add_pose(card["pose_to_world"])


def _cameras(data: Data, into: Columns) -> None:
    for camera in sorted(data["cameras"], key=lambda one: one["name"]):
        into.equal.append((camera["name"], camera["width_px"], camera["height_px"]))
        into.add_pose(camera["pose_to_world"])
        into.add_each("pixel", (*camera["focal_px"], *camera["principal_px"]))
        into.add_each("distortion", camera["distortion"])


def _sensor(data: Data, into: Columns) -> None:
    for sensor in sorted(data["sensors"], key=lambda one: one["camera"]):
        into.equal.append(sensor["camera"])
        into.add("exposure", (sensor["exposure_ev"],))
        into.add("temperature", (sensor["white_balance_k"],))
        into.add("blur", (sensor["blur_px"],))
        into.add("noise", (sensor["snr_db"],))
        into.add_each("cover", (sensor.get("veil_share", 0.0), sensor.get("vignetting", 0.0)))
        length, angle = sensor.get("motion_px", 0.0), sensor.get("motion_rad", 0.0)
        # A blur along one direction is the same along the opposite one: twice the angle tells which.
        into.add("blur", (length * math.cos(2 * angle), length * math.sin(2 * angle)))


def _task(data: Data, into: Columns) -> None:
    into.equal.append((data["instruction"], data["language"], sorted((r["match"], r["bin"]) for r in data["rules"])))


def _matter_of(item: Data, into: Columns) -> None:
    into.add_factor("mass", [item["mass_kg"]])
    into.add("center", item["center_of_mass_m"])
    diagonal, axes = np.asarray(item["diagonal_inertia_kg_m2"]), _matrix(item["principal_axes_xyzw"])
    into.add("inertia", (axes @ np.diag(diagonal / diagonal.sum()) @ axes.T).ravel().tolist())
    into.add_factor("friction", [item["friction"]])


def _pose_of(item: Data, into: Columns) -> None:
    into.add_pose(item["pose_to_world"])


def _look_of(surface: Data, into: Columns) -> None:
    into.add("color", surface["look"]["color"])
    into.add_each("finish", (surface["look"]["metallic"], surface["look"]["roughness"]))
    stain, pattern = surface.get("stain", _CLEAN), surface.get("pattern", _PLAIN)
    into.add("color", stain["color"])
    into.add_each("finish", (stain["metallic"], stain["roughness"]))
    into.add("cover", (stain["share"],))
    into.add_each("position", (stain["patch_m"], *(shift * stain["patch_m"] for shift in stain["phase"])))
    into.equal.append(pattern["kind"])
    into.add("color", pattern["color"])
    into.add("position", (pattern["size_m"],))
    into.add("angle", (pattern["angle_rad"],))


_CLEAN = {"color": (0.0,) * 3, "metallic": 0.0, "roughness": 0.0, "share": 0.0, "patch_m": 0.0, "phase": (0.0,) * 3}
_PLAIN = {"kind": "", "color": (0.0,) * 3, "size_m": 0.0, "angle_rad": 0.0}
"""Numbers of a stain and of a pattern that are not there: surfaces of one part need equally many."""


RIGID: dict[Facet, Callable[[Data, Columns], None]] = {
    Facet.LAYOUT: _layout,
    Facet.MOTION: _motion,
    Facet.LIGHTS: _lights,
    Facet.CAMERAS: _cameras,
    Facet.SENSOR: _sensor,
    Facet.TASK: _task,
}
"""What of a facet is not a matter of items."""


ITEMS: dict[Facet, tuple[str, str, Callable[[Data, Columns], None]]] = {
    Facet.LAYOUT: ("items", "name", _pose_of),
    Facet.MATTER: ("items", "name", _matter_of),
    Facet.SURFACES: ("surfaces", "subject", _look_of),
}
"""Facets that say something of each item: their list, by what its entries are named, and how they are read."""


@dataclass(frozen=True)
class Features:
    """A scene, or some facets of it, as numbers in units of the scales."""

    key: str
    """Scenes with different keys are not near; equal keys mean equal columns."""
    blocks: tuple[Block, ...]
    values: Array
    items: Mapping[str, tuple[tuple[Block, ...], Array]]
    """Part -> blocks and numbers of its items, shape [items, columns]."""

    def bounds(self) -> Array:
        """Return numbers that differ between two scenes by no more than the scenes' distance, shape [columns].

        Sorted column by column the items of a part need no matching.
        """
        return np.concatenate([self.values, *(np.sort(array, axis=0).ravel() for _, array in self.items.values())])


@dataclass(frozen=True)
class FacetNumbers:
    """One facet as numbers: of the whole, and of what has a name."""

    facet: Facet
    whole: Columns
    named: Mapping[str, Columns]
    parts: Mapping[str, str]
    """Item -> part, as a layout says."""


def facet_numbers(facet: Facet, data: Data, scales: Mapping[str, Scale]) -> FacetNumbers:
    """Turn a facet's plain data into numbers."""
    whole, named = Columns(scales), {}
    if facet in RIGID:
        RIGID[facet](data, whole)
    if facet in ITEMS:
        entries, name, read = ITEMS[facet]
        for entry in data[entries]:
            read(entry, named.setdefault(entry[name], Columns(scales)))
    parts = {item["name"]: item["part"] for item in data["items"]} if facet is Facet.LAYOUT else {}
    return FacetNumbers(facet, whole, named, parts)


def features_of(facets: Sequence[FacetNumbers]) -> Features:
    """Put the numbers of a scene's facets together; facets that are left out are not compared."""
    slots = {name for one in facets if one.facet is not Facet.SURFACES for name in one.named}
    parts = {name: part for one in facets for name, part in one.parts.items()}
    whole, items = Columns({}), {name: Columns({}) for name in sorted(slots)}
    for one in facets:
        whole.extend(one.whole)
        for name, columns in sorted(one.named.items()):
            if name in slots:
                items[name].extend(columns)
            else:
                whole.equal.append(name)
                whole.extend(columns)
    by_part: dict[str, list[Columns]] = {}
    for name, columns in items.items():
        by_part.setdefault(parts.get(name, name.rpartition("_")[0]), []).append(columns)
    shapes = [(part, [len(columns.values) for columns in some]) for part, some in sorted(by_part.items())]
    key = repr(([one.facet.value for one in facets], whole.equal, shapes))
    arrays = {
        part: (tuple(some[0].blocks), np.array([columns.values for columns in some]))
        for part, some in sorted(by_part.items())
    }
    return Features(key, tuple(whole.blocks), np.array(whole.values), arrays)


def distance(a: Features, b: Features) -> dict[str, float] | None:
    """Return how far two scenes are apart along each quantity, in its scale; None where they cannot be compared.

    The greatest of the values is the distance of the scenes.
    """
    if a.key != b.key:
        return None
    apart: dict[str, float] = {}
    _widen(apart, a.blocks, np.abs(a.values - b.values)[None])
    for part, (blocks, mine) in a.items.items():
        differences = np.abs(mine[:, None] - b.items[part][1][None])
        rows, columns = _matched(_greatest(blocks, differences))
        _widen(apart, blocks, differences[rows, columns])
    return apart


def _greatest(blocks: Iterable[Block], differences: Array) -> Array:
    """Return the greatest distance along any quantity, over the last axis."""
    return np.max([np.linalg.norm(differences[..., start:stop], axis=-1) for _, start, stop in blocks], axis=0)


def _widen(apart: dict[str, float], blocks: Iterable[Block], differences: Array) -> None:
    for quantity, start, stop in blocks:
        found = float(np.linalg.norm(differences[..., start:stop], axis=-1).max(initial=0.0))
        apart[quantity] = max(apart.get(quantity, 0.0), found)


def _matched(cost: Array) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Match rows and columns so that the greatest cost is least (bottleneck assignment), and then the sum."""
    steps = np.unique(cost)
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        barred = cost > steps[middle]
        rows, columns = linear_sum_assignment(barred)
        if barred[rows, columns].any():
            low = middle + 1
        else:
            high = middle
    return linear_sum_assignment(np.where(cost > steps[low], cost.sum() + 1.0, cost))
