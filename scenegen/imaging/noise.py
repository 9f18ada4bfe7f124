"""Noise of a sensor: how strong it is at each level, and normal numbers that every array library computes alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scenegen.imaging.exposure import MID_GREY
from scenegen.record import content_hash

READ_SHARE = 0.05
"""Share of the noise's variance at mid grey that does not depend on light.

An assumption: 7 electrons of read noise beside the 1,000 that a small pixel collects.
"""
_WORD = 0xFFFFFFFF
_GOLDEN = 0x9E3779B9
"""2^32 divided by the golden ratio: steps by it are spread evenly."""

Seed = tuple[int, int]
"""Two words of 32 bits."""
Words = tuple[Any, Any]
"""First and second words of the seeds of b images, whole numbers of 64 bits, each of shape [b, 1]."""


def noise_seed(scenario_id: str, camera: str) -> Seed:
    """Return the seed of a camera's noise in a scenario."""
    digest = content_hash(b"noise", scenario_id.encode(), camera.encode())
    return int(digest[:8], 16), int(digest[8:16], 16)


def noise_variance(level: Any, snr_db: Any) -> Any:
    """Return the variance of the noise: read noise and shot noise, which grows with light (EMVA 1288, linear model).

    The signal-to-noise ratio is 20 lg(level / deviation); at `MID_GREY` it is `snr_db`.

    Args:
        level: Linear values of the image, none below 0; 1 saturates.
        snr_db: Signal-to-noise ratio at mid grey [dB].
    """
    at_grey = MID_GREY**2 * 10.0 ** (-snr_db / 10.0)
    return at_grey * (READ_SHARE + (1.0 - READ_SHARE) / MID_GREY * level)


def seed_words(seeds: Sequence[Seed], *, like: Any, xp: Any) -> Words:
    """Return the words of seeds as arrays.

    Args:
        seeds: One an image.
        like: An array whose device the words get.
        xp: The array library.
    """
    first, second = (
        xp.asarray([seed[word] for seed in seeds], dtype=xp.int64, device=like.device).reshape((-1, 1))
        for word in (0, 1)
    )
    return first, second


def at_frames(words: Words, frames: Any, *, xp: Any) -> Words:
    """Return the words of later photos' noise; the first one's, frame 0, stay.

    Args:
        words: Words of the seeds, one an image (`seed_words`).
        frames: Which photo of its camera each image is, whole numbers of 64 bits, shape [b, 1].
        xp: The array library.
    """
    first, second = words
    return xp.where(frames > 0, _hash((first + frames * _GOLDEN) & _WORD), first), second


def normals(count: int, words: Words, *, like: Any, xp: Any) -> Any:
    """Return numbers of mean 0 and variance 1, nearly normal, that depend on seed and place alone.

    Each is the sum of six uniform numbers of 16 bits from three hashes (Irwin-Hall: excess kurtosis -0.2,
    none beyond 4.25). Sums of whole numbers come out the same in every array library; logarithms and cosines do not.

    Args:
        count: How many for each seed.
        words: Words of the seeds, one an image (`seed_words`).
        like: An array whose type and device the numbers get.
        xp: The array library.

    Returns:
        Numbers, shape [b, count].
    """
    first, second = words
    place = xp.arange(count, dtype=xp.int64, device=like.device).reshape((1, -1))
    start = _hash(place ^ first) ^ second
    total = (start & 0xFFFF) + (start >> 16)
    for turn in (1, 2):
        bits = _hash((start + turn * _GOLDEN) & _WORD)
        total = total + (bits & 0xFFFF) + (bits >> 16)
    # Six uniform whole numbers below 2^16: mean 6 * (2^16 - 1) / 2, variance 6 * (2^32 - 1) / 12.
    centred = xp.asarray(total - 3 * 0xFFFF, dtype=like.dtype)
    return centred * (2.0 / _WORD) ** 0.5


def _hash(word: Any) -> Any:
    """Mix words of 32 bits held in 64 (Wellons 2018, hash-prospector: lowbias32).

    Factors above 2^31 are written as negative numbers, so that no product leaves 64 bits; the low 32 bits are the same.
    """
    word = word ^ (word >> 16)
    word = (word * 0x7FEB352D) & _WORD
    word = word ^ (word >> 15)
    word = (word * (0x846CA68B - (1 << 32))) & _WORD
    return word ^ (word >> 16)
