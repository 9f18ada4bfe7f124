"""Servers that fail, chats, and a back end that answers by itself."""

import sys
from pathlib import Path

import pytest

from scenegen.vlm.chat import Chat, Finish, Message, Reply, Request
from scenegen.vlm.endpoint import Endpoint

sys.path.insert(0, str(Path(__file__).parent))

from fault_server import KEY, FaultServer

SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}


def ask(text="is it sound?", *, pictures=None, max_tokens=50, prompt="judge"):
    """A chat about nothing much."""
    pictures = pictures or {}
    system = Message(role="system", text="You judge scenes.")
    messages = (system, Message(role="user", text=text, pictures=tuple(pictures)))
    request = Request(
        prompt=prompt, prompt_hash="12", messages=messages, reply_schema=SCHEMA, max_tokens=max_tokens, seed=3
    )
    return Chat(request, pictures)


class Spoken:
    """A back end that replies what a function of the text says, and counts."""

    model = "openai:spoken"

    def __init__(self, says=str.upper, tokens=(10, 5)):
        self.says, self.tokens, self.asked, self.closed = says, tokens, [], False

    def reply(self, chat):
        text = chat.request.messages[-1].text
        self.asked.append(text)
        return Reply(
            text=self.says(text),
            finish=Finish.STOP,
            model="m",
            input_tokens=self.tokens[0],
            output_tokens=self.tokens[1],
        )

    def close(self):
        self.closed = True


@pytest.fixture
def serve():
    """Start servers that play acts; they end with the test."""
    servers = []

    def serve(*acts):
        servers.append(FaultServer(*acts))
        return servers[-1]

    yield serve
    for server in servers:
        server.close()


@pytest.fixture
def connect():
    """Make an endpoint for a server, or a URL; the waits between its tries are kept in `waited`, not slept."""
    made = []

    def connect(server, **options):
        waited = []
        url = server if isinstance(server, str) else server.url
        endpoint = Endpoint("small", url, KEY, sleep=waited.append, **options)
        made.append(endpoint)
        return endpoint, waited

    yield connect
    for endpoint in made:
        endpoint.close()


@pytest.fixture(name="ask")
def ask_fixture():
    """Make a chat."""
    return ask


@pytest.fixture
def spoken():
    """Make a back end that speaks by itself."""
    return Spoken
