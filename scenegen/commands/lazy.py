"""Groups of commands whose modules are loaded only when a command is called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


def lazy_group(commands: Mapping[str, str], modules: str) -> type[TyperGroup]:
    """Return a group that lists all commands and imports the one that is called.

    Args:
        commands: Name -> one-line help, in the order of the listing.
        modules: Where a command's `app` is found, with `{}` for its name, in which _ stands for -.
    """

    class LazyGroup(TyperGroup):
        """Lists all commands; replaces a placeholder by the real command when it is called."""

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.commands: dict[str, Any] = {
                name: TyperCommand(name, callback=None, help=text) for name, text in commands.items()
            }

        def list_commands(self, ctx: Any) -> list[str]:
            """Return the names in the order of the table."""
            return list(commands)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """Replace the placeholder of the named command by the real one, then resolve as usual."""
            if args and args[0] in commands:
                module = importlib.import_module(modules.format(args[0].replace("-", "_")))
                self.commands[args[0]] = typer.main.get_command(module.app)
            return super().resolve_command(ctx, args)

    return LazyGroup
