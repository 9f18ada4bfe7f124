"""A maker of pictures, some pictures, and a net that was never taught."""

import pytest
import torch

from evaluator.vision.batches import PictureSet
from evaluator.vision.net import SortNet
from evaluator.vision.pictures import PictureMaker


@pytest.fixture(scope="session")
def maker(cell, catalogue):
    return PictureMaker(cell, catalogue)


@pytest.fixture(scope="session")
def subject(maker):
    return maker.subject


@pytest.fixture(scope="session")
def pictures(maker, subject):
    """Three pictures in memory."""
    return PictureSet.of([maker.nominal(5, index)[1] for index in range(3)], classes=len(subject.classes))


@pytest.fixture
def untaught(subject):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return SortNet(len(subject.classes))
