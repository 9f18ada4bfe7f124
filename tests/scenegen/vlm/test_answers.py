"""Whatever a server sends: there is a reply, or one known error; a reply is a record that a log gives back."""

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from scenegen.vlm.answers import UnusableAnswer, quoted, read_answer
from scenegen.vlm.chat import Chat, Message, Reply, Request

CHAT = Chat(
    Request(prompt="judge", prompt_hash="1", messages=(Message(role="user", text="?"),), reply_schema={}, max_tokens=9)
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["stop", "length", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def some(**fields):
    """Mappings whose fields, if they are there, are what they should be, or anything."""
    return ANY | st.fixed_dictionaries({}, optional={name: value | ANY for name, value in fields.items()})


MESSAGE = some(content=st.text(), refusal=st.none())
CHOICE = some(finish_reason=st.just("stop"), message=MESSAGE)
USAGE = some(prompt_tokens=st.integers(), completion_tokens=st.integers())
ANSWER = some(choices=st.lists(CHOICE, max_size=2), usage=USAGE, model=st.text(), error=st.none())


def check(content):
    with suppress(UnusableAnswer):
        reply = read_answer(content, CHAT, asked="small", hide=str)
        assert Reply.from_json(reply.canonical_json().encode()) == reply


@given(ANSWER)
def test_any_json_is_a_reply_or_unusable(answer):
    check(json.dumps(answer).encode())


@given(st.binary(max_size=200))
def test_any_bytes_are_a_reply_or_unusable(content):
    check(content)


@given(st.text())
def test_quoted_words_are_one_short_printable_line(text):
    assert len(quoted(text)) <= 203
    assert quoted(text).isprintable()
