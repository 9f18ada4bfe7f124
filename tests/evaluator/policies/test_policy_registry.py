"""The text of `--policy`: what is built from it, and the one sentence for each wrong form."""

import json
import subprocess
import sys

import numpy as np
import pytest

from evaluator.policies.noop import Noop
from evaluator.policies.random_motion import RandomMotion
from evaluator.policies.recording import Recording
from evaluator.policies.registry import KINDS, make_policy
from evaluator.policies.replay import Replay
from evaluator.policy import ActionKind, PolicySpec
from scenegen.errors import InvalidOption, InvalidRecord, MissingExtra, PolicyError

MODULE = """
import numpy as np
from evaluator.policies.noop import Noop

ready = Noop("ready")
number = 3


def plain():
    return Noop("plain")


def with_options(options):
    return Noop(f"with {dict(options)}")


def optional(options=None):
    return Noop(f"optional {options}")


def two(one, other):
    return ready


def raises():
    raise RuntimeError("no weights\\nhere")


def wrong():
    return "a policy"


def leaves():
    raise SystemExit("bye")
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of the user's, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_policies.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "needy.py").write_text("import nowhere_to_be_found\n")
    yield
    for name in ("my_policies", "broken", "needy"):
        sys.modules.pop(name, None)


def test_kinds_are_found_by_their_word(context, tmp_path):
    recording = Recording(action=ActionKind.TCP_DELTA, rate_hz=20, execute=1, chunks=(((0.0,) * 7,),))
    (tmp_path / "r.json").write_text(recording.canonical_json())
    assert isinstance(make_policy("noop", context), Noop)
    assert isinstance(make_policy("random", context), RandomMotion)
    assert isinstance(make_policy(f"replay:{tmp_path / 'r.json'}", context), Replay)
    assert make_policy("noop?action=tcp_delta", context).spec == PolicySpec(
        "noop?action=tcp_delta", ActionKind.TCP_DELTA
    )


@pytest.mark.parametrize(
    ("attribute", "name"),
    [
        ("ready", "ready"),
        ("plain", "plain"),
        ("with_options", "with {}"),
        ("with_options?gain=2&mode=slow", "with {'gain': '2', 'mode': 'slow'}"),
        ("optional", "optional None"),
        ("optional?gain=2", "optional {'gain': '2'}"),
    ],
)
def test_a_policy_of_ones_own_is_an_object_or_is_made_by_a_function(module, context, attribute, name):
    assert make_policy(f"python:my_policies:{attribute}", context).spec.name == name


ALL = ", ".join(kind.typed for kind in KINDS.values())
MADE = "accepted: a policy (spec, reset, act, close), or a function of nothing or of the options that returns one"
OPENPI = "openpi:ws://HOST:PORT or wss://; a key goes into SCENEGEN_POLICY_KEY"
OPTIONS = "the options layout, exterior, wrist, horizon, rate, execute, connections, deadline, not wurst"
KINDS_OF_ACTION = "'joint_position', 'joint_velocity', 'tcp_pose' or 'tcp_delta'"


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("nop", f"{ALL} - did you mean noop?"),
        ("open-pi:ws://x", f"{ALL} - did you mean openpi:ws://HOST:PORT?layout=droid?"),
        ("", ALL),
        ("noop:3", "noop alone"),
        ("noop?action=x", "action=joint_position|joint_velocity|tcp_pose|tcp_delta"),
        ("noop?acton=x", "the options action, not acton - did you mean action=?"),
        ("noop?x", "options as ?name=value&name=value"),
        ("noop?action=tcp_pose&action=tcp_pose", "each option once"),
        ("random?seed=3", "no options, not seed"),
        ("python:my_policies", "python:MODULE:ATTRIBUTE"),
        ("python:my_policies:f", "an attribute of my_policies, which has no f"),
        ("python:my_policies:ready?a=1", "no options, since ready takes none"),
        ("python:my_policies:plain?a=1", "no options, since plain takes none"),
        ("openpi:http://x:1", OPENPI),
        ("openpi:ws://u:secret@x:1", OPENPI),
        ("openpi:ws://x:port", OPENPI),
        ("openpi:ws://x:1?layout=drod", "layout=droid|droid_joint_position|libero"),
        ("openpi:ws://x:1?wrist=hand", "wrist=none|overhead|wrist"),
        ("openpi:ws://x:1?horizon=5.5", "horizon= a whole number, 1 to 200"),
        ("openpi:ws://x:1?deadline=nan", "deadline= a number, 0.05 to 3600"),
        ("openpi:ws://x:1?wurst=1", f"{OPTIONS} - did you mean wrist=?"),
        ("groot:ws://x:1", "groot:tcp://HOST:PORT; a key goes into SCENEGEN_POLICY_KEY"),
        ("groot:tcp://x:99999", "groot:tcp://HOST:PORT; a key goes into SCENEGEN_POLICY_KEY"),
        ("groot:tcp://x:1?form=n2", "form=auto|n1.5|n1.6|n1.6-flat|n1.7|n1.7-flat"),
        ("groot:tcp://x:1?image=big", "image=HEIGHTxWIDTH, for example 180x320"),
    ],
)
def test_a_wrong_form_gets_one_sentence(module, context, text, accepted):
    with pytest.raises(InvalidOption) as error:
        make_policy(text, context)
    assert str(error.value) == f"--policy {text} - accepted: {accepted}"


def test_a_module_that_is_not_there_is_named(module, context):
    with pytest.raises(InvalidOption) as error:
        make_policy("python:my_polices.arm:f", context)
    shown = "python:my_polices.arm:f (no module my_polices)"
    assert str(error.value) == f"--policy {shown} - accepted: a module that is here or installed"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("python:broken:f", "importing or building it raised SyntaxError: invalid syntax (broken.py, line 1)"),
        (
            "python:needy:f",
            "importing or building it raised ModuleNotFoundError: No module named 'nowhere_to_be_found'",
        ),
        ("python:my_policies:raises", "importing or building it raised RuntimeError: no weights here"),
        ("python:my_policies:leaves", "importing or building it raised SystemExit: bye"),
        ("python:my_policies:number", "number is or made something of type int"),
        ("python:my_policies:wrong", "wrong is or made something of type str"),
    ],
)
def test_what_a_policy_of_ones_own_raises_becomes_one_sentence(module, context, text, reason):
    with pytest.raises(PolicyError) as error:
        make_policy(text, context)
    assert str(error.value) == f"policy {text}: {reason} - {MADE}"


def test_a_function_of_two_arguments_is_not_called(module, context):
    with pytest.raises(PolicyError) as error:
        make_policy("python:my_policies:two", context)
    assert "two() missing 1 required positional argument: 'other'" in str(error.value)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, "cannot be read (No such file or directory)"),
        ({"chunks": []}, "chunks: [] - accepted: Tuple should have at least 1 item after validation, not 0"),
        ({"chunks": [[[0.0]], [[0.0, 1.0]]]}, "chunks differ in shape - accepted: all of shape [horizon, numbers]"),
        ({"chunks": [[]]}, "chunks differ in shape - accepted: all of shape [horizon, numbers]"),
        ({"chunks": [[[0.0]]], "execute": 2}, "execute is 2 - accepted: at most the horizon (1)"),
        ({"chunks": [[[0.0]]], "action": "walk"}, f"action: 'walk' - accepted: {KINDS_OF_ACTION}"),
    ],
)
def test_a_wrong_recording_gets_one_sentence(context, tmp_path, data, sentence):
    path = tmp_path / "r.json"
    if data is not None:
        path.write_text(json.dumps({"action": "tcp_pose", "rate_hz": 20, "execute": 1, **data}))
    with pytest.raises(InvalidRecord) as error:
        make_policy(f"replay:{path}", context)
    assert str(error.value) == f"{path}: {sentence}"


@pytest.mark.parametrize(
    ("text", "package", "feature"),
    [
        ("openpi:ws://x:1", "websockets.sync.client", "the openpi protocol"),
        ("groot:tcp://x:1", "zmq", "the GR00T protocol"),
        ("groot:tcp://x:1", "msgpack", "a remote policy"),
    ],
)
def test_without_the_extra_the_install_line_is_said(context, monkeypatch, text, package, feature):
    ours = [name for name in sys.modules if name.startswith(("evaluator.policies.openpi", "evaluator.policies.groot"))]
    for name in [*ours, "evaluator.policies.codec", "evaluator.policies.modality", "evaluator.policies.history"]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra) as error:
        make_policy(text, context)
    assert str(error.value) == f"{feature} needs the extra 'policies' - run: pip install 'scenegen[policies]'"


def test_what_a_policy_gave_can_be_played_back(context, observe, tmp_path):
    policy = make_policy("random", context)
    policy.reset([0], ["sort"])
    given = np.stack([policy.act(observe((0,), moment))[0] for moment in range(3)])
    (tmp_path / "r.json").write_text(Recording.of(policy.spec, given).canonical_json())
    replay = make_policy(f"replay:{tmp_path / 'r.json'}", context)
    replay.reset([0, 1], ["sort", "sort"])
    calls = [replay.act(observe((0, 1), moment)) for moment in range(4)]
    for call, chunk in zip(calls, given, strict=False):
        np.testing.assert_array_equal(call, np.stack([chunk, chunk]))
    np.testing.assert_array_equal(calls[3][0], np.repeat(given[-1:, -1], policy.spec.horizon, axis=0))
    assert (replay.spec.rate_hz, replay.spec.execute) == (policy.spec.rate_hz, policy.spec.execute)


def test_vision_without_its_extra_says_what_to_install():
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from evaluator.policies.registry import make_policy\n"
        "from scenegen.errors import MissingExtra\n"
        "try:\n    make_policy('vision', None)\n"
        "except MissingExtra as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "The policy vision needs the extra 'vision' - run: pip install 'scenegen[vision]'\n"
