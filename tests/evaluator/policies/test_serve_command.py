"""`scenegen serve` as a user types it: both protocols, kill and start anew, a clean end, wrong use."""

import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from typer.testing import CliRunner

from evaluator.policies.registry import make_policy
from evaluator.policies.unanswered import Unanswered
from scenegen.commands.serve import app
from scenegen.errors import InvalidOption, UnknownName


@contextmanager
def serving(*arguments):
    """Run the command; gives the process and the address that it prints."""
    command = [sys.executable, "-m", "scenegen", "serve", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = process.stderr.readline()
        yield process, re.search(r" at (\S+) ", said)[1]
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def ended(process, number):
    """End the command by a signal; returns its exit code and the rest of what it says."""
    process.send_signal(number)
    said = process.stderr.read()
    return process.wait(timeout=10), said


def test_an_openpi_server_that_was_killed_and_started_anew_goes_on(context, observe):
    arguments = ("--policy", "random", "--protocol", "openpi", "--seed", "3", "--port")
    local = make_policy("random", context)
    local.reset([0, 1], ["", ""])
    expected = local.act(observe((0, 1)))[..., :7]
    with serving(*arguments, "0") as (process, url):
        policy = make_policy(f"openpi:{url}?layout=droid_joint_position&deadline=1&horizon=8", context)
        policy.reset([0, 1], ["", ""])
        np.testing.assert_array_equal(policy.act(observe((0, 1)))[..., :7], expected)
        process.kill()
        process.wait()
        with pytest.raises(Unanswered):
            policy.act(observe((0, 1)))
    with serving(*arguments, url.rpartition(":")[2]) as (process, again):
        assert again == url
        np.testing.assert_array_equal(policy.act(observe((0, 1)))[..., :7], expected)
        policy.close()
        assert ended(process, signal.SIGINT) == (0, "served 2 requests\n")


def test_a_groot_server_ends_cleanly_when_it_is_told_to(context, observe):
    with serving("--policy", "noop?action=tcp_pose", "--protocol", "groot", "--port", "0") as (process, url):
        policy = make_policy(f"groot:{url}", context)
        policy.reset([0, 1], ["", ""])
        chunks = policy.act(observe((0, 1)))
        policy.close()
        assert ended(process, signal.SIGTERM) == (0, "served 1 requests\n")
    np.testing.assert_array_equal(chunks[:, 0, :7], observe((0, 1)).policy["tcp_pose"].astype(np.float32))


@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        (["--policy", "noop", "--layout", "droit"], UnknownName, "unknown layout 'droit' - did you mean 'droid'?"),
        (
            ["--policy", "noop", "--layout", "libero"],
            InvalidOption,
            "--layout for joint_position of noop - accepted: a layout with joint_position",
        ),
        (
            ["--policy", "noop?action=tcp_pose"],
            InvalidOption,
            "--policy noop?action=tcp_pose (tcp_pose) - accepted: with openpi a policy of "
            "joint_velocity, joint_position, tcp_delta",
        ),
        (
            ["--policy", "noop", "--cell", "rings"],
            InvalidOption,
            "--cell with 7 numbers an action - accepted: 8 for this layout",
        ),
        (
            ["--policy", "noop", "--protocol", "groot", "--form", "n1.55"],
            UnknownName,
            "unknown form 'n1.55' - did you mean 'n1.5'?",
        ),
    ],
)
def test_wrong_use_gets_one_sentence(arguments, kind, sentence, monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    protocol = [] if "--protocol" in arguments else ["--protocol", "openpi"]
    done = CliRunner().invoke(app, [*arguments, *protocol, "--port", "0"])
    assert isinstance(done.exception, kind)
    assert str(done.exception) == sentence
