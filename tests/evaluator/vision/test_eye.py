"""The eye: an image is seen as it is, whatever is looked at beside it; the shipped eyes see nominal scenes."""

import numpy as np
import pytest
import torch

from evaluator.vision.accuracy import Accuracy, measured
from evaluator.vision.eye import Eye
from evaluator.vision.pictures import HELD_OUT, PictureMaker
from evaluator.vision.sighting import Sighted
from evaluator.vision.weights import shipped_weights
from scenegen.parts.builtin import builtin_catalogue

FIELDS = Sighted.__dataclass_fields__


@pytest.fixture(scope="module")
def eye(cell, subject):
    return Eye.of(cell, subject, shipped_weights(subject))


@pytest.mark.parametrize("group", [1, 4])
def test_a_batch_is_seen_as_its_images_one_by_one(eye, pictures, group, monkeypatch):
    monkeypatch.setattr("evaluator.vision.eye.GROUP", group)
    together = eye.look(pictures.images)
    assert sum(len(one.peak) for one in together) > 0
    for image, seen in zip(pictures.images, together, strict=True):
        alone = eye.look(torch.as_tensor(image[None]))[0]
        for name in FIELDS:
            assert getattr(alone, name).tobytes() == getattr(seen, name).tobytes()


def test_nothing_is_seen_in_no_images(eye):
    assert eye.look(np.zeros((0, 224, 224, 3), np.uint8)) == []


@pytest.mark.parametrize("name", ["cell", "rings"])
def test_shipped_eyes_see_nominal_scenes(name, request):
    cell = request.getfixturevalue(name)
    parts = builtin_catalogue([item.part for item in cell.inventory])
    maker = PictureMaker(cell, parts)
    eye = Eye.of(cell, maker.subject, shipped_weights(maker.subject))
    accuracy = Accuracy(maker.subject.classes)
    pictures = (maker.nominal(2, index, use=HELD_OUT) for index in range(12))
    for outcome, found, region in measured(eye, pictures, cell=cell, parts=parts):
        accuracy.add(outcome, found, region)
    rates = accuracy.rates()
    assert accuracy.pickable > 30
    assert rates["named"] >= 0.95
    assert rates["graspable"] >= 0.85
    assert rates["wrong"] <= 0.05
    assert min(rates[f"iou {part}"] for part in maker.subject.classes) > 0.5
