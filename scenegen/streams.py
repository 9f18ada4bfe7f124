"""Random streams by name: the same key gives the same numbers, whatever else was drawn before."""

import hashlib
import json

import numpy as np

_COMPACT = json.JSONEncoder(separators=(",", ":"))


def stream(*key: str | int) -> np.random.Generator:
    """Return the generator that belongs to a key.

    Args:
        key: Any names and numbers, for example seed, cell id, axis, index, attempt.

    Example:
        >>> bool(stream(1, "pose").random() == stream(1, "pose").random())
        True
    """
    digest = hashlib.blake2b(_COMPACT.encode(key).encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))
