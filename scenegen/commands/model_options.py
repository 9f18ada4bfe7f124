"""The options by which commands name a model and what it may cost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from scenegen.errors import InvalidOption
from scenegen.vlm.breaker import Breaker
from scenegen.vlm.budget import NO_PRICES, Budget, Budgeted
from scenegen.vlm.chat import BackEnd
from scenegen.vlm.options import KINDS, make_back_end, require_kind
from scenegen.vlm.prices import Price, Prices, load_prices, price_of

TYPED = ", ".join(kind.typed for kind in KINDS.values())
"""How models are typed."""

TEXT_ONLY: Any = typer.Option(False, "--text-only", help="Show the model no pictures.")
BUDGET_TOKENS: Any = typer.Option(None, min=1, help="Tokens that the model may cost, sent and received.")
BUDGET_USD: Any = typer.Option(None, min=0.0, help="Money that the model may cost, with --prices.")
PRICES: Any = typer.Option(None, help="YAML file, MODEL: {input_usd_per_million: 2.5, output_usd_per_million: 10}.")


@dataclass(frozen=True)
class ModelOptions:
    """A model and what it may cost, as typed."""

    vlm: str
    text_only: bool
    budget_tokens: int | None
    budget_usd: float | None
    prices: Path | None

    def require_none(self, **others: object) -> None:
        """Refuse options without a model that need one.

        Args:
            others: Further options, by name.

        Raises:
            InvalidOption: One was given.
        """
        asked = {**others, "text_only": self.text_only, "budget_tokens": self.budget_tokens}
        for name, value in {**asked, "budget_usd": self.budget_usd, "prices": self.prices}.items():
            if value:
                option = f"--{name.replace('_', '-')}"
                raise InvalidOption(option, value, "it only with --vlm, which names the model to ask")

    def price(self, model: str) -> Price | None:
        """Return what a model's tokens cost; None where it is not known.

        Raises:
            InvalidRecord: The file of prices cannot be read.
        """
        return price_of(model, self._prices())

    def _prices(self) -> Prices:
        return load_prices(self.prices) if self.prices else NO_PRICES

    @contextmanager
    def back_end(self) -> Iterator[BackEnd | None]:
        """Open the model's back end, which costs no more than is allowed; None where no model is asked.

        Raises:
            InvalidOption: `--vlm` has another form, or money is limited and the model has no price.
            InvalidRecord: The file of prices cannot be read.
            VlmError, LibraryError: See `make_back_end`.
        """
        if not self.vlm:
            yield None
            return
        if require_kind(self.vlm) is KINDS["local"]:
            typer.echo(f"loading {self.vlm.partition(':')[2]}", err=True)
        with closing(make_back_end(self.vlm, os.environ)) as back_end:
            if require_kind(self.vlm) is KINDS["replay"]:  # it costs nothing
                yield back_end
                return
            budget = Budget(tokens=self.budget_tokens, usd=self.budget_usd, prices=self._prices())
            yield Budgeted(Breaker(back_end), budget)
