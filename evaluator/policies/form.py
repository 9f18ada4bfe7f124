"""A policy as it is typed: `KIND`, `KIND:TARGET` or `KIND:TARGET?name=value`."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaluator.policies.options import OPTION, Options
from scenegen.errors import InvalidOption


@dataclass(frozen=True, eq=False)
class PolicyForm:
    """The parts of a policy's text.

    Raises:
        InvalidOption: The options are of another form.
    """

    text: str
    kind: str = field(init=False)
    target: str = field(init=False)
    """What stands between the first colon and the options."""
    options: Options = field(init=False)

    def __post_init__(self) -> None:
        """Split the text."""
        head, _, query = self.text.partition("?")
        kind, _, target = head.partition(":")
        for name, value in (("kind", kind), ("target", target), ("options", Options(self.text, query))):
            object.__setattr__(self, name, value)

    def no_target(self) -> None:
        """Say that nothing may stand behind the kind.

        Raises:
            InvalidOption: Something does.
        """
        if self.target:
            raise InvalidOption(OPTION, self.text, f"{self.kind} alone")
