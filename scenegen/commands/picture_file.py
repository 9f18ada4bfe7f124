"""Pictures as files: what they may be called, and how they come to be whole."""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image as Picture

from library.files import library_error
from scenegen.errors import InvalidOption

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
QUALITY = 88
"""Of JPEG and WebP, out of 100: thin coloured lines stay clean."""


def picture_target(path: Path) -> Path:
    """Return a path that a picture can be written to, the path itself.

    Raises:
        InvalidOption: It ends as no picture does.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidOption("--output", path, f"a file that ends in {', '.join(SUFFIXES)}")
    return path


def picture_folder(path: Path) -> Path:
    """Return a folder for pictures, made if it is not there.

    Raises:
        InvalidOption: It is called like a picture, or is a file.
        LibraryError: It cannot be made.
    """
    if path.suffix.lower() in SUFFIXES:
        raise InvalidOption("--output", path, "a folder, for the pictures of all scenes")
    if path.is_file():
        raise InvalidOption("--output", path, "a folder, and this is a file")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise library_error(path, error) from error
    return path


def write_picture(picture: Picture.Image, target: Path) -> None:
    """Write a picture; the file appears whole or not at all, and its folder if it is not there.

    Raises:
        LibraryError: It cannot be written.
    """
    part = target.with_name(f".{os.getpid()}_{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        picture.save(part, quality=QUALITY)
        part.replace(target)
    except OSError as error:
        raise library_error(target, error) from error
    finally:
        part.unlink(missing_ok=True)
