"""Training: it lowers the loss, gives the same bytes again, and goes on where it was stopped."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from typer.testing import CliRunner

from evaluator.vision.gathering import CHUNK, Shoot, gathered, read_pictures
from evaluator.vision.net import ANGLES, SortNet
from evaluator.vision.subject import Subject
from evaluator.vision.training import Training, TrainOptions
from evaluator.vision.weights import facts_of, read_weights, shipped_weights, write_weights
from scenegen.cli import app
from scenegen.errors import InvalidRecord
from scenegen.parts.builtin import builtin_catalogue

FEW = TrainOptions(scenes=3, steps=8, batch=4)


def bytes_of(net, subject, folder, facts=None):
    write_weights(folder / "net.safetensors", net, subject, facts or {})
    return (folder / "net.safetensors").read_bytes()


def test_a_few_steps_lower_the_loss_and_are_the_same_again(pictures, subject, tmp_path):
    first = Training(pictures, FEW)
    losses = list(first.run())
    assert len(losses) == FEW.steps
    assert np.mean(losses[-3:]) < 0.8 * np.mean(losses[:2])
    second = Training(pictures, FEW)
    assert list(second.run()) == losses
    assert bytes_of(first.net, subject, tmp_path) == bytes_of(second.net, subject, tmp_path)
    other = Training(pictures, FEW.replaced(seed=1))
    assert list(other.run()) != losses


def test_it_goes_on_where_it_was_stopped(pictures, subject, tmp_path, monkeypatch):
    monkeypatch.setattr("evaluator.vision.training.SAVE_EVERY", 2)
    whole = Training(pictures, FEW)
    losses = list(whole.run())
    kept = tmp_path / "state.pt"
    stopped = Training(pictures, FEW, kept=kept).run()
    assert [next(stopped) for _ in range(5)] == losses[:5]
    stopped.close()
    again = Training(pictures, FEW, kept=kept)
    assert again.done == 4
    assert list(again.run()) == losses[4:]
    assert bytes_of(again.net, subject, tmp_path) == bytes_of(whole.net, subject, tmp_path)
    assert Training(pictures, FEW.replaced(steps=9), kept=kept).done == 0


def test_maps_have_a_cell_for_two_pixels(untaught, subject):
    maps = untaught.eval()(torch.zeros((2, 64, 48, 3), dtype=torch.uint8))
    classes = len(subject.classes)
    assert maps.region.shape == (2, classes + 1, 64, 48)
    assert maps.spot.shape == (2, classes, 32, 24)
    assert maps.angle.shape == (2, ANGLES, 32, 24)
    assert maps.width.shape == maps.height.shape == (2, 32, 24)


def test_weights_are_written_with_what_they_are_for(untaught, subject, tmp_path):
    path = tmp_path / "net.safetensors"
    bytes_of(untaught, subject, tmp_path, {"cell": "fasteners", "seed": 3})
    facts = facts_of(path)
    assert facts["cell"] == "fasteners"
    assert facts["subject"] == subject.content_id
    assert facts["classes"] == list(subject.classes)
    assert path.stat().st_size < 5_000_000
    again = read_weights(path)
    image = torch.randint(0, 256, (1, 32, 32, 3), dtype=torch.uint8)
    assert torch.equal(again(image).spot, untaught.eval()(image).spot)


def test_files_of_another_form_are_refused(tmp_path):
    save_file({"a": torch.zeros(1)}, tmp_path / "a.safetensors", {"scenegen": json.dumps({"format": "old"})})
    with pytest.raises(InvalidRecord, match="format is 'old' - accepted: 'scenegen vision 1'"):
        facts_of(tmp_path / "a.safetensors")


def test_both_built_in_cells_have_weights(subject, rings):
    parts = builtin_catalogue([item.part for item in rings.inventory])
    for one in (subject, Subject.of(rings, parts)):
        path = shipped_weights(one)
        assert path is not None
        assert path.stat().st_size < 5_000_000
        held_out = facts_of(path)["held_out"]
        assert held_out["named"] >= 0.99
        assert held_out["graspable"] >= 0.85
        assert held_out["first_pick"] >= 0.95
        assert facts_of(path)["command"].startswith("scenegen train-vision --cell ")


def test_gathering_goes_on_and_gives_the_same(cell, catalogue, subject, tmp_path, monkeypatch):
    monkeypatch.setattr("evaluator.vision.gathering.CHUNK", 2)
    assert CHUNK > 2
    shoot = Shoot(cell, catalogue, 4)
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
    assert list(gathered(shoot, tmp_path / "whole", count=5, processes=1)) == [0, 2, 4, 5]
    assert list(gathered(shoot, tmp_path / "parts", count=3, processes=1)) == [0, 2, 3]
    assert list(gathered(shoot, tmp_path / "parts", count=5, processes=1)) == [2, 4, 5]
    assert list(gathered(shoot, tmp_path / "parts", count=5, processes=1)) == [5]
    whole, parts = (read_pictures(tmp_path / name, count=5, subject=subject) for name in ("whole", "parts"))
    assert whole.images.tobytes() == parts.images.tobytes()
    assert whole.rows.tobytes() == parts.rows.tobytes()
    assert len(whole.images) == 5


def test_the_command_trains_and_the_policy_takes_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr("scenegen.commands.train_vision.MEASURED", 2)
    command = ["train-vision", "--cell", "rings", "--scenes", "2", "--steps", "2", "--processes", "1", "--json"]
    for name in ("a", "b"):
        done = CliRunner().invoke(app, [*command, "-o", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        said = json.loads(done.stdout.splitlines()[-1])
        assert said["event"] == "done"
        assert said.keys() >= {"named", "graspable", "wrong", "first_pick", "iou background"}
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert facts_of(tmp_path / "a")["cell"] == "rings"
    assert isinstance(read_weights(tmp_path / "a"), SortNet)
