"""An eye: images become grasps in the world."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from evaluator.policy import as_numpy
from evaluator.vision.net import Maps, SortNet
from evaluator.vision.peaks import Peaks, peaks_of
from evaluator.vision.sighting import Sighted, Sighting
from evaluator.vision.subject import Subject
from evaluator.vision.weights import read_weights
from scenegen.cell import Cell

GROUP = 64
"""Images that a net looks at together on a GPU; a processor takes one after the other.

Groups are filled up, so that what is seen in an image does not depend on how many others there are.
"""


class Eye:
    """A net and what it needs to know of cameras to point at things.

    Args:
        cell: The cell.
        subject: What the net was trained for.
        net: The net.
    """

    def __init__(self, cell: Cell, subject: Subject, net: SortNet) -> None:
        self.subject = subject
        self._net = net.eval()
        self._sighting = Sighting(cell, subject)
        self.size_px = (subject.camera.height_px, subject.camera.width_px)
        """Height and width of the images that it takes."""

    @classmethod
    def of(cls, cell: Cell, subject: Subject, path: Path) -> Eye:
        """Build it from a file of weights."""
        return cls(cell, subject, read_weights(path))

    def at_once(self, images: Any) -> int:
        """Return how many of some images it looks at together."""
        on_cpu = not isinstance(images, torch.Tensor) or images.device.type == "cpu"
        return 1 if on_cpu else GROUP

    def look(self, images: Any) -> list[Sighted]:
        """Find what can be taken.

        Args:
            images: Torch or numpy, sRGB of 8 bits, shape [n, *size_px, 3]; torch ones are looked at where they are.

        Returns:
            One an image.
        """
        return [self._sighting.grasps(peaks) for peaks in self.peaks(images)]

    def peaks(self, images: Any) -> list[Peaks]:
        """Find the peaks in images, as `look`."""
        fingers = self._sighting.fingers
        return [peaks for maps, count in self._maps(images) for peaks in peaks_of(maps, fingers)[:count]]

    def regions(self, images: Any) -> NDArray[np.int64]:
        """Tell which part each pixel belongs to, 0 for none, shape [n, h, w]; images as in `look`."""
        return np.concatenate([maps.region.argmax(dim=1)[:count].cpu().numpy() for maps, count in self._maps(images)])

    def _maps(self, images: Any) -> Iterator[tuple[Maps, int]]:
        """Yield what the net says of groups of images, and how many images there are in each."""
        seen = images if isinstance(images, torch.Tensor) else torch.as_tensor(np.ascontiguousarray(as_numpy(images)))
        self._net.to(seen.device)
        group = self.at_once(seen)
        for start in range(0, len(seen), group):
            some = seen[start : start + group]
            full = torch.cat([some, some[:1].expand(group - len(some), *some.shape[1:])])
            with torch.inference_mode():
                yield self._net(full), len(some)
