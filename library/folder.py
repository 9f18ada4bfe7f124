"""A library as a folder: USD files named by content, and one manifest that publishes them.

```
library.json                     format and version
manifest.jsonl                   one `Row` a line; only what stands here is part of the library
cells/<cell>.usda .json          cell layer and specification
assets/<part>_<content>.usdc     part files
layouts/ab/<key>.usda            layout layers
scenes/ab/<id>.usda              scenario layers
records/<id>.json                check plans and expansions that rows name
scratch/                         files that are being written
```

Files are written first, each by rename; the manifest is appended and synced last. A run that is killed leaves files
that no row names and at most a torn last line, which the next writer cuts off.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from library.row import Line, Row
from scenegen.errors import LibraryError
from scenegen.record import Record, content_hash

FORMAT = "scenegen-folder-library"
VERSION = 1
SCRATCH = "scratch"
"""Where files are written before they are renamed: files begun in one folder are created several times faster."""

_REMEDIES = {
    errno.ENOSPC: ("the disk is full", "free some room and run the command again; what was kept stays"),
    errno.EDQUOT: ("the disk quota is used up", "free some room and run the command again; what was kept stays"),
    errno.EACCES: ("no permission to write", "choose another folder with --library, or change its permissions"),
    errno.EPERM: ("no permission to write", "choose another folder with --library, or change its permissions"),
    errno.EROFS: ("the file system is read-only", "choose another folder with --library"),
    errno.ENOTDIR: ("a part of the path is a file", "choose another folder with --library"),
    errno.EEXIST: ("a file of that name is in the way", "choose another folder with --library"),
}


def library_error(path: Path | str, error: OSError) -> LibraryError:
    """Turn an operating-system error into a sentence with a remedy."""
    known = _REMEDIES.get(error.errno or 0)
    reason, remedy = known or (error.strerror or str(error), "check the path and run the command again")
    return LibraryError(str(path), reason, remedy)


class FolderLibrary:
    """A folder of validated scenes.

    Example:
        >>> library = FolderLibrary.create("/tmp/scenegen-doc-library")
        >>> list(library.rows())
        []
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._lock: IO[str] | None = None
        self._folders: set[str] = set()
        """Folders that are there, relative to the library."""

    @classmethod
    def create(cls, folder: str | Path) -> Self:
        """Open a library for writing and make it if it is not there.

        Raises:
            LibraryError: The folder holds something else, is of a newer format, or cannot be written.
        """
        library = cls(folder)
        marker = library.folder / "library.json"
        try:
            if library.folder.is_dir() and any(library.folder.iterdir()) and not marker.is_file():
                raise LibraryError(
                    str(folder), "the folder holds other files and is no library", "choose an empty or a new folder"
                )
            library.folder.mkdir(parents=True, exist_ok=True)
            if not marker.is_file():
                library.write("library.json", json.dumps({"format": FORMAT, "version": VERSION}).encode())
            if not os.access(library.folder, os.W_OK):
                raise PermissionError(errno.EACCES, "no permission")
        except OSError as error:
            raise error if isinstance(error, LibraryError) else library_error(folder, error) from error
        library._check_format()
        return library

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open an existing library for reading.

        Raises:
            LibraryError: There is no library, or its format is newer.
        """
        library = cls(folder)
        library._check_format()
        return library

    def _check_format(self) -> None:
        try:
            head = json.loads((self.folder / "library.json").read_text())
            form, version = head["format"], head["version"]
        except FileNotFoundError:
            raise LibraryError(str(self.folder), "no library there", "make one with `scenegen expand`") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LibraryError(str(self.folder), f"library.json cannot be read ({error})", "restore the file") from None
        if form != FORMAT or version > VERSION:
            raise LibraryError(
                str(self.folder),
                f"format {form} version {version} is not known (this is version {VERSION})",
                "install a newer scenegen",
            )

    def lock(self) -> None:
        """Become the one writer; held until the process ends or `close`.

        Raises:
            LibraryError: Another process writes to this library.
        """
        try:
            self._lock = (self.folder / "writer.lock").open("a")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise LibraryError(
                str(self.folder), "another process writes to this library", "wait for it, or choose another folder"
            ) from None
        except OSError as error:
            raise library_error(self.folder, error) from error
        self._cut_torn_line()
        shutil.rmtree(self.folder / SCRATCH, ignore_errors=True)
        (self.folder / SCRATCH).mkdir()

    def close(self) -> None:
        """Give the writer's lock back."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def path(self, relative: str) -> Path:
        """Return the file's path on disk."""
        return self.folder / relative

    def write(self, path: str, data: bytes) -> str:
        """Write one file by rename; see `Store.write`.

        Raises:
            LibraryError: The disk is full or not writable.
        """
        target, scratch = f"{self.folder}/{path}", f"{self.folder}/{SCRATCH}/{os.getpid()}"
        try:
            for parent in (os.path.dirname(path), SCRATCH):
                if parent not in self._folders:
                    os.makedirs(f"{self.folder}/{parent}", exist_ok=True)
                    self._folders.add(parent)
            descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(descriptor, view) :]
            finally:
                os.close(descriptor)
            os.replace(scratch, target)
        except OSError as error:
            with suppress(OSError):
                os.unlink(scratch)
            raise library_error(target, error) from error
        return content_hash(data)

    def commit(self, lines: Iterable[Line], *, records: Mapping[str, Record] | None = None) -> None:
        """Publish rows: append them to the manifest and sync it; see `Store.commit`.

        Raises:
            LibraryError: The disk is full or not writable; then none of the rows is published.
        """
        for path, record in (records or {}).items():
            self.write(path, record.canonical_json().encode())
        data = "".join(f"{line.text}\n" for line in lines).encode()
        if not data:
            return
        manifest = self.folder / "manifest.jsonl"
        try:
            with manifest.open("ab") as file:
                start = file.tell()
                try:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    os.truncate(manifest, start)
                    raise
        except OSError as error:
            raise library_error(manifest, error) from error

    def rows(self) -> Iterator[Row]:
        """Iterate over all published rows.

        Raises:
            LibraryError: A line of the manifest is damaged (a torn last line is not published, and skipped).
        """
        manifest = self.folder / "manifest.jsonl"
        if not manifest.is_file():
            return
        with manifest.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield Row.model_validate_json(line)
                except ValueError:
                    raise LibraryError(
                        str(manifest), f"line {number} is damaged", "restore the manifest from a backup"
                    ) from None

    def find(self, prefix: str) -> Row:
        """Return the one row whose scenario id starts with `prefix`.

        Raises:
            LibraryError: No row, or more than one, has such an id.
        """
        found = {row.scenario_id: row for row in self.rows() if row.scenario_id and row.scenario_id.startswith(prefix)}
        if len(found) == 1:
            return next(iter(found.values()))
        reason = (
            f"{len(found)} scenarios have an id that starts with {prefix!r}" if found else f"no scenario {prefix!r}"
        )
        raise LibraryError(str(self.folder), reason, "list ids with `scenegen library list`")

    def _cut_torn_line(self) -> None:
        manifest = self.folder / "manifest.jsonl"
        if not manifest.is_file():
            return
        with manifest.open("rb+") as file:
            data_end = file.seek(0, os.SEEK_END)
            position = data_end
            while position > 0:
                step = min(65536, position)
                file.seek(position - step)
                newline = file.read(step).rfind(b"\n")
                if newline >= 0:
                    position = position - step + newline + 1
                    break
                position -= step
            if position != data_end:
                file.truncate(position)
