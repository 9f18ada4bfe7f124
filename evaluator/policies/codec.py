"""Messages with arrays to bytes and back: msgpack with the array forms of openpi and of GR00T, for untrusted peers.

| form | array | used by |
|---|---|---|
| openpi | `{__ndarray__: true, data, dtype, shape}` with byte keys | openpi |
| npy | `{"__ndarray_class__": true, "as_npy": an .npy file}` | GR00T N1.5, N1.6 |
| nd | `{nd: true, type, kind: "", shape, data}` with byte keys (msgpack-numpy) | GR00T N1.7 |

All three are read. Arrays hold numbers or booleans only: object, structured and complex ones are refused, nothing is
ever unpickled, and no memory is taken for what a header merely claims.
"""

from __future__ import annotations

import ast
import io
import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from scenegen.errors import MissingExtra

try:
    import msgpack
except ImportError as error:
    raise MissingExtra("a remote policy", "policies") from error

MAP_ENTRIES = 4096
"""Most entries of one mapping."""
CONTAINERS = 100_000
"""Most lists and mappings in one message: a byte of it can become a hundred bytes of memory."""
DIMENSIONS = 8
_DTYPE = re.compile(r"[<>|=]?[biuf][1248]")
_NPY_MAGIC = b"\x93NUMPY"
_NPY_HEADER = 4096


class WireError(ValueError):
    """A message is not what it should be; says why, as a phrase."""


class ArrayForm(StrEnum):
    """How arrays are written."""

    OPENPI = "openpi"
    NPY = "npy"
    ND = "nd"


def pack(data: Any, form: ArrayForm) -> bytes:
    """Write a message.

    Args:
        data: Mappings, lists, texts, numbers and arrays.
        form: How arrays are written.

    Raises:
        WireError: An array holds something else than numbers.
    """
    packer = msgpack.Packer(default=lambda value: _written(value, form), buf_size=_room(data))
    return cast(bytes, packer.pack(data))


def unpack(message: bytes) -> Any:
    """Read a message; arrays in it are read-only.

    Raises:
        WireError: It is cut off, malformed, too large in parts, or holds an array of another kind.
    """
    budget = _Budget()
    try:
        return msgpack.unpackb(
            message,
            object_hook=budget.mapping,
            list_hook=budget.sequence,
            ext_hook=_no_extension,
            max_map_len=MAP_ENTRIES,
        )
    except WireError:
        raise
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        said = " ".join(str(error).split())[:120] or type(error).__name__
        raise WireError(f"not msgpack ({said})") from error


def _room(data: Any) -> int:
    """About how many bytes a message takes: a buffer that grows copies images again and again."""
    if isinstance(data, np.ndarray):
        return data.nbytes + 256
    if isinstance(data, Mapping):
        return sum(map(_room, data.values())) + 256
    return sum(map(_room, data)) + 256 if isinstance(data, list | tuple) else 64


def _written(value: Any, form: ArrayForm) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in "biuf":
            raise WireError(f"an array of {value.dtype}")
        match form:
            case ArrayForm.OPENPI:
                return _openpi_form(value)
            case ArrayForm.NPY:
                file = io.BytesIO()
                np.save(file, value, allow_pickle=False)
                return {"__ndarray_class__": True, "as_npy": file.getvalue()}
            case ArrayForm.ND:
                return _nd_form(value)
    raise WireError(f"something of type {type(value).__name__}")


def _openpi_form(value: NDArray[Any] | np.generic) -> dict[bytes, Any]:
    if isinstance(value, np.generic):
        return {b"__npgeneric__": True, b"data": value.item(), b"dtype": value.dtype.str}
    return {b"__ndarray__": True, b"data": value.tobytes(), b"dtype": value.dtype.str, b"shape": value.shape}


def _nd_form(value: NDArray[Any] | np.generic) -> dict[bytes, Any]:
    if isinstance(value, np.generic):
        return {b"nd": False, b"type": value.dtype.str, b"data": value.tobytes()}
    return {b"nd": True, b"type": value.dtype.str, b"kind": b"", b"shape": value.shape, b"data": value.tobytes()}


class _Budget:
    """Counts the containers of one message while they are read, and turns array forms into arrays."""

    def __init__(self) -> None:
        self._left = CONTAINERS

    def sequence(self, items: list[Any]) -> list[Any]:
        self._spend()
        return items

    def mapping(self, entries: dict[Any, Any]) -> Any:
        self._spend()
        named = {key.decode("ascii", "replace") if isinstance(key, bytes) else key: entries[key] for key in entries}
        if "__ndarray__" in named:
            return _array(named.get("dtype"), named.get("shape"), named.get("data"))
        if "__npgeneric__" in named:
            return _scalar(named.get("dtype"), named.get("data"))
        if "__ndarray_class__" in named:
            return _npy(named.get("as_npy"))
        if "nd" in named and "type" in named:
            return _nd(named)
        return named

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise WireError(f"more than {CONTAINERS} lists and mappings")


def _no_extension(code: int, data: bytes) -> Any:
    raise WireError(f"extension type {code}")


def _dtype(text: Any) -> np.dtype[Any]:
    if isinstance(text, bytes):
        text = text.decode("ascii", "replace")
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise WireError(f"an array of dtype {str(text)[:40]!r}")
    try:
        return np.dtype(text)
    except TypeError:
        raise WireError(f"an array of dtype {text!r}") from None


def _array(dtype: Any, shape: Any, data: Any) -> NDArray[Any]:
    kind = _dtype(dtype)
    if not isinstance(shape, list | tuple) or len(shape) > DIMENSIONS:
        raise WireError(f"an array of shape {str(shape)[:40]}")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise WireError(f"an array of shape {str(shape)[:40]}")
    if not isinstance(data, bytes) or len(data) != math.prod(shape) * kind.itemsize:
        size = f"{len(data)} bytes" if isinstance(data, bytes) else type(data).__name__
        raise WireError(f"an array of {kind} and shape {list(shape)} in {size}")
    return np.frombuffer(data, kind).reshape(shape)


def _scalar(dtype: Any, data: Any) -> Any:
    kind = _dtype(dtype)
    if not isinstance(data, bool | int | float):
        raise WireError(f"a number of type {type(data).__name__}")
    try:
        return kind.type(data)
    except (OverflowError, ValueError):
        raise WireError(f"a number that is no {kind}") from None


def _nd(named: Mapping[str, Any]) -> Any:
    if named.get("kind") not in (None, b"", ""):
        raise WireError(f"an array of kind {str(named['kind'])[:40]}")
    if named["nd"]:
        return _array(named["type"], named.get("shape"), named.get("data"))
    return _array(named["type"], [], named.get("data"))[()]


def _npy(file: Any) -> NDArray[Any]:
    """Read an .npy file of format 1, 2 or 3 (NumPy enhancement proposal 1)."""
    if not isinstance(file, bytes) or file[:6] != _NPY_MAGIC or file[6:7] not in (b"\x01", b"\x02", b"\x03"):
        raise WireError("an array that is no .npy file")
    begin = 10 if file[6] == 1 else 12
    length = int.from_bytes(file[8:begin], "little")
    if length > _NPY_HEADER or begin + length > len(file):
        raise WireError("an .npy file whose header is cut off or too long")
    try:
        header = ast.literal_eval(file[begin : begin + length].decode("utf-8").strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise WireError("an .npy file with a malformed header") from None
    if not isinstance(header, dict) or header.keys() != {"descr", "fortran_order", "shape"}:
        raise WireError("an .npy file with a malformed header")
    shape = header["shape"]
    if header["fortran_order"] is True and isinstance(shape, tuple):
        return _array(header["descr"], shape[::-1], file[begin + length :]).T
    return _array(header["descr"], shape, file[begin + length :])
