"""openpi over real sockets: hostile servers, hostile clients, deadlines, servers that go and come back."""

import json
import pickle
import socket
import threading
import time
from contextlib import contextmanager, suppress
from urllib.request import urlopen

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import serve

from evaluator.policies.codec import ArrayForm, pack, unpack
from evaluator.policies.layout import LAYOUTS
from evaluator.policies.openpi_line import OpenpiLine
from evaluator.policies.registry import make_policy
from evaluator.policies.serve_openpi import CONNECTIONS, OpenpiServer
from evaluator.policies.unanswered import Unanswered
from evaluator.policy import ActionKind, PolicySpec
from scenegen.errors import InvalidOption, PolicyError

CHUNK = np.zeros((10, 8), np.float32)


def packed(data):
    return pack(data, ArrayForm.OPENPI)


@contextmanager
def scripted(handler, port=0):
    """A server whose connections are handled by a function of the connection and of an event that ends the test."""
    ended = threading.Event()

    def handle(connection):
        with suppress(ConnectionClosed, OSError):
            handler(connection, ended)

    server = serve(handle, "127.0.0.1", port, compression=None, max_size=None, close_timeout=0.1)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
    finally:
        ended.set()
        server.shutdown()
        thread.join()


def replying(*replies, metadata=b"\x80"):
    """Send metadata, then the replies one after another, the last one for ever; a function makes it of the question."""

    def handler(connection, ended):
        connection.send(metadata)
        for index, question in enumerate(connection):
            reply = replies[min(index, len(replies) - 1)]
            connection.send(reply(question) if callable(reply) else reply)

    return handler


def silent(connection, ended):
    connection.send(b"\x80")
    connection.recv()
    ended.wait(5)


def dripping(connection, ended):
    """Send a frame's head, and of its megabyte a byte now and then."""
    connection.send(b"\x80")
    connection.recv()
    connection.socket.sendall(b"\x82\x7f" + (10**6).to_bytes(8, "big"))
    while not ended.wait(0.02):
        connection.socket.sendall(b"\x00")


def hanging_up(connection, ended):
    connection.send(b"\x80")
    connection.recv()
    connection.socket.shutdown(socket.SHUT_RDWR)


def cut_off(connection, ended):
    connection.send(b"\x80")
    connection.recv()
    connection.socket.sendall(b"\x82\x7f" + (10**6).to_bytes(8, "big") + b"half")
    connection.socket.shutdown(socket.SHUT_RDWR)


TRACEBACK = "Traceback\n  File x\nValueError: no \x1b[31mweights\n"
CUT = "Unpack failed: incomplete input"
OBJECTS = {b"__ndarray__": True, b"data": pickle.dumps(print), b"dtype": "|O", b"shape": [1]}
SHAPES = "accepted: numbers of shape [10 or more, 8] - see horizon= and layout="
NUMBERS = "accepted: msgpack with arrays of numbers"


@pytest.mark.parametrize(
    ("handler", "sentence"),
    [
        (hanging_up, "the connection broke 2 times - accepted: a server that answers"),
        (cut_off, "the connection broke 2 times - accepted: a server that answers"),
        (replying(TRACEBACK), "the server reports: ValueError: no [31mweights - accepted: an answer"),
        (replying(packed({"actions": CHUNK[:, :7]})), f"a reply with actions of shape [10, 7] - {SHAPES}"),
        (replying(packed({"actions": CHUNK[:9]})), f"a reply with actions of shape [9, 8] - {SHAPES}"),
        (replying(packed({"actions": CHUNK[None]})), f"a reply with actions of shape [1, 10, 8] - {SHAPES}"),
        (replying(packed({"actions": CHUNK.astype(int)})), f"a reply with actions of type int64 - {SHAPES}"),
        (replying(packed({"actions": CHUNK.tolist()})), f"a reply with actions of type list - {SHAPES}"),
        (replying(packed({})), f"a reply with actions of type NoneType - {SHAPES}"),
        (replying(packed([1])), "a reply of type list - accepted: a mapping"),
        (replying(packed({"actions": OBJECTS})), f"a reply with an array of dtype '|O' - {NUMBERS}"),
        (replying(packed({"actions": CHUNK})[:-3]), f"a reply with not msgpack ({CUT}) - {NUMBERS}"),
        (replying(bytes(17_000_000)), "a reply that is too large - accepted: at most 16 MB"),
    ],
)  # fmt: skip
def test_a_hostile_reply_becomes_one_sentence(context, observe, handler, sentence):
    with scripted(handler) as url:
        policy = make_policy(f"openpi:{url}?deadline=5", context)
        with pytest.raises(Unanswered) as error:
            policy.act(observe((0,)))
        policy.close()
    assert list(error.value.errors) == [0]
    assert str(error.value.errors[0]) == f"policy openpi:{url}?deadline=5: {sentence}"


@pytest.mark.parametrize("handler", [silent, dripping])
def test_a_server_that_stalls_is_given_up_at_the_deadline(context, observe, handler):
    with scripted(handler) as url:
        policy = make_policy(f"openpi:{url}?deadline=0.3", context)
        with pytest.raises(Unanswered) as error:
            policy.act(observe((0,)))
        policy.close()
    assert (error.value.errors[0].reason, error.value.accepted) == ("no reply in time", "a reply within 0.3 s")


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ("Traceback\nRuntimeError: out of memory", "the server reports: RuntimeError: out of memory"),
        (b"\xc1", "a reply with not msgpack (FormatError)"),
        (b"\x90", "a reply of type list"),
    ],
)
def test_wrong_metadata_are_said_when_the_policy_is_made(context, metadata, reason):
    with scripted(replying(b"", metadata=metadata)) as url, pytest.raises(PolicyError) as error:
        make_policy(f"openpi:{url}?deadline=5", context)
    assert error.value.reason == reason


def test_a_world_that_fails_leaves_the_others_of_its_connection_alone(context, observe, checked):
    bad = CHUNK.copy()
    bad[3, 2] = np.nan
    replies = [packed({"actions": chunk}) for chunk in (CHUNK, bad, CHUNK[:2], CHUNK)]
    with scripted(replying(*replies)) as url:
        policy = checked(make_policy(f"openpi:{url}", context))
        answer = policy.act(observe((0, 1, 2, 3)))
        policy.close()
    assert {world: error.reason for world, error in answer.errors.items()} == {
        1: "number 2 of action 3 is nan",
        2: "a reply with actions of shape [2, 8]",
    }
    np.testing.assert_array_equal(answer.chunks[[0, 3], :, :7], np.zeros((2, 10, 7)))
    assert (answer.seconds > 0).all()


def test_a_world_whose_question_breaks_the_server_leaves_the_others_alone(context, observe):
    def reply(question):
        return "boom" if unpack(question)["prompt"] == "sort 1" else packed({"actions": CHUNK})

    def handler(connection, ended):
        connection.send(b"\x80")
        for question in connection:
            connection.send(answer := reply(question))
            if answer == "boom":
                return

    with scripted(handler) as url:
        policy = make_policy(f"openpi:{url}", context)
        with pytest.raises(Unanswered) as error:
            policy.act(observe((0, 1, 2)))
        policy.close()
    assert {world: one.reason for world, one in error.value.errors.items()} == {1: "the server reports: boom"}
    assert np.isfinite(error.value.chunks[[0, 2]]).all()


def test_a_stalled_server_is_waited_for_once_a_connection(context, observe):
    asked = []

    def counting(connection, ended):
        connection.send(b"\x80")
        for question in connection:
            asked.append(question)

    with scripted(counting) as url:
        policy = make_policy(f"openpi:{url}?deadline=0.2&connections=2", context)
        with pytest.raises(Unanswered) as error:
            policy.act(observe(tuple(range(8))))
        policy.close()
    assert len(asked) == 2
    assert {one.reason for one in error.value.errors.values()} == {"no reply in time"}
    assert len(error.value.errors) == 8


def test_what_a_server_is_asked_is_what_the_family_knows(context, observe):
    asked = []

    def reply(question):
        asked.append(unpack(question))
        return packed({"actions": CHUNK})

    with scripted(replying(reply)) as url:
        policy = make_policy(f"openpi:{url}?wrist=none", context)
        policy.act(seen := observe((4,)))
        policy.close()
    (question,) = asked
    assert sorted(question) == [
        "observation/exterior_image_1_left",
        "observation/gripper_position",
        "observation/joint_position",
        "observation/wrist_image_left",
        "prompt",
    ]
    assert question["prompt"] == "sort 4"
    assert question["observation/exterior_image_1_left"].shape == (224, 224, 3)
    assert not question["observation/wrist_image_left"].any()
    np.testing.assert_array_equal(
        question["observation/joint_position"], seen.policy["joint_pos"][0].astype(np.float32)
    )


def test_a_longer_chunk_is_cut_and_options_reach_the_spec(context, observe):
    long = np.arange(15 * 8, dtype=np.float32).reshape(15, 8) / 1000
    with scripted(replying(packed({"actions": long}))) as url:
        policy = make_policy(f"openpi:{url}?layout=droid_joint_position&horizon=12&execute=6&rate=10", context)
        chunk = policy.act(observe((0,)))[0]
        policy.close()
    np.testing.assert_array_equal(chunk[:, :7], long[:12, :7])
    spec = policy.spec
    assert (spec.horizon, spec.execute, spec.rate_hz, spec.image_px) == (12, 6, 10, (224, 224))
    assert (spec.cameras, spec.action) == (("overhead", "wrist"), ActionKind.JOINT_POSITION)


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("gripper_pos", "the observation has no gripper_pos - accepted: it in `policy`"),
        ("wrist_rgb", "the observation has no camera wrist, it has overhead - accepted: that camera"),
    ],
)
def test_an_observation_that_lacks_something_is_refused(context, observe, missing, sentence):
    seen = observe()
    (seen.policy if missing in seen.policy else seen.camera_obs).pop(missing)
    with scripted(replying(packed({"actions": CHUNK}))) as url:
        policy = make_policy(f"openpi:{url}", context)
        with pytest.raises(PolicyError) as error:
            policy.act(seen)
        policy.close()
    assert str(error.value) == f"policy openpi:{url}: {sentence}"


def test_an_arm_of_another_size_is_refused(context, observe):
    seen = observe()
    seen.policy["joint_pos"] = seen.policy["joint_pos"][:, :6]
    with scripted(replying(packed({"actions": CHUNK}))) as url:
        policy = make_policy(f"openpi:{url}", context)
        with pytest.raises(PolicyError) as error:
            policy.act(seen)
        policy.close()
    assert str(error.value).endswith("observation/joint_position has 6 numbers - accepted: 7")


def test_where_nobody_listens_one_sentence_comes_at_the_deadline(context):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(PolicyError) as error:
        make_policy(f"openpi:ws://127.0.0.1:{port}?deadline=0.2", context)
    assert error.value.reason == (
        f"ws://127.0.0.1:{port} was not reached in 0.2 s ([Errno 111] Connection refused; /healthz does not answer)"
    )


def test_a_socket_that_says_nothing_is_given_up(context):
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(PolicyError) as error:
        make_policy(f"openpi:ws://127.0.0.1:{mute.getsockname()[1]}?deadline=0.1", context)
    assert "was not reached in 0.1 s (timed out" in error.value.reason
    assert error.value.reason.endswith("; /healthz does not answer)")


def test_a_server_that_comes_late_is_waited_for(context, checked):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    servers = []

    def start():
        servers.append(OpenpiServer(checked("noop"), LAYOUTS["droid_joint_position"], port=port).__enter__())

    timer = threading.Timer(0.15, start)
    timer.start()
    policy = make_policy(f"openpi:ws://127.0.0.1:{port}?layout=droid_joint_position&deadline=5", context)
    timer.join()
    assert policy.healthy()
    policy.close()
    servers[0].__exit__(None, None, None)
    assert not policy.healthy()


def test_a_server_that_was_started_anew_is_found_again(context, observe, checked):
    with OpenpiServer(checked("noop"), LAYOUTS["droid_joint_position"], port=0) as first:
        text = f"openpi:{first.url}?layout=droid_joint_position&connections=2&deadline=1"
        policy = make_policy(text, context)
        before = policy.act(observe((0, 1)))
    with pytest.raises(Unanswered) as error:
        policy.act(observe((0, 1)))
    assert "was not reached in 1 s" in error.value.reason
    with OpenpiServer(checked("noop"), LAYOUTS["droid_joint_position"], port=int(first.url.rpartition(":")[2])):
        after = policy.act(observe((0, 1)))
        policy.close()
    np.testing.assert_array_equal(after, before)


def test_a_connection_that_broke_meanwhile_is_made_anew_without_a_word(context, observe):
    def once(connection, ended):
        connection.send(b"\x80")
        connection.recv()
        connection.send(packed({"actions": CHUNK}))

    with scripted(once) as url:
        policy = make_policy(f"openpi:{url}", context)
        for moment in range(3):
            assert policy.act(observe((0, 1), moment)).shape == (2, 10, 8)
        policy.close()


def test_sending_to_a_peer_that_does_not_read_ends_at_the_deadline():
    def deaf(connection, ended):
        connection.send(b"\x80")
        connection.recv_messages.pause()
        ended.wait(5)

    with scripted(deaf) as url:
        line = OpenpiLine(url, name="deaf", key="", deadline_s=0.3)
        with pytest.raises(PolicyError) as error:
            line.ask({"x": np.zeros(20_000_000, np.uint8)}, ours={})
        line.close()
    assert str(error.value) == "policy deaf: no reply in time - accepted: a reply within 0.3 s"


QUESTION = {
    "observation/exterior_image_1_left": np.zeros((24, 24, 3), np.uint8),
    "observation/wrist_image_left": np.zeros((24, 24, 3), np.uint8),
    "observation/joint_position": np.zeros(7),
    "observation/gripper_position": np.zeros(1),
    "prompt": "sort",
}


@pytest.fixture
def server(checked):
    with OpenpiServer(checked("noop"), LAYOUTS["droid_joint_position"], port=0) as serving:
        yield serving


def dialled(url, **options):
    return connect(url, compression=None, max_size=None, proxy=None, close_timeout=0.1, **options)


def answered(server):
    """Ask as openpi's client does."""
    with dialled(server.url) as connection:
        assert unpack(connection.recv(timeout=5))["action"] == "joint_position"
        connection.send(packed(QUESTION))
        return unpack(connection.recv(timeout=5))


def test_a_client_of_openpi_is_answered(server):
    reply = answered(server)
    assert (reply["actions"].shape, reply["actions"].dtype) == ((10, 8), np.float32)
    assert reply["server_timing"]["infer_ms"] > 0
    with dialled(server.url) as connection:
        connection.recv(timeout=5)
        for asked in range(2):
            connection.send(packed(QUESTION))
            timing = unpack(connection.recv(timeout=5))["server_timing"]
            assert ("prev_total_ms" in timing) == bool(asked)


def test_health_is_answered_without_a_websocket(server):
    with urlopen(server.url.replace("ws:", "http:") + "/healthz", timeout=5) as response:
        assert (response.status, response.read()) == (200, b"OK\n")


LACKING = {key: value for key, value in QUESTION.items() if key != "observation/joint_position"}


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("text", "a text frame - accepted: msgpack in a binary frame"),
        (b"\xc1", "not msgpack (FormatError)"),
        (packed([]), "a question of type list - accepted: a mapping"),
        (packed({"x": OBJECTS}), "an array of dtype '|O'"),
        (packed(LACKING), "observation/joint_position is absent or of another form - accepted: numbers of shape [7]"),
        (
            packed({**QUESTION, "observation/wrist_image_left": np.zeros((3, 24, 24), np.uint8)}),
            "observation/wrist_image_left is absent or of another form - accepted: uint8 of shape [height, width, 3]",
        ),
        (
            packed({**QUESTION, "prompt": 3}),
            "scenegen/world, scenegen/episode, scenegen/seed or prompt of a wrong type - accepted: numbers, a text",
        ),
        (
            packed({**QUESTION, "observation/joint_position": np.full(7, np.nan)}),
            "policy noop: number 0 of action 0 is nan - accepted: finite numbers",
        ),
    ],
)
def test_a_hostile_question_gets_a_sentence_and_the_server_goes_on(server, frame, said):
    with dialled(server.url) as connection:
        connection.recv(timeout=5)
        connection.send(frame)
        assert connection.recv(timeout=5) == f"scenegen: {said}"
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=5)
        assert closed.value.rcvd.code == 1011
    assert answered(server)["actions"].shape == (10, 8)


def test_a_giant_question_closes_its_connection_alone(server):
    with dialled(server.url) as connection:
        connection.recv(timeout=5)
        with suppress(ConnectionClosed):  # while it is still being sent
            connection.send(bytes(33_000_000))
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=5)
        assert closed.value.rcvd is None or closed.value.rcvd.code == 1009
    assert answered(server)["actions"].shape == (10, 8)


def test_junk_on_the_socket_and_broken_connections_change_nothing(server):
    address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    open_ones = [socket.create_connection(address) for _ in range(3)]
    for junk in (b"\x00" * 100, b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nUpgrade: x", b""):
        with socket.create_connection(address) as connection:
            connection.sendall(junk)
    connection = dialled(server.url)
    connection.recv(timeout=5)
    connection.socket.sendall(b"\x82\xff" + (10**7).to_bytes(8, "big"))
    connection.socket.shutdown(socket.SHUT_RDWR)
    assert answered(server)["actions"].shape == (10, 8)
    for one in open_ones:
        one.close()


def test_too_many_connections_are_turned_away(server, context):
    connections = [dialled(server.url) for _ in range(CONNECTIONS)]
    for connection in connections:
        connection.recv(timeout=5)
    with pytest.raises(PolicyError) as error:
        make_policy(f"openpi:{server.url}?deadline=0.1", context)
    assert "server rejected WebSocket connection: HTTP 503; /healthz answers" in error.value.reason
    for connection in connections:
        connection.socket.shutdown(socket.SHUT_RDWR)
    deadline = time.monotonic() + 5
    while server._connections and time.monotonic() < deadline:
        time.sleep(0.01)
    assert answered(server)["actions"].shape == (10, 8)


def test_a_key_is_asked_for_and_appears_in_no_message(context, observe, checked, monkeypatch):
    monkeypatch.setenv("SCENEGEN_POLICY_KEY", "wrong-key")
    with OpenpiServer(checked("noop"), LAYOUTS["droid_joint_position"], port=0, key="right-key") as server:
        text = f"openpi:{server.url}?layout=droid_joint_position"
        with pytest.raises(PolicyError) as error:
            make_policy(text, context)
        assert str(error.value) == (
            f"policy {text}: the server refuses the key - accepted: the key in SCENEGEN_POLICY_KEY"
        )
        monkeypatch.setenv("SCENEGEN_POLICY_KEY", "right-key")
        policy = make_policy(text, context)
        assert policy.act(observe()).shape == (3, 10, 8)
        assert "right-key" not in json.dumps(policy._lines[0].metadata)
        policy.close()


class Slow:
    """Stalls until it is let go."""

    def __init__(self):
        self.spec = PolicySpec("slow", ActionKind.JOINT_POSITION, horizon=10)
        self.go = threading.Event()

    def reset(self, worlds, instructions):
        pass

    def act(self, observation):
        self.go.wait(5)
        return np.zeros((len(observation.worlds), 10, 8), np.float32)

    def close(self):
        pass


def test_a_local_policy_that_stalls_gets_an_error_not_a_dead_server(context, observe, checked):
    policy = Slow()
    with OpenpiServer(checked(policy, 0.1), LAYOUTS["droid_joint_position"], port=0) as server:
        client = make_policy(f"openpi:{server.url}?layout=droid_joint_position&deadline=5", context)
        with pytest.raises(Unanswered) as error:
            client.act(observe((0,)))
        assert error.value.errors[0].reason == (
            "the server reports: scenegen: policy slow: no answer in time - accepted: an answer within 0.1 s"
        )
        policy.go.set()
        deadline = time.monotonic() + 5
        answered = False
        while not answered and time.monotonic() < deadline:
            try:
                answered = client.act(observe((0,))).shape == (1, 10, 8)
            except Unanswered:
                time.sleep(0.01)
        assert answered
        client.close()


def test_policies_that_cannot_be_served_are_refused(checked):
    knowing = Slow()
    knowing.spec = PolicySpec("knowing", ActionKind.JOINT_POSITION, truth=True)
    for policy, layout, sentence in (
        (knowing, "droid_joint_position", "--policy knowing - accepted: a policy that does not want the true poses"),
        ("noop", "libero", "--layout for joint_position of noop - accepted: a layout with joint_position"),
    ):
        with pytest.raises(InvalidOption) as error:
            OpenpiServer(checked(policy), LAYOUTS[layout], port=0)
        assert str(error.value) == sentence


def test_a_port_that_is_taken_is_said(server, checked):
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(InvalidOption) as error:
        OpenpiServer(checked("noop"), LAYOUTS["droid_joint_position"], port=port)
    assert str(error.value) == (f"--port {port} - accepted: a port that is free on 127.0.0.1 (Address already in use)")
