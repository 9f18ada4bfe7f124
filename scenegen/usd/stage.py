"""Open USD files and take values out of prims, with a sentence for everything that is not as it should be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import newton_usd_schemas  # noqa: F401  (registers its schemas; must come before any use of pxr)
import numpy as np
from pxr import Sdf, Tf, Usd, UsdUtils

from scenegen.errors import InvalidRecord, UnreadableStage
from scenegen.geometry import Array

_ALL = Usd.PrimIsActive & Usd.PrimIsDefined & ~Usd.PrimIsAbstract


def open_stage(path: Path) -> Usd.Stage:
    """Open a file and all that it composes.

    Raises:
        UnreadableStage: The file does not exist, cannot be parsed, or names what cannot be found.
    """
    if not path.is_file():
        raise UnreadableStage(str(path), "/", "no such file")
    with quietly():
        try:
            stage = Usd.Stage.Open(str(path))
        except Tf.ErrorException as error:
            raise UnreadableStage(str(path), "/", f"not a USD file ({_first_line(error)})") from error
    problems = stage.GetCompositionErrors()
    if problems:
        raise UnreadableStage(str(path), str(problems[0].rootSite.path), " ".join(str(problems[0]).split()))
    for layer in stage.GetUsedLayers():
        if layer.ListAllTimeSamples():
            raise UnreadableStage(str(path), "/", f"{layer.identifier} is animated - accepted: one value an attribute")
    return stage


def load_layer(path: Path) -> Sdf.Layer:
    """Read one self-contained file afresh, whatever other stages hold of it.

    Raises:
        UnreadableStage: The file does not exist or cannot be parsed.
    """
    if not path.is_file():
        raise UnreadableStage(str(path), "/", "no such file")
    try:
        return Sdf.Layer.OpenAsAnonymous(str(path))
    except Tf.ErrorException as error:
        raise UnreadableStage(str(path), "/", f"not a USD file ({_first_line(error)})") from error


@contextmanager
def quietly() -> Iterator[None]:
    """Keep OpenUSD's warnings off the terminal: composition errors are raised instead."""
    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield
    finally:
        delegate.TakeUncoalescedDiagnostics()


def _first_line(error: Tf.ErrorException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


@dataclass(frozen=True)
class PrimView:
    """One prim of one file; its getters either return a plain value or raise `UnreadableStage`."""

    file: str
    prim: Usd.Prim

    @property
    def name(self) -> str:
        """The prim's name."""
        return self.prim.GetName()

    @property
    def path(self) -> str:
        """The prim's path."""
        return str(self.prim.GetPath())

    def fail(self, reason: str) -> UnreadableStage:
        """Build the error that names this file and prim."""
        return UnreadableStage(self.file, self.path, reason)

    @contextmanager
    def building(self) -> Iterator[None]:
        """Turn a record's complaints about what was read from this prim into an error that names it."""
        try:
            yield
        except InvalidRecord as error:
            raise self.fail("; ".join(error.sentences)) from error

    def child(self, name: str) -> PrimView:
        """Return a child that must exist."""
        prim = self.prim.GetChild(name)
        if not prim or not prim.IsActive() or not prim.IsDefined():
            raise UnreadableStage(self.file, f"{self.path.rstrip('/')}/{name}", "no such prim - it is required")
        return PrimView(self.file, prim)

    def find(self, name: str) -> PrimView | None:
        """Return a child, if it exists."""
        prim = self.prim.GetChild(name)
        return PrimView(self.file, prim) if prim and prim.IsActive() and prim.IsDefined() else None

    def children(self) -> list[PrimView]:
        """Return all active children, in order."""
        return [PrimView(self.file, prim) for prim in self.prim.GetFilteredChildren(_ALL)]

    def first(self) -> PrimView | None:
        """Return the first active child, if there is one."""
        prim = next(iter(self.prim.GetFilteredChildren(_ALL)), None)
        return PrimView(self.file, prim) if prim else None

    def has(self, name: str) -> bool:
        """True if the attribute has a value of its own (a schema's fallback does not count)."""
        attribute = self.prim.GetAttribute(name)
        return bool(attribute) and attribute.HasAuthoredValue()

    def value(self, name: str) -> Any:
        """Return an attribute's value as it is; a schema's fallback counts.

        Raises:
            UnreadableStage: There is none.
        """
        attribute = self.prim.GetAttribute(name)
        found = attribute.Get() if attribute else None
        if found is None:
            raise self.fail(f"{name} has no value - it is required")
        return found

    def number(self, name: str) -> float:
        """Return a finite number."""
        found = self.value(name)
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise self.fail(f"{name} holds {found!r} - accepted: a number")
        if not math.isfinite(found):
            raise self.fail(f"{name} is {found} - accepted: a finite number")
        return float(found)

    def vector(self, name: str, size: int) -> tuple[float, ...]:
        """Return a vector of finite numbers."""
        return self._finite(name, self.value(name), size)

    def quat_xyzw(self, name: str) -> tuple[float, ...]:
        """Return a quaternion, x first."""
        found = self.value(name)
        if not hasattr(found, "GetImaginary"):
            raise self.fail(f"{name} holds {found!r} - accepted: a quaternion")
        return self._finite(name, [*found.GetImaginary()[:], found.GetReal()], 4)

    def array(self, name: str, *shape: int) -> Array:
        """Return a finite array of shape [n, *shape]."""
        found = np.asarray(self.value(name))
        if found.size == 0:
            return np.empty((0, *shape))
        if found.dtype.kind not in "fiu" or found.shape[1:] != shape:
            kind = self.prim.GetAttribute(name).GetTypeName()
            raise self.fail(f"{name} holds {kind} - accepted: an array of {'numbers' if not shape else 'vectors'}")
        if not np.isfinite(found).all():
            raise self.fail(f"{name} holds a number that is not finite - accepted: finite numbers")
        return found.astype(np.float64)

    def numbers(self, name: str) -> tuple[float, ...]:
        """Return an array of finite numbers as a tuple."""
        return tuple(self.array(name).tolist())

    def text(self, name: str) -> str:
        """Return a string or token."""
        found = self.value(name)
        if not isinstance(found, str):
            raise self.fail(f"{name} holds {found!r} - accepted: a string")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """Return an array of strings or tokens."""
        found = self.value(name)
        if isinstance(found, str) or not all(isinstance(one, str) for one in found):
            raise self.fail(f"{name} holds {found!r} - accepted: an array of strings")
        return tuple(found)

    def _finite(self, name: str, found: Any, size: int) -> tuple[float, ...]:
        try:
            numbers = tuple(map(float, found[:]))  # a slice of a `Gf` vector is ten times faster than its iterator
        except (TypeError, ValueError):
            numbers = ()
        if len(numbers) != size:
            raise self.fail(f"{name} holds {found!r} - accepted: {size} numbers")
        if not all(map(math.isfinite, numbers)):
            raise self.fail(f"{name} is {numbers} - accepted: finite numbers")
        return numbers
