"""Where the USD files of a library stand, relative to its root."""

from __future__ import annotations

CELLS, ASSETS, LAYOUTS, SCENES = "cells", "assets", "layouts", "scenes"


def cell_file(cell_id: str) -> str:
    """Return the path of a cell's layer."""
    return f"{CELLS}/{cell_id}.usda"


def cell_record_file(cell_id: str) -> str:
    """Return the path of a cell's specification (canonical JSON), beside its layer."""
    return f"{CELLS}/{cell_id}.json"


def asset_file(part: str, content: str) -> str:
    """Return the path of a part's asset file."""
    return f"{ASSETS}/{part}_{content}.usdc"


def layout_file(key: str) -> str:
    """Return the path of a layout's layer; `key` is `Scenario.key(Facet.LAYOUT)`."""
    return f"{LAYOUTS}/{key[:2]}/{key}.usda"


def scene_file(scenario_id: str) -> str:
    """Return the path of a scenario's layer."""
    return f"{SCENES}/{scenario_id[:2]}/{scenario_id}.usda"
