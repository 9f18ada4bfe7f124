"""Scenarios as USD text: a cell layer, a layer for each layout, and one small layer a scenario of what differs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property

from scenegen.cell import Cell
from scenegen.errors import InvalidRecord
from scenegen.facet import SPEC_VERSION
from scenegen.nominal import nominal_motion
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Facet, Scenario
from scenegen.usd.camera_prims import camera_prim
from scenegen.usd.cell_prims import (
    cell_world,
    fixture_looks,
    motion_attributes,
    nominal_camera_prims,
    rule_attributes,
    task_attributes,
)
from scenegen.usd.files import asset_path, cell_path, layout_path, scene_path
from scenegen.usd.grammar import Shape, shapes_of
from scenegen.usd.item_prims import ItemWriter
from scenegen.usd.light_prims import card_prim, light_prim
from scenegen.usd.prim import LayerTree, Prim, differing, over
from scenegen.usd.shared_prims import SHADER, look_attributes, surface_attributes
from scenegen.usd.text import close_text, header_text, layer_text, open_text, prim_text

__all__ = ["SceneWriter", "asset_path", "cell_path", "layout_path", "scene_path"]

FRAGMENTS = 512
"""How many pieces of text are remembered."""
_WORLD = Prim("World", "Xform", kind="assembly")
_OVER_WORLD = over("World")


@dataclass(frozen=True)
class Fragment:
    """Some prims below `/World`, as data, as text and as shapes."""

    prims: tuple[Prim, ...]
    text: str

    @cached_property
    def shapes(self) -> frozenset[Shape]:
        """The shapes that the prims are made of."""
        return shapes_of(self.prims, above=(_WORLD.name,))


class SceneWriter:
    """Writes the layers of one cell's scenarios; equal scenarios give equal bytes.

    A scene layer holds only what differs from the cell's nominal values, facet by facet. The text of a facet is
    remembered by its content id, so that a variant costs what its own facet costs.

    Example:
        >>> writer = SceneWriter(cell, parts)  # doctest: +SKIP
        >>> writer.scene_layer(scenario).startswith("#usda 1.0")  # doctest: +SKIP
        True
    """

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self.cell = cell
        self.parts = parts
        self._items = ItemWriter(cell, parts)
        self._fragments: dict[Hashable, Fragment] = {}
        self._layout: tuple[str, LayerTree] | None = None
        """The last layout's key and tree: a layout is looked at by more than one reader before the next one."""
        self._scene: tuple[Scenario, tuple[Fragment, ...]] | None = None
        """The last scenario and what its layer holds, for the same reason."""
        self._lights = {light.name: light_prim(light) for light in cell.lights}
        self._cameras = {prim.name: prim for prim in nominal_camera_prims(cell)}
        self._motion = motion_attributes(nominal_motion(cell))
        self._rules = rule_attributes(cell.rules)
        self._looks = {name: look_attributes(look) for name, look in fixture_looks(cell).items()}

    def cell_layer(self) -> str:
        """Write the layer that all scenes of the cell share."""
        return layer_text(self.cell_tree())

    def layout_layer(self, scenario: Scenario) -> str:
        """Write the items and fixture poses of a scenario's layout.

        Raises:
            InvalidRecord: The scenario does not belong to this cell and these parts, or contradicts itself.
        """
        return layer_text(self.layout_tree(scenario))

    def scene_layer(self, scenario: Scenario) -> str:
        """Write the layer of one scenario.

        Raises:
            InvalidRecord: The scenario does not belong to this cell and these parts, or contradicts itself.
        """
        body = "".join(fragment.text for fragment in self.fragments(scenario))
        head = header_text(self._scene_frame(scenario, ()))
        return f"{head}\n{open_text(_OVER_WORLD, 0)}{body}{close_text(0)}"

    def cell_tree(self) -> LayerTree:
        """Lay out the cell layer."""
        return LayerTree("World", (_WORLD._replace(children=cell_world(self.cell)),))

    def layout_tree(self, scenario: Scenario) -> LayerTree:
        """Lay out the layer of a scenario's layout."""
        self._require_cell(scenario)
        key = scenario.key(Facet.LAYOUT)
        if self._layout is None or self._layout[0] != key:
            self._layout = (key, LayerTree("World", (_WORLD._replace(children=self._items.layout(scenario)),)))
        return self._layout[1]

    def scene_tree(self, scenario: Scenario) -> LayerTree:
        """Lay out the layer of one scenario."""
        prims = tuple(prim for fragment in self.fragments(scenario) for prim in fragment.prims)
        return self._scene_frame(scenario, (over("World", children=prims),))

    def _scene_frame(self, scenario: Scenario, prims: tuple[Prim, ...]) -> LayerTree:
        self._require_cell(scenario)
        facts = (("cellId", scenario.cell_id), ("scenarioId", scenario.id), ("specVersion", SPEC_VERSION))
        layers = (f"../../{layout_path(scenario.key(Facet.LAYOUT))}", f"../../{cell_path(scenario.cell_id)}")
        return LayerTree("World", prims, layers, facts)

    def _require_cell(self, scenario: Scenario) -> None:
        if scenario.cell_id != self.cell.content_id:
            raise InvalidRecord(
                "scenario", [f"cell_id: {scenario.cell_id} - accepted: {self.cell.content_id} ({self.cell.name})"]
            )

    def fragments(self, scenario: Scenario) -> tuple[Fragment, ...]:
        """Return what the layer of a scenario holds below `/World`, facet by facet."""
        self._require_cell(scenario)
        if self._scene is None or self._scene[0] is not scenario:
            self._scene = (scenario, self._fragments_of(scenario))
        return self._scene[1]

    def _fragments_of(self, scenario: Scenario) -> tuple[Fragment, ...]:
        layout, matter, surfaces = scenario.layout, scenario.matter, scenario.surfaces
        subjects = (layout.content_id, matter.content_id, surfaces.content_id)
        cameras = (scenario.cameras.content_id, scenario.sensor.content_id)
        return (
            self._fragment(("items", *subjects), lambda: self._items.overrides(scenario)),
            self._fragment(("lights", scenario.lights.content_id), lambda: self._light_prims(scenario)),
            self._fragment(("cameras", *cameras), lambda: self._camera_prims(scenario)),
            self._fragment(("looks", surfaces.content_id), lambda: self._look_prims(scenario)),
            self._fragment(("motion", scenario.motion.content_id), lambda: self._motion_prims(scenario)),
            self._fragment(("task", scenario.task.content_id), lambda: self._task_prims(scenario)),
        )

    def _fragment(self, key: Hashable, build: Callable[[], tuple[Prim, ...]]) -> Fragment:
        found = self._fragments.get(key)
        if found is None:
            prims = build()
            found = Fragment(prims, "".join(prim_text(prim, 1) for prim in prims))
            if len(self._fragments) >= FRAGMENTS:
                self._fragments.pop(next(iter(self._fragments)))
            self._fragments[key] = found
        return found

    def _light_prims(self, scenario: Scenario) -> tuple[Prim, ...]:
        lights, casters = scenario.lights.lights, scenario.lights.shadow_casters
        _require_unique("lights", [one.name for one in lights])
        _require_unique("shadow_casters", [one.name for one in casters])
        prims = _named_overrides("Lights", self._lights, tuple(light_prim(light) for light in lights))
        if casters:
            prims += (Prim("ShadowCasters", "Xform", kind="group", children=tuple(card_prim(c) for c in casters)),)
        return prims

    def _camera_prims(self, scenario: Scenario) -> tuple[Prim, ...]:
        cameras = scenario.cameras.cameras
        sensors = {sensor.camera: sensor for sensor in scenario.sensor.sensors}
        names = [camera.name for camera in cameras]
        _require_unique("cameras", names)
        if [sensor.camera for sensor in scenario.sensor.sensors] != names:
            raise InvalidRecord("scenario", [f"sensor: {list(sensors)} - accepted: one a camera, in order: {names}"])
        return _named_overrides("Cameras", self._cameras, tuple(camera_prim(c, sensors[c.name]) for c in cameras))

    def _look_prims(self, scenario: Scenario) -> tuple[Prim, ...]:
        materials = []
        for surface in scenario.surfaces.surfaces:
            nominal = self._looks.get(surface.subject)
            if nominal is not None and (changed := differing(surface_attributes(surface), nominal)):
                materials.append(over(surface.subject, children=(over(SHADER, attributes=changed),)))
        return (over("Looks", children=tuple(materials)),) if materials else ()

    def _motion_prims(self, scenario: Scenario) -> tuple[Prim, ...]:
        changed = differing(motion_attributes(scenario.motion), self._motion)
        return (over("Motion", attributes=changed),) if changed else ()

    def _task_prims(self, scenario: Scenario) -> tuple[Prim, ...]:
        return (over("Task", attributes=differing(task_attributes(scenario.task), self._rules)),)


def _require_unique(field: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InvalidRecord("scenario", [f"{field}: name {name!r} is used twice - accepted: unique names"])


def _named_overrides(group: str, nominal: dict[str, Prim], actual: tuple[Prim, ...]) -> tuple[Prim, ...]:
    """Turn the nominal children of a group into the actual ones: sparse overrides, additions, removals, order."""
    children, added = [], []
    for prim in actual:
        known = nominal.get(prim.name)
        if known is None:
            added.append(prim.name)
            children.append(prim)
        elif known.type != prim.type:
            children.append(prim)
        elif changed := differing(prim.attributes, known.attributes):
            children.append(over(prim.name, attributes=changed))
    names = [prim.name for prim in actual]
    removed = [name for name in nominal if name not in names]
    children += [Prim(name, specifier="over", active=False) for name in removed]
    natural = [name for name in nominal if name in names] + added
    order = tuple(names) if names != natural else ()
    if not children and not order:
        return ()
    return (Prim(group, specifier="over", children=tuple(children), child_order=order),)
