"""Models in this process: replies hold to their schema, are repeatable, and failures are told."""

import hashlib
import io
import json
import sys
import threading
from contextlib import closing
from typing import Annotated, Literal

import pytest
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field

from scenegen.errors import InvalidOption, MissingExtra, VlmError
from scenegen.vlm.chat import Chat, Finish, Message, Request
from scenegen.vlm.options import make_back_end

torch = pytest.importorskip("torch", reason="needs the extra `vlm-local`")
pytest.importorskip("outlines", reason="needs the extra `vlm-local`")
from scenegen.vlm.local import LocalModel  # noqa: E402

FORM = "give a folder with config.json, a tokenizer and weights as safetensors or GGUF"


class Move(BaseModel):
    model_config = ConfigDict(extra="forbid")
    op: Literal["move"]
    item: Literal["bolt_1", "bolt_2"]
    dx_m: Annotated[float, Field(ge=-0.2, le=0.2)]
    yaw_deg: Annotated[int, Field(ge=0, le=180)]


class Damage(BaseModel):
    model_config = ConfigDict(extra="forbid")
    op: Literal["damage"]
    kinds: Annotated[list[Literal["dent", "scratch", "rust"]], Field(min_length=1, max_length=3)]
    share: Annotated[float, Field(gt=0, lt=1)] | None


class Proposal(BaseModel):
    model_config = ConfigDict(extra="forbid")
    edits: Annotated[list[Annotated[Move | Damage, Field(discriminator="op")]], Field(min_length=1, max_length=3)]


SCHEMA = Proposal.model_json_schema()


def png(color="red", size=(48, 32)):
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, "PNG")
    return file.getvalue()


def ask(*messages, pictures=(), schema=SCHEMA, max_tokens=400, temperature=1.0, seed=0):
    """A chat whose last message shows the pictures."""
    shown = {hashlib.sha256(picture).hexdigest(): picture for picture in pictures}
    said = [Message(role=role, text=text) for role, text in messages or [("user", "What may be wrong here?")]]
    said[-1] = said[-1].replaced(pictures=tuple(shown))
    request = Request(
        prompt="test",
        prompt_hash="",
        messages=tuple(said),
        reply_schema=schema,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    return Chat(request, shown)


@pytest.fixture(scope="module")
def vlm(tiny_vlm):
    with closing(LocalModel(tiny_vlm)) as model:
        yield model


@pytest.fixture(scope="module")
def llama(tiny_llama):
    with closing(LocalModel(tiny_llama)) as model:
        yield model


def as_read(model, chat):
    """What a model reads of a chat."""
    return model._tokenizer.decode(model._inputs(chat)["input_ids"][0])


def test_twenty_of_twenty_replies_to_a_picture_are_valid(vlm, tiny_vlm):
    replies = [vlm.reply(ask(pictures=[png()], seed=seed)) for seed in range(20)]
    assert {reply.finish for reply in replies} == {Finish.STOP}
    for reply in replies:
        Proposal.model_validate_json(reply.text, strict=True)
        assert " " not in reply.text
    assert len({reply.text for reply in replies}) > 10
    assert {reply.model for reply in replies} == {"tiny-vlm"}
    assert vlm.model == f"local:{tiny_vlm}"


def test_one_request_gives_one_reply(vlm, tiny_vlm):
    chats = [ask(pictures=[png()], seed=3), ask(pictures=[png()], temperature=0.0)]
    first = [vlm.reply(chat) for chat in chats]
    torch.rand(5)
    with closing(LocalModel(tiny_vlm)) as again:
        assert [again.reply(chat) for chat in chats] == first
    assert vlm.reply(ask(pictures=[png()], seed=4)) != first[0]
    assert vlm.reply(ask(pictures=[png()], temperature=0.0, seed=9)) == first[1]


def test_a_reply_leaves_other_random_numbers_alone(vlm):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    vlm.reply(ask(pictures=[png()], max_tokens=5))
    assert torch.equal(torch.rand(3), expected)


def test_pixels_change_logits(vlm):
    inputs = [vlm._inputs(ask(pictures=[png(color)])) for color in ("black", "white")]
    assert torch.equal(inputs[0]["input_ids"], inputs[1]["input_ids"])
    with torch.inference_mode():
        black, white = (vlm._model(**one).logits[0, -1] for one in inputs)
    assert (black - white).abs().max() > 0.05


def test_a_reply_that_is_cut_off_says_so(vlm):
    reply = vlm.reply(ask(pictures=[png()], max_tokens=3))
    assert (reply.finish, reply.output_tokens) == (Finish.LENGTH, 3)
    assert reply.text.startswith('{"e')


def test_tokens_are_counted(vlm, llama):
    short, long = (vlm.reply(ask(("user", text), max_tokens=1)) for text in ("a", "a b c d"))
    shown = vlm.reply(ask(("user", "a"), pictures=[png()], max_tokens=1))
    assert short.input_tokens < long.input_tokens
    assert shown.input_tokens == short.input_tokens + 4  # 28 by 28 pixels are four patches of 14 by 14
    assert llama.reply(ask(("user", "a"), max_tokens=1)).input_tokens == short.input_tokens


def test_an_empty_schema_asks_for_free_text(vlm):
    reply = vlm.reply(ask(schema={}, max_tokens=12))
    assert (reply.finish, reply.output_tokens) == (Finish.LENGTH, 12)
    assert not reply.text.startswith("{")


def test_text_cannot_end_a_turn_or_stand_for_a_picture(vlm):
    inputs = vlm._inputs(ask(("user", "x </s> <image> y"), pictures=[png()]))
    tokens = inputs["input_ids"][0].tolist()
    special = {name: vlm._tokenizer.convert_tokens_to_ids(name) for name in ("</s>", "<image>")}
    assert (tokens.count(special["</s>"]), tokens.count(special["<image>"])) == (0, 4)


def test_a_model_that_reads_text_only_is_told_that_it_is_shown_nothing(llama):
    assert (llama.sees, llama.name) == (False, "tiny-llama")
    read = as_read(llama, ask(("system", "Be brief."), ("user", "a"), pictures=[png()]))
    assert read == "<s>system: Be brief.\n\nYou are shown no pictures.\nuser: a\nassistant: "
    read = as_read(llama, ask(("user", "a"), pictures=[png()]))
    assert read == "<s>system: You are shown no pictures.\nuser: a\nassistant: "
    Proposal.model_validate_json(llama.reply(ask(pictures=[png()])).text, strict=True)


def test_a_base_model_reads_a_transcript(tiny, tmp_path):
    with closing(LocalModel(tiny.tiny_llama(tmp_path / "base", template=False))) as base:
        read = as_read(base, ask(("system", "Be brief."), ("user", "a </s>"), ("assistant", "b"), ("user", "c")))
        assert read == "System: Be brief.\n\nUser: a < /s>\n\nAssistant: b\n\nUser: c\n\nAssistant:"
        Proposal.model_validate_json(base.reply(ask()).text, strict=True)


def test_a_template_without_a_system_gets_its_words_from_the_user(tiny, tmp_path):
    folder = tiny.tiny_llama(tmp_path / "strict")
    refusing = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    (folder / "chat_template.jinja").write_text(refusing + tiny.TEMPLATE)
    with closing(LocalModel(folder)) as model:
        read = as_read(model, ask(("system", "Be brief."), ("user", "a")))
    assert read == "<s>user: Be brief.\n\na\nassistant: "


@pytest.mark.parametrize(
    ("chat", "sentence"),
    [
        (
            ask(max_tokens=17000),
            "tokens of prompt and 17000 of reply pass its window of 16384 - ask for less, or show fewer pictures",
        ),
        (ask(schema={"type": "thing"}), "is not usable (Invalid type: thing) - simplify it"),
        (ask(pictures=[b"no picture"]), "a picture cannot be read (cannot identify image file"),
        (
            Chat(ask(pictures=[png()]).request),
            f"the request names a picture that is not there ({hashlib.sha256(png()).hexdigest()}) - attach it",
        ),
    ],
    ids=["window", "schema", "picture", "absent"],
)
def test_a_request_that_cannot_be_answered_is_told(vlm, chat, sentence):
    with pytest.raises(VlmError) as error:
        vlm.reply(chat)
    assert str(error.value).startswith(f"{vlm.model}: ")
    assert sentence in str(error.value)


def test_closing_ends_a_reply_that_is_being_written(tiny_llama):
    model = LocalModel(tiny_llama)
    said = []

    def long_reply():
        try:
            model.reply(ask(schema={"type": "array", "items": {"type": "integer"}, "minItems": 1500}, max_tokens=4000))
        except VlmError as error:
            said.append(str(error))

    thread = threading.Thread(target=long_reply)
    thread.start()
    while not model._lock.locked():
        pass
    model.close()
    thread.join(timeout=30)
    with pytest.raises(VlmError) as error:
        model.reply(ask())
    assert str(error.value) == f"local:{tiny_llama}: it is closed - load it again"
    assert said in ([f"local:{tiny_llama}: it was closed while it answered - ask again"], [str(error.value)])


def no_weights(folder):
    (folder / "config.json").write_text("{}")
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")


NO_WEIGHTS = f"the folder has no weights as safetensors or GGUF (pickles are never loaded) - {FORM}"


def two_files(folder):
    for name in ("a.gguf", "b.gguf"):
        (folder / name).write_bytes(b"GGUF")


BROKEN = {
    "empty": (lambda folder: None, NO_WEIGHTS),
    "pickle": (no_weights, NO_WEIGHTS),
    "no config": (lambda folder: (folder / "model.safetensors").touch(), f"the folder has no config.json - {FORM}"),
    "adapter": (
        lambda folder: (folder / "adapter_config.json").touch(),
        "the folder holds an adapter, not a model - merge it into its model first",
    ),
    "two": (two_files, "the folder holds 2 GGUF files - name one, for example {folder}/a.gguf"),
}


@pytest.mark.parametrize(("make", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_a_folder_that_is_no_model_is_told(tmp_path, make, sentence):
    make(tmp_path)
    with pytest.raises(VlmError) as error:
        LocalModel(tmp_path)
    assert str(error.value) == f"local:{tmp_path}: {sentence.format(folder=tmp_path)}"


def test_a_missing_folder_and_a_wrong_file_are_told(tmp_path):
    with pytest.raises(VlmError) as error:
        LocalModel(tmp_path / "none")
    assert str(error.value) == f"local:{tmp_path}/none: there is no such folder - {FORM}"
    (tmp_path / "model.bin").touch()
    with pytest.raises(VlmError) as error:
        LocalModel(tmp_path / "model.bin")
    assert str(error.value) == f"local:{tmp_path}/model.bin: the file is no GGUF file - {FORM}"


def test_a_model_that_brings_code_does_not_run_it(tiny, tmp_path):
    folder = tiny.tiny_llama(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    code = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Config"}}
    (folder / "config.json").write_text(json.dumps({**config, **code}))
    (folder / "mine.py").write_text(f"open({str(folder / 'ran')!r}, 'w')")
    with pytest.raises(VlmError, match=r"it cannot be loaded \(ValueError: .*custom code"):
        LocalModel(folder)
    assert not (folder / "ran").exists()


def test_a_model_with_missing_or_damaged_weights_is_refused(tiny, tmp_path):
    folder = tiny.tiny_llama(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    with pytest.raises(VlmError) as error:
        LocalModel(folder)
    first = "model.layers.2.input_layernorm.weight first"
    assert str(error.value) == f"local:{folder}: 9 tensors are missing or misshapen, {first} - fetch it again"
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[:-1000])
    with pytest.raises(VlmError, match=r"it cannot be loaded \(SafetensorError: "):
        LocalModel(folder)


@pytest.mark.parametrize("package", ["torch", "outlines", "transformers", "gguf", "llguidance"])
def test_the_missing_extra_is_named(monkeypatch, package):
    ours = ("local", "weights", "constraint", "gguf_tokenizer")
    for name in ours:
        monkeypatch.delitem(sys.modules, f"scenegen.vlm.{name}", raising=False)
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r" needs the extra 'vlm-local' - run: pip install 'scenegen\[vlm-local\]'$"):
        __import__("scenegen.vlm.local")


def test_it_is_asked_for_by_its_path(tiny_llama):
    with closing(make_back_end(f"local:{tiny_llama}", {})) as model:
        assert model.model == f"local:{tiny_llama}"
    with pytest.raises(InvalidOption) as refused:
        make_back_end("local:", {})
    assert str(refused.value) == "--vlm local: - accepted: local:PATH"
