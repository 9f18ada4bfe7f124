"""A reply's JSON schema becomes a grammar that a model's tokens cannot leave."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from scenegen.errors import MissingExtra

try:
    import llguidance.hf
    import torch
    from llguidance import LLMatcher, LLTokenizer
    from outlines.backends.llguidance import LLGuidanceLogitsProcessor
    from transformers import LogitsProcessor, PreTrainedTokenizerFast
except ImportError as error:
    raise MissingExtra("a model that runs here", "vlm-local") from error

COMPACT = {"x-guidance": {"whitespace_flexible": False}}
"""Without it a model may spend all its tokens on spaces."""


class UnusableSchema(ValueError):
    """A schema that cannot become a grammar; says why."""


def compact_grammar(schema: Mapping[str, Any]) -> str:
    """Return the grammar of a schema's JSON: keys in the schema's order, no spaces, numbers within their bounds.

    Raises:
        UnusableSchema: The schema is none, or it asks for what no grammar can hold.
    """
    grammar = LLMatcher.grammar_from_json_schema(json.dumps({**schema, **COMPACT}))
    if reason := LLMatcher.validate_grammar(grammar, None):
        raise UnusableSchema(reason.splitlines()[0])
    return grammar


class Constraint:
    """Holds what the grammars of one model need: its tokens as bytes.

    Args:
        tokenizer: The model's tokenizer.
        width: How many logits the model has; more than the tokenizer has tokens, often.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, width: int) -> None:
        self._tokens: LLTokenizer = llguidance.hf.from_tokenizer(tokenizer, n_vocab=max(width, len(tokenizer)))

    def held(self, schema: Mapping[str, Any]) -> Held:
        """Return what holds one reply to a schema.

        Raises:
            UnusableSchema: See `compact_grammar`.
        """
        return Held(LLGuidanceLogitsProcessor(compact_grammar(schema), self._tokens, "numpy"))

    def text(self, tokens: Sequence[int]) -> str:
        """Return tokens as the grammar reads them, without special ones."""
        ordinary = [token for token in tokens if not self._tokens.is_special_token(token)]
        return self._tokens.decode_bytes(ordinary).decode(errors="replace")


class Held(LogitsProcessor):
    """Leaves no chance to tokens that would break a grammar; for one reply.

    The mask is applied by NumPy: outlines' way with torch loads and runs a compiler, for seconds.
    """

    def __init__(self, outlined: LLGuidanceLogitsProcessor) -> None:
        self._outlined = outlined

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Return the scores with -inf where a token may not follow."""
        masked = self._outlined(input_ids.cpu().numpy(), scores.float().cpu().numpy())
        if broken := self._outlined.ll_matchers[0].get_error():
            raise RuntimeError(f"the grammar failed: {broken}")
        return cast(torch.FloatTensor, torch.from_numpy(masked).to(scores))
