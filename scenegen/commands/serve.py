"""`scenegen serve`: any local policy behind openpi's or GR00T's protocol."""

from __future__ import annotations

import importlib
import os
import signal
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Any

import typer

from evaluator.policies.action_range import ActionRange
from evaluator.policies.checked import DEADLINE_S, Checked
from evaluator.policies.context import PolicyContext
from evaluator.policies.layout import LAYOUTS
from evaluator.policies.registry import make_policy
from evaluator.policies.remote import KEY_VARIABLE
from evaluator.policy import PolicySpec
from scenegen.cells.loader import load_cell
from scenegen.commands.counted import Counted
from scenegen.commands.progress import progress_style
from scenegen.commands.recipe import inventory_parts
from scenegen.errors import InvalidOption, UnknownName

PORTS = {"openpi": 8000, "groot": 5555}
"""The protocols' own ports."""

app = typer.Typer()


class Protocol(StrEnum):
    """What is spoken."""

    OPENPI = "openpi"
    GROOT = "groot"


@app.command()
def serve(
    policy: str = typer.Option(..., help="For example noop, random, replay:FILE or python:MODULE:ATTRIBUTE."),
    protocol: Protocol = typer.Option(..., help="openpi: websocket, one world a question; groot: ZeroMQ, batched."),
    port: int = typer.Option(-1, min=-1, max=65535, help="0 finds a free one.", show_default="8000 or 5555"),
    host: str = typer.Option("127.0.0.1", help="Where to listen; 0.0.0.0 lets everybody in."),
    cell: str = typer.Option("fasteners", help="Built-in cell or YAML file: its robot and cameras count."),
    seed: int = typer.Option(0, help="For policies that draw numbers."),
    layout: str = typer.Option("", help="With openpi: keys and units.", show_default="by the policy's actions"),
    form: str = typer.Option("n1.6", help="With groot: n1.5, n1.6 or n1.7."),
    deadline: float = typer.Option(DEADLINE_S, min=0.01, help="How many seconds the policy may think."),
) -> None:
    """Serve a policy until Ctrl-C. Clients must send the key in SCENEGEN_POLICY_KEY, if it is set."""
    specification = load_cell(cell)
    context = PolicyContext(specification, inventory_parts(specification, Path("parts")), seed)
    made = make_policy(policy, context)
    checked = Checked(made, ActionRange.of(made.spec.action, context.cell.robot), deadline_s=deadline)
    cameras = tuple(camera.name for camera in context.cell.cameras)
    common = {
        "host": host,
        "port": PORTS[protocol] if port < 0 else port,
        "key": os.environ.get(KEY_VARIABLE, ""),
    }
    signal.signal(signal.SIGTERM, _interrupt)
    progress = Counted("requests", None, style=progress_style(as_json=False))
    try:
        with _server(protocol, checked, cameras, layout, form, {**common, "on_answer": progress.add}) as server:
            typer.echo(f"{policy} at {server.url} ({protocol.value}); Ctrl-C ends it", err=True)
            with progress:
                server.wait()
    except KeyboardInterrupt:
        typer.echo(f"served {progress.done} requests", err=True)
    finally:
        checked.close()


def _server(
    protocol: Protocol, policy: Checked, cameras: tuple[str, ...], layout: str, form: str, common: dict[str, Any]
) -> Any:
    """Load the protocol's module, which needs the extra `policies`, and build its server."""
    module = importlib.import_module(f"evaluator.policies.serve_{protocol.value}")
    if protocol is Protocol.GROOT:
        forms = {one.value: one for one in module.GrootForm}
        if form not in forms:
            raise UnknownName("form", form, forms)
        return module.GrootServer(policy, cameras=cameras, form=forms[form], **common)
    if (chosen := layout or _layout_for(policy.spec)) not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    return module.OpenpiServer(policy, LAYOUTS[chosen], cameras=_two(cameras), **common)


def _layout_for(spec: PolicySpec) -> str:
    for name, layout in LAYOUTS.items():
        if layout.action is spec.action:
            return name
    kinds = ", ".join(layout.action.value for layout in LAYOUTS.values())
    raise InvalidOption("--policy", f"{spec.name} ({spec.action.value})", f"with openpi a policy of {kinds}")


def _two(cameras: tuple[str, ...]) -> tuple[str, str]:
    """The cameras outside and at the wrist, as openpi's layouts have them."""
    outside = "overhead" if "overhead" in cameras else cameras[0]
    return outside, "wrist" if "wrist" in cameras else "none"


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
