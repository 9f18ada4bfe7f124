"""Every error that scenegen raises on purpose.

```
SceneGenError
├── InvalidRecord      (ValueError)   a record's field holds what it must not
├── UnknownName        (LookupError)  no axis, part, cell, check … of that name
├── InvalidOption      (ValueError)   a command was asked for what it cannot do
├── PlacementFailed    (RuntimeError) no layout within the allowed attempts
├── VariationFailed    (RuntimeError) an axis found no scene at the asked severity
├── UnusablePart       (ValueError)   a part file that cannot become an asset
├── UnreadableStage    (ValueError)   a USD scene that cannot be read as a scenario
├── UnsafeStage        (ValueError)   a USD file that breaks the rules for untrusted input
├── ContactOverflow    (RuntimeError) more contacts arose than a simulator's buffers hold
├── OutOfMemory        (RuntimeError) no memory for even one world of a simulator
├── ProcessLost        (RuntimeError) a process that worked beside this one ended
├── PolicyError        (RuntimeError) a policy gave no usable answer
├── VlmError           (RuntimeError) a vision-language model gave no usable reply
├── BudgetSpent        (RuntimeError) tokens or money that a model may cost are used up
├── LibraryError       (OSError)      a library cannot be read or written
└── MissingExtra       (ImportError)  an optional dependency is not installed
```

A bad *scene* is none of these: it is a `Finding` in a `Verdict`. Leaves take facts and build their own sentence: what
happened, what would be accepted, what to try.
"""

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping


class SceneGenError(Exception):
    """Base of all errors that scenegen raises on purpose."""

    def __reduce__(self) -> tuple[Callable[..., "SceneGenError"], tuple[type, tuple[object, ...], dict[str, object]]]:
        """Pickle by facts, so that worker processes can raise it."""
        return _as_raised, (type(self), self.args, self.__dict__)


def _as_raised(kind: type[SceneGenError], texts: tuple[object, ...], facts: dict[str, object]) -> SceneGenError:
    error = kind.__new__(kind, *texts)
    error.args = texts
    error.__dict__.update(facts)
    return error


class InvalidRecord(SceneGenError, ValueError):
    """A record's fields hold values that they must not.

    Args:
        what: The record, for example `cell.yaml` or `Scenario`.
        sentences: One sentence a field: its name, its value, what is accepted.
    """

    def __init__(self, what: str, sentences: Iterable[str]) -> None:
        self.what = what
        self.sentences = tuple(sentences)
        super().__init__(f"{what}: " + "; ".join(self.sentences))


class UnknownName(SceneGenError, LookupError):
    """No thing of that kind has that name.

    Args:
        kind: What was looked up, in the singular: `axis`, `part`, `cell`.
        name: The name that was asked for.
        known: All names that would be accepted.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        close = difflib.get_close_matches(name, self.known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"accepted: {', '.join(self.known)}"
        super().__init__(f"unknown {kind} {name!r} - {hint}")


class InvalidOption(SceneGenError, ValueError):
    """A command was asked for something that it cannot do.

    Args:
        option: The option or argument as typed, for example `--n`.
        value: What it was given.
        accepted: What would be accepted, as a phrase.
    """

    def __init__(self, option: str, value: object, accepted: str) -> None:
        self.option, self.value, self.accepted = option, value, accepted
        super().__init__(f"{option} {value} - accepted: {accepted}")


class PlacementFailed(SceneGenError, RuntimeError):
    """No layout was found within the allowed attempts.

    Args:
        item: Name of the item that found no place.
        attempts: How many candidate poses were tried for it.
        rejections: How many candidates each reason rejected.
    """

    def __init__(self, item: str, attempts: int, rejections: Mapping[str, int]) -> None:
        self.item, self.attempts, self.rejections = item, attempts, Counter(rejections)
        counts = ", ".join(f"{reason} {count}" for reason, count in self.rejections.most_common())
        super().__init__(
            f"no place for {item!r} after {attempts} attempts ({counts}) - place fewer parts or enlarge the zone"
        )


class VariationFailed(SceneGenError, RuntimeError):
    """An axis found no scene at the asked severity.

    Args:
        axis: Name of the axis.
        level: The asked level.
        reason: A short code for histograms, for example `no_room`.
        detail: What was tried, as a phrase.
    """

    def __init__(self, axis: str, level: int, reason: str, detail: str) -> None:
        self.axis, self.level, self.reason, self.detail = axis, level, reason, detail
        super().__init__(f"axis {axis!r} found no scene at level {level} ({reason}): {detail}")


class UnusablePart(SceneGenError, ValueError):
    """A part file cannot become an asset; the message says why and what to do."""

    def __init__(self, file: str, reason: str, remedy: str) -> None:
        self.file, self.reason, self.remedy = file, reason, remedy
        super().__init__(f"{file}: {reason} - {remedy}")


class UnreadableStage(SceneGenError, ValueError):
    """A USD scene cannot be read as a scenario; names the file, the prim and what is missing."""

    def __init__(self, file: str, prim: str, reason: str) -> None:
        self.file, self.prim, self.reason = file, prim, reason
        super().__init__(f"{file}: {prim}: {reason}")


class UnsafeStage(SceneGenError, ValueError):
    """A USD file breaks a rule for untrusted input; it was not opened further."""

    def __init__(self, file: str, rule: str, detail: str) -> None:
        self.file, self.rule, self.detail = file, rule, detail
        super().__init__(f"{file}: refused ({rule}): {detail}")


class ContactOverflow(SceneGenError, RuntimeError):
    """More contacts arose than a simulator's buffers hold: what it says after that is not to be used.

    Args:
        contacts: How many contacts all worlds have together.
        worlds: How many worlds there are.
        room: For how many contacts a world there is room.
    """

    def __init__(self, contacts: int, worlds: int, room: int) -> None:
        self.contacts, self.worlds, self.room = contacts, worlds, room
        super().__init__(
            f"{contacts} contacts in {worlds} worlds fill the buffers - accepted: fewer than {room} in each world - "
            "place fewer parts or enlarge the buffers"
        )


class OutOfMemory(SceneGenError, RuntimeError):
    """There is no memory for even one world."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(
            f"out of memory with a single world ({detail}) - close what else uses it, or use another device"
        )


class ProcessLost(SceneGenError, RuntimeError):
    """A process that worked beside this one ended before its work was done."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        super().__init__(
            f"one of {processes} processes ended before its work was done, as the system ends them when memory is full"
            " - run it again, with fewer processes if it happens again"
        )


class PolicyError(SceneGenError, RuntimeError):
    """A policy gave no usable answer; names it, what happened and what would be accepted.

    An episode in which it happens ends as `policy_error`: neither success nor silent zeros.
    """

    def __init__(self, policy: str, reason: str, accepted: str) -> None:
        self.policy, self.reason, self.accepted = policy, reason, accepted
        super().__init__(f"policy {policy}: {reason} - accepted: {accepted}")


class VlmError(SceneGenError, RuntimeError):
    """A vision-language model gave no usable reply; never holds a key.

    Args:
        model: The back end and model, as `--vlm` names them.
        reason: What happened.
        remedy: What to try.
    """

    def __init__(self, model: str, reason: str, remedy: str) -> None:
        self.model, self.reason, self.remedy = model, reason, remedy
        super().__init__(f"{model}: {reason} - {remedy}")


class BudgetSpent(SceneGenError, RuntimeError):
    """What models may cost is used up.

    Args:
        spent: What was used, with its unit.
        budget: What was allowed, with its unit.
        option: The option that allows more.
    """

    def __init__(self, spent: str, budget: str, option: str) -> None:
        self.spent, self.budget, self.option = spent, budget, option
        super().__init__(f"the budget is spent: {spent} of {budget} - allow more with {option}")


class LibraryError(SceneGenError, OSError):
    """A library cannot be read or written; names the path and what to try."""

    def __init__(self, path: str, reason: str, remedy: str) -> None:
        self.path, self.reason, self.remedy = path, reason, remedy
        super().__init__(f"{path}: {reason} - {remedy}")

    def __str__(self) -> str:
        """Return the sentence, not OSError's errno form."""
        return f"{self.path}: {self.reason} - {self.remedy}"


class MissingExtra(SceneGenError, ImportError):
    """An optional dependency is not installed; carries the exact install line."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature, self.extra = feature, extra
        super().__init__(f"{feature} needs the extra {extra!r} - run: pip install 'scenegen[{extra}]'")
