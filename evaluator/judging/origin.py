"""What an episode is grouped by: its base, and the axis and level that its scene was made by."""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.judging.episode import Episode
from scenegen.errors import UnknownName
from scenegen.provenance import Provenance

Origins = Mapping[str, Provenance]
"""Where scenarios came from, by scenario id."""


def origin_of(episode: Episode, origins: Origins) -> Provenance:
    """Return where an episode's scenario came from.

    Raises:
        UnknownName: Nothing is known of the scenario.
    """
    try:
        return origins[episode.key.scenario_id]
    except KeyError:
        raise UnknownName("scenario", episode.key.scenario_id, origins) from None


def setting_of(origin: Provenance) -> tuple[str, int]:
    """Return axis and level as tables name them: `lighting+tilt` and the highest level; of a base, no axis, level 0."""
    axes = origin.axes
    return "+".join(setting.axis for setting in axes), max((setting.level for setting in axes), default=0)
