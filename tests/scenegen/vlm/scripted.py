"""A model that replies by a script, over a real socket: what it says of each request is a function's."""

import json

from scenegen.vlm.chat import Finish, Reply
from scenegen.vlm.served import ModelServer

PROMPTS = {"You know": "propose", "You judge": "judge"}


def proposal(*edits, cause="a part was left beside the tray"):
    return {"cause": cause, "likelihood": "common", "expected_failure": "overlooked", "edits": list(edits)}


def proposals(*some):
    return json.dumps({"proposals": list(some)})


def offers(chat, op):
    """The branches of a request's schema for one kind of edit."""
    branches = chat.request.reply_schema["properties"]["proposals"]["items"]["properties"]["edits"]["items"]["anyOf"]
    return [one["properties"] for one in branches if one["properties"]["op"]["const"] == op]


def misplace(chat, index=0):
    """Leave the scene's part of some index on the table."""
    return {"op": "misplace", "item": offers(chat, "misplace")[0]["item"]["enum"][index]}


def fine(chat):
    """Reply what is valid: parts left on the table, or nothing against a scene."""
    if prompt_of(chat) == "judge":
        return json.dumps({"plausible": True, "instruction_matches": True, "reason": "it may happen"})
    return proposals(*(proposal(misplace(chat, i), cause=f"part {i} was left beside the tray") for i in range(2)))


def prompt_of(chat):
    """The prompt that a conversation began with; servers are not told its name."""
    first = chat.request.messages[0].text
    return next(name for words, name in PROMPTS.items() if first.startswith(words))


class Scripted:
    """A back end that replies what a function of the chat says."""

    model = "scripted"

    def __init__(self, says=fine):
        self.says, self.asked = says, []

    def reply(self, chat):
        self.asked.append(chat)
        said = self.says(chat)
        text, finish = said if isinstance(said, tuple) else (said, Finish.STOP)
        return Reply(text=text, finish=finish, model="scripted", input_tokens=900, output_tokens=100)

    def close(self):
        pass


def served(back_end):
    """Serve it; `option(server)` is what `--vlm` takes."""
    return ModelServer(back_end, name="scripted", sees=True)


def option(server):
    return f"openai:scripted@{server.url}"
