"""Layers as `.usda` text, without OpenUSD: numbers by their shortest decimal, strings escaped.

`sdf.author` is the reference: parsed, this text equals the layer that Sdf authors from the same tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from scenegen.usd.prim import Attribute, LayerTree, Prim, Relationship

INDENT = "    "
_UNSAFE = re.compile(r'[\\"\x00-\x1f\x7f]')
_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def layer_text(layer: LayerTree) -> str:
    """Write a layer."""
    return header_text(layer) + "".join(f"\n{prim_text(prim, 0)}" for prim in layer.prims)


def header_text(layer: LayerTree) -> str:
    """Write the magic line and the layer's metadata."""
    lines = ["#usda 1.0", "("]
    if layer.facts:
        lines += ["    customLayerData = {", "        dictionary scenegen = {"]
        lines += [f"            {_fact(name, value)}" for name, value in layer.facts]
        lines += ["        }", "    }"]
    lines += [f"    defaultPrim = {quoted(layer.default_prim)}", "    kilogramsPerUnit = 1", "    metersPerUnit = 1"]
    if layer.sub_layers:
        lines += ["    subLayers = [", ",\n".join(f"        @{path}@" for path in layer.sub_layers), "    ]"]
    lines += ['    upAxis = "Z"', ")", ""]
    return "\n".join(lines)


def prim_text(prim: Prim, depth: int) -> str:
    """Write one prim and all below it, indented by `depth` levels."""
    parts: list[str] = []
    _write(prim, INDENT * depth, parts)
    return "".join(parts)


def open_text(prim: Prim, depth: int) -> str:
    """Write a prim up to its children; `close_text` ends it."""
    parts: list[str] = []
    _open(prim, INDENT * depth, parts)
    return "".join(parts)


def close_text(depth: int) -> str:
    """End a prim that `open_text` began."""
    return f"{INDENT * depth}}}\n"


def _write(prim: Prim, pad: str, parts: list[str]) -> None:
    _open(prim, pad, parts)
    inner = pad + INDENT
    for child in prim.children:
        _write(child, inner, parts)
    parts.append(f"{pad}}}\n")


def _open(prim: Prim, pad: str, parts: list[str]) -> None:
    head = f'{pad}{prim.specifier} {prim.type} "{prim.name}"' if prim.type else f'{pad}{prim.specifier} "{prim.name}"'
    metadata = _metadata(prim, pad) if prim.schemas or prim.kind or prim.references or not prim.active else ""
    parts.append(f"{head} (\n{metadata}{pad})\n{pad}{{\n" if metadata else f"{head}\n{pad}{{\n")
    inner = pad + INDENT
    if prim.child_order:
        parts.append(f"{inner}reorder nameChildren = [{', '.join(map(quoted, prim.child_order))}]\n")
    for attribute in prim.attributes:
        parts.append(_attribute(attribute, inner))
    for relationship in prim.relationships:
        parts.append(_relationship(relationship, inner))


def _metadata(prim: Prim, pad: str) -> str:
    lines = ""
    if not prim.active:
        lines += f"{pad}    active = false\n"
    if prim.schemas:
        lines += f"{pad}    prepend apiSchemas = [{', '.join(map(quoted, prim.schemas))}]\n"
    if prim.kind:
        lines += f"{pad}    kind = {quoted(prim.kind)}\n"
    if prim.references:
        paths = ", ".join(f"@{path}@" for path in prim.references)
        lines += f"{pad}    prepend references = {paths if len(prim.references) == 1 else f'[{paths}]'}\n"
    return lines


def _attribute(attribute: Attribute, pad: str) -> str:
    name, kind, value, uniform, interpolation, source = attribute
    if uniform:
        return _uniform(attribute, pad)
    if value is None or interpolation or source:
        return _with_metadata(attribute, pad)
    shown = (_WRITERS.get(kind) or _writer(kind))(value)
    custom = "custom " if name[:9] == "scenegen:" else ""
    return f"{pad}{custom}{kind} {name} = {shown}\n"


@lru_cache(maxsize=1024)
def _uniform(attribute: Attribute, pad: str) -> str:
    """Write an attribute that cannot vary over time; the same few occur in every scene."""
    return _with_metadata(attribute, pad)


def _with_metadata(attribute: Attribute, pad: str) -> str:
    name, kind, value, uniform, interpolation, source = attribute
    head = f"{pad}{'custom ' if attribute.custom else ''}{'uniform ' if uniform else ''}{kind} {name}"
    line = head if value is None else f"{head} = {_writer(kind)(value)}"
    if interpolation:
        line += f" (\n{pad}    interpolation = {quoted(interpolation)}\n{pad})"
    if source:
        connection = f"{head}.connect = <{source}>\n"
        return connection if line == head else f"{line}\n{connection}"
    return line + "\n"


def _relationship(relationship: Relationship, pad: str) -> str:
    targets = ", ".join(f"<{target}>" for target in relationship.targets)
    return f"{pad}rel {relationship.name} = {targets if len(relationship.targets) == 1 else f'[{targets}]'}\n"


def _writer(kind: str) -> Callable[[Any], str]:
    """Return what writes values of a type; numbers and vectors need nothing but their shortest decimals."""
    return _WRITERS.get(kind) or (_numbers if kind[-2:] == "[]" else repr)


def _numbers(values: Any) -> str:
    plain = values.tolist() if hasattr(values, "tolist") else list(values)
    return repr([tuple(row) for row in plain] if plain and isinstance(plain[0], list) else plain)


def _texts(values: Iterable[str]) -> str:
    return f"[{', '.join(map(quoted, values))}]"


def _fact(name: str, value: str | int) -> str:
    return f"string {name} = {quoted(value)}" if isinstance(value, str) else f"int {name} = {value}"


@lru_cache(maxsize=4096)
def quoted(text: str) -> str:
    """Quote a string so that the parser reads back exactly it."""
    return f'"{_UNSAFE.sub(_escape, text)}"' if _UNSAFE.search(text) else f'"{text}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _NAMED.get(character) or f"\\x{ord(character):02x}"


_WRITERS: dict[str, Callable[[Any], str]] = {
    "string": quoted,
    "token": quoted,
    "string[]": _texts,
    "token[]": _texts,
    "bool": lambda value: "1" if value else "0",
    "float": repr,
    "double3": repr,
    "quatf": repr,
}
