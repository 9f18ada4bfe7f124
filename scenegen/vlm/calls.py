"""The log of calls: every question with its reply, durable line by line."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path

from scenegen.errors import InvalidRecord, LibraryError
from scenegen.vlm.chat import Call, Request


class CallLog:
    """Calls in a file of JSON lines; many threads and processes may add to it.

    A process that is killed leaves at most a torn last line, which is ignored, and cut off before the next one.

    Args:
        path: The file; it is made by the first call.

    Raises:
        LibraryError: It cannot be read, or a line is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._calls: dict[tuple[str, str], Call] = {}
        self._read_bytes = 0
        """Where the whole lines end that were read or written."""
        self._lines = 0
        try:
            with suppress(FileNotFoundError), path.open("rb", buffering=0) as file:
                self._read_on(file)
        except OSError as error:
            raise _file_error(path, error) from error

    @property
    def calls(self) -> Sequence[Call]:
        """All calls, in the order in which they were added; of equal questions the first."""
        return tuple(self._calls.values())

    def find(self, model: str, request: Request) -> Call | None:
        """Return the call that asked a model this; None where none did."""
        return self._calls.get((model, request.content_id))

    def add(self, call: Call) -> Call:
        """Append a call and make it durable.

        Returns:
            The call that counts: an earlier one, where one asked the same.

        Raises:
            LibraryError: The disk is full or not writable.
        """
        with self._lock:
            try:
                new = not self.path.exists()
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a+b", buffering=0) as file:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    self._read_on(file)
                    if known := self.find(call.model, call.request):
                        return known
                    self._append(file, call)
                if new:
                    _sync_folder(self.path.parent)
            except OSError as error:
                raise _file_error(self.path, error) from error
            return call

    def _append(self, file: FileIO, call: Call) -> None:
        line = call.canonical_json().encode() + b"\n"
        file.truncate(self._read_bytes)
        view = memoryview(line)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())
        self._known(call, line)

    def _read_on(self, file: FileIO) -> None:
        """Read the whole lines that follow those known, such as other processes added."""
        file.seek(self._read_bytes)
        *lines, _torn = file.read().split(b"\n")
        for line in lines:
            try:
                call = Call.from_json(line)
            except InvalidRecord as error:
                reason = f"line {self._lines + 1} is damaged ({error.sentences[0]})"
                raise LibraryError(
                    str(self.path), reason, "remove that line; what it answered is asked again"
                ) from None
            self._known(call, line + b"\n")

    def _known(self, call: Call, line: bytes) -> None:
        self._calls.setdefault((call.model, call.request.content_id), call)
        self._read_bytes += len(line)
        self._lines += 1


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _file_error(path: Path, error: OSError) -> OSError:
    if isinstance(error, LibraryError):
        return error
    return LibraryError(str(path), f"cannot be read or written ({error.strerror or error})", "choose another file")
