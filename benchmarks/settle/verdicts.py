"""What the settle benchmarks call accepted, and a file of scenes that is read with little more than pydantic."""

import base64
import gzip
import json
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenegen.cell import Cell
from scenegen.parts.catalogue import Catalogue
from scenegen.physics.settle import Settled
from scenegen.scenario import Layout, Matter


@dataclass(frozen=True)
class Scene:
    """One scene and what MuJoCo said of it."""

    cell: str
    group: str
    layout: Layout
    matter: Matter
    accepted: bool
    drift_m: float
    """Greatest drift of any item [m]."""


def accepted(settled: Settled, limits: Mapping[str, float]) -> bool:
    """Tell whether the check `settled` finds nothing."""
    measures = {
        "drift_m": max(settled.drift_m.values(), default=0.0),
        "rotation_rad": max(settled.rotation_rad.values(), default=0.0),
        "speed_m_s": settled.speed_m_s,
        "penetration_m": settled.penetration_m,
    }
    return settled.finite and all(value <= limits[name] for name, value in measures.items())


def write(
    path: Path, cells: Mapping[str, tuple[Cell, Catalogue]], limits: Mapping[str, float], scenes: Iterable[Scene]
) -> None:
    """Write cells, limits and scenes as JSON lines, compressed."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps({"limits": dict(limits)}) + "\n")
        for name, (cell, parts) in cells.items():
            packed = base64.b64encode(pickle.dumps((cell, parts))).decode()
            file.write(json.dumps({"cell": name, "packed": packed}) + "\n")
        for scene in scenes:
            facts: dict[str, Any] = {"of": scene.cell, "group": scene.group, "accepted": scene.accepted}
            facts |= {"drift_m": scene.drift_m, "layout": scene.layout.canonical_json()}
            file.write(json.dumps({**facts, "matter": scene.matter.canonical_json()}) + "\n")


def read(path: Path) -> tuple[dict[str, tuple[Cell, Catalogue]], dict[str, float], list[Scene]]:
    """Read what `write` wrote; the file is our own, it is unpickled."""
    cells: dict[str, tuple[Cell, Catalogue]] = {}
    limits: dict[str, float] = {}
    scenes = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            facts = json.loads(line)
            if "limits" in facts:
                limits = facts["limits"]
            elif "cell" in facts:
                cells[facts["cell"]] = pickle.loads(base64.b64decode(facts["packed"]))
            else:
                layout, matter = Layout.from_json(facts["layout"]), Matter.from_json(facts["matter"])
                scenes.append(Scene(facts["of"], facts["group"], layout, matter, facts["accepted"], facts["drift_m"]))
    return cells, limits, scenes
