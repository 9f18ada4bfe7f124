"""What both remote protocols share: addresses, the key, and how our own servers are known."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

KEY_VARIABLE = "SCENEGEN_POLICY_KEY"
"""Environment variable with the key of a remote policy; it appears in no message."""
DEADLINE_S = 30.0
"""How long one question may take [s]; a first one that compiles a model may need more (`deadline=`)."""
LEAST_DEADLINE_S, MOST_DEADLINE_S = 0.05, 3600.0
REPLY_BYTES = 16_000_000
"""Largest reply: a chunk takes a few kilobytes, those of a thousand worlds two megabytes."""
ASKS = 2
"""How often one question is put when connections break: once more after the server was started anew."""
OURS = "scenegen"
"""Key of what a server says of itself by which ours is known: it can be told which world a question is of."""


def is_address(url: str, schemes: Collection[str]) -> bool:
    """Tell whether a text is `SCHEME://HOST:PORT`, perhaps with a path; names and passwords in it are not accepted."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return parts.scheme in schemes and bool(parts.hostname) and port is not None and parts.username is None
