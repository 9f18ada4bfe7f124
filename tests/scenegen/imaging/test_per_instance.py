"""Sums over instances: every array library gives the same."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from scenegen.imaging.per_instance import per_instance

torch.set_num_threads(1)


@given(st.integers(1, 3), st.integers(1, 40), st.integers(1, 6), st.integers(0, 99))
def test_sums_are_those_of_masks_and_torch_agrees(images, pixels, count, seed):
    rng = np.random.default_rng(seed)
    instance = rng.integers(-1, count, (images, pixels))
    values = rng.integers(0, 100, (images, pixels)).astype(np.float32)
    found, pixels = per_instance((values, instance >= 0), instance, count, xp=np)
    assert found.shape == (images, count)
    for image in range(images):
        for index in range(count):
            assert found[image, index] == values[image][instance[image] == index].sum()
            assert pixels[image, index] == (instance[image] == index).sum()
    where = torch.asarray(instance)
    theirs = per_instance((torch.asarray(values), where >= 0), where, count, xp=torch)
    assert np.array_equal(theirs[0].numpy(), found)
    assert np.array_equal(theirs[1].numpy(), pixels)


def test_truths_are_counted_and_nothing_is_left_out():
    instance = np.array([[-1, 0, 0, 1, -1]])
    assert per_instance((instance >= -1,), instance, 3, xp=np)[0].tolist() == [[2, 1, 0]]
