"""Images of a GPU are looked at there: no step mixes devices, none takes a tensor for an array. No GPU is needed."""

import numpy as np
import pytest
import torch

from evaluator.vision.eye import GROUP, Eye
from evaluator.vision.net import SortNet
from evaluator.vision.peaks import MOST, table_of
from evaluator.vision.subject import Subject
from scenegen.streams import stream


class Elsewhere(torch.Tensor):
    """A tensor that computes and, like one on a GPU, becomes an array only where it is brought to the processor."""

    def cpu(self):
        return self.as_subclass(torch.Tensor)

    def numpy(self):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def __array__(self, *arguments, **options):
        return self.numpy()

    def tolist(self):
        raise TypeError("it has to wait for the GPU")


@pytest.fixture(scope="module")
def subject(cell, catalogue):
    return Subject.of(cell, catalogue)


def test_weights_go_to_where_the_images_are_and_no_step_mixes_devices(cell, subject):
    count = GROUP + 6
    eye = Eye(cell, subject, SortNet(len(subject.classes)))
    images = torch.zeros((count, *eye.size_px, 3), dtype=torch.uint8, device="meta")
    assert eye.at_once(images) == GROUP
    groups = list(eye._maps(images))
    tables = [table_of(maps, eye._sighting.fingers) for maps, _ in groups]
    assert [used for _, used in groups] == [GROUP, 6]
    assert {parameter.device.type for parameter in eye._net.parameters()} == {"meta"}
    assert {table.device.type for table in tables} == {"meta"}
    assert {tuple(table.shape[:2]) for table in tables} == {(GROUP, MOST)}


def test_what_is_seen_does_not_depend_on_where_the_image_lies(cell, subject):
    eye = Eye(cell, subject, SortNet(len(subject.classes)))
    rng = stream("tests", "elsewhere")
    images = torch.as_tensor(rng.integers(0, 256, (3, *eye.size_px, 3), np.uint8))
    there, here = eye.peaks(images.as_subclass(Elsewhere)), eye.peaks(images.numpy())
    for one, other in zip(there, here, strict=True):
        np.testing.assert_array_equal(one.pixel, other.pixel)
    assert eye.regions(images.as_subclass(Elsewhere)).shape == (3, *eye.size_px)


def test_arrays_and_images_on_the_processor_are_looked_at_one_by_one(cell, subject):
    eye = Eye(cell, subject, SortNet(len(subject.classes)))
    assert eye.at_once(np.zeros((2, *eye.size_px, 3), np.uint8)) == 1
    assert eye.at_once(torch.zeros((2, *eye.size_px, 3), dtype=torch.uint8)) == 1
