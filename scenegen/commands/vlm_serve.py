"""`scenegen vlm serve`: a model that runs here, behind OpenAI's protocol."""

from __future__ import annotations

import signal
from contextlib import closing
from types import FrameType

import typer

from scenegen.commands.counted import Counted
from scenegen.commands.progress import progress_style
from scenegen.vlm.local import LocalModel
from scenegen.vlm.served import ModelServer

app = typer.Typer()


@app.command()
def serve(
    model: str = typer.Option(..., help="Folder of Hugging Face's form with safetensors, or GGUF file."),
    host: str = typer.Option("127.0.0.1", help="Where to listen; 0.0.0.0 lets everybody in, without a key."),
    port: int = typer.Option(0, min=0, max=65535, help="0 finds a free one."),
    device: str = typer.Option("", help="As torch names it.", show_default="a GPU if there is one"),
) -> None:
    """Serve a model until Ctrl-C: POST /v1/chat/completions, GET /v1/models, GET /health.

    It listens on the loopback only, so that this machine alone can ask; --host changes that. Replies are made one at a
    time, hold to `response_format`, and are the same for the same seed. The first line printed is the base address for
    clients. The model is loaded from disk: nothing is fetched, and none of its code or pickles is run.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    progress = Counted("requests", None, style=progress_style(as_json=False))
    typer.echo(f"loading {model}", err=True)
    try:
        with closing(LocalModel(model, device=device)) as local:
            options = {"name": local.name, "sees": local.sees, "host": host, "port": port}
            with ModelServer(local, **options, on_answer=progress.add) as server:
                typer.echo(server.url)
                typer.echo(f"{local.name} is ready; Ctrl-C ends it", err=True)
                with progress:
                    server.wait()
    except KeyboardInterrupt:
        typer.echo(f"served {progress.done} requests", err=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
