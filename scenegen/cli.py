"""The command line: `scenegen COMMAND …`. A command's module is loaded only when the command is used."""

from __future__ import annotations

import sys
import traceback

import typer

from scenegen import __version__
from scenegen.commands.exits import EXIT_CRASH, EXIT_INTERRUPTED, EXIT_USAGE
from scenegen.commands.lazy import lazy_group
from scenegen.errors import SceneGenError

COMMANDS = {
    "init": "Write an annotated cell file to start from.",
    "axes": "Print the axes along which scenes vary.",
    "parts": "List, show, render and add parts.",
    "expand": "Generate valid scenes along axes and keep them in a library.",
    "check": "Check a cell, a USD scene or a library; measure the checks themselves.",
    "library": "Versions of scene sets: list, compare, tag, split, curate, export, verify.",
    "show": "Show one scene: what is in it, where it came from, what the checks said.",
    "render": "Draw a scene, or all scenes of a library, as pictures.",
    "evaluate": "Roll a policy out over a library's scenes in Isaac Lab; keep every episode.",
    "report": "Tell what a run showed: tables, and one HTML page with plots and pictures.",
    "train-vision": "Teach the reference camera policy to see a cell.",
    "prompts": "List and show what a vision-language model is asked, and try it on a scene.",
    "vlm": "Serve a vision-language model that runs here.",
    "serve": "Serve a policy to others, over openpi's or GR00T's protocol.",
    "schema": "Print the JSON schema of a record.",
    "doctor": "Tell what is installed, what conflicts, and how to mend it.",
}
"""Commands by name with their one-line help; `scenegen/commands/<name>.py` holds each as `app`, with _ for -."""


app = typer.Typer(
    cls=lazy_group(COMMANDS, "scenegen.commands.{}"),
    name="scenegen",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"scenegen {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", help="Print the version.", callback=_print_version, is_eager=True),
) -> None:
    """Find, before a robot touches the line, where a policy breaks: checked industrial sorting scenes as OpenUSD.

    Exit codes: 0 done, 1 findings or a goal not reached, 2 wrong use or set-up, 3 crash.
    """


def main() -> None:
    """Run the command line; errors that scenegen knows become one sentence and exit code 2."""
    try:
        app()
    except SceneGenError as error:
        typer.echo(f"scenegen: {error}", err=True)
        sys.exit(EXIT_USAGE)
    except SystemExit as ended:
        if ended.code == EXIT_INTERRUPTED:
            typer.echo("scenegen: interrupted - run the same command again to continue", err=True)
        raise
    except Exception:
        traceback.print_exc()
        typer.echo("scenegen: this is a bug in scenegen; please report the lines above", err=True)
        sys.exit(EXIT_CRASH)
