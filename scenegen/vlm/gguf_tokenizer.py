"""The tokenizer of a GGUF file, built from the file's own table of tokens, scores and kinds.

transformers builds another one from files of Gemma's kind: without merges by score and without the token that begins a
text. A model that is fed its tokens writes nonsense.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import Any

from scenegen.errors import MissingExtra, VlmError

try:
    from gguf import GGUFReader
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast
except ImportError as error:
    raise MissingExtra("a GGUF file", "vlm-local") from error

SPACE = "▁"
"""How SentencePiece writes a space."""


class TokenKind(IntEnum):
    """Kinds of tokens in GGUF's `tokenizer.ggml.token_type`."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


def gguf_tokenizer(file: Path) -> PreTrainedTokenizerFast:
    """Build the tokenizer of a GGUF file whose tokens are SentencePiece's, as Gemma's, Llama 2's and Mistral's are.

    Raises:
        VlmError: The file's tokens are of another kind.
    """
    facts = _facts(file)
    if (kind := facts.get("ggml.model")) != "llama" or "ggml.scores" not in facts:
        remedy = "put the model's tokenizer.json beside the file"
        raise VlmError(str(file), f"its tokens are of the kind {kind!r}, not SentencePiece's", remedy)
    texts, scores, kinds = facts["ggml.tokens"], facts["ggml.scores"], facts["ggml.token_type"]
    named = {
        f"{short}_token": texts[facts[f"ggml.{long}_token_id"]]
        for short, long in (("bos", "bos"), ("eos", "eos"), ("pad", "padding"), ("unk", "unknown"))
        if f"ggml.{long}_token_id" in facts
    }
    prefix = facts.get("ggml.add_space_prefix", True)
    tokenizer = Tokenizer(
        models.BPE(
            {text: i for i, text in enumerate(texts)},
            _merges(texts, scores, kinds),
            unk_token=named.get("unk_token"),
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    if prefix:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="first", split=False)
    else:
        tokenizer.normalizer = normalizers.Replace(" ", SPACE)
    stripped = [decoders.Strip(" ", 1, 0)] if prefix else []
    replaced = decoders.Replace(SPACE, " ")
    tokenizer.decoder = decoders.Sequence([replaced, decoders.ByteFallback(), decoders.Fuse(), *stripped])
    added = list(zip(texts, kinds, strict=True))
    tokenizer.add_tokens([AddedToken(text) for text, kind in added if kind == TokenKind.USER_DEFINED])
    tokenizer.add_special_tokens([AddedToken(text) for text, kind in added if kind == TokenKind.CONTROL])
    if "bos_token" in named and facts.get("ggml.add_bos_token", True):
        bos = named["bos_token"]
        tokenizer.post_processor = TemplateProcessing(
            single=f"{bos} $A", special_tokens=[(bos, facts["ggml.bos_token_id"])]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        clean_up_tokenization_spaces=False,
        chat_template=facts.get("chat_template"),
        **named,
    )


def _facts(file: Path) -> dict[str, Any]:
    """Read all fields of a GGUF file that tell of its tokenizer, by their names without `tokenizer.`."""
    fields = GGUFReader(file).fields.items()
    return {name.removeprefix("tokenizer."): field.contents() for name, field in fields if "tokenizer." in name}


def _merges(texts: list[str], scores: list[float], kinds: list[int]) -> list[tuple[str, str]]:
    """Return the pairs that make each normal token, the best token first: what SentencePiece would merge first."""
    known, found = set(texts), []
    for text, score, kind in zip(texts, scores, kinds, strict=True):
        if kind != TokenKind.NORMAL:
            continue
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if left in known and right in known:
                found.append((score, cut, left, right))
    found.sort(key=lambda merge: merge[:2], reverse=True)
    return [(left, right) for *_, left, right in found]
