"""Items as USD prims: references to assets at their rest poses, and overrides of mass, friction and look."""

from __future__ import annotations

from scenegen.cell import Cell
from scenegen.errors import InvalidRecord
from scenegen.nominal import matter_of, nominal_fixtures
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.part import Part
from scenegen.scenario import Asset, Item, ItemMatter, Layout, Scenario, Surface, Surfaces
from scenegen.usd.cell_prims import fixture_looks
from scenegen.usd.files import asset_path
from scenegen.usd.part_prims import LOOKS
from scenegen.usd.prim import Attribute, Prim, differing, over
from scenegen.usd.shared_prims import (
    MATERIAL,
    SHADER,
    friction_attributes,
    look_attributes,
    mass_attributes,
    pose_attributes,
    surface_attributes,
)

FIXTURE_ORDER, MATTER_ORDER = "scenegen:fixtureOrder", "scenegen:matterOrder"
SURFACE_ORDER = "scenegen:surfaceOrder"


class ItemWriter:
    """Lays out `/World/Items` and the fixtures' poses for the scenarios of one cell."""

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._parts = parts
        self._fixtures = {one.name: one.pose_to_world for one in nominal_fixtures(cell)}
        self._subjects = tuple(fixture_looks(cell))

    def layout(self, scenario: Scenario) -> tuple[Prim, ...]:
        """Lay out what the layout layer holds below `/World`.

        Raises:
            InvalidRecord: Fixtures or assets are not those of the cell and of the parts.
        """
        layout = scenario.layout
        paths = self._asset_paths(scenario)
        fixtures = self._moved_fixtures(layout)
        items = Prim("Items", "Xform", kind="group", children=tuple(_item(i, paths[i.part]) for i in layout.items))
        return (fixtures, items) if fixtures is not None else (items,)

    def overrides(self, scenario: Scenario) -> tuple[Prim, ...]:
        """Lay out mass, friction and look of the items that differ from their parts.

        Raises:
            InvalidRecord: Matter or surfaces do not name each item exactly once.
        """
        items = scenario.layout.items
        matter = {one.name: one for one in scenario.matter.items}
        names = tuple(item.name for item in items)
        _require_same("matter", tuple(one.name for one in scenario.matter.items), names)
        surfaces = self._surfaces_of(scenario.surfaces, names)
        children = []
        for item in items:
            part = self._parts[item.part]
            prim = self._override(item, part, matter[item.name], surfaces[item.name])
            if prim is not None:
                children.append(prim)
        attributes = ()
        if tuple(matter) != names:
            attributes += (Attribute(MATTER_ORDER, "token[]", tuple(matter)),)
        if tuple(surfaces) != (*self._subjects, *names):
            attributes += (Attribute(SURFACE_ORDER, "token[]", tuple(surfaces)),)
        return (over("Items", attributes=attributes, children=tuple(children)),) if children or attributes else ()

    def _asset_paths(self, scenario: Scenario) -> dict[str, str]:
        used = tuple(sorted({item.part for item in scenario.layout.items}))
        assets = tuple(Asset(part=name, content=self._parts[name].content_id) for name in used)
        if scenario.assets != assets:
            shown = ", ".join(f"{asset.part} {asset.content}" for asset in assets)
            raise InvalidRecord("scenario", [f"assets: accepted: the parts of the layout by name, once each: {shown}"])
        return {name: f"../../{asset_path(self._parts[name])}" for name in used}

    def _moved_fixtures(self, layout: Layout) -> Prim | None:
        names = tuple(one.name for one in layout.fixtures)
        _require_same("layout.fixtures", names, tuple(self._fixtures))
        moved = tuple(
            over(one.name, attributes=pose_attributes(one.pose_to_world)[:2])
            for one in layout.fixtures
            if one.pose_to_world != self._fixtures[one.name]
        )
        order = () if names == tuple(self._fixtures) else (Attribute(FIXTURE_ORDER, "token[]", names),)
        return over("Fixtures", attributes=order, children=moved) if moved or order else None

    def _surfaces_of(self, surfaces: Surfaces, names: tuple[str, ...]) -> dict[str, Surface]:
        subjects = tuple(surface.subject for surface in surfaces.surfaces)
        _require_same("surfaces", subjects, (*self._subjects, *names))
        return {surface.subject: surface for surface in surfaces.surfaces}

    def _override(self, item: Item, part: Part, matter: ItemMatter, surface: Surface) -> Prim | None:
        nominal = matter_of(part, name=item.name)
        mass = () if _same_mass(matter, nominal) else differing(mass_attributes(matter), mass_attributes(nominal))
        friction = () if matter.friction == nominal.friction else friction_attributes(matter.friction)
        inputs = (
            () if _is_nominal(surface, part) else differing(surface_attributes(surface), look_attributes(part.look))
        )
        if not (mass or friction or inputs):
            return None
        shader = (over(SHADER, attributes=inputs),) if inputs else ()
        looks = (over(MATERIAL, attributes=friction, children=shader),) if friction or shader else ()
        return over(item.name, attributes=mass, children=(over(LOOKS, children=looks),) if looks else ())


def _is_nominal(surface: Surface, part: Part) -> bool:
    """True if a surface is certainly its part's own; a quick look."""
    return surface.look is part.look and surface.stain is None and surface.pattern is None


def _same_mass(a: ItemMatter, b: ItemMatter) -> bool:
    return (
        a.mass_kg == b.mass_kg
        and a.center_of_mass_m == b.center_of_mass_m
        and a.diagonal_inertia_kg_m2 == b.diagonal_inertia_kg_m2
        and a.principal_axes_xyzw == b.principal_axes_xyzw
    )


def _item(item: Item, path: str) -> Prim:
    return Prim(
        item.name,
        "Xform",
        references=(path,),
        attributes=(
            Attribute("scenegen:zone", "token", item.zone),
            Attribute("scenegen:cause", "token", item.cause.value),
            *pose_attributes(item.pose_to_world),
        ),
    )


def _require_same(field: str, names: tuple[str, ...], expected: tuple[str, ...]) -> None:
    if sorted(names) != sorted(expected):
        raise InvalidRecord("scenario", [f"{field}: {list(names)} - accepted: each of {list(expected)} once"])
