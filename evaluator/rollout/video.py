"""Write pictures as a video that browsers play: H.264 in an MP4 file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from evaluator.rollout.video_draft import draft_of

CRF = "20"
"""Quality of x264: about what an eye cannot tell from the pictures themselves."""


def write_video(frames: Iterable[NDArray[np.uint8]], path: Path, *, rate_hz: float) -> Path:
    """Write a video; it appears whole or not at all.

    Args:
        frames: Pictures of one size, sRGB, shape [h, w, 3]; height and width are even.
        path: Where it goes, an `.mp4` file.
        rate_hz: Pictures a second.

    Returns:
        The path.

    Raises:
        ValueError: There is no picture.
    """
    draft = draft_of(path, os.getpid())
    try:
        with av.open(str(draft), "w") as container:
            stream = None
            for frame in frames:
                if stream is None:
                    stream = container.add_stream("libx264", rate=Fraction(rate_hz).limit_denominator(1000))
                    stream.height, stream.width, stream.pix_fmt = *frame.shape[:2], "yuv420p"
                    stream.options = {"crf": CRF, "movflags": "+faststart"}
                container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")))
            if stream is None:
                raise ValueError("a video without pictures")
            container.mux(stream.encode())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return path
