"""Where the USD files of a library stand, relative to its root."""

from __future__ import annotations

from scenegen.parts.part import Part

CELLS, ASSETS, LAYOUTS, SCENES = "cells", "assets", "layouts", "scenes"


def cell_path(cell_id: str) -> str:
    """Return the path of a cell's layer."""
    return f"{CELLS}/{cell_id}.usda"


def cell_record_path(cell_id: str) -> str:
    """Return the path of a cell's specification (canonical JSON), beside its layer."""
    return f"{CELLS}/{cell_id}.json"


def asset_path(part: Part) -> str:
    """Return the path of a part's asset file."""
    return f"{ASSETS}/{asset_name(part.id, part.content_id)}"


def asset_name(part_id: str, content: str) -> str:
    """Return the name of a part's asset file."""
    return f"{part_id}_{content}.usdc"


def layout_path(key: str) -> str:
    """Return the path of a layout's layer; `key` is `Scenario.key(Facet.LAYOUT)`."""
    return f"{LAYOUTS}/{key[:2]}/{key}.usda"


def scene_path(scenario_id: str) -> str:
    """Return the path of a scenario's layer."""
    return f"{SCENES}/{scenario_id[:2]}/{scenario_id}.usda"
