"""A back end that repeats what was logged, without any model: the same replies, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scenegen.errors import InvalidOption, VlmError
from scenegen.vlm.calls import CallLog
from scenegen.vlm.chat import Chat, Reply, Request


class Replay:
    """Answers from a log of calls, and nothing else.

    Args:
        path: The log; all its calls asked one model.

    Raises:
        VlmError: There is no such file, or it holds calls of no model, or of several.
        LibraryError: It cannot be read, or a line is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._log = CallLog(path)
        self._name = f"replay:{path}"
        models = sorted({call.model for call in self._log.calls})
        if not path.exists():
            raise VlmError(self._name, "no such file", "name the log of an earlier run")
        if len(models) != 1:
            held = f"calls of {len(models)} models ({', '.join(models)})" if models else "no calls"
            raise VlmError(self._name, f"the file holds {held}", "name a log in which one model was asked")
        self.model = models[0]
        """The model whose replies are repeated, as `--vlm` named it then: scenes come out under the same ids."""

    def reply(self, chat: Chat) -> Reply:
        """Answer what was answered before.

        Raises:
            VlmError: This was not asked before.
        """
        call = self._log.find(self.model, chat.request)
        if call is None:
            reason = f"the file holds no reply to prompt {chat.request.prompt!r} about {_scene(chat.request)}"
            remedy = "ask the model itself once, with the same prompts, scenes and seed"
            raise VlmError(self._name, reason, remedy)
        return call.reply

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""


def build(option: str, target: str, environment: Mapping[str, str]) -> Replay:
    """Build the replay that was asked for.

    Args:
        option: What was typed, for errors.
        target: What stands behind `replay:`.
        environment: Not needed.

    Raises:
        InvalidOption: No file is named.
        VlmError: There is no such file, or not one model in it.
        LibraryError: It cannot be read, or a line is damaged.
    """
    if not target:
        raise InvalidOption("--vlm", option, "replay:FILE")
    return Replay(Path(target))


def _scene(request: Request) -> str:
    """Say which scene a request shows: by its pictures, or by how its last message begins."""
    if pictures := [name[:12] for message in request.messages for name in message.pictures]:
        return f"the scene in picture {', '.join(pictures)} (request {request.content_id})"
    text = " ".join(request.messages[-1].text.split())
    return f"the scene {text[:60]!r} (request {request.content_id})"
