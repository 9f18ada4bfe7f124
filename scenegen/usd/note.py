"""What a scene's root layer notes about its origin, apart from the scene itself: a claim, never the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pxr import Sdf, Tf

from scenegen.errors import UnreadableStage

SCENEGEN = "scenegen"
CELL = "cell"
"""Under this name a package notes its cell's specification, for which it has no file."""


@dataclass(frozen=True)
class SceneNote:
    """The note of one root layer; what it does not say is None."""

    scenario_id: str | None = None
    cell_id: str | None = None
    cell: str | None = None
    """The cell's specification as JSON."""
    is_scene: bool = False
    """Whether scenegen wrote the layer as the root of a scene, or it has items of its own."""


def scene_note(path: Path) -> SceneNote:
    """Read the note of a root layer that passed the rules for untrusted input.

    Raises:
        UnreadableStage: The file cannot be parsed.
    """
    try:
        layer = Sdf.Layer.OpenAsAnonymous(str(path))
    except Tf.ErrorException as error:
        raise UnreadableStage(str(path), "/", "not a USD file") from error
    facts = layer.customLayerData.get(SCENEGEN, {})
    said = dict(facts) if hasattr(facts, "keys") else {}
    texts = {name: value for name, value in said.items() if isinstance(value, str)}
    has_items = layer.GetPrimAtPath("/World/Items") is not None
    return SceneNote(
        scenario_id=texts.get("scenarioId"),
        cell_id=texts.get("cellId"),
        cell=texts.get(CELL),
        is_scene="scenarioId" in texts or has_items,
    )
