"""Makes tiny models with random weights: a vision-language model of LLaVA's form, and a Llama that reads text only.

They show that everything fits together, and nothing about understanding. Run as `python tests/tiny.py FOLDER`.
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    LlamaConfig,
    LlamaForCausalLM,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

PIXELS, PATCH, HIDDEN, WINDOW = 28, 14, 64, 16384
SPECIAL = ["<pad>", "<s>", "</s>", "<image>"]
TEMPLATE = (
    "<s>{% for message in messages %}{{ message.role }}: {% if message.content is string %}{{ message.content }}"
    "{% else %}{% for part in message.content %}{% if part.type == 'image' %}<image>{% else %}{{ part.text }}"
    "{% endif %}{% endfor %}{% endif %}{{ '\n' }}{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)


def tiny_tokenizer(*, template: bool = True) -> PreTrainedTokenizerFast:
    """A ByteLevel BPE, trained on a few words."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words = ["part bolt bin damaged lying upside down gripper belt light pose", "user: assistant: system: picture"]
    tokenizer.train_from_iterator(words * 20, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        extra_special_tokens={"image_token": "<image>"},
        chat_template=TEMPLATE if template else None,
    )


def _llama(tokenizer: PreTrainedTokenizerFast) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=len(tokenizer) + 13,  # models' tables are often longer than their vocabulary
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=WINDOW,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def _seeded(make, config):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = make(config)
        for name, weights in model.named_parameters():
            if "norm" not in name:
                torch.nn.init.normal_(weights, std=0.2)  # wide enough that a picture counts
    return model


def tiny_vlm(folder: Path) -> Path:
    """Write the vision-language model, under 1 MB."""
    tokenizer = tiny_tokenizer()
    eye = CLIPVisionConfig(
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=PIXELS,
        patch_size=PATCH,
        projection_dim=HIDDEN,
    )
    config = LlavaConfig(
        vision_config=eye,
        text_config=_llama(tokenizer),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    _seeded(LlavaForConditionalGeneration, config).save_pretrained(folder)
    size = {"height": PIXELS, "width": PIXELS}
    LlavaProcessor(
        CLIPImageProcessor(size=size, crop_size=size),
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    return folder


def tiny_llama(folder: Path, *, template: bool = True) -> Path:
    """Write the model that reads text only; without a template it is like a base model."""
    tokenizer = tiny_tokenizer(template=template)
    _seeded(LlamaForCausalLM, _llama(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    sys.stdout.write(f"{tiny_vlm(Path(sys.argv[1]))}\n")
