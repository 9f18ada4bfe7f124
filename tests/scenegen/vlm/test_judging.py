"""What a judge says of a scene."""

import json

import pytest

from scenegen.vlm.chat import Finish, Reply
from scenegen.vlm.judging import SCHEMA, Opinion, read_opinion


def reply(text, finish=Finish.STOP):
    return Reply(text=text, finish=finish, model="m", input_tokens=1, output_tokens=1)


def said(**fields):
    return json.dumps({"plausible": True, "instruction_matches": True, "reason": "so", **fields})


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, None),
        ({"plausible": False}, "implausible"),
        ({"instruction_matches": False}, "instruction"),
        ({"plausible": False, "instruction_matches": False}, "implausible"),
    ],
)
def test_an_opinion_rejects_or_says_nothing(fields, code):
    assert read_opinion(reply(said(**fields))).code == code


@pytest.mark.parametrize(
    "text",
    ["", "yes", "[]", said(plausible="true"), said(plausible=1), said(verdict="passed"), said(reason="x" * 201), "{}"],
)
def test_what_is_no_opinion_is_none(text):
    assert read_opinion(reply(text)) is None


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.REFUSED])
def test_a_reply_that_is_not_whole_is_no_opinion(finish):
    assert read_opinion(reply(said(plausible=False), finish)) is None


def test_the_schema_asks_for_the_record():
    assert list(SCHEMA["properties"]) == SCHEMA["required"] == list(Opinion.model_fields)
