"""MuJoCo's Python names come from compiled modules without type information."""

from typing import Any

def __getattr__(name: str) -> Any: ...
