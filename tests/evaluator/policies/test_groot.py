"""GR00T's protocol over real sockets: adapters from modalities, hostile servers and clients, servers that come back."""

import pickle
import socket
import threading
from contextlib import contextmanager

import msgpack
import numpy as np
import pytest
import zmq
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.policies.action_range import ActionRange
from evaluator.policies.checked import Checked
from evaluator.policies.codec import ArrayForm, pack, unpack
from evaluator.policies.modality import GrootForm, Modalities, Modality
from evaluator.policies.registry import make_policy
from evaluator.policies.rotations import rot6d_from_quat
from evaluator.policies.serve_groot import GrootServer
from evaluator.policy import ActionKind, PolicySpec
from scenegen.errors import InvalidOption, PolicyError

NOW = (0,)


def described(
    form=GrootForm.N16, video=("overhead",), state=("joint_position", "gripper"), action=("joint_position", "gripper"),
    horizon=4, looks_back=NOW,
):  # fmt: skip
    """The modalities of some server."""
    return Modalities(
        video=Modality(tuple(video), looks_back),
        state=Modality(tuple(state), NOW),
        action=Modality(tuple(action), tuple(range(horizon))),
        language=Modality(("task",), NOW),
        form=form,
    )


DROID = described(
    GrootForm.N17,
    video=("exterior_image_1_left", "wrist_image_left"),
    state=("eef_9d", "gripper_position", "joint_position"),
    action=("eef_9d", "gripper_position", "joint_position"),
    horizon=16,
    looks_back=(-15, 0),
)
"""As GR00T N1.7's DROID checkpoint has them."""


@contextmanager
def scripted(reply, modalities=None, port=0):
    """A server of the protocol whose every answer to `get_action` and `reset` is made by a function of the request."""
    modalities = modalities or described()
    context = zmq.Context()
    sock = context.socket(zmq.REP)
    sock.setsockopt(zmq.LINGER, 0)
    sock.bind(f"tcp://127.0.0.1:{port or '*'}")
    near, far = socket.socketpair()

    def run():
        poller = zmq.Poller()
        poller.register(sock, zmq.POLLIN)
        poller.register(far, zmq.POLLIN)
        while sock in dict(poller.poll()):
            request = unpack(sock.recv())
            if request["endpoint"] == "ping":
                answer = pack({"status": "ok"}, ArrayForm.NPY)
            elif request["endpoint"] == "get_modality_config":
                written = modalities if isinstance(modalities, bytes) else pack(modalities.written(), ArrayForm.NPY)
                answer = written
            else:
                answer = reply(request)
            if answer is None:
                far.recv(1)
                return
            sock.send(answer)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield sock.getsockopt_string(zmq.LAST_ENDPOINT)
    finally:
        near.send(b"x")
        thread.join()
        context.destroy(linger=0)
        near.close()
        far.close()


def chunk(worlds, horizon=4, joints=7):
    rng = np.random.default_rng(worlds)
    arm = rng.uniform(-0.1, 0.1, (worlds, horizon, joints)).astype(np.float32)
    return {"joint_position": arm, "gripper": rng.uniform(0, 1, (worlds, horizon, 1)).astype(np.float32)}


def nested(actions):
    return lambda request: pack([actions, {}], ArrayForm.NPY)


def failing(reason):
    return lambda request: pack({"error": reason}, ArrayForm.NPY)


@pytest.mark.parametrize("form", GrootForm)
def test_each_form_is_spoken_as_its_servers_speak_it(context, observe, form):
    asked, actions = [], chunk(3)

    def reply(request):
        asked.append(request)
        if request["endpoint"] == "reset":
            return pack({}, form.arrays)
        front = "action." if form.flat else ""
        flat = {front + key: array for key, array in actions.items()}
        return pack(flat if form is GrootForm.N15 else [flat, {}], form.arrays)

    text = "" if form in (GrootForm.N15, GrootForm.N16, GrootForm.N17) else f"?form={form}"
    with scripted(reply, described(form)) as url:
        policy = make_policy(f"groot:{url}{text}", context)
        policy.reset([0, 1, 2], ["sort"] * 3)
        got = policy.act(seen := observe())
        policy.close()
    np.testing.assert_array_equal(got, np.concatenate(list(actions.values()), axis=-1))
    if form is GrootForm.N15:
        (request,) = asked
        observation = request["data"]
    else:
        assert asked[0] == {"endpoint": "reset", "data": {"options": None}}
        assert asked[1]["data"]["options"] is None
        observation = asked[1]["data"]["observation"]
    joints = seen.policy["joint_pos"].astype(np.float32)[:, None]
    if form.flat:
        assert list(observation) == ["video.overhead", "state.joint_position", "state.gripper", "task"]
        assert observation["task"] == ["sort 0", "sort 1", "sort 2"]
        np.testing.assert_array_equal(observation["state.joint_position"], joints)
    else:
        assert observation["language"] == {"task": [["sort 0"], ["sort 1"], ["sort 2"]]}
        np.testing.assert_array_equal(observation["state"]["joint_position"], joints)
        np.testing.assert_array_equal(observation["video"]["overhead"][:, 0], seen.camera_obs["overhead_rgb"])


def test_the_adapter_of_droid_is_built_from_its_modalities(context, observe):
    asked = []
    rng = np.random.default_rng(1)
    actions = {
        "eef_9d": np.zeros((2, 16, 9), np.float32),
        "gripper_position": np.full((2, 16, 1), 0.25, np.float32),
        "joint_position": rng.uniform(-1, 1, (2, 16, 7)).astype(np.float32),
    }

    def reply(request):
        asked.append(request["data"]["observation"])
        return pack([actions, {}], ArrayForm.ND)

    with scripted(reply, DROID) as url:
        policy = make_policy(f"groot:{url}?image=18x32", context)
        seen = [observe((0, 1), moment) for moment in range(3)]
        for observation in seen:
            chunks = policy.act(observation)
        policy.close()
    assert policy.spec.action is ActionKind.JOINT_POSITION
    assert (policy.spec.horizon, policy.spec.execute, policy.spec.cameras) == (16, 8, ("overhead", "wrist"))
    np.testing.assert_array_equal(chunks[..., :7], actions["joint_position"])
    np.testing.assert_array_equal(chunks[..., 7], 0.75)
    last = asked[2]
    assert last["video"]["exterior_image_1_left"].shape == (2, 2, 18, 32, 3)
    np.testing.assert_array_equal(last["video"]["wrist_image_left"][:, 1], asked[2]["video"]["wrist_image_left"][:, -1])
    np.testing.assert_array_equal(last["video"]["wrist_image_left"][:, 0], asked[0]["video"]["wrist_image_left"][:, -1])
    pose = seen[2].policy["tcp_pose"]
    expected = np.concatenate([pose[:, :3], rot6d_from_quat(pose[:, 3:])], axis=1)
    np.testing.assert_allclose(last["state"]["eef_9d"][:, 0], expected, atol=1e-6)
    np.testing.assert_allclose(last["state"]["gripper_position"][:, 0], 1 - seen[2].policy["gripper_pos"], atol=1e-6)


def modality(**changed):
    entry = {"modality_keys": ["a"], "delta_indices": [0], **changed}
    return {
        name: {"__ModalityConfig_class__": True, "as_json": entry} for name in ("video", "state", "action", "language")
    }


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ([], "modalities of type list"),
        ({}, "modalities without video"),
        (modality(modality_keys="a"), "a description of video without modality_keys"),
        (modality(modality_keys=[1]), "a description of video without modality_keys"),
        (modality(delta_indices=[]), "a description of video without delta_indices"),
        (modality(delta_indices=[0.5]), "a description of video without delta_indices"),
        (modality(delta_indices=[-(10**9)]), "a description of video with too many keys or steps"),
        (modality(modality_keys=["a"] * 65), "a description of video with too many keys or steps"),
        ({"video": {"as_json": "{"}}, "a description of video that is no JSON"),
        ({"video": {"as_json": "[" * 10**5}}, "a description of video that is no JSON"),
        ({"video": {"as_json": 3}}, "a description of video that is no mapping"),
    ],
)
def test_hostile_modalities_are_refused(context, reply, reason):
    with scripted(None, pack(reply, ArrayForm.NPY)) as url, pytest.raises(PolicyError) as error:
        make_policy(f"groot:{url}?deadline=2", context)
    assert str(error.value) == (
        f"policy groot:{url}?deadline=2: a reply with {reason} - accepted: modalities as GR00T describes them"
    )


GOOD = chunk(1)
ARM = GOOD["joint_position"]
CUT = "Unpack failed: incomplete input"
DICT = "an answer of type dict instead of action and info"
INSTEAD = "instead of [1, 4, numbers]"
MOST = "accepted: a server that replies, with at most 16 MB"
OBJECTS = {b"nd": True, b"type": "|O", b"kind": b"O", b"shape": [1], b"data": pickle.dumps(print)}
SAID = "accepted: what its modalities say"
NUMBERS = "accepted: msgpack with arrays of numbers"


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (lambda request: b"ERROR", "the server failed at get_action without a reason - accepted: an answer"),
        (failing("CUDA \x1b[0mout of\nmemory"), "the server reports: CUDA [0mout of memory - accepted: an answer"),
        (lambda request: b"\xc1", f"a reply with not msgpack (FormatError) - {NUMBERS}"),
        (lambda request: nested(GOOD)(request)[:-9], f"a reply with not msgpack ({CUT}) - {NUMBERS}"),
        (lambda request: msgpack.packb([{"a": OBJECTS}, {}]), f"a reply with an array of kind b'O' - {NUMBERS}"),
        (lambda request: pack(GOOD, ArrayForm.NPY), f"a reply with {DICT} - {SAID}"),
        (nested([1]), f"a reply with actions of type list - {SAID}"),
        (nested({}), f"a reply with joint_position of type NoneType - {SAID}"),
        (nested({**GOOD, "gripper": ARM}), f"a reply with gripper with 7 numbers instead of 1 - {SAID}"),
        (nested({**GOOD, "gripper": ARM[:, :3]}), f"a reply with gripper of shape [1, 3, 7] {INSTEAD} - {SAID}"),
        (nested(chunk(2)), f"a reply with joint_position of shape [2, 4, 7] {INSTEAD} - {SAID}"),
        (nested({"joint_position": ARM.astype(int)}), f"a reply with joint_position of type int64 - {SAID}"),
        (lambda request: bytes(17_000_000), f"the connection broke 2 times - {MOST}"),
    ],
)  # fmt: skip
def test_a_hostile_reply_becomes_one_sentence(context, observe, reply, sentence):
    with scripted(reply) as url:
        policy = make_policy(f"groot:{url}?deadline=5", context)
        with pytest.raises(PolicyError) as error:
            policy.act(observe((0,)))
        policy.close()
    assert str(error.value) == f"policy groot:{url}?deadline=5: {sentence}"


def test_a_server_that_stalls_is_given_up_at_the_deadline(context, observe):
    with scripted(lambda request: None) as url:
        policy = make_policy(f"groot:{url}?deadline=0.3", context)
        with pytest.raises(PolicyError) as error:
            policy.act(observe((0,)))
        policy.close()
    assert (error.value.reason, error.value.accepted) == ("no reply to get_action in time", "a reply within 0.3 s")


def test_a_number_that_is_not_finite_concerns_its_world_alone(context, observe, checked):
    seen = observe()
    joints = np.repeat(seen.policy["joint_pos"][:, None], 4, axis=1).astype(np.float32)
    actions = {"joint_position": joints, "gripper": np.ones((3, 4, 1), np.float32)}
    actions["gripper"][1, 2] = np.nan
    with scripted(nested(actions)) as url:
        answer = checked(make_policy(f"groot:{url}", context)).act(seen)
    assert {world: error.reason for world, error in answer.errors.items()} == {1: "number 7 of action 2 is nan"}


def test_one_world_may_come_back_without_its_axis(context, observe):
    flat = {f"action.{key}": array[0] for key, array in chunk(1).items()}
    with scripted(lambda request: pack(flat, ArrayForm.NPY), described(GrootForm.N15)) as url:
        policy = make_policy(f"groot:{url}", context)
        assert policy.act(observe((0,))).shape == (1, 4, 8)
        policy.close()


def test_an_observation_that_lacks_something_is_refused(context, observe):
    seen = observe()
    del seen.camera_obs["overhead_rgb"]
    with scripted(nested(chunk(3))) as url:
        policy = make_policy(f"groot:{url}", context)
        with pytest.raises(PolicyError) as error:
            policy.act(seen)
        policy.close()
    assert error.value.reason == "the observation has no overhead_rgb"


def test_where_nobody_listens_one_sentence_comes_at_the_deadline(context):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    text = f"groot:tcp://127.0.0.1:{port}?deadline=0.2"
    with pytest.raises(PolicyError) as error:
        make_policy(text, context)
    accepted = "a GR00T server there, for example `scenegen serve --protocol groot`"
    assert str(error.value) == f"policy {text}: tcp://127.0.0.1:{port} was not reached - accepted: {accepted}"


def test_after_a_timeout_the_next_question_gets_its_own_answer(context, observe):
    given_up, asked = threading.Event(), []

    def reply(request):
        asked.append(request)
        if len(asked) == 1:
            given_up.wait(5)
            return nested({key: 0 * array for key, array in GOOD.items()})(request)
        return nested(GOOD)(request)

    with scripted(reply) as url:
        policy = make_policy(f"groot:{url}?deadline=0.5", context)
        with pytest.raises(PolicyError):
            policy.act(observe((0,)))
        given_up.set()
        np.testing.assert_array_equal(policy.act(observe((0,)))[..., :7], GOOD["joint_position"])
        policy.close()


def test_a_server_that_was_started_anew_is_found_again(context, observe, checked):
    with GrootServer(checked("noop"), port=0) as first:
        policy = make_policy(f"groot:{first.url}?deadline=5", context)
        policy.reset([0, 1], ["", ""])
        before = policy.act(observe((0, 1)))
    with GrootServer(checked("noop"), port=int(first.url.rpartition(":")[2])):
        policy.reset([0, 1], ["", ""])
        np.testing.assert_array_equal(policy.act(observe((0, 1))), before)
        policy.close()


def test_a_server_that_dies_over_a_question_is_asked_again_when_it_is_back(context, observe):
    asked = threading.Event()

    def dying(request):
        asked.set()

    with scripted(dying) as url:
        policy = make_policy(f"groot:{url}?deadline=5", context)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(policy.act(observe((0,)))))
        thread.start()
        assert asked.wait(5)
    with scripted(nested(GOOD), port=int(url.rpartition(":")[2])):
        thread.join(5)
        policy.close()
    np.testing.assert_array_equal(answers[0][..., :7], GOOD["joint_position"])


@pytest.fixture(scope="module")
def served(context):
    """One server for all hostile requests."""
    policy = make_policy("noop", context)
    checked = Checked(policy, ActionRange.of(policy.spec.action, context.cell.robot))
    with GrootServer(checked, port=0) as server:
        yield server
    checked.close()


@pytest.fixture(scope="module")
def ask(served):
    """Send frames and return the reply; a new socket each time."""
    context = zmq.Context()

    def ask(*frames):
        with context.socket(zmq.REQ) as sock:
            sock.setsockopt(zmq.LINGER, 0)
            sock.setsockopt(zmq.RCVTIMEO, 5000)
            sock.connect(served.url)
            sock.send_multipart(frames)
            return unpack(sock.recv())

    yield ask
    context.destroy(linger=0)


def act_request(**changed):
    state = {
        "joint_position": np.zeros((2, 1, 7), np.float32),
        "gripper_opening": np.zeros((2, 1, 1), np.float32),
    }
    observation = {"video": {}, "state": state, "language": {"task": [["a"], ["b"]]}, **changed}
    return {"endpoint": "get_action", "data": {"observation": observation, "options": None}}


def test_a_foreign_client_is_answered(ask):
    action, info = ask(pack(act_request(), ArrayForm.NPY))
    assert {key: array.shape for key, array in action.items()} == {
        "joint_position": (2, 1, 7),
        "gripper_opening": (2, 1, 1),
    }
    assert info == {}
    assert ask(bytes.fromhex("81a8656e64706f696e74a470696e67"))["status"] == "ok"
    assert ask(bytes.fromhex("82a8656e64706f696e74a57265736574a46461746181a76f7074696f6e73c0")) == {}


def reset_request(worlds):
    return {"endpoint": "reset", "data": {"options": {"worlds": worlds}}}


def with_seeds(seeds):
    request = act_request()
    request["data"]["options"] = {"worlds": [0, 1], "seeds": seeds}
    return request


SEEDS = "seeds of another form - accepted: one number for each of 2 worlds"
STATE = "state.joint_position is absent or of another form - accepted: [worlds, steps, numbers]"
LACKING = "policy noop: it raised KeyError: 'gripper_pos' - accepted: an answer"
TEXTS = "instructions of another form - accepted: one text for each of 2 worlds"


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ([], "a request of type list - accepted: a mapping"),
        ({"endpoint": "kill"}, "endpoint 'kill' - accepted: ping, get_modality_config, reset or get_action"),
        ({"endpoint": ["x"]}, "endpoint \"['x']\" - accepted: ping, get_modality_config, reset or get_action"),
        ({"endpoint": "get_action"}, "arrays that differ in their number of worlds, or none"),
        ({"endpoint": "get_action", "data": 3}, "a question without an observation"),
        (act_request(state={}), "arrays that differ in their number of worlds, or none"),
        (act_request(state={"joint_position": 3}), STATE),
        (act_request(state={"joint_position": np.zeros((2, 7))}), STATE),
        (act_request(state={"joint_position": np.zeros((0, 1, 7))}), "state.joint_position of shape [0, 1, 7]"),
        (act_request(state={"joint_position": np.zeros((2, 1, 7))}), LACKING),
        (act_request(language={"task": [["a"]]}), TEXTS),
        (act_request(language=None), TEXTS),
        (with_seeds([1]), SEEDS),
        (with_seeds([1, 0.5]), SEEDS),
        (reset_request([-1]), "numbers of worlds of another form - accepted: different ones, 0 to 65535"),
        (reset_request([1, 1]), "a world that is named twice"),
    ],
)  # fmt: skip
def test_a_hostile_request_gets_a_sentence_and_the_server_goes_on(ask, request_, said):
    assert ask(pack(request_, ArrayForm.NPY)) == {"error": f"scenegen: {said}"}
    assert ask(pack({"endpoint": "ping"}, ArrayForm.NPY))["status"] == "ok"


def test_parts_and_junk_get_a_sentence_and_the_server_goes_on(ask, served):
    assert ask(b"\x81", b"x")["error"] == "scenegen: a request in 2 parts - accepted: one"
    assert ask(b"")["error"].startswith("scenegen: not msgpack")
    address = ("127.0.0.1", int(served.url.rpartition(":")[2]))
    for junk in (b"\xff" * 1000, b"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL" + bytes(48), b""):
        with socket.create_connection(address) as connection:
            connection.sendall(junk)
    assert ask(pack({"endpoint": "ping"}, ArrayForm.NPY))["status"] == "ok"


words = st.sampled_from(
    "endpoint data get_action reset observation options worlds instructions state video language task "
    "joint_position state.joint_position video.x".split()
)
shapes = st.sampled_from([(2, 1, 7), (1, 1, 1), (0,), (1, 1, 2, 2, 3)])
arrays = st.builds(np.zeros, shapes, st.sampled_from([np.float32, np.float64, np.uint8]))
leaves = st.none() | st.booleans() | st.integers(-3, 3) | words | arrays | st.floats(allow_nan=False)
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=5),
    max_leaves=12,
)
requests = st.fixed_dictionaries({"endpoint": words, "data": trees}) | trees


@settings(max_examples=150)
@given(requests)
def test_whatever_is_asked_is_answered(ask, request_):
    ask(pack(request_, ArrayForm.NPY))


def test_a_key_is_asked_for(context, checked, monkeypatch):
    with GrootServer(checked("noop"), port=0, key="right-key") as server:
        monkeypatch.setenv("SCENEGEN_POLICY_KEY", "wrong-key")
        with pytest.raises(PolicyError) as error:
            make_policy(f"groot:{server.url}", context)
        assert error.value.reason == "the server reports: scenegen: Unauthorized: Invalid API token"
        monkeypatch.setenv("SCENEGEN_POLICY_KEY", "right-key")
        make_policy(f"groot:{server.url}", context).close()


class Looking:
    """Keeps what it is shown."""

    spec = PolicySpec("looking", ActionKind.TCP_DELTA, cameras=("*",))

    def __init__(self, shown):
        self._shown = shown

    def reset(self, worlds, instructions):
        pass

    def act(self, observation):
        self._shown.append(observation)
        return np.zeros((len(observation.worlds), 1, 7), np.float32)

    def close(self):
        pass


def test_a_policy_with_cameras_gets_its_images(context, observe, checked):
    seen, shown = observe((3, 5)), []
    with GrootServer(checked(Looking(shown)), cameras=("overhead", "wrist"), port=0) as server:
        policy = make_policy(f"groot:{server.url}", context)
        policy.act(seen)
        policy.close()
    assert policy.spec.cameras == ("overhead", "wrist")
    (got,) = shown
    assert (got.worlds, got.instructions) == (seen.worlds, seen.instructions)
    for name, images in seen.camera_obs.items():
        np.testing.assert_array_equal(got.camera_obs[name], images)


def test_policies_that_cannot_be_served_are_refused(checked):
    class Knowing(Looking):
        spec = PolicySpec("knowing", ActionKind.JOINT_POSITION, truth=True)

    with pytest.raises(InvalidOption) as error:
        GrootServer(checked(Knowing([])), port=0)
    assert str(error.value) == "--policy knowing - accepted: a policy that does not want the true poses"


def test_a_port_that_is_taken_is_said(served, checked):
    port = int(served.url.rpartition(":")[2])
    with pytest.raises(InvalidOption) as error:
        GrootServer(checked("noop"), port=port)
    assert str(error.value) == f"--port {port} - accepted: a port that is free on 127.0.0.1 (Address already in use)"
