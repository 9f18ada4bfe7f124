"""Pieces of pictures as batches to learn from: turned, mirrored and a little brighter or darker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evaluator.vision.net import ANGLES, STRIDE
from evaluator.vision.pictures import Picture

EXPOSURE_SHARE = 0.06
"""Images are made brighter or darker by up to this share, so that renderers that differ a little look alike."""
PIECE_PX = 128
"""Side of the squares that are cut out of images [px]; most of an image is empty. Divisible as the net asks for."""
ABOUT_PX = 48
"""How far a piece's middle lies from that of the part about which it was cut, at most, along rows and columns [px]."""
EMPTY_SHARE = 0.1
"""Share of the pieces that are cut anywhere."""
SPREAD_CELLS = 1.0
"""How far around the middle of a grasp the net shall answer (standard deviation) [cells]."""
NEAR = 0.5
"""From this value of `spot` on a cell belongs to a grasp, and its angles and sizes count."""


Piece = tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.float32]]
"""Image, class of each pixel, and parts as `Labels.rows`; parts may lie outside."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Images and what a net shall say of them; n images, s cells that belong to grasps."""

    images: Tensor
    """Values from 0 to 255, shape [n, h, w, 3]."""
    region: Tensor
    """Class of each pixel, shape [n, h, w]."""
    spot: Tensor
    """How near a cell is to the middle of a grasp, 1 to 0, shape [n, classes, h/2, w/2]."""
    near: tuple[Tensor, Tensor, Tensor]
    """Image, row and column of the cells that belong to grasps, each of shape [s]."""
    angle: Tensor
    """How well the fingers can close along each direction there, shape [s, ANGLES]."""
    size: Tensor
    """Width and height there (`Labels.size`), shape [s, 2]."""


class PictureSet:
    """Pictures in memory, all of one size: images as bytes, parts as rows of numbers.

    Args:
        images: sRGB, shape [n, h, w, 3].
        regions: Class of each pixel, shape [n, h, w].
        rows: Parts as `Labels.rows`, shape [n, MAX_SLOTS, 5 + ANGLES].
        classes: How many parts are told apart.
    """

    def __init__(
        self, images: NDArray[np.uint8], regions: NDArray[np.uint8], rows: NDArray[np.float32], *, classes: int
    ) -> None:
        self.images, self.regions, self.rows, self.classes = images, regions, rows, classes

    @classmethod
    def of(cls, pictures: Sequence[Picture], *, classes: int) -> PictureSet:
        """Take pictures, at least one."""
        labels = [one.labels for one in pictures]
        return cls(
            np.stack([one.image for one in pictures]),
            np.stack([one.region for one in labels]),
            np.stack([one.rows() for one in labels]),
            classes=classes,
        )

    def draw(self, count: int, *, rng: np.random.Generator, device: str = "cpu") -> Batch:
        """Draw pictures with replacement, and of each a piece, turned or mirrored at random.

        Args:
            count: How many.
            rng: Source of randomness.
            device: Where the batch goes.
        """
        pieces = [self._piece(int(rng.integers(len(self.images))), rng=rng) for _ in range(count)]
        gains = rng.uniform(1 - EXPOSURE_SHARE, 1 + EXPOSURE_SHARE, size=count).astype(np.float32)
        images, regions, rows = (np.stack(one) for one in zip(*pieces, strict=True))
        bright = np.clip(images * gains[:, None, None, None], 0, 255)
        return batch_of(bright, regions, rows, classes=self.classes, device=device)

    def _piece(self, index: int, *, rng: np.random.Generator) -> Piece:
        """Cut a piece out of a picture, most often about a part, and turn it."""
        rows, size = self.rows[index].copy(), np.array(self.regions.shape[:0:-1])
        side = np.minimum(PIECE_PX, size)
        parts = np.flatnonzero(rows[:, 0])
        corner = rng.integers(size - side + 1)
        if len(parts) and rng.random() > EMPTY_SHARE:
            middle = rows[parts[rng.integers(len(parts))], 1:3] + rng.uniform(-ABOUT_PX, ABOUT_PX, 2)
            corner = np.clip(np.round(middle - side / 2).astype(int), 0, size - side)
        (left, top), (wide, high) = corner.tolist(), side.tolist()
        window = (index, slice(top, top + high), slice(left, left + wide))
        rows[:, 1:3] -= corner
        turn = int(rng.integers(8 if wide == high else 4))
        return turned(self.images[window], self.regions[window], rows, turn)


def turned(image: NDArray[np.uint8], region: NDArray[np.uint8], rows: NDArray[np.float32], turn: int) -> Piece:
    """Mirror an image and its labels; the eight ways are all symmetries of a square.

    Args:
        image: Shape [h, w, 3].
        region: Shape [h, w].
        rows: As `Labels.rows`.
        turn: Bit 0 mirrors columns, bit 1 mirrors rows, bit 2 exchanges rows and columns.
    """
    height, width = region.shape
    rows = rows.copy()
    places = np.arange(ANGLES)
    if turn & 1:
        image, region, places = image[:, ::-1], region[:, ::-1], -places
        rows[:, 1] = width - rows[:, 1]
    if turn & 2:
        image, region, places = image[::-1], region[::-1], -places
        rows[:, 2] = height - rows[:, 2]
    if turn & 4:
        image, region, places = image.swapaxes(0, 1), region.T, ANGLES // 2 - places
        rows[:, [1, 2]] = rows[:, [2, 1]]
    rows[:, 5 + places % ANGLES] = rows[:, 5:].copy()
    return image, region, rows


def batch_of(
    images: NDArray[np.floating],
    regions: NDArray[np.uint8],
    rows: NDArray[np.float32],
    *,
    classes: int,
    device: str = "cpu",
) -> Batch:
    """Draw what a net shall say as maps.

    Args:
        images: Values from 0 to 255, shape [n, h, w, 3].
        regions: Shape [n, h, w].
        rows: As `Labels.rows`, shape [n, MAX_SLOTS, 5 + ANGLES].
        classes: How many parts are told apart.
        device: Where the batch goes.
    """
    known = torch.as_tensor(rows, device=device)
    part, column, row = known[..., 0], known[..., 1] / STRIDE - 0.5, known[..., 2] / STRIDE - 0.5
    cells = [torch.arange(side // STRIDE, device=device) for side in images.shape[1:3]]
    down, along = (
        torch.exp(-0.5 * ((cell - place[..., None]) / SPREAD_CELLS) ** 2)
        for cell, place in zip(cells, (row, column), strict=True)
    )
    around = down[..., :, None] * along[..., None, :]
    spot = torch.stack(
        [(around * (part == kind)[..., None, None]).amax(dim=1) for kind in range(1, classes + 1)], dim=1
    )
    most, owner = (around * (part > 0)[..., None, None]).max(dim=1)
    image, y, x = torch.nonzero(most >= NEAR, as_tuple=True)
    mine = known[image, owner[image, y, x]]
    return Batch(
        images=torch.as_tensor(images, dtype=torch.float32, device=device),
        region=torch.as_tensor(np.ascontiguousarray(regions), dtype=torch.int64, device=device),
        spot=spot,
        near=(image, y, x),
        angle=mine[:, 5:],
        size=mine[:, 3:5],
    )
