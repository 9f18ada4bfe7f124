"""The options by which `expand` asks a model, and what they come to."""

from __future__ import annotations

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
from scenegen.commands.model_options import TYPED, ModelOptions
from scenegen.commands.recipe import Recipe
from scenegen.design import DesignKind
from scenegen.errors import InvalidOption
from scenegen.expand import Expansion
from scenegen.vlm.asking import Asking
from scenegen.vlm.cached import Cached
from scenegen.vlm.calls import CallLog
from scenegen.vlm.chat import BackEnd, Chat
from scenegen.vlm.options import KINDS, require_kind
from scenegen.vlm.photographer import Photographer
from scenegen.vlm.proposing import PROPOSALS, Proposer, require_edits

VLM: Any = typer.Option("", help=f"Let a model propose what happens: {TYPED}.")
JUDGE: Any = typer.Option(False, help="Let the model reject scenes that are implausible; it never accepts one.")
PROPOSALS_OPTION: Any = typer.Option(PROPOSALS, "--proposals", min=1, max=20, help="Proposals asked for at once.")
DRY_RUN: Any = typer.Option(False, "--dry-run", help="Only print what the model would be sent first.")


@dataclass(frozen=True)
class AskOptions:
    """How a model is asked during an expansion, as typed."""

    model: ModelOptions
    judge: bool
    proposals: int
    dry_run: bool

    def check(self, expansion: Expansion) -> None:
        """Refuse what does not go together.

        Raises:
            InvalidOption: An option needs --vlm, or cannot be combined with it.
        """
        if not self.model.vlm:
            self.model.require_none(judge=self.judge, dry_run=self.dry_run)
            return
        require_kind(self.model.vlm)
        require_edits(expansion.axes)
        refused = "neither levels nor a design with --vlm: proposals bring their own"
        if expansion.design is not DesignKind.ONE_AT_A_TIME:
            raise InvalidOption("--design", expansion.design.value, refused)
        if expansion.levels != Expansion.model_fields["levels"].default:
            raise InvalidOption("--levels", ",".join(map(str, expansion.levels)), refused)

    def asking(self, model: str) -> Asking:
        """Return the record of how the model is asked."""
        names = ("propose", "repair", *["judge"] * self.judge)
        prompts = {name: load_prompt(name).hash for name in names}
        return Asking(
            model=model, prompts=prompts, count=self.proposals, pictures=not self.model.text_only, judged=self.judge
        )

    def asker(self, library: VersionedLibrary, back_end: BackEnd, recipe: Recipe) -> Asker:
        """Return what asks during an expansion.

        Nothing is asked twice: the library's log of calls knows the replies.

        Raises:
            LibraryError: The log cannot be read.
        """
        cached = Cached(back_end, CallLog(library.files.local(calls_path(back_end.model))))
        price, photographer = self.model.price(back_end.model), self._photographer(recipe)
        replays = require_kind(self.model.vlm) is KINDS["replay"]
        proposer = self._proposer(recipe)
        return Asker(library, cached, proposer, photographer, price=price, judges=self.judge, replays=replays)

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
        return None if self.model.text_only else Photographer(recipe.cell, recipe.parts)

    def _proposer(self, recipe: Recipe) -> Proposer:
        expansion = recipe.expansion
        return Proposer(recipe.cell, recipe.parts, expansion.axes, count=self.proposals, seed=expansion.seed)
