"""Pictures are drawn once, kept, and never shown once they are damaged."""

import numpy as np
import pytest

from library.files import FolderFiles
from library.thumbnails import Thumbnails


class Drawing:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self):
        self.times += 1
        return np.full((4, 6, 3), self.times, np.uint8)


@pytest.fixture
def thumbnails(tmp_path):
    return Thumbnails(FolderFiles(tmp_path), style="250px")


def test_a_picture_is_drawn_once_for_each_scene_and_camera(thumbnails):
    draw = Drawing()
    first = thumbnails.picture("ab01", "overhead", draw)
    assert (thumbnails.picture("ab01", "overhead", draw) == first).all()
    assert draw.times == 1
    assert (thumbnails.picture("ab01", "wrist", draw) == 2).all()
    assert (thumbnails.picture("ab02", "overhead", draw) == 3).all()
    assert (thumbnails.picture("ab01", "overhead", draw) == first).all()


def test_a_damaged_picture_is_drawn_again(thumbnails, tmp_path):
    draw = Drawing()
    thumbnails.picture("ab01", "overhead", draw)
    [file] = tmp_path.glob("cache/thumbnails/ab/*.png")
    data = bytearray(file.read_bytes())
    data[50] ^= 1
    file.write_bytes(data)
    assert (thumbnails.picture("ab01", "overhead", draw) == 2).all()
    assert len(list(tmp_path.glob("cache/thumbnails/ab/*.png"))) == 1
