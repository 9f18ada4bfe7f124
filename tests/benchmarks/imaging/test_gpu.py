"""The benchmark of many worlds: it refuses a machine without a GPU, and a trial on the processor runs through."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch

FOLDER = Path(__file__).parents[3] / "benchmarks" / "imaging"


@pytest.fixture
def script(monkeypatch):
    """The benchmark's modules, imported as scripts beside it are."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


def test_a_machine_without_a_gpu_is_refused(script, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr("sys.argv", ["gpu.py", "--inputs", "inputs.npz", "--out", "results"])
    with pytest.raises(SystemExit) as stopped:
        script("gpu").main()
    assert stopped.value.code == 2
    sentence = "there is no CUDA device - run this where there is one, or try it out: --device cpu --worlds 4"
    assert capsys.readouterr().err.endswith(f"error: {sentence}\n")


def test_a_trial_runs_through_and_agrees_with_numpy(script, monkeypatch, tmp_path, cell, catalogue):
    inputs, results = tmp_path / "inputs.npz", tmp_path / "results"
    np.savez(inputs, **script("gpu_inputs").collected(cell, catalogue))
    words = ["--inputs", str(inputs), "--out", str(results), "--device", "cpu", "--worlds", "2", "--modes", "eager"]
    monkeypatch.setattr("sys.argv", ["gpu.py", *words, "--steps", "no shadow", "photos", "--runs", "1"])
    script("gpu").main()
    found = json.loads((results / "gpu.json").read_text())
    assert [row["step"] for row in found["rows"]] == ["no shadow", "photos"]
    assert all(row["worlds"] == 2 and row["min ms"] > 0 for row in found["rows"])
    (apart,) = found["agreement with numpy"]
    assert apart["px beyond 0.1 %"] < 1e-3
    assert apart["map px apart"] < 1e-3
    assert apart["max abs cd/m2"] < 0.05 * apart["brightest cd/m2"]
    text = (results / "gpu.md").read_text()
    assert str(tmp_path) not in text + json.dumps(found)
    assert "| eager | 2 | photos |" in text
