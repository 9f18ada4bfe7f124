"""The options by which `expand` asks a model, from text to what they mean."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from library.call_files import calls_path
from library.structures import keep_structures
from library.versioned import VersionedLibrary
from prompts.prompt import load_prompt
from scenegen.commands.asker import Asker
from scenegen.commands.recipe import Recipe
from scenegen.design import DesignKind
from scenegen.errors import InvalidOption
from scenegen.expand import Expansion
from scenegen.vlm.asking import Asking
from scenegen.vlm.breaker import Breaker
from scenegen.vlm.budget import NO_PRICES, Budget, Budgeted
from scenegen.vlm.cached import Cached
from scenegen.vlm.calls import CallLog
from scenegen.vlm.chat import BackEnd, Chat
from scenegen.vlm.options import KINDS, make_back_end, require_kind
from scenegen.vlm.photographer import Photographer
from scenegen.vlm.prices import load_prices
from scenegen.vlm.proposing import PROPOSALS, Proposer, require_edits

VLM: Any = typer.Option(
    "", help="Let a model propose what happens: " + ", ".join(kind.typed for kind in KINDS.values()) + "."
)
JUDGE: Any = typer.Option(False, help="Let the model reject scenes that are implausible; it never accepts one.")
PROPOSALS_OPTION: Any = typer.Option(PROPOSALS, "--proposals", min=1, max=20, help="Proposals asked for at once.")
TEXT_ONLY: Any = typer.Option(False, "--text-only", help="Show the model no pictures.")
DRY_RUN: Any = typer.Option(False, "--dry-run", help="Only print what the model would be sent first.")
BUDGET_TOKENS: Any = typer.Option(None, min=1, help="Tokens that the model may cost, sent and received.")
BUDGET_USD: Any = typer.Option(None, min=0.0, help="Money that the model may cost, with --prices.")
PRICES: Any = typer.Option(None, help="YAML file, MODEL: {input_usd_per_million: 2.5, output_usd_per_million: 10}.")


@dataclass(frozen=True)
class AskOptions:
    """How a model is asked, as typed."""

    vlm: str
    judge: bool
    proposals: int
    text_only: bool
    dry_run: bool
    budget_tokens: int | None
    budget_usd: float | None
    prices: Path | None

    def check(self, expansion: Expansion) -> None:
        """Refuse what does not go together.

        Raises:
            InvalidOption: An option needs --vlm, or cannot be combined with it.
        """
        if not self.vlm:
            asked = {"--judge": self.judge, "--dry-run": self.dry_run, "--text-only": self.text_only}
            asked |= {"--budget-tokens": self.budget_tokens, "--budget-usd": self.budget_usd, "--prices": self.prices}
            for option, value in asked.items():
                if value:
                    raise InvalidOption(option, value, "it only with --vlm, which names the model to ask")
            return
        require_kind(self.vlm)
        require_edits(expansion.axes)
        defaults = Expansion.model_fields
        if expansion.levels != defaults["levels"].default or expansion.design is not DesignKind.ONE_AT_A_TIME:
            typed = ",".join(map(str, expansion.levels))
            raise InvalidOption("--levels", typed, "neither levels nor a design with --vlm: proposals bring their own")

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
        prices = load_prices(self.prices) if self.prices else NO_PRICES
        with closing(make_back_end(self.vlm, os.environ)) as back_end:
            if require_kind(self.vlm) is KINDS["replay"]:  # it costs nothing
                yield back_end
                return
            yield Budgeted(Breaker(back_end), Budget(tokens=self.budget_tokens, usd=self.budget_usd, prices=prices))

    def asking(self, model: str) -> Asking:
        """Return the record of how the model is asked."""
        names = ("propose", "repair", *["judge"] * self.judge)
        prompts = {name: load_prompt(name).hash for name in names}
        return Asking(
            model=model, prompts=prompts, count=self.proposals, pictures=not self.text_only, judged=self.judge
        )

    def asker(self, library: VersionedLibrary, back_end: BackEnd, recipe: Recipe) -> Asker:
        """Return what asks during an expansion.

        Nothing is asked twice: the library's log of calls knows the replies.

        Raises:
            LibraryError: The log cannot be read.
        """
        cached = Cached(back_end, CallLog(library.files.local(calls_path(back_end.model))))
        return Asker(library, cached, self._proposer(recipe), self._photographer(recipe), judges=self.judge)

    def first_chat(self, recipe: Recipe, beside: Path) -> Chat:
        """Return what the model would be sent first; nothing is sent, and no library is made.

        Args:
            recipe: Makes the scenes.
            beside: The cell's file.

        Raises:
            InvalidOption: The first base cannot be made, or offers nothing to change.
        """
        with TemporaryDirectory(prefix="scenegen-") as folder:
            keep_structures(VersionedLibrary.create(Path(folder, "dry")), recipe.cell, recipe.parts, beside=beside)
            base = replace(recipe, folder=str(Path(folder, "dry"))).expander().prepare(0)
        if base is not None:
            photographer = self._photographer(recipe)
            picture = photographer.photo(base.scenario, numbered=True) if photographer else None
            chat = self._proposer(recipe).dialogue(base.scenario, picture).chat
            if chat is not None:
                return chat
        raise InvalidOption("--axis", ", ".join(recipe.expansion.axes), "axes along which the first scene can change")

    def _photographer(self, recipe: Recipe) -> Photographer | None:
        return None if self.text_only else Photographer(recipe.cell, recipe.parts)

    def _proposer(self, recipe: Recipe) -> Proposer:
        expansion = recipe.expansion
        return Proposer(recipe.cell, recipe.parts, expansion.axes, count=self.proposals, seed=expansion.seed)
