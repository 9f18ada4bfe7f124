"""Policies of the user's own: an object, or a function that makes one, found by the name of its module."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluator.policies.context import PolicyContext
from evaluator.policies.form import PolicyForm
from evaluator.policies.options import OPTION
from evaluator.policies.worker import Worker
from evaluator.policy import Policy, PolicySpec
from scenegen.errors import InvalidOption, PolicyError, SceneGenError

DEADLINE_S = 600.0
"""How long importing and building may take [s]: weights are loaded in there."""
MEMBERS = ("reset", "act", "close")
ACCEPTED = "a policy (spec, reset, act, close), or a function of nothing or of the options that returns one"


def load_policy(form: PolicyForm) -> Policy:
    """Import and build a policy; the working directory is looked into last.

    Args:
        form: `python:MODULE:ATTRIBUTE`, options after a `?`. The attribute is a policy, or it is called without
            arguments or with a mapping of the options (texts by name) and returns one.

    Raises:
        InvalidOption: There is no such module or attribute, or it takes no options.
        PolicyError: Importing or building raised something or did not end, or the result is no policy.
    """
    module, _, attribute = form.target.partition(":")
    if not (module and attribute):
        raise InvalidOption(OPTION, form.text, "python:MODULE:ATTRIBUTE")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    worker = Worker(f"building {form.text}")
    outcome = worker.call(lambda: _found(form, module, attribute), deadline_s=DEADLINE_S)
    worker.close()
    if outcome.stalled:
        raise PolicyError(form.text, "importing or building it did not end", f"an end within {DEADLINE_S:g} s")
    if isinstance(outcome.error, SceneGenError):
        raise outcome.error
    if outcome.error is not None:
        said = " ".join(f"{type(outcome.error).__name__}: {outcome.error}".split())[:300]
        raise PolicyError(form.text, f"importing or building it raised {said}", ACCEPTED) from outcome.error
    return outcome.value


def _found(form: PolicyForm, module: str, attribute: str) -> Policy:
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        accepted = "a module that is here or installed"
        raise InvalidOption(OPTION, f"{form.text} (no module {error.name})", accepted) from error
    if found is None:
        raise InvalidOption(OPTION, form.text, f"an attribute of {module}, which has no {attribute}")
    options = form.options.rest()
    if _is_policy(found) or not callable(found):
        made, takes = found, 0
    else:
        made, takes = _called(found, options)
    if not _is_policy(made):
        raise PolicyError(form.text, f"{attribute} is or made something of type {type(made).__name__}", ACCEPTED)
    if options and not takes:
        raise InvalidOption(OPTION, form.text, f"no options, since {attribute} takes none")
    return made


def _is_policy(thing: Any) -> bool:
    members = not isinstance(thing, type) and all(callable(getattr(thing, name, None)) for name in MEMBERS)
    return members and isinstance(getattr(thing, "spec", None), PolicySpec)


def _called(function: Callable[..., Any], options: dict[str, str]) -> tuple[Any, int]:
    """What the function made, and how many arguments it can take by position."""
    parameters = inspect.signature(function).parameters.values()
    takes = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given = takes and (options or takes[0].default is inspect.Parameter.empty)
    return (function(options) if given else function()), len(takes)


def build(form: PolicyForm, context: PolicyContext) -> Policy:
    """Build it from `python:MODULE:ATTRIBUTE`."""
    return load_policy(form)
