"""Models that run in this process: `local:PATH`, with replies that cannot leave their schema."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from scenegen.errors import InvalidOption, MissingExtra, VlmError
from scenegen.vlm.chat import Chat, Finish, Message, Reply, Request
from scenegen.vlm.constraint import Constraint, UnusableSchema
from scenegen.vlm.transcript import transcript, turns, without_pictures, without_system
from scenegen.vlm.weights import load_weights

try:
    import torch
    from jinja2 import TemplateError
    from PIL import Image
    from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList
except ImportError as error:
    raise MissingExtra("a model that runs here", "vlm-local") from error

GREEDY_BELOW = 0.01
"""A temperature below this takes the likeliest token, always."""
_PROMPT_FAILURES = (TemplateError, ValueError, LookupError, TypeError)


class LocalModel:
    """A vision-language model, or one that reads text only, from a folder or GGUF file; asks nobody and runs no code.

    One request gives one reply, always: a seed belongs to the request. A model that reads text only is told that it is
    shown no pictures. A request with an empty schema asks for free text. It answers one request at a time; others wait.

    Args:
        path: A folder of Hugging Face's form, or a GGUF file.
        device: Where it runs, as torch names it; a GPU if there is one, by default.

    Raises:
        VlmError: There is no such model, or not all of it.

    Example:
        >>> with closing(LocalModel("models/llava")) as model:  # doctest: +SKIP
        ...     model.reply(chat).text
    """

    def __init__(self, path: str | Path, *, device: str = "") -> None:
        self.model = f"local:{path}"
        found = Path(path).expanduser()
        self.name = found.resolve().stem if found.is_file() else found.resolve().name
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        weights = load_weights(found, self.model, device)
        self._model: Any = weights.model
        self._tokenizer, self._processor = weights.tokenizer, weights.processor
        self.sees = self._processor is not None
        """Whether it is shown pictures."""
        eos = self._tokenizer.eos_token_id
        pad = eos if self._tokenizer.pad_token_id is None else self._tokenizer.pad_token_id
        self._gpus = [self._model.device] if self._model.device.type == "cuda" else []
        self._ends: dict[str, Any] = {"eos_token_id": eos, "pad_token_id": pad}
        self._model.generation_config = GenerationConfig(**self._ends)  # what a folder says of sampling is not asked
        words = self._model.config.get_text_config()
        self._window: int | None = getattr(words, "max_position_embeddings", None)
        self._constraint = Constraint(self._tokenizer, words.vocab_size)
        added = self._tokenizer.added_tokens_decoder.values()
        marks = {token.content for token in added if token.special}
        self._picture: str = getattr(self._processor, "image_token", None) or ""
        self._special = sorted(marks | ({self._picture} - {""}))
        self._lock, self._closing = threading.Lock(), threading.Event()

    def reply(self, chat: Chat) -> Reply:
        """Answer; see `BackEnd`.

        Raises:
            VlmError: The request does not fit the model, its pictures or its schema cannot be read, or there is no
                memory for it.
        """
        request = chat.request
        with self._lock, torch.inference_mode(), torch.random.fork_rng(self._gpus):
            inputs = self._inputs(chat)
            asked = inputs["input_ids"].shape[1]
            if self._window and asked + request.max_tokens > self._window:
                reason = f"{asked} tokens of prompt and {request.max_tokens} of reply pass its window of {self._window}"
                raise VlmError(self.model, reason, "ask for less, or show fewer pictures")
            tokens = self._generate(inputs, request)[0, asked:].tolist()
        whole = bool(tokens) and tokens[-1] == self._ends["eos_token_id"]
        if self._closing.is_set() and not whole:
            raise VlmError(self.model, "it was closed while it answered", "ask again")
        text = self._constraint.text(tokens)
        if whole and request.reply_schema:
            self._check_json(text)
        return Reply(
            text=text,
            finish=Finish.STOP if whole else Finish.LENGTH,
            model=self.name,
            input_tokens=asked,
            output_tokens=len(tokens),
        )

    def close(self) -> None:
        """End the reply that is being written, and give back memory."""
        self._closing.set()
        with self._lock:
            self._model = self._processor = None

    def _generate(self, inputs: Any, request: Request) -> torch.Tensor:
        """Return prompt and reply as tokens, shape [1, tokens]."""
        try:
            held = [self._constraint.held(request.reply_schema)] if request.reply_schema else []
        except UnusableSchema as error:
            raise VlmError(self.model, f"the schema of the reply is not usable ({error})", "simplify it") from error
        sampled: dict[str, Any] = {"do_sample": True, "temperature": request.temperature, "top_k": 0, "top_p": 1.0}
        settings = GenerationConfig(
            max_new_tokens=request.max_tokens,
            **(sampled if request.temperature >= GREEDY_BELOW else {"do_sample": False}),
            **self._ends,
        )
        torch.manual_seed(request.seed % 2**63)
        try:
            return self._model.generate(
                **inputs,
                generation_config=settings,
                logits_processor=LogitsProcessorList(held),
                stopping_criteria=StoppingCriteriaList([_Closing(self._closing)]),
            )
        except (RuntimeError, ValueError, IndexError) as error:  # out of memory is a RuntimeError
            reason = f"it failed while it answered ({type(error).__name__}: {error})".splitlines()[0][:300]
            raise VlmError(self.model, reason, "ask for less, or use a smaller model") from error

    def _inputs(self, chat: Chat) -> Any:
        """Return the prompt as tensors."""
        if self._model is None:
            raise VlmError(self.model, "it is closed", "load it again")
        messages = chat.request.messages if self.sees else without_pictures(chat.request.messages)
        opened = self._opened(chat, messages) if self.sees else None
        try:
            try:
                inputs = self._encoded(messages, opened)
            except TemplateError:
                inputs = self._encoded(without_system(messages), opened)
        except _PROMPT_FAILURES as error:
            raise VlmError(self.model, f"it cannot read the messages ({error})", "check its chat template") from error
        inputs = inputs.to(self._model.device)
        for key, tensor in inputs.items():
            if torch.is_floating_point(tensor):
                inputs[key] = tensor.to(self._model.dtype)
        return inputs

    def _encoded(self, messages: tuple[Message, ...], opened: dict[str, Image.Image] | None) -> Any:
        encoder: Any = self._tokenizer if self._processor is None else self._processor
        if encoder.chat_template:
            return encoder.apply_chat_template(
                turns(messages, self._special, opened),
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
            )
        text = transcript(messages, self._special, self._picture)
        shown = [opened[name] for message in messages for name in message.pictures] if opened else []
        if shown and not self._picture:
            raise ValueError("no template and no token that stands for a picture")
        return encoder(text=text, return_tensors="pt", **({"images": shown} if shown else {}))

    def _opened(self, chat: Chat, messages: tuple[Message, ...]) -> dict[str, Image.Image]:
        names = {name for message in messages for name in message.pictures}
        if absent := sorted(names - chat.pictures.keys()):
            raise VlmError(self.model, f"the request names a picture that is not there ({absent[0]})", "attach it")
        try:
            return {name: Image.open(io.BytesIO(chat.pictures[name]), formats=["PNG"]).convert("RGB") for name in names}
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise VlmError(self.model, f"a picture cannot be read ({error})", "attach PNG files") from error

    def _check_json(self, text: str) -> None:
        try:
            json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise VlmError(self.model, f"its reply is no JSON ({error})", "ask again with another seed") from error


def build(option: str, target: str, environment: Mapping[str, str]) -> LocalModel:
    """Build the model that was asked for.

    Args:
        option: What was typed, for errors.
        target: What stands behind `local:`.
        environment: Not needed.

    Raises:
        InvalidOption: No path is given.
        VlmError: There is no such model, or not all of it.
    """
    if not target:
        raise InvalidOption("--vlm", option, "local:PATH")
    return LocalModel(target)


class _Closing(StoppingCriteria):
    """Ends a reply when its model is closed."""

    def __init__(self, closing: threading.Event) -> None:
        self._closing = closing

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **_: Any) -> torch.BoolTensor:
        return cast(torch.BoolTensor, torch.full((len(input_ids),), self._closing.is_set(), device=input_ids.device))


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")
