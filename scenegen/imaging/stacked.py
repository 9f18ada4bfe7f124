"""From records of single scenes to one record of a batch, and from there to a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from scenegen.imaging.gbuffer import NOTHING, GBuffer, Vector
from scenegen.imaging.light_set import AreaLight, Card, LightSet

FAR_BELOW_M = 1e6
"""Where cards lie that shade nothing [m]: behind all that is lit, farther off than any light."""


def stacked[T](records: Sequence[T]) -> T:
    """Put the arrays of equal records below each other, along their first axis.

    Args:
        records: Records of imaging (`GBuffer`, `SurfaceSet`, `LightSet`, `ShadowMap` …), tuples of them, or arrays.

    Raises:
        ValueError: They differ in what is no array.
    """
    first: Any = records[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(records)  # pyright: ignore[reportCallIssue, reportArgumentType]
    if is_dataclass(first):
        return replace(
            first, **{field.name: stacked([getattr(one, field.name) for one in records]) for field in fields(first)}
        )
    if isinstance(first, tuple) and all(len(one) == len(first) for one in records):  # pyright: ignore
        return _like(first, [stacked(parts) for parts in zip(*records, strict=True)])  # pyright: ignore
    for one in records:
        if one != first:
            raise ValueError(f"a batch of records that differ: {first!r} and {one!r} - accepted: equal ones")
    return first


def moved[T](record: T, convert: Callable[[Any], Any]) -> T:
    """Convert every numpy array of a record, for example to tensors on a device."""
    value: Any = record
    if isinstance(value, np.ndarray):
        return convert(value)
    if is_dataclass(value):
        return replace(value, **{field.name: moved(getattr(value, field.name), convert) for field in fields(value)})
    if isinstance(value, tuple):
        return _like(value, [moved(one, convert) for one in value])
    return value


def renumbered(gbuffer: GBuffer, names: tuple[str, ...]) -> GBuffer:
    """Number the instances of a G-buffer by a longer list of names, numpy alone.

    Args:
        gbuffer: What pixels show.
        names: Names, its own among them.

    Raises:
        ValueError: One of its names is missing.
    """
    missing = [name for name in gbuffer.names if name not in names]
    if missing:
        raise ValueError(f"instance {missing[0]!r} is not among the names of the batch")
    places = np.array([*(names.index(name) for name in gbuffer.names), NOTHING], gbuffer.instance.dtype)
    alone = np.zeros((len(gbuffer.alone), len(names)), gbuffer.alone.dtype)
    alone[:, places[:-1]] = gbuffer.alone
    return replace(gbuffer, names=names, instance=places[gbuffer.instance], alone=alone)


def filled(sets: Sequence[LightSet]) -> tuple[LightSet, ...]:
    """Give light sets of single scenes equally many lights and cards: dark lights, and cards that shade nothing."""
    longest = max(sets, key=lambda one: len(one.areas))
    cards = max(len(one.cards) for one in sets)
    return tuple(
        replace(
            one,
            names=longest.names,
            areas=(*one.areas, *[_DARK] * (len(longest.areas) - len(one.areas))),
            cards=(*one.cards, *[_AWAY] * (cards - len(one.cards))),
        )
        for one in sets
    )


def _vector(x: float, y: float, z: float) -> Vector:
    return np.full((1, 1), x, np.float32), np.full((1, 1), y, np.float32), np.full((1, 1), z, np.float32)


_DARK = AreaLight(_vector(0, 0, 1), _vector(0, 0.1, 0), _vector(0.1, 0, 0), _vector(0, 0, 0))
_AWAY = Card(_vector(0, 0, -FAR_BELOW_M), _vector(0.1, 0, 0), _vector(0, 0.1, 0))


def _like(kind: Any, parts: list[Any]) -> Any:
    """Return parts as a tuple of the same kind, named or not."""
    return type(kind)(*parts) if hasattr(kind, "_fields") else tuple(parts)
