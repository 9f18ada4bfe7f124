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
    return _stacked(records)


def moved[T](record: T, convert: Callable[[Any], Any]) -> T:
    """Convert every numpy array or tensor of a record, for example to tensors on a device."""
    return _moved(record, convert)


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


def filled(sets: Sequence[LightSet], lights: int = 0, cards: int = 0) -> tuple[LightSet, ...]:
    """Give light sets of single scenes equally many lights and cards: dark lights, and cards that shade nothing.

    Args:
        sets: The sets.
        lights: How many lights each has at least; a filled-up one is named `dark`.
        cards: How many cards each has at least.
    """
    names = max((one.names for one in sets), key=len)
    names = (*names, *["dark"] * (lights - len(names)))
    cards = max(cards, *(len(one.cards) for one in sets))
    return tuple(
        replace(
            one,
            names=names,
            areas=(*one.areas, *[_DARK] * (len(names) - len(one.areas))),
            cards=(*one.cards, *[_AWAY] * (cards - len(one.cards))),
        )
        for one in sets
    )


def _vector(x: float, y: float, z: float) -> Vector:
    return np.full((1, 1), x, np.float32), np.full((1, 1), y, np.float32), np.full((1, 1), z, np.float32)


_DARK = AreaLight(_vector(0, 0, 1), _vector(0, 0.1, 0), _vector(0.1, 0, 0), _vector(0, 0, 0))
_AWAY = Card(_vector(0, 0, -FAR_BELOW_M), _vector(0.1, 0, 0), _vector(0, 0.1, 0))


def _stacked(records: Sequence[Any]) -> Any:
    first = records[0]
    alike = all(type(one) is type(first) for one in records)
    if alike and isinstance(first, np.ndarray):
        return np.concatenate(records)
    if alike and is_dataclass(first):
        return _with(first, lambda name: _stacked([getattr(one, name) for one in records]))
    if alike and isinstance(first, tuple) and len({len(one) for one in records}) == 1:
        return _like(first, [_stacked(parts) for parts in zip(*records, strict=True)])
    for one in records:
        if type(one) is not type(first) or (alike and one != first):
            kinds = " and ".join("an array" if isinstance(each, np.ndarray) else repr(each) for each in (first, one))
            raise ValueError(f"a batch of records that differ: {kinds} - accepted: equal ones")
    return first


def _moved(value: Any, convert: Callable[[Any], Any]) -> Any:
    if is_dataclass(value):
        return _with(value, lambda name: _moved(getattr(value, name), convert))
    if isinstance(value, tuple):
        return _like(value, [_moved(one, convert) for one in value])
    return convert(value) if hasattr(value, "dtype") else value


def _with(record: Any, part: Callable[[str], Any]) -> Any:
    """Return a record of the same kind with other parts by their names."""
    return replace(record, **{field.name: part(field.name) for field in fields(record)})


def _like(kind: Any, parts: list[Any]) -> Any:
    """Return parts as a tuple of the same kind, named or not."""
    return type(kind)(*parts) if hasattr(kind, "_fields") else tuple(parts)
