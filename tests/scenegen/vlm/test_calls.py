"""The log of calls: durable, shared, mended; what is in it costs nothing and replays byte for byte."""

import json
import os
import threading

import pytest
from fault_server import KEY, chat

from scenegen.errors import BudgetSpent, InvalidOption, LibraryError, VlmError
from scenegen.vlm.budget import Budget, Budgeted
from scenegen.vlm.cached import Cached
from scenegen.vlm.calls import CallLog
from scenegen.vlm.chat import Call
from scenegen.vlm.many import many
from scenegen.vlm.options import make_back_end


@pytest.fixture
def path(tmp_path):
    return tmp_path / "logs" / "calls.jsonl"


def test_what_was_asked_before_is_free(path, spoken, ask):
    back_end, budget = spoken(tokens=(41, 50)), Budget(tokens=182)
    cached = Cached(Budgeted(back_end, budget), CallLog(path))
    assert [cached.reply(ask(text)).text for text in "abaab"] == ["A", "B", "A", "A", "B"]
    with pytest.raises(BudgetSpent):
        cached.reply(ask("c"))
    again = spoken(str.lower)
    cached = Cached(again, CallLog(path))
    assert [cached.reply(ask(text)).text for text in "abc"] == ["A", "B", "c"]
    assert (back_end.asked, again.asked) == (["a", "b"], ["c"])
    again.model = "openai:another"
    assert cached.reply(ask("a")).text == "a"
    assert cached.reply(ask("a", max_tokens=51)).text == "a"


def test_lines_are_records_of_calls_and_hold_no_key(path, serve, connect, ask):
    server = serve(chat(f"a \n \u2028 {KEY}"))
    endpoint, _ = connect(server)
    reply = Cached(endpoint, CallLog(path)).reply(ask())
    (line,) = path.read_bytes().split(b"\n")[:-1]
    call = Call.from_json(line)
    assert (call.model, call.request, call.reply) == (endpoint.model, ask().request, reply)
    assert KEY.encode() not in path.read_bytes()


def test_lines_are_on_the_disk_before_a_reply_is_given(path, spoken, ask, monkeypatch):
    synced = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(path.read_bytes().count(b"\n")), sync(file)))
    Cached(spoken(), CallLog(path)).reply(ask())
    assert synced == [1, 1]  # the file, and its folder


@pytest.mark.parametrize("keep", [0, 1, 40, -1])
def test_a_torn_last_line_is_ignored_and_cut_off(path, spoken, ask, keep):
    cached = Cached(spoken(), CallLog(path))
    for text in "ab":
        cached.reply(ask(text))
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[:first] + whole[first:][:keep])
    log = CallLog(path)
    assert [call.request.messages[-1].text for call in log.calls] == ["a"]
    Cached(spoken(), log).reply(ask("b"))
    assert path.read_bytes() == whole


def test_a_damaged_line_is_named(path, spoken, ask):
    cached = Cached(spoken(), CallLog(path))
    for text in "abc":
        cached.reply(ask(text))
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], b"{}", *lines[2:]]))
    with pytest.raises(LibraryError) as raised:
        CallLog(path)
    assert str(raised.value) == (
        f"{path}: line 2 is damaged (model: missing - it is required) - "
        "remove that line; what it answered is asked again"
    )
    path.write_bytes(b"\n".join([lines[0], lines[1][:50], *lines[2:]]))
    with pytest.raises(LibraryError, match="line 2 is damaged \\(not JSON"):
        CallLog(path)
    path.write_bytes(b"\n".join([lines[0], b"\xff\xfe", *lines[2:]]))
    with pytest.raises(LibraryError, match="line 2 is damaged \\(not JSON"):
        CallLog(path)


def test_many_threads_and_logs_share_a_file(path, spoken, ask):
    """Of replies to the same question the first counts, for all."""
    turn = iter(range(1000))
    back_end = spoken(lambda text: f"{text} {next(turn)}")
    logs = [Cached(back_end, CallLog(path)) for _ in range(2)]
    barrier, got = threading.Barrier(2), [[], []]

    def work(index):
        barrier.wait()
        got[index] = [reply.text for reply in many(logs[index], [ask(f"q{n % 20}") for n in range(40)], 4)]

    threads = [threading.Thread(target=work, args=[index]) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got[0] == got[1]
    lines = path.read_text().splitlines()
    assert len(lines) == 20
    assert {json.loads(line)["reply"]["text"] for line in lines} == set(got[0])


def test_a_folder_that_cannot_be_written(tmp_path, spoken, ask):
    (tmp_path / "file").write_text("")
    with pytest.raises(LibraryError) as raised:
        Cached(spoken(), CallLog(tmp_path / "file" / "calls.jsonl")).reply(ask())
    assert str(raised.value) == (
        f"{tmp_path}/file/calls.jsonl: cannot be read or written (Not a directory) - choose another file"
    )


def test_a_replay_repeats_byte_for_byte_and_knows_nothing_else(path, serve, connect, ask):
    server = serve(chat("eins ✓"), chat("zwei", "length"))
    endpoint, _ = connect(server)
    cached = Cached(endpoint, CallLog(path))
    replies = [cached.reply(ask(text)) for text in "ab"]
    logged = path.read_bytes()
    replay = make_back_end(f"replay:{path}", {})
    assert [replay.reply(ask(text)).canonical_json() for text in "ab"] == [reply.canonical_json() for reply in replies]
    assert replay.model == endpoint.model
    assert len(server.requests) == 2
    with pytest.raises(VlmError) as raised:
        replay.reply(ask("in scene  42"))
    remedy = "ask the model itself once, with the same prompts, scenes and seed"
    request = ask("in scene  42").request.content_id
    assert str(raised.value) == (
        f"replay:{path}: the file holds no reply to prompt 'judge' about the scene 'in scene 42' (request {request}) - "
        f"{remedy}"
    )
    shown = ask(pictures={"ab" * 32: b""}, prompt="propose")
    with pytest.raises(VlmError) as raised:
        replay.reply(shown)
    assert str(raised.value) == (
        f"replay:{path}: the file holds no reply to prompt 'propose' about the scene in picture abababababab "
        f"(request {shown.request.content_id}) - {remedy}"
    )
    assert path.read_bytes() == logged
    replay.close()


def test_files_that_cannot_be_replayed(path, spoken, ask):
    with pytest.raises(VlmError) as raised:
        make_back_end(f"replay:{path}", {})
    assert str(raised.value) == f"replay:{path}: no such file - name the log of an earlier run"
    path.parent.mkdir()
    path.touch()
    remedy = "name a log in which one model was asked"
    with pytest.raises(VlmError) as raised:
        make_back_end(f"replay:{path}", {})
    assert str(raised.value) == f"replay:{path}: the file holds no calls - {remedy}"
    for model in ("openai:b", "openai:a"):
        back_end = spoken()
        back_end.model = model
        Cached(back_end, CallLog(path)).reply(ask())
    with pytest.raises(VlmError) as raised:
        make_back_end(f"replay:{path}", {})
    assert str(raised.value) == f"replay:{path}: the file holds calls of 2 models (openai:a, openai:b) - {remedy}"
    with pytest.raises(InvalidOption) as raised:
        make_back_end("replay:", {})
    assert str(raised.value) == "--vlm replay: - accepted: replay:FILE"
