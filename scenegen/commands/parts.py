"""`scenegen parts`: list, show, render and add parts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import typer
from PIL import Image
from rich.console import Console
from rich.table import Table

from scenegen.errors import InvalidOption, LibraryError
from scenegen.parts.builtin import builtin_ids
from scenegen.parts.folder import added_ids, part_from
from scenegen.parts.importer import UNITS, import_part
from scenegen.parts.material import STEEL
from scenegen.parts.part import Part
from scenegen.parts.render import contact_sheet, render_part
from scenegen.usd.part_file import write_part

app = typer.Typer(no_args_is_help=True, help="List, show, render and add parts.")

FOLDER = typer.Option(Path("parts"), "--folder", help="Folder of the parts that you have added.")
JSON = typer.Option(False, "--json", help="Print JSON.")
PIPE_WIDTH = 150
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")


@app.command("list")
def list_parts(folder: Path = FOLDER, as_json: bool = JSON) -> None:
    """List all parts: the built-in ones and those in your folder."""
    parts = [part_from(part_id, folder) for part_id in (*builtin_ids(), *added_ids(folder))]
    if as_json:
        typer.echo(json.dumps([_summary(part) for part in parts], indent=2))
        return
    table = Table()
    for title in ("id", "class", "standard", "mass g", "size mm", "look-alikes"):
        table.add_column(title, no_wrap=title in ("id", "size mm"), justify="right" if title == "mass g" else "left")
    for part in parts:
        mass, size = f"{part.mass.mass_kg * 1e3:.2f}", " x ".join(f"{v:.1f}" for v in _size_mm(part))
        table.add_row(part.id, part.label, part.standard, mass, size, ", ".join(part.look_alikes))
    _console().print(table)


@app.command()
def show(part_id: str = typer.Argument(..., metavar="ID"), folder: Path = FOLDER, as_json: bool = JSON) -> None:
    """Show one part: dimensions, mass, resting poses, grasps, colliders."""
    part = part_from(part_id, folder)
    if as_json:
        typer.echo(json.dumps(_details(part), indent=2))
        return
    console = _console()
    facts = Table(show_header=False, box=None)
    for name, value in _facts(part):
        facts.add_row(name, value)
    console.print(facts)
    table = Table("resting pose", "probability", "height mm", "rotation x, y, z, w")
    for index, pose in enumerate(part.stable_poses):
        quat = ", ".join(f"{v:.4f}" for v in pose.quat_xyzw)
        table.add_row(str(index), f"{pose.probability:.3f}", f"{pose.height_m * 1e3:.2f}", quat)
    console.print(table)


@app.command()
def render(
    part_ids: list[str] = typer.Argument(..., metavar="ID...", help="Parts, or `all`."),
    output: Path = typer.Option(Path("parts.png"), "-o", "--output", help="Picture to write."),
    size: int = typer.Option(240, min=32, max=2048, help="Width of one part's picture [px]."),
    folder: Path = FOLDER,
) -> None:
    """Render parts as they lie on a bench; several make a contact sheet."""
    ids = [*builtin_ids(), *added_ids(folder)] if part_ids == ["all"] else part_ids
    pictures, captions = [], []
    for part_id in ids:
        part = part_from(part_id, folder)
        pictures.append(render_part(part.mesh, part.look, quat_xyzw=part.stable_poses[0].quat_xyzw, size_px=size))
        captions.append(f"{part.id}  {max(_size_mm(part)):.0f} mm")
    picture = Image.fromarray(contact_sheet(pictures, captions))
    try:
        picture.save(output)
    except (OSError, ValueError) as error:
        raise InvalidOption("--output", output, f"a .png or .jpg file that can be written ({error})") from error
    typer.echo(f"wrote {output}")


@app.command()
def add(
    file: Path = typer.Argument(..., help="STL, OBJ, GLB, STEP or USD."),
    part_id: str | None = typer.Option(None, "--id", help="Name of the part; the file's name by default."),
    label: str | None = typer.Option(None, "--class", help="Semantic class; the id by default."),
    unit: str | None = typer.Option(None, help=f"Unit of the file: {', '.join(UNITS)}; m by default."),
    density: float = typer.Option(STEEL.density_kg_m3, min=1.0, max=30000.0, help="Density [kg/m3]."),
    friction: float = typer.Option(STEEL.friction, min=0.0, max=5.0, help="Sliding friction coefficient."),
    folder: Path = FOLDER,
) -> None:
    """Turn a model file into a part: check it, weigh it, find colliders, resting poses and grasps."""
    name = _checked_id(part_id or re.sub(r"\W+", "_", file.stem), label)
    if unit is not None and unit not in UNITS:
        raise InvalidOption("--unit", unit, ", ".join(UNITS))
    material = replace(STEEL, density_kg_m3=density, friction=friction)
    part = import_part(file, part_id=name, unit_m=UNITS.get(unit or ""), label=label, material=material)
    path = folder / f"{name}.usdc"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_part(part, path)
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        raise LibraryError(str(path), reason, "choose another --folder or free some space") from error
    if len(part.grasps.widths_m) == 0:
        typer.echo(f"warning: {name} has no grasp for a parallel gripper up to 120 mm wide", err=True)
    size = " x ".join(f"{v:.1f}" for v in _size_mm(part))
    facts = f"{size} mm, {part.mass.mass_kg * 1e3:.2f} g, {len(part.colliders)} colliders"
    typer.echo(f"wrote {path}: {facts}, {len(part.stable_poses)} resting poses, {len(part.grasps.widths_m)} grasps")


def _console() -> Console:
    """Write to a pipe as wide as the tables need it, to a terminal as wide as it is."""
    console = Console()
    return console if console.is_terminal else Console(width=PIPE_WIDTH)


def _checked_id(part_id: str, label: str | None) -> str:
    for option, value in (("--id", part_id), ("--class", label)):
        if value is not None and not NAME.fullmatch(value):
            raise InvalidOption(option, repr(value), "letters, digits and underscores, a letter first, at most 80")
    if part_id in builtin_ids():
        raise InvalidOption("--id", part_id, "a name that no built-in part has")
    return part_id


def _size_mm(part: Part) -> list[float]:
    return (np.ptp(part.mesh.vertices, axis=0) * 1e3).tolist()


def _facts(part: Part) -> list[tuple[str, str]]:
    mass, grasps = part.mass, part.grasps.widths_m * 1e3
    kinds = [collider.kind for collider in part.colliders]
    corners = sum(len(collider.vertices) for collider in part.colliders)
    scaled = [f"{name} {_shown(name, value)}" for name, value in part.dimensions.items()]
    return [
        ("part", part.id),
        ("class", part.label),
        ("standard", part.standard),
        ("dimensions", ", ".join(scaled)),
        ("mass", f"{mass.mass_kg * 1e3:.4g} g"),
        ("centre of mass", ", ".join(f"{v * 1e3:.4g}" for v in mass.center_of_mass_m) + " mm"),
        ("inertia", ", ".join(f"{v:.4g}" for v in mass.diagonal_inertia_kg_m2) + " kg m2, principal"),
        ("principal axes", ", ".join(f"{v:.4g}" for v in mass.principal_axes_xyzw) + " (x, y, z, w)"),
        ("mesh", f"{len(part.mesh.vertices)} vertices, {len(part.mesh.faces)} triangles"),
        ("colliders", f"{kinds.count('hull')} hulls, {kinds.count('box')} boxes, {corners} corners"),
        ("grasps", f"{len(grasps)}, {grasps.min():.1f} to {grasps.max():.1f} mm wide" if len(grasps) else "none"),
        ("friction", f"{part.friction:g}"),
        ("look-alikes", ", ".join(part.look_alikes) or "none"),
        ("content", part.content_id),
    ]


def _shown(name: str, value: float) -> str:
    if name.endswith("_count"):
        return f"{value:g}"
    if name.endswith("_deg"):
        return f"{value:g} deg"
    return ("left" if value < 0 else "right") if name.endswith("_sign") else f"{value * 1e3:g} mm"


def _summary(part: Part) -> dict[str, object]:
    return {
        "id": part.id,
        "class": part.label,
        "standard": part.standard,
        "mass_kg": part.mass.mass_kg,
        "size_m": [v / 1e3 for v in _size_mm(part)],
        "look_alikes": list(part.look_alikes),
    }


def _details(part: Part) -> dict[str, object]:
    return {
        **_summary(part),
        "dimensions": part.dimensions,
        **vars(part.mass),
        "stable_poses": [vars(pose) for pose in part.stable_poses],
        "grasp_widths_m": part.grasps.widths_m.tolist(),
        "colliders": [{"kind": c.kind, "corners": len(c.vertices)} for c in part.colliders],
        "friction": part.friction,
        "content_id": part.content_id,
    }
