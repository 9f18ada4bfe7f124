"""A folder of Hugging Face's form, or a GGUF file, becomes a model in memory: offline, and no code or pickle is run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenegen.errors import MissingExtra, VlmError

try:
    import huggingface_hub.constants
    import torch
    import transformers
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoProcessor, AutoTokenizer, PreTrainedTokenizerFast
    from transformers.utils import logging

    from scenegen.vlm.gguf_tokenizer import gguf_tokenizer
except ImportError as error:
    raise MissingExtra("a model that runs here", "vlm-local") from error

FORM = "give a folder with config.json, a tokenizer and weights as safetensors or GGUF"
LOCAL = {"local_files_only": True, "trust_remote_code": False}
_FAILURES = (
    OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, ImportError, SafetensorError,
)  # fmt: skip
"""What transformers raises where a folder is not what it should be."""


@dataclass(frozen=True)
class Weights:
    """A model with what turns text and pictures into its tokens."""

    model: Any
    tokenizer: PreTrainedTokenizerFast
    processor: Any | None
    """Turns pictures into tensors; None for a model that takes text alone."""


def load_weights(path: Path, name: str, device: str) -> Weights:
    """Load a model.

    Args:
        path: A folder, or a GGUF file.
        name: What the model is called in errors.
        device: Where it runs, as torch names it.

    Raises:
        VlmError: There is no such model, or not all of it.
    """
    gguf = _gguf_in(path, name)
    folder = path.parent if path.is_file() else path
    options: dict[str, Any] = {**LOCAL, "gguf_file": gguf.name} if gguf else dict(LOCAL)
    try:
        with _offline():
            config = AutoConfig.from_pretrained(folder, **options)
            sees = not gguf and type(config) in transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
            if not sees and type(config) not in transformers.MODEL_FOR_CAUSAL_LM_MAPPING:
                raise VlmError(name, f"a {config.model_type!r} neither reads nor sees", "give a model that writes text")
            processor = AutoProcessor.from_pretrained(folder, **LOCAL) if sees else None
            tokenizer = processor.tokenizer if processor else _tokenizer(folder, gguf)
            kind: Any = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
            model, told = kind.from_pretrained(
                folder,
                dtype=torch.float32 if gguf else "auto",
                use_safetensors=True,
                output_loading_info=True,
                **options,
            )
    except _FAILURES as error:
        if isinstance(error, VlmError):
            raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        raise VlmError(name, f"it cannot be loaded ({reason})", FORM) from error
    if absent := sorted([*told["missing_keys"], *(key for key, *_ in told["mismatched_keys"])]):
        raise VlmError(name, f"{len(absent)} tensors are missing or misshapen, {absent[0]} first", "fetch it again")
    if not isinstance(tokenizer, PreTrainedTokenizerFast) or tokenizer.eos_token_id is None:
        raise VlmError(name, "its tokenizer has no tokenizer.json, or no token that ends a text", FORM)
    return Weights(model.to(device).eval(), tokenizer, processor)


def _gguf_in(path: Path, name: str) -> Path | None:
    """Find the GGUF file to load; None for a folder with safetensors."""
    if not path.exists():
        raise VlmError(name, "there is no such folder", FORM)
    if path.is_file():
        if path.suffix != ".gguf":
            raise VlmError(name, "the file is no GGUF file", FORM)
        return path
    if (path / "adapter_config.json").exists():
        raise VlmError(name, "the folder holds an adapter, not a model", "merge it into its model first")
    if any(path.glob("*.safetensors")):
        if not (path / "config.json").exists():
            raise VlmError(name, "the folder has no config.json", FORM)
        return None
    files = sorted(path.glob("*.gguf"))
    if len(files) > 1:
        raise VlmError(name, f"the folder holds {len(files)} GGUF files", f"name one, for example {files[0]}")
    if not files:
        raise VlmError(name, "the folder has no weights as safetensors or GGUF (pickles are never loaded)", FORM)
    return files[0]


def _tokenizer(folder: Path, gguf: Path | None) -> PreTrainedTokenizerFast:
    if gguf and not (folder / "tokenizer.json").exists():
        return gguf_tokenizer(gguf)
    return AutoTokenizer.from_pretrained(folder, **LOCAL)


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """Keep transformers from the network, and quiet, while a model is loaded."""
    constants = huggingface_hub.constants
    before, level, bars = constants.HF_HUB_OFFLINE, logging.get_verbosity(), logging.is_progress_bar_enabled()
    constants.HF_HUB_OFFLINE = True
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
