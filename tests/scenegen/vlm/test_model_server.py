"""The server of local models over real sockets: what it answers, and what it refuses."""

import base64
import http.client
import importlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
import zlib
from contextlib import closing, contextmanager, suppress

import openai
import pytest
from PIL import Image
from typer.testing import CliRunner

from scenegen.cli import app
from scenegen.errors import InvalidOption, VlmError
from scenegen.vlm import served
from scenegen.vlm.chat import Finish, Reply
from scenegen.vlm.question import KNOWN, PICTURE_PIXELS
from scenegen.vlm.served import BODY_BYTES, ModelServer

SCHEMA = {
    "type": "object",
    "properties": {
        "verdict": {"enum": ["fine", "odd"]},
        "marks": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 9},
            "minItems": 1,
            "maxItems": 3,
        },
    },
    "required": ["verdict", "marks"],
    "additionalProperties": False,
}
FORM = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA, "strict": True}}
HELLO = [{"role": "user", "content": "hello"}]


def picture(form="PNG", size=(40, 30), color="blue"):
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, form)
    return f"data:image/{form.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"


def shown(*addresses, text="what is wrong?"):
    parts = [{"type": "image_url", "image_url": {"url": address, "detail": "low"}} for address in addresses]
    return [{"role": "user", "content": [{"type": "text", "text": text}, *parts]}]


class Echo:
    """A back end that says what it was asked, when it may."""

    model = "echo"

    def __init__(self):
        self.asked = []
        self.may = threading.Event()
        self.may.set()

    def reply(self, chat):
        self.asked.append(chat)
        assert self.may.wait(20)
        text = chat.request.messages[-1].text
        if text == "fail":
            raise VlmError("echo", "it is tired", "let it rest")
        finish = {"long": Finish.LENGTH, "rude": Finish.REFUSED}.get(text, Finish.STOP)
        return Reply(text=text, finish=finish, model="echo", input_tokens=3, output_tokens=2)

    def close(self):
        pass


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def server(echo):
    with ModelServer(echo, name="echo", sees=True) as server:
        yield server


@contextmanager
def client_of(server):
    with openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=60) as client:
        yield client


def post(server, body, path="/v1/chat/completions", **headers):
    """Status and error's or reply's text of a raw request."""
    connection = http.client.HTTPConnection("127.0.0.1", int(server.url.split(":")[2].split("/")[0]), timeout=20)
    with closing(connection):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}
        connection.request("POST", path, body=data, headers={key.replace("_", "-"): sent[key] for key in sent})
        response = connection.getresponse()
        said = json.loads(response.read())
    return response.status, said["error"]["message"] if "error" in said else said["choices"][0]["message"]["content"]


def test_a_model_answers_the_sdk_over_a_socket(tiny_vlm):
    pytest.importorskip("outlines", reason="needs the extra `vlm-local`")
    local = importlib.import_module("scenegen.vlm.local")
    with (
        closing(local.LocalModel(tiny_vlm)) as model,
        ModelServer(model, name=model.name, sees=model.sees) as server,
        client_of(server) as client,
    ):
        assert [one.id for one in client.models.list()] == ["tiny-vlm"]
        options = {"model": "tiny-vlm", "messages": shown(picture()), "response_format": FORM, "temperature": 1.0}
        replies = [client.chat.completions.create(**options, max_tokens=200, seed=seed) for seed in (*range(8), 0)]
        texts = [reply.choices[0].message.content for reply in replies]
        for text in texts:
            said = json.loads(text)
            assert said["verdict"] in ("fine", "odd")
            assert 1 <= len(said["marks"]) <= 3
            assert all(mark in range(1, 10) for mark in said["marks"])
        assert texts[0] == texts[-1]
        assert len(set(texts)) > 4
        assert {reply.choices[0].finish_reason for reply in replies} == {"stop"}
        cut = client.chat.completions.create(**options, max_completion_tokens=3)
        assert (cut.choices[0].finish_reason, cut.usage.completion_tokens) == ("length", 3)
        impossible = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "thing"}}}
        with pytest.raises(
            openai.UnprocessableEntityError, match=r"is not usable \(Invalid type: thing\) - simplify it"
        ):
            client.chat.completions.create(**{**options, "response_format": impossible})


def test_a_request_reaches_the_model_whole(server, echo):
    with client_of(server) as client:
        reply = client.chat.completions.create(
            model="echo",
            messages=[{"role": "developer", "content": "be brief"}, *shown(picture(), picture("JPEG"), text="look")],
            response_format=FORM,
            max_tokens=7,
            temperature=0.5,
            seed=11,
            user="somebody",
        )
    assert (reply.choices[0].message.content, reply.usage.total_tokens) == ("look", 5)
    (chat,) = echo.asked
    request = chat.request
    assert [(message.role, message.text) for message in request.messages] == [("system", "be brief"), ("user", "look")]
    assert (request.reply_schema, request.max_tokens, request.temperature, request.seed) == (SCHEMA, 7, 0.5, 11)
    assert [Image.open(io.BytesIO(chat.pictures[one])).format for one in request.messages[1].pictures] == ["PNG", "PNG"]


def test_health_and_wrong_addresses(server):
    root = server.url.removesuffix("/v1")
    with urllib.request.urlopen(f"{root}/health") as response:
        assert json.loads(response.read()) == {"status": "ok"}
    accepted = "accepted: POST /v1/chat/completions, GET /v1/models, GET /health"
    assert post(server, {}, "/v1/responses") == (404, f"nothing is at POST /v1/responses - {accepted}")


@pytest.mark.parametrize(("text", "finish"), [("long", "length"), ("rude", "content_filter"), ("done", "stop")])
def test_why_a_reply_ended_is_told(server, text, finish):
    with client_of(server) as client:
        reply = client.chat.completions.create(model="echo", messages=[{"role": "user", "content": text}])
    assert reply.choices[0].finish_reason == finish
    assert reply.choices[0].message.refusal == ("rude" if finish == "content_filter" else None)


ADDRESS = "the address of a picture - accepted: data:image/png;base64,…, data:image/jpeg;base64,…"
REFUSED = {
    "stream": ({"stream": True}, 400, "streams are not served - leave stream out"),
    "n": ({"n": 2}, 400, "one reply is served at a time - leave n out"),
    "model": ({"model": "other"}, 404, "model 'other' is not served - accepted: echo"),
    "unknown": ({"top_p": 0.9}, 400, f"top_p is not served - accepted: {', '.join(sorted(KNOWN))}"),
    "form": (
        {"response_format": {"type": "grammar"}},
        400,
        "response_format has no usable form - accepted: text, json_object, or json_schema with a schema",
    ),
    "no messages": ({"messages": []}, 400, "messages is absent or empty - accepted: a list of messages"),
    "role": (
        {"messages": [{"role": "tool", "content": "x"}]},
        400,
        "role 'tool' - accepted: system, developer, user, assistant",
    ),
    "content": (
        {"messages": [{"role": "user"}]},
        400,
        "a message without content - accepted: a text, or a list of parts",
    ),
    "part": (
        {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]},
        400,
        "a part of the type 'input_audio' - accepted: text, image_url",
    ),
    "fetch": ({"messages": shown("http://127.0.0.1:1/a.png")}, 400, ADDRESS),
    "file": ({"messages": shown("file:///etc/passwd")}, 400, ADDRESS),
    "gif": ({"messages": shown("data:image/gif;base64,R0lGOD")}, 400, ADDRESS),
    "base64": ({"messages": shown("data:image/png;base64,!!")}, 400, "a picture cannot be read - accepted: PNG, JPEG"),
    "cut": (
        {"messages": shown(picture("PNG", (99, 99))[:-40])},
        400,
        "a picture cannot be read - accepted: PNG, JPEG",
    ),
    "large": (
        {"messages": shown("data:image/png;base64," + "A" * 11_000_000)},
        413,
        "a picture of more than 8000000 bytes - make it smaller",
    ),
    "bomb": (
        {"messages": shown(picture("PNG", (3000, 3000)))},
        413,
        f"a picture of more than {PICTURE_PIXELS} pixels - make it smaller",
    ),
    "many": (
        {"messages": shown(*(picture(size=(n, 1)) for n in range(1, 10)))},
        400,
        "more than 8 pictures - show fewer",
    ),
    "tokens": (
        {"max_tokens": 0},
        400,
        "request: max_tokens: 0 - accepted: greater than or equal to 1",
    ),
    "temperature": (
        {"temperature": float("nan")},
        400,
        "request: temperature: nan is not finite - accepted: a finite number",
    ),
    "fails": ({"messages": [{"role": "user", "content": "fail"}]}, 422, "echo: it is tired - let it rest"),
}


@pytest.mark.parametrize(("changed", "status", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_served_is_refused(server, echo, changed, status, sentence):
    assert post(server, {"model": "echo", "messages": HELLO, **changed}) == (status, sentence)
    assert post(server, {"model": "echo", "messages": HELLO}) == (200, "hello")


def test_a_huge_bomb_is_refused_unopened(server):
    """A header that tells of 100,000 × 100,000 pixels."""
    file = io.BytesIO()
    Image.new("1", (8, 8)).save(file, "PNG")
    data = bytearray(file.getvalue())
    data[16:24] = (100_000).to_bytes(4) * 2
    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4)
    address = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    sentence = f"a picture of more than {PICTURE_PIXELS} pixels - make it smaller"
    assert post(server, {"model": "echo", "messages": shown(address)}) == (413, sentence)


@pytest.mark.parametrize(
    ("body", "headers", "status", "sentence"),
    [
        (b"{", {}, 400, "the body is no JSON"),
        (b"[" * 100_000, {}, 400, "the body is no JSON"),
        (b"[]", {}, 400, "the body is no object of JSON"),
        (b"{}", {"Content_Type": "text/plain"}, 415, "the body's Content-Type - accepted: application/json"),
        (b"{}", {"Content_Length": "-1"}, 411, "the body's length is not told - send Content-Length"),
        (b"{}", {"Content_Length": "9" * 30}, 413, f"a body of more than {BODY_BYTES} bytes - send less"),
        (b"{}", {"Content_Length": str(BODY_BYTES + 1)}, 413, f"a body of more than {BODY_BYTES} bytes - send less"),
    ],
    ids=["JSON", "deep", "list", "type", "negative", "long number", "large"],
)
def test_a_body_that_is_no_request_is_refused(server, body, headers, status, sentence):
    assert post(server, body, **headers) == (status, sentence)


def test_a_model_that_sees_nothing_refuses_pictures(echo):
    with ModelServer(echo, name="echo", sees=False) as server:
        said = post(server, {"model": "echo", "messages": shown(picture())})
        assert said == (400, "echo reads text only - leave the pictures out")
        assert post(server, {"model": "echo", "messages": HELLO}) == (200, "hello")


def test_more_than_a_few_waiting_requests_are_sent_away(server, echo, monkeypatch):
    echo.may.clear()
    asked = {"model": "echo", "messages": HELLO}
    said = []
    threads = [threading.Thread(target=lambda: said.append(post(server, asked))) for _ in range(served.WAITING)]
    for thread in threads:
        thread.start()
    while server._room._value:
        pass
    assert post(server, asked) == (503, "8 requests wait already - ask again later")
    echo.may.set()
    for thread in threads:
        thread.join()
    assert said == [(200, "hello")] * served.WAITING
    assert post(server, asked) == (200, "hello")


def test_peers_that_leave_or_speak_otherwise_do_no_harm(server):
    port = int(server.url.split(":")[2].split("/")[0])
    for sent in (
        b"",
        b"\x16\x03\x01 hello\r\n\r\n",
        b"BREW / HTTP/1.1\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\n",
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
            peer.sendall(sent)
    assert post(server, {"model": "echo", "messages": HELLO}) == (200, "hello")


def test_a_taken_port_is_told(server, echo):
    port = int(server.url.split(":")[2].split("/")[0])
    with pytest.raises(InvalidOption) as error:
        ModelServer(echo, name="echo", sees=True, port=port)
    assert str(error.value) == f"--port {port} - accepted: a port that is free on 127.0.0.1 (Address already in use)"


def test_the_command_serves_until_ctrl_c(tiny_vlm):
    command = [sys.executable, "-m", "scenegen", "vlm", "serve", "--model", str(tiny_vlm)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
            asked = {"model": "tiny-vlm", "messages": HELLO, "response_format": FORM, "seed": 1}
            json.loads(client.chat.completions.create(**asked).choices[0].message.content)
            endless = {"name": "long", "schema": {"type": "array", "items": {"type": "integer"}, "minItems": 1500}}
            asked |= {"response_format": {"type": "json_schema", "json_schema": endless}, "max_tokens": 4000}

            def ask_long():
                with suppress(openai.APIError):
                    client.chat.completions.create(**asked)

            thread = threading.Thread(target=ask_long)
            thread.start()
            thread.join(0.5)
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=30)
            thread.join()
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "")
    assert said.splitlines()[:2] == [f"loading {tiny_vlm}", "tiny-vlm is ready; Ctrl-C ends it"]
    assert said.splitlines()[-1] == "served 1 requests"


def test_the_command_tells_what_is_no_model(tiny, tmp_path):
    done = CliRunner().invoke(app, ["vlm", "serve", "--model", str(tmp_path / "none")])
    form = "give a folder with config.json, a tokenizer and weights as safetensors or GGUF"
    assert isinstance(done.exception, VlmError)
    assert str(done.exception) == f"local:{tmp_path}/none: there is no such folder - {form}"


def test_the_help_says_that_it_listens_on_the_loopback(tiny):
    done = CliRunner().invoke(app, ["vlm", "serve", "--help"])
    assert "It listens on the loopback only" in " ".join(done.output.replace("│", " ").split())
