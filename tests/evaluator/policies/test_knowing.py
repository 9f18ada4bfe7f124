"""Policies whose perception is replaced by the truth, by their texts."""

import pytest

from evaluator.policies.knowing import knowing
from evaluator.policies.registry import KINDS, Kind
from scenegen.errors import InvalidOption


@pytest.mark.parametrize("text", ["oracle", "noop", "random", "random?seed=3", "replay:file.json"])
def test_what_perceives_nothing_is_its_own_twin(text):
    assert knowing(text) == text


@pytest.mark.parametrize("text", ["python:module:attribute", "openpi:ws://host:1?layout=droid", "groot:tcp://host:2"])
def test_what_cannot_be_given_the_truth_has_no_twin(text):
    assert knowing(text) is None


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("seeing", "seeing?perception=truth"),
        ("seeing?fast=1", "seeing?fast=1&perception=truth"),
        ("seeing:file?perception=net&fast=1", "seeing:file?fast=1&perception=truth"),
        ("seeing?perception=truth&fast=1", "seeing?perception=truth&fast=1"),
    ],
)
def test_an_option_replaces_perception(text, twin, monkeypatch):
    monkeypatch.setitem(KINDS, "seeing", Kind("nowhere", "seeing", truth="perception=truth"))
    assert knowing(text) == twin
    assert knowing(twin) == twin


def test_options_of_another_form_are_refused():
    with pytest.raises(InvalidOption, match="options as"):
        knowing("oracle?x")
