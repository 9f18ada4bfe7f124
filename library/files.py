"""The storage seam: files by path, each written whole or not at all; a folder now, an object store later."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scenegen.errors import LibraryError

SCRATCH = "scratch"
"""Where files are written before they get their name: files begun in one folder are created several times faster."""

USD = "usd/v1"
"""Root of the USD files. The same scenario gives the same bytes for as long as this stays `v1`."""

_REMEDIES = {
    errno.ENOSPC: ("the disk is full", "free some room and run the command again; what was kept stays"),
    errno.EDQUOT: ("the disk quota is used up", "free some room and run the command again; what was kept stays"),
    errno.EFBIG: ("the file-size limit is reached", "raise the limit and run the command again; what was kept stays"),
    errno.EMFILE: ("too many files are open", "raise the limit of open files (ulimit -n) and run the command again"),
    errno.ENFILE: ("too many files are open", "close other programs and run the command again"),
    errno.EACCES: ("no permission to write", "choose another folder with --library, or change its permissions"),
    errno.EPERM: ("no permission to write", "choose another folder with --library, or change its permissions"),
    errno.EIO: ("the disk reports an error", "check the disk; `scenegen library verify` tells what is damaged"),
    errno.EROFS: ("the file system is read-only", "choose another folder with --library"),
    errno.ENOTDIR: ("a part of the path is a file", "choose another folder with --library"),
    errno.EEXIST: ("a file of that name is in the way", "choose another folder with --library"),
}


def library_error(path: Path | str, error: OSError) -> LibraryError:
    """Turn an operating-system error into a sentence with a remedy."""
    known = _REMEDIES.get(error.errno or 0)
    reason, remedy = known or (error.strerror or str(error), "check the path and run the command again")
    return LibraryError(str(path), reason, remedy)


def unreadable(path: Path, error: OSError) -> LibraryError:
    """Say that a file is there and cannot be read."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return library_error(path, error)
    return LibraryError(
        str(path),
        f"cannot be read ({error.strerror})",
        "check the disk and the file's permissions; `scenegen library verify` tells what else is damaged",
    )


def require_usable(folder: Path) -> None:
    """Refuse a path that Lance and USD cannot name.

    Raises:
        LibraryError: It holds control characters, or bytes that are no UTF-8.
    """
    path = os.path.abspath(folder)
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", path):
        raise LibraryError(
            ascii(path), "the path holds control characters or bytes that are no UTF-8", "choose another --library"
        )


@dataclass(frozen=True)
class Listed:
    """A file as a listing shows it."""

    path: str
    size: int
    """[byte]"""
    modified_s: float
    """Time of the last change [s since 1970]."""


class Files(Protocol):
    """What a library asks of its storage; paths are relative and use `/`."""

    def create(self, path: str, data: bytes) -> bool:
        """Write a file that must not be there yet, durably; return False, and write nothing, if it is there."""
        ...

    def put(self, path: str, data: bytes, *, durable: bool = False) -> None:
        """Write a file, or replace it; whole or not at all, and on the disk before it returns if `durable`."""
        ...

    def read(self, path: str) -> bytes:
        """Read a whole file; raises `FileNotFoundError` if it is not there."""
        ...

    def digest(self, path: str) -> str:
        """Return the SHA-256 of a file without holding it in memory; raises `FileNotFoundError` if it is not there."""
        ...

    def sync(self, path: str) -> None:
        """Make a file durable that another program wrote."""
        ...

    def list(self, folder: str) -> Iterator[Listed]:
        """List all files at and below a folder, in no order; nothing if the folder is not there."""
        ...

    def delete(self, path: str) -> None:
        """Remove a file; nothing happens if it is not there."""
        ...

    def local(self, path: str) -> Path:
        """Return where programs that open files themselves (USD, Lance) find this one."""
        ...


class FolderFiles:
    """Files below a folder of a local or mounted file system.

    Every file is written under another name and renamed (`put`) or linked (`create`) to its own: readers never see a
    half-written one.

    Example:
        >>> files = FolderFiles("/tmp/scenegen-doc-files")
        >>> files.put("a/b.txt", b"text")
        >>> files.read("a/b.txt")
        b'text'
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._folders: set[str] = set()
        """Folders that are there, relative to the root."""
        self._durable: set[str] = set()
        """Folders whose own names are durable."""

    def create(self, path: str, data: bytes) -> bool:
        """Write a file that must not be there yet; see `Files.create`.

        Raises:
            LibraryError: The disk is full or not writable. If the error came after the file had its name, the file
                stays: whoever reads next sees it whole.
        """
        target, scratch = f"{self.folder}/{path}", self._scratch()
        try:
            self._begin(path, scratch, data, durable=True)
            try:
                os.link(scratch, target)
            except FileExistsError:
                return False
            self._sync_folder(os.path.dirname(target))
        except OSError as error:
            raise library_error(target, error) from error
        finally:
            with suppress(OSError):
                os.unlink(scratch)
        return True

    def put(self, path: str, data: bytes, *, durable: bool = False) -> None:
        """Write a file, or replace it; see `Files.put`.

        Raises:
            LibraryError: The disk is full or not writable; then the file is as it was.
        """
        target, scratch = f"{self.folder}/{path}", self._scratch()
        try:
            self._begin(path, scratch, data, durable=durable)
            os.replace(scratch, target)
            if durable:
                self._sync_folder(os.path.dirname(target))
        except OSError as error:
            with suppress(OSError):
                os.unlink(scratch)
            raise library_error(target, error) from error

    def read(self, path: str) -> bytes:
        """Read a whole file; see `Files.read`.

        Raises:
            LibraryError: The file is there and cannot be read.
        """
        try:
            return (self.folder / path).read_bytes()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise unreadable(self.folder / path, error) from error

    def digest(self, path: str) -> str:
        """Return the SHA-256 of a file; see `Files.digest`.

        Raises:
            LibraryError: The file is there and cannot be read.
        """
        try:
            with (self.folder / path).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise unreadable(self.folder / path, error) from error

    def list(self, folder: str) -> Iterator[Listed]:
        """List all files at and below a folder; see `Files.list`."""
        stack = [folder]
        while stack:
            inside = stack.pop()
            try:
                entries = list(os.scandir(self.folder / inside))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise library_error(self.folder / inside, error) from error
            for entry in entries:
                path = f"{inside}/{entry.name}" if inside else entry.name
                if entry.is_dir(follow_symlinks=False):
                    stack.append(path)
                    continue
                with suppress(FileNotFoundError):  # removed since the listing began
                    facts = entry.stat(follow_symlinks=False)
                    yield Listed(path, facts.st_size, facts.st_mtime)

    def delete(self, path: str) -> None:
        """Remove a file; see `Files.delete`.

        Raises:
            LibraryError: The file is there and cannot be removed.
        """
        try:
            os.unlink(self.folder / path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise library_error(self.folder / path, error) from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold back other processes that want to be alone here; the kernel lets them in when this one ends.

        Raises:
            LibraryError: The folder is not there.
        """
        try:
            descriptor = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise library_error(self.folder, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def local(self, path: str) -> Path:
        """Return the file's path on disk."""
        return self.folder / path

    def sync(self, path: str) -> None:
        """Make a file that another program wrote durable, with its name.

        Raises:
            LibraryError: The file cannot be synced.
        """
        target = self.folder / path
        try:
            descriptor = os.open(target, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self._sync_folder(str(target.parent))
        except OSError as error:
            raise library_error(target, error) from error

    def _scratch(self) -> str:
        return f"{self.folder}/{SCRATCH}/{os.getpid()}-{secrets.token_hex(4)}"

    def _begin(self, path: str, scratch: str, data: bytes, *, durable: bool) -> None:
        """Write a file under its first name, in folders that are there."""
        self._make_folder(os.path.dirname(path))
        try:
            self._write(scratch, data, durable=durable)
        except FileNotFoundError:  # the folder for scratch files was removed since
            self._folders.clear()
            self._make_folder(os.path.dirname(path))
            self._write(scratch, data, durable=durable)

    def _make_folder(self, folder: str) -> None:
        for one in (folder, SCRATCH):
            if one not in self._folders:
                os.makedirs(f"{self.folder}/{one}", exist_ok=True)
                self._folders.add(one)

    def _write(self, path: str, data: bytes, *, durable: bool) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _sync_folder(self, folder: str) -> None:
        """Make the names in a folder durable, and once its own name as well, up to the root's."""
        root = str(self.folder)
        _sync(folder)
        while folder not in self._durable and folder != root:
            self._durable.add(folder)
            folder = os.path.dirname(folder)
            _sync(folder)
        if root not in self._durable:
            self._durable.add(root)
            with suppress(PermissionError):  # the folder around a library need not be ours
                _sync(os.path.dirname(os.path.abspath(root)))


def _sync(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
