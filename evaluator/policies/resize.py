"""Images scaled to a size without distortion, padded with black."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Images = NDArray[np.uint8]


def resize_with_pad(images: Images, height: int, width: int) -> Images:
    """Scale images so that they just fit, and centre them on black.

    Pixels are those of openpi's client (`openpi_client.image_tools.resize_with_pad`, after TensorFlow's function of
    that name): Pillow's bilinear filter, sizes and margins rounded down. Images of that size are returned as they are.

    Args:
        images: Shape [n, h, w, 3].
        height: Of the result [px].
        width: Of the result [px].

    Returns:
        Shape [n, height, width, 3].
    """
    count, old_height, old_width = images.shape[:3]
    if (old_height, old_width) == (height, width):
        return images
    ratio = max(old_width / width, old_height / height)
    new_height, new_width = max(int(old_height / ratio), 1), max(int(old_width / ratio), 1)
    top, left = (height - new_height) // 2, (width - new_width) // 2
    padded = np.zeros((count, height, width, 3), np.uint8)
    for image, target in zip(images, padded, strict=True):
        scaled = Image.fromarray(image).resize((new_width, new_height), Image.Resampling.BILINEAR)
        target[top : top + new_height, left : left + new_width] = np.asarray(scaled)
    return padded
