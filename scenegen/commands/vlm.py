"""`scenegen vlm …`: what belongs to models themselves. Each command is a module of its own, `vlm_<name>.py`."""

from __future__ import annotations

import typer

from scenegen.commands.lazy import lazy_group

COMMANDS = {
    "serve": "Serve a model that runs here over OpenAI's protocol, to this machine.",
}
"""Commands by name with their one-line help."""

app = typer.Typer(
    cls=lazy_group(COMMANDS, "scenegen.commands.vlm_{}"), no_args_is_help=True, help="Models that see and read."
)


@app.callback()
def vlm() -> None:
    """Models that see and read: serve one that runs here."""
