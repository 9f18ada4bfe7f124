"""Where a library keeps what models were asked and replied, so that an expansion can be repeated without them."""

from __future__ import annotations

import re

from scenegen.record import content_hash

CALLS = "calls"
"""Folder of the logs. No commit names them: what scenes came of is in `records/` as well."""


def calls_path(model: str) -> str:
    """Return the path of the log of one model's calls.

    Args:
        model: The back end and model, as `--vlm` names them.
    """
    words = re.sub(r"[^A-Za-z0-9.]+", "-", model).strip("-.")[:60]
    return f"{CALLS}/{words}-{content_hash(model.encode())[:8]}.jsonl"
