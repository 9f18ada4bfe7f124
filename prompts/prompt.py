"""Prompts: files with a head of facts and a template for each message, and what fills them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any

import yaml
from jinja2 import StrictUndefined, TemplateError
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import Field

from scenegen.errors import InvalidRecord, UnknownName
from scenegen.record import Name, NonNegative, Record

SUFFIX = ".md"
FENCE = "---\n"
SYSTEM, USER = "# system\n", "# user\n"
"""Headings under which the two templates of a file stand."""


class Spoken(Record):
    """A filled prompt."""

    system: str
    user: str


class Prompt(Record):
    """One prompt as its file has it."""

    name: Name
    version: Annotated[int, Field(ge=1)]
    """Grows whenever the words change."""
    doc: str
    """What it asks for, in one sentence."""
    fields: dict[Name, str]
    """What its templates are filled with: a sentence each."""
    max_tokens: Annotated[int, Field(ge=16)]
    """Longest reply that is paid for."""
    temperature: NonNegative
    system: str
    user: str
    hash: str
    """Hash of the file, 24 hexadecimal digits."""

    def fill(self, fields: Mapping[str, Any]) -> Spoken:
        """Fill the templates.

        Args:
            fields: A value for each of `self.fields`, and no other. What comes from files or from people must be
                filled in by the template's `tojson`, which leaves no quote or line break of it as such.

        Raises:
            InvalidRecord: A field is missing or unknown.
        """
        if fields.keys() != self.fields.keys():
            odd = sorted(fields.keys() ^ self.fields.keys())
            raise InvalidRecord(
                f"prompt {self.name}", [f"fields {', '.join(odd)} - accepted: exactly {', '.join(sorted(self.fields))}"]
            )
        return Spoken(
            system=_ENVIRONMENT.from_string(self.system).render(fields),
            user=_ENVIRONMENT.from_string(self.user).render(fields),
        )


_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
_ENVIRONMENT.filters["tojson"] = json.dumps  # Jinja's own also escapes what only matters in HTML, as quotes


def prompt_names() -> tuple[str, ...]:
    """Return the names of all prompts."""
    found = (path.name for path in files("prompts").iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX)))


@lru_cache(maxsize=32)
def load_prompt(name: str) -> Prompt:
    """Read a prompt.

    Raises:
        UnknownName: There is no prompt of that name.
        InvalidRecord: Its file is damaged.
    """
    if name not in prompt_names():
        raise UnknownName("prompt", name, prompt_names())
    return parse_prompt(name, files("prompts").joinpath(name + SUFFIX).read_text(encoding="utf-8"))


def parse_prompt(name: str, text: str) -> Prompt:
    """Read a prompt from the text of its file.

    Raises:
        InvalidRecord: It has no head, not both messages, or its templates use other fields than the head names.
    """
    try:
        _, head, body = text.split(FENCE, 2)
        before, messages = body.split(SYSTEM, 1)
        system, user = messages.split(USER, 1)
        facts = yaml.safe_load(head)
    except (ValueError, yaml.YAMLError) as error:
        raise InvalidRecord(f"prompt {name}", ["no head between two lines ---, # system and # user"]) from error
    if before.strip() or not isinstance(facts, dict):
        raise InvalidRecord(f"prompt {name}", ["something stands before # system, or the head holds no facts"])
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    prompt = Prompt.from_data(
        {"name": name, "system": system.strip(), "user": user.strip(), "hash": digest, **facts}, what=f"prompt {name}"
    )
    _require_fields(prompt)
    return prompt


def _require_fields(prompt: Prompt) -> None:
    try:
        used = find_undeclared_variables(_ENVIRONMENT.parse(f"{prompt.system}\n{prompt.user}"))
    except TemplateError as error:
        raise InvalidRecord(f"prompt {prompt.name}", [f"no template ({error})"]) from error
    if used != prompt.fields.keys():
        odd = ", ".join(sorted(used ^ prompt.fields.keys()))
        raise InvalidRecord(f"prompt {prompt.name}", [f"fields {odd} stand in the head or in the templates alone"])
