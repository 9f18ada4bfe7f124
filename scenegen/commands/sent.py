"""What a model is sent, in full, for people to read."""

from __future__ import annotations

import json

import typer

from scenegen.vlm.chat import Chat


def print_chat(chat: Chat) -> None:
    """Print all that is sent: messages, pictures by hash and size, the schema of the reply, limits."""
    request = chat.request
    for message in request.messages:
        typer.echo(f"# {message.role}\n{message.text}\n")
        for digest in message.pictures:
            typer.echo(f"[picture: PNG of {len(chat.pictures[digest])} bytes, sha256 {digest}]\n")
    typer.echo(f"# schema of the reply\n{json.dumps(request.reply_schema, indent=1)}\n")
    typer.echo(f"at most {request.max_tokens} tokens, temperature {request.temperature:g}, seed {request.seed}")
