"""Endpoints against a server that fails in every way: how often it is asked, what is waited, what is said."""

import logging
import resource
import socket
import traceback

import pytest
from fault_server import (
    KEY,
    bomb,
    chat,
    drip,
    drip_headers,
    error,
    flood,
    hang,
    http,
    refusing_url,
    reset,
    timed,
)  # fmt: skip

from scenegen.errors import InvalidOption, VlmError
from scenegen.vlm.chat import Finish
from scenegen.vlm.endpoint import Endpoint
from scenegen.vlm.options import make_back_end

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (28).to_bytes(4) + (15).to_bytes(4)
CHECK_URL = "check the URL, which should be like http://127.0.0.1:8000/v1"
OTHER = "use another model or server"
LATER = "try again later, or ask fewer at once"


def test_a_question_and_its_answer(serve, connect, ask):
    server = serve(chat())
    endpoint, waited = connect(server)
    reply = endpoint.reply(ask(pictures={"ab": PNG}))
    assert (reply.text, reply.finish, reply.model) == ('{"ok":true}', Finish.STOP, "small-2")
    assert (reply.input_tokens, reply.output_tokens, waited) == (11, 7, [])
    sent, headers = server.requests[0], server.headers[0]
    assert (sent["model"], sent["max_tokens"], sent["temperature"], sent["seed"]) == ("small", 50, 0.0, 3)
    form = sent["response_format"]
    assert (form["type"], form["json_schema"]["name"], form["json_schema"]["strict"]) == ("json_schema", "judge", True)
    assert form["json_schema"]["schema"] == ask().request.reply_schema
    assert sent["messages"][0] == {"role": "system", "content": "You judge scenes."}
    text, picture = sent["messages"][1]["content"]
    assert text == {"type": "text", "text": "is it sound?"}
    assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")
    assert (headers["accept-encoding"], headers["authorization"]) == ("identity", f"Bearer {KEY}")


@pytest.mark.parametrize(
    ("acts", "waits"),
    [
        ([error(429, Retry_After="2"), chat()], [(2, 2)]),
        ([error(429), chat()], [(0.5, 1.0)]),
        ([error(429, Retry_After="nonsense"), chat()], [(0.5, 1.0)]),
        ([error(429, Retry_After="nan"), chat()], [(0.5, 1.0)]),
        ([error(503, Retry_After="Thu, 01 Jan 1970 00:00:00 GMT"), chat()], [(0, 0)]),
        ([error(408), error(409), chat()], [(0.5, 1.0), (1.0, 1.5)]),
        ([error(500), error(500), chat()], [(0.5, 1.0), (1.0, 1.5)]),
        ([reset, chat()], [(0.5, 1.0)]),
        ([http(body=b'{"choices": [{"mess'), chat()], [(0.5, 1.0)]),
        ([http(body=b""), http(body=b"<html>Bad gateway</html>"), http(body=b"\xff{}"), chat()], [(0.5, 9)] * 3),
        ([error(503, x_should_retry="false"), chat()], [(0.5, 1.0)]),
        ([bomb(503), chat()], [(0.5, 1.0)]),
    ],
)  # fmt: skip
def test_what_passes_is_tried_again(serve, connect, ask, acts, waits):
    server = serve(*acts)
    endpoint, waited = connect(server)
    assert endpoint.reply(ask()).text == '{"ok":true}'
    assert len(server.requests) == len(acts)
    assert all("response_format" in request for request in server.requests)
    assert len(waited) == len(waits)
    assert all(low <= wait <= high for wait, (low, high) in zip(waited, waits, strict=True))


BAD = {
    "busy for a day": (
        error(429, Retry_After="86400"), 1, f"the server answered 429 and asks to wait 86400 s - {LATER}"),
    "down for ever": (error(503), 4, f"the server answered 503, 4 times - {LATER}"),
    "broken for ever": (error(500), 4, f"the server answered 500, 4 times - {LATER}"),
    "no key": (
        error(401, f"Incorrect API key provided: {KEY}", x_should_retry="true"), 1,
        "the server refuses the key (401) - check SCENEGEN_VLM_KEY or OPENAI_API_KEY"),
    "forbidden": (
        error(403), 1, "the server refuses the key (403) - check SCENEGEN_VLM_KEY or OPENAI_API_KEY"),
    "bad question": (
        error(400, f"too long, {KEY}", x_should_retry="true"), 2,
        "the server refuses the question with 400 (too long, ***) - "
        "check that the model takes pictures and texts of such length"),
    "no model": (
        error(404, "no model 'small'"), 2,
        "the server knows no such model or address (no model 'small') - check the model's name and the URL"),
    "redirect": (
        http(302, Location="http://127.0.0.1:1/"), 1,
        f"the server redirects elsewhere, which is not followed - {CHECK_URL}"),
    "permanent redirect": (
        http(308, Location="/v2"), 1, f"the server redirects elsewhere, which is not followed - {CHECK_URL}"),
    "html": (http(body=b"<html>Welcome</html>"), 4, f"the answer is not JSON, 4 times - {CHECK_URL}"),
    "deep": (http(body=b"[" * 100_000), 4, f"the answer is not JSON, 4 times - {CHECK_URL}"),
    "huge number": (http(body=b"9" * 5000), 4, f"the answer is not JSON, 4 times - {CHECK_URL}"),
    "not utf-8": (http(body=b'{"a": "\xff"}'), 4, f"the answer is not UTF-8, 4 times - {CHECK_URL}"),
    "a list": (http(body=[]), 1, f"the answer is not a JSON object - {OTHER}"),
    "error within 200": (
        http(body={"error": {"message": f"overloaded\n\x1b[31m {KEY}"}}), 1,
        f"the server answered with an error (overloaded [31m ***) - {OTHER}"),
    "choices empty": (chat(choices=[]), 1, f"the answer has no choices - {OTHER}"),
    "choices null": (chat(choices=None), 1, f"the answer has no choices - {OTHER}"),
    "choices wrong": (chat(choices=[[1]]), 1, f"the answer has no choices - {OTHER}"),
    "no message": (chat(choices=[{"message": "hello"}]), 1, f"the answer has no choices - {OTHER}"),
    "content null": (chat(None), 1, f"the answer has no text - {OTHER}"),
    "content number": (chat(4), 1, f"the answer has no text - {OTHER}"),
    "content list": (chat([{"type": "text", "text": "a"}]), 1, f"the answer has no text - {OTHER}"),
    "half a character": (chat("\ud83d"), 1, f"the reply holds halves of characters - {OTHER}"),
    "odd finish": (
        chat(finish=f"tool_calls {KEY}"), 1, f"the model stopped for an unknown reason (tool_calls ***) - {OTHER}"),
    "finish list": (chat(finish=["stop"]), 1, f"the model stopped for an unknown reason (['stop']) - {OTHER}"),
    "gzip bomb": (bomb(), 1, f"the answer is encoded ('gzip'), which was not asked for - {CHECK_URL}"),
    "flood": (flood, 1, f"the answer is larger than 4194304 bytes - {CHECK_URL}"),
    "hang": (hang, 2, "no whole answer within 0.4 s, 2 times - allow more time, or use a faster model"),
    "drip": (drip, 2, "no whole answer within 0.4 s, 2 times - allow more time, or use a faster model"),
    "drip in headers": (
        drip_headers, 2, "no whole answer within 0.4 s, 2 times - allow more time, or use a faster model"),
    "no http": (
        b"SSH-2.0-OpenSSH\r\n\r\n", 4,
        "no connection, or it broke (illegal status line: bytearray(b'SSH-2.0-OpenSSH')), 4 times - "
        "start the server, or check the URL"),
    "nothing": (
        b"", 4,
        "no connection, or it broke (Server disconnected without sending a response.), 4 times - "
        "start the server, or check the URL"),
    "reset for ever": (
        reset, 4,
        "no connection, or it broke ([Errno 104] Connection reset by peer), 4 times - "
        "start the server, or check the URL"),
}  # fmt: skip
"""What a server does for ever, how often it is asked, what is said."""


@pytest.mark.parametrize("fault", BAD)
def test_faults_end_in_one_sentence_without_the_key(serve, connect, ask, caplog, capfd, fault):
    act, times, sentence = BAD[fault]
    server = serve(act)
    deadline_s = 0.4 if "0.4 s" in sentence else 20
    endpoint, _ = connect(server, deadline_s=deadline_s)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    caplog.set_level(logging.DEBUG)
    raised, took_s = timed(lambda: endpoint.reply(ask()))
    assert isinstance(raised, VlmError)
    assert str(raised) == f"openai:small@{server.url}: {sentence}"
    assert len(server.requests) == times
    assert took_s < (times * deadline_s + 0.5 if act in (hang, drip, drip_headers) else 5)
    assert server.flooded < 2e7
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000  # kB
    said = [*capfd.readouterr(), *traceback.format_exception(raised), repr(raised), repr(endpoint), repr(vars(raised))]
    said += [f"{record.getMessage()} {vars(record)}" for record in caplog.records]
    assert any("httpcore2" in record.name for record in caplog.records)
    assert [text for text in said if KEY in text] == []


def test_nobody_listens(connect, ask):
    url = refusing_url()
    endpoint, waited = connect(url)
    with pytest.raises(VlmError) as raised:
        endpoint.reply(ask())
    reason = "no connection, or it broke ([Errno 111] Connection refused), 4 times"
    assert str(raised.value) == f"openai:small@{url}: {reason} - start the server, or check the URL"
    assert len(waited) == 3


def test_a_server_that_does_not_listen_to_a_large_picture(connect, ask):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        raised, took_s = timed(lambda: connect(url, deadline_s=0.3)[0].reply(ask(pictures={"ab": bytes(2**23)})))
    assert f"{raised}" == (
        f"openai:small@{url}: no whole answer within 0.3 s, 2 times - allow more time, or use a faster model"
    )
    assert took_s < 1.5


@pytest.mark.parametrize(
    ("act", "finish", "text"),
    [
        (chat("half", "length"), Finish.LENGTH, "half"),
        (chat(None, "length"), Finish.LENGTH, ""),
        (chat(None, "content_filter"), Finish.REFUSED, ""),
        (chat(choices=[{"message": {"content": None, "refusal": "I may not."}}]), Finish.REFUSED, "I may not."),
        (chat("done", None), Finish.STOP, "done"),
    ],
)
def test_why_a_model_stopped(serve, connect, ask, act, finish, text):
    reply = connect(serve(act))[0].reply(ask())
    assert (reply.finish, reply.text) == (finish, text)


@pytest.mark.parametrize(
    "usage",
    [None, [], {}, {"prompt_tokens": "11", "completion_tokens": -1}, {"prompt_tokens": True}, {"prompt_tokens": 1e9}],
)
def test_what_a_server_does_not_count_is_bounded(serve, connect, ask, usage):
    reply = connect(serve(chat("1234567", usage=usage)))[0].reply(ask(pictures={"ab": PNG}))
    characters = len("You judge scenes.is it sound?") + 101
    assert reply.input_tokens == -(-characters // 3) + 2 * 2
    assert reply.output_tokens == 3


@pytest.mark.parametrize("model", [None, 5, "", "x" * 201, "\udc00"])
def test_a_model_without_a_proper_name_is_called_as_it_was_asked(serve, connect, ask, model):
    assert connect(serve(chat(model=model)))[0].reply(ask()).model == "small"


def test_a_key_that_is_sent_back_is_not_kept(serve, connect, ask):
    reply = connect(serve(chat(f"the key is {KEY}", model=KEY)))[0].reply(ask())
    assert (reply.text, reply.model) == ("the key is ***", "***")


@pytest.mark.parametrize("status", [400, 404, 422])
def test_servers_without_response_format_get_the_schema_in_words(serve, connect, ask, status):
    server = serve(error(status), chat(), chat())
    endpoint, waited = connect(server)
    for _ in range(2):
        assert endpoint.reply(ask()).text == '{"ok":true}'
    assert ["response_format" in request for request in server.requests] == [True, False, False]
    assert waited == []
    assert server.requests[1]["messages"][0]["content"] == (
        "You judge scenes.\n\nReply with one JSON object and nothing else. It must be valid under this JSON schema:\n"
        '{"additionalProperties":false,"properties":{"ok":{"type":"boolean"}},"required":["ok"],"type":"object"}'
    )


def test_a_server_that_fails_at_response_format_is_found_out_by_the_last_try(serve, connect, ask):
    server = serve(error(500), error(500), error(500), chat())
    endpoint, _ = connect(server)
    endpoint.reply(ask())
    endpoint.reply(ask())
    assert ["response_format" in request for request in server.requests] == [True, True, True, False, False]


def test_a_server_says_which_parameters_it_does_not_know(serve, connect, ask):
    words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    warm = http(400, {"error": {"message": "no such value", "param": "temperature"}})
    server = serve(error(400, words), warm, error(501, "response_format: not supported"), chat())
    endpoint, waited = connect(server)
    endpoint.reply(ask())
    endpoint.reply(ask())
    assert waited == []
    last = server.requests[-1]
    assert last == server.requests[-2]
    assert (last["max_completion_tokens"], last["seed"]) == (50, 3)
    assert not {"max_tokens", "temperature", "response_format"} & set(last)


def test_a_server_that_knows_response_format_is_not_asked_without(serve, connect, ask):
    server = serve(chat(), error(400, "too long"))
    endpoint, _ = connect(server)
    endpoint.reply(ask())
    with pytest.raises(VlmError, match="the server refuses the question with 400 \\(too long\\)"):
        endpoint.reply(ask())
    assert len(server.requests) == 2


def test_no_proxy_of_the_environment_is_used(serve, connect, ask, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, refusing_url())
    assert connect(serve(chat()))[0].reply(ask()).text == '{"ok":true}'


@pytest.mark.parametrize(
    ("option", "environment", "model"),
    [
        ("openai:gpt-5", {"SCENEGEN_VLM_KEY": " ", "OPENAI_API_KEY": f"{KEY}\n"}, "openai:gpt-5"),
        ("openai:gpt-5@https://api.openai.com/v1/", {"OPENAI_API_KEY": KEY}, "openai:gpt-5"),
        ("openai:a/b:7b@http://127.0.0.1:8000/v1", {}, "openai:a/b:7b@http://127.0.0.1:8000/v1"),
        ("openai:a@001@http://localhost:8000/v1", {}, "openai:a@001@http://localhost:8000/v1"),
        ("openai:a@http://[::1]:8000/v1", {}, "openai:a@http://[::1]:8000/v1"),
    ],
)
def test_endpoints_as_they_are_typed(option, environment, model):
    endpoint = make_back_end(option, environment)
    assert isinstance(endpoint, Endpoint)
    assert endpoint.model == model
    endpoint.close()


def test_the_own_key_counts_before_openais(serve, ask):
    server = serve(chat())
    endpoint = make_back_end(f"openai:a@{server.url}", {"OPENAI_API_KEY": "other", "SCENEGEN_VLM_KEY": KEY})
    endpoint.reply(ask())
    endpoint.close()
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", [f"{KEY}\n{KEY}", f"{KEY} {KEY}", f"{KEY}é"])
def test_keys_that_cannot_be_sent_are_not_shown(key):
    with pytest.raises(VlmError) as raised:
        make_back_end("openai:a", {"OPENAI_API_KEY": key})
    assert str(raised.value) == (
        "openai:a: the key holds spaces, line ends or other characters that cannot be sent - "
        "set SCENEGEN_VLM_KEY or OPENAI_API_KEY anew"
    )


NO_KEY = (
    "there is no key - set SCENEGEN_VLM_KEY or OPENAI_API_KEY, or name a server on this machine, which needs none "
    "(openai:MODEL@http://127.0.0.1:8000/v1); procedural axes need neither"
)


@pytest.mark.parametrize(
    "option", ["openai:gpt-5", "openai:gpt-5@http://10.0.0.5/v1", "openai:a@http://localhost.evil/v1"]
)
def test_without_a_key_it_is_said_how_to_give_one(option):
    with pytest.raises(VlmError) as raised:
        make_back_end(option, {"OPENAI_API_KEY": ""})
    assert str(raised.value) == f"{option}: {NO_KEY}"


TYPED = "openai:MODEL or openai:MODEL@http(s)://HOST[:PORT]/v1"


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("openai:", f"--vlm openai: - accepted: {TYPED}"),
        ("openai:a b", f"--vlm openai:a b - accepted: {TYPED}"),
        ("openai:a@localhost:8000", f"--vlm openai:a@localhost:8000 - accepted: {TYPED}"),
        ("openai:a@ftp://h/v1", f"--vlm openai:a@ftp://h/v1 - accepted: {TYPED}"),
        ("openai:a@http:///v1", f"--vlm openai:a@http:///v1 - accepted: {TYPED}"),
        ("openai:a@http://h:99999/v1", f"--vlm openai:a@http://h:99999/v1 - accepted: {TYPED}"),
        (
            f"openai:a@http://user:{KEY}@h/v1",
            f"--vlm openai:a@… - accepted: {TYPED} without user, query or fragment; the key is in SCENEGEN_VLM_KEY",
        ),
        (
            f"openai:a@http://h/v1?key={KEY}",
            f"--vlm openai:a@… - accepted: {TYPED} without user, query or fragment; the key is in SCENEGEN_VLM_KEY",
        ),
        (
            "opanai:a",
            "--vlm opanai:a - accepted: openai:MODEL[@URL], local:PATH, replay:FILE - did you mean openai:MODEL[@URL]?",
        ),
    ],
)
def test_what_is_typed_wrongly(option, sentence):
    with pytest.raises(InvalidOption) as raised:
        make_back_end(option, {"OPENAI_API_KEY": KEY})
    assert str(raised.value) == sentence
