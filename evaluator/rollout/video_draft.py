"""Where a video stands until it is whole."""

from __future__ import annotations

from pathlib import Path


def draft_of(path: Path, process: int) -> Path:
    """Return the file that a process writes before it is renamed to `path`."""
    return path.with_name(f".{path.stem}.{process}.mp4")
