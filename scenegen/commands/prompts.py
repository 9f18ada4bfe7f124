"""`scenegen prompts`: the words that are sent to a vision-language model, and what is sent about one scene."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from library.layers import Layers
from prompts.prompt import load_prompt, prompt_names
from scenegen.axes.registry import AXES, axis_named
from scenegen.commands.opened import LIBRARY_OPTION, VERSION, open_version
from scenegen.errors import InvalidOption
from scenegen.vlm.chat import Chat
from scenegen.vlm.judging import SceneJudge
from scenegen.vlm.photographer import Photographer
from scenegen.vlm.proposing import PROPOSALS, Proposer

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
    text_only: bool = typer.Option(False, "--text-only", help="As for a model that sees no pictures."),
) -> None:
    """Print exactly what would be sent about a scene; nothing is sent."""
    load_prompt(name)
    if name not in ("propose", "judge"):
        raise InvalidOption(
            "NAME", name, "propose or judge: repair answers a reply, so there is nothing to fill it with"
        )
    store, snapshot = open_version(library, version)
    row = snapshot.find(scene)
    scenario, (cell, parts) = snapshot.scenario(row), Layers(store, snapshot).cell_and_parts(row)
    axes = tuple(axis_named(one).name for one in axis) or tuple(AXES)
    photographer = None if text_only else Photographer(cell, parts)
    if name == "judge":
        shot = photographer.photo(scenario, numbered=False) if photographer else None
        chat = SceneJudge(cell, parts).chat(scenario, shot)
    else:
        shot = photographer.photo(scenario, numbered=True) if photographer else None
        chat = Proposer(cell, parts, axes, count=PROPOSALS).chat(scenario, shot)
    print_chat(chat)
    if picture is not None and shot is not None:
        picture.write_bytes(shot)
        typer.echo(f"wrote {picture}", err=True)


def print_chat(chat: Chat) -> None:
    """Print all that is sent: messages, pictures by hash and size, the schema of the reply, limits."""
    request = chat.request
    for message in request.messages:
        typer.echo(f"# {message.role}\n{message.text}\n")
        for digest in message.pictures:
            typer.echo(f"[picture: PNG of {len(chat.pictures[digest])} bytes, sha256 {digest}]\n")
    typer.echo(f"# schema of the reply\n{json.dumps(request.reply_schema, indent=1)}\n")
    typer.echo(f"at most {request.max_tokens} tokens, temperature {request.temperature:g}, seed {request.seed}")
