"""Pictures of kept scenes, drawn when somebody asks for one and kept from then on."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from PIL import Image as Picture

from library.commit import file_hash
from library.files import Files
from scenegen.imaging.render import Image

FOLDER = "cache/thumbnails"
DIGITS = 24
"""How much of a file's SHA-256 stands in its name."""


class Thumbnails:
    """Pictures by scenario and camera.

    A file's name ends with the hash of its bytes: a picture that was damaged is drawn again, never shown.

    Args:
        files: The library's files.
        style: What the pictures depend on besides scenario and camera, for example `250px`.
    """

    def __init__(self, files: Files, *, style: str) -> None:
        self._files = files
        self._style = style

    def picture(self, scenario_id: str, camera: str, draw: Callable[[], Image]) -> Image:
        """Return a picture, shape [h, w, 3], 8 bit; it is drawn if it is not there.

        Args:
            scenario_id: The scenario.
            camera: Name of the camera.
            draw: Draws it.

        Raises:
            LibraryError: The picture cannot be written.
        """
        start = f"{FOLDER}/{scenario_id[:2]}/{scenario_id}.{camera}.{self._style}."
        for listed in self._files.list(f"{FOLDER}/{scenario_id[:2]}"):
            if listed.path.startswith(start):
                data = self._files.read(listed.path)
                if listed.path == f"{start}{file_hash(data)[:DIGITS]}.png":
                    return np.asarray(Picture.open(io.BytesIO(data)))
                self._files.delete(listed.path)
        image = draw()
        stream = io.BytesIO()
        Picture.fromarray(image).save(stream, "PNG")
        self._files.put(f"{start}{file_hash(stream.getvalue())[:DIGITS]}.png", stream.getvalue())
        return image
