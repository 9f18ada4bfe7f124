"""The base of all records: frozen, strict about fields, canonical as JSON, named by content."""

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache, wraps
from typing import Annotated, Any, Self, cast

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from scenegen.errors import InvalidRecord

ID_LENGTH = 24
"""Hex digits of a content id: 96 bits, so that 10^9 records collide with a chance below 10^-11."""


@lru_cache(maxsize=4096)
def quantise(value: float) -> float:
    """Round a number to the shortest decimal that names the same 32-bit float.

    USD stores most numbers as 32-bit floats. A value rounded like this is written by a short decimal, survives the trip
    through USD text or crate, and comes back as exactly this value. Rounding twice changes nothing. Zero has one sign.
    """
    return float(str(np.float32(value))) + 0.0


Real = Annotated[float, Field(allow_inf_nan=False, ge=-3.4e38, le=3.4e38), AfterValidator(quantise)]
"""A finite number as USD stores it (see `quantise`)."""

Positive = Annotated[float, Field(allow_inf_nan=False, gt=0, le=3.4e38), AfterValidator(quantise)]
NonNegative = Annotated[float, Field(allow_inf_nan=False, ge=0, le=3.4e38), AfterValidator(quantise)]
Share = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1), AfterValidator(quantise)]
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_]*$"
TEXT_PATTERN = r"^[^\x00-\x08\x0b-\x1f\x7f]*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=80)]
"""A name that is also a valid USD prim name."""
Text = Annotated[str, Field(max_length=2000, pattern=TEXT_PATTERN)]
"""Text for people: no control characters."""
_PATTERNS = {
    NAME_PATTERN: "letters, digits and _, beginning with a letter",
    TEXT_PATTERN: "text without control characters",
}

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_text(data: object) -> str:
    """Return the one JSON text of plain data: sorted keys, no spaces, shortest numbers."""
    return _CANONICAL.encode(data)


class Record(BaseModel):
    """A frozen piece of data with canonical JSON and a content id.

    Example:
        >>> class Weight(Record):
        ...     mass_kg: Positive
        >>> Weight(mass_kg=0.1).canonical_json()
        '{"mass_kg":0.1}'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, use_attribute_docstrings=True)

    def __eq__(self, other: object) -> bool:
        """Compare type and fields; what was computed from the fields and remembered does not count."""
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.__dict__, other.__dict__
        for name in type(self).__pydantic_fields__:  # `model_fields` costs a microsecond
            if mine[name] != theirs[name]:
                return False
        return True

    def canonical_json(self) -> str:
        """Return the one JSON text of this record: sorted keys, no spaces, shortest numbers."""
        return _CANONICAL.encode(self.model_dump(mode="json"))

    @cached_property
    def content_id(self) -> str:
        """Hash of the canonical JSON: equal records have equal ids, in every process and on every machine."""
        return content_hash(self.canonical_json().encode())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the record with some fields replaced, unvalidated; what was cached of the original is forgotten."""
        copied = super().model_copy(update=update, deep=deep)
        for name in [name for name in copied.__dict__ if name not in type(self).model_fields]:
            object.__delattr__(copied, name)
        return copied

    def replaced(self, **fields: Any) -> Self:
        """Return a copy with some fields replaced, by name, and validated anew."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**own, **fields})

    @classmethod
    def from_data(cls, data: Any, *, what: str = "") -> Self:
        """Build the record from plain data and say in sentences what is wrong with it.

        Args:
            data: Mappings, sequences and scalars, as JSON or YAML gives them.
            what: What the data is called in errors; the class name by default.

        Raises:
            InvalidRecord: A field is unknown, missing or holds a value that is not accepted.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise InvalidRecord(what or cls.__name__, explain(error, cls)) from error

    @classmethod
    def from_json(cls, text: str | bytes, *, what: str = "") -> Self:
        """Build the record from JSON text; like `from_data`.

        Raises:
            InvalidRecord: The text is no JSON, or the record is not valid.
        """
        try:
            data = json.loads(text)
        except RecursionError:
            raise InvalidRecord(what or cls.__name__, ["not JSON (it is nested too deeply)"]) from None
        except ValueError as error:
            raise InvalidRecord(what or cls.__name__, [f"not JSON ({error})"]) from error
        return cls.from_data(data, what=what)


def once_per_content[R: Record, T](function: Callable[[R], T]) -> Callable[[R], T]:
    """Remember what a pure function of one record returned, by the record's content, for the last few records."""
    known: dict[str, T] = {}

    @wraps(function)
    def remembered(record: R) -> T:
        if record.content_id not in known:
            if len(known) >= 16:
                known.pop(next(iter(known)))
            known[record.content_id] = function(record)
        return known[record.content_id]

    return remembered


def once_per_value[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Remember what a pure function returned by the values of its arguments, records among them, for the last 256.

    Quicker than by content: frozen records are hashed by their fields.
    """
    return cast(Callable[P, T], wraps(function)(lru_cache(maxsize=256)(function)))


def content_hash(*chunks: bytes) -> str:
    """Return the content id of some bytes: BLAKE2b, `ID_LENGTH` hex digits."""
    digest = hashlib.blake2b(digest_size=ID_LENGTH // 2)
    for chunk in chunks:
        digest.update(len(chunk).to_bytes(8, "little"))
        digest.update(chunk)
    return digest.hexdigest()


def explain(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Turn pydantic's error into one sentence a field: its name, its value, what is accepted."""
    return [_sentence(detail, model) for detail in error.errors(include_url=False)]


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    field = ".".join(str(part) for part in detail["loc"]) or "value"
    value, facts = _shown(detail["input"]), detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            known = _fields_at(model, detail["loc"][:-1])
            accepted = f"accepted: {', '.join(known)}" if known else "remove it"
            return f"{field}: unknown field (value {value}) - {accepted}"
        case "missing":
            return f"{field}: missing - it is required"
        case "finite_number":
            return f"{field}: {value} is not finite - accepted: a finite number"
        case "value_error":
            problem = str(facts["error"])
            return f"{field}: {problem}" if detail["loc"] else problem
        case "enum" | "literal_error":
            return f"{field}: {value} - accepted: {facts['expected']}"
        case "union_tag_not_found":
            return f"{field}: no {facts['discriminator']} given - it is required"
        case "union_tag_invalid":
            return f"{field}: kind {facts['tag']!r} - accepted: {facts['expected_tags']}"
        case "string_pattern_mismatch":
            accepted = _PATTERNS.get(facts["pattern"], f"a match of {facts['pattern']}")
            return f"{field}: {value} - accepted: {accepted}"
        case _:
            message = detail["msg"]
            return f"{field}: {value} - accepted: {message.removeprefix('Input should be ')}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fields_at(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Find the field names of the record that a location leads to; empty where that cannot be told."""
    current: Any = model
    for step in location:
        if isinstance(step, int):
            continue
        found = [m for m in _models_in(current) if step in m.model_fields]
        tagged = [m for m in _models_in(current) if _tag_of(m) == step]
        if tagged:
            current = tagged[0]
        elif found:
            current = found[0].model_fields[step].annotation
    models = _models_in(current)
    return list(models[0].model_fields) if len(models) == 1 else []


def _tag_of(model: type[BaseModel]) -> object:
    field = model.model_fields.get("kind")
    return field.default if field else None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _models_in(argument)]
