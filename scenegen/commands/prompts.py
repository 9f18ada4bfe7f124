"""`scenegen prompts`: the words that are sent to a vision-language model, and what is sent about one scene."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from library.files import library_error
from library.layers import Layers
from prompts.prompt import load_prompt, prompt_names
from scenegen.axes.registry import axis_named
from scenegen.commands.ask_options import PROPOSALS_OPTION
from scenegen.commands.model_options import TEXT_ONLY
from scenegen.commands.opened import LIBRARY_OPTION, VERSION, open_version
from scenegen.commands.sent import print_chat
from scenegen.errors import InvalidOption
from scenegen.vlm.judging import SceneJudge
from scenegen.vlm.photographer import Photographer
from scenegen.vlm.proposing import EDITED_AXES, Proposer, require_edits

app = typer.Typer(no_args_is_help=True, help="The words that are sent to a vision-language model.")


@app.command("list")
def list_prompts() -> None:
    """List the prompts: name, version, hash, and what each asks for."""
    table = Table("prompt", "version", "hash", "asks for", "longest reply")
    for prompt in map(load_prompt, prompt_names()):
        table.add_row(prompt.name, str(prompt.version), prompt.hash[:12], prompt.doc, f"{prompt.max_tokens} tokens")
    Console().print(table)


@app.command("show")
def show_prompt(name: str = typer.Argument(..., help="The prompt's name.")) -> None:
    """Print a prompt as its file has it, and what its fields are."""
    prompt = load_prompt(name)
    typer.echo(f"{prompt.name} {prompt.version} ({prompt.hash}): {prompt.doc}\n")
    for field, doc in prompt.fields.items():
        typer.echo(f"{{{{ {field} }}}}: {doc}")
    typer.echo(f"\n# system\n{prompt.system}\n\n# user\n{prompt.user}")


@app.command("try")
def try_prompt(
    name: str = typer.Argument(..., help="propose or judge."),
    scene: str = typer.Option(..., help="A scenario's id, or its first digits."),
    library: str = LIBRARY_OPTION,
    version: str = VERSION,
    axis: list[str] = typer.Option([], help="Axes that proposals may act on; all without it."),
    picture: Path | None = typer.Option(None, help="Also write the picture that is sent, as PNG."),
    proposals: int = PROPOSALS_OPTION,
    text_only: bool = TEXT_ONLY,
) -> None:
    """Print exactly what would be sent about a scene; nothing is sent."""
    load_prompt(name)
    if name not in ("propose", "judge"):
        raise InvalidOption("NAME", name, "propose or judge; repair answers a reply and cannot be tried alone")
    axes = tuple(dict.fromkeys(axis_named(one).name for one in axis)) or EDITED_AXES
    require_edits(axes)
    store, snapshot = open_version(library, version)
    row = snapshot.find(scene)
    scenario, (cell, parts) = snapshot.scenario(row), Layers(store, snapshot).cell_and_parts(row)
    shot = None if text_only else Photographer(cell, parts).photo(scenario, numbered=name == "propose")
    if name == "judge":
        chat = SceneJudge(cell, parts).chat(scenario, shot)
    else:
        chat = Proposer(cell, parts, axes, count=proposals).dialogue(scenario, shot).chat
    if chat is None:
        raise InvalidOption("--axis", ", ".join(axes), "axes along which the scene offers something to change")
    print_chat(chat)
    if picture is not None and shot is not None:
        try:
            picture.write_bytes(shot)
        except OSError as error:
            raise library_error(picture, error) from error
        typer.echo(f"wrote {picture}", err=True)
