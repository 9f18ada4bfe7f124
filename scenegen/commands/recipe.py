"""What a worker process of `expand` builds for itself: cell, parts, simulator, checks, and where results go."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from library.files import SCRATCH, USD, FolderFiles
from library.keeper import Keeper
from library.row import Line
from scenegen.axes.registry import AXES
from scenegen.base import sample_base
from scenegen.cell import Cell
from scenegen.commands.device import PROCESSOR, settle_engine
from scenegen.commands.together import Together
from scenegen.expand import Expander, Expansion, Outcome, Session, Way
from scenegen.parts.catalogue import Catalogue
from scenegen.parts.folder import catalogue_with_folder
from scenegen.place import PlaceOptions
from scenegen.usd.files import CELLS
from scenegen.usd.writer import SceneWriter
from scenegen.verdict import CheckPlan
from validators.check import CheckContext
from validators.plan import all_checks, plan_of
from validators.repair import repair
from validators.run import Checker
from validators.usd_stage import usd_stage_check

CHUNK = 20
"""Indices that one process works on at a time: the variants of one base."""
CHUNK_APART = 4
"""The same where each scene has a base of its own: no process has long to wait for another one in the end."""
CHUNK_TOGETHER = 512
"""The same where the checks of many scenes run side by side on a GPU."""


def inventory_parts(cell: Cell, folder: Path) -> Catalogue:
    """Build the parts of a cell's inventory: built-in ones, and a person's own from a folder."""
    return catalogue_with_folder([item.part for item in cell.inventory], folder)


def check_plan(cell: Cell, parts: Catalogue, *, device: str = PROCESSOR) -> CheckPlan:
    """Return the plan by which a workshop checks, without building one."""
    return plan_of((*all_checks(), usd_stage_check(cell, parts)), engine=settle_engine(device))


@dataclass(frozen=True)
class Workshop:
    """A cell's parts, simulator and checks, as one process holds them."""

    cell: Cell
    parts: Catalogue
    context: CheckContext
    checker: Checker
    writer: SceneWriter
    together: Together

    @classmethod
    def of(
        cls,
        cell: Cell,
        parts: Catalogue,
        *,
        robots: Path | None = None,
        scratch: Path | None = None,
        device: str = PROCESSOR,
    ) -> Workshop:
        """Build everything; takes about a second, longer on another device than the processor.

        Args:
            cell: The cell.
            parts: The parts of its inventory.
            robots: Where the robot's file lies, if the cell names one.
            scratch: Where scratch files go; by default among the system's temporary files.
            device: Where scenes are checked to rest.
        """
        context, writer = CheckContext.of(cell, parts), SceneWriter(cell, parts)
        together = Together.on(device, cell, parts, settler=context.settler)
        context = replace(context, judge=together.judge)
        usd = usd_stage_check(cell, parts, writer=writer, robots=robots, scratch=scratch)
        checker = Checker(context, all_checks(), usd=usd)
        return cls(cell, parts, context, checker, writer, together)

    def session(self, expansion: Expansion) -> Session:
        """Return what an expansion works with."""
        options = PlaceOptions(mode=expansion.placement)
        return Session(
            axes=AXES,
            context=self.context.for_axes,
            sample_base=partial(sample_base, self.cell, self.parts, options=options),
            check=self.checker.check,
            repair=lambda scenario, verdict: repair(scenario, verdict, self.context),
        )


class UsdFiles(StrEnum):
    """When the USD layers of scenes are written."""

    ALL = "all"
    """When the scene is kept."""
    LAZY = "lazy"
    """When somebody asks for them."""


@dataclass(frozen=True)
class Recipe:
    """All that a process needs to make and keep scenes of one expansion; picklable."""

    folder: str
    cell: Cell
    parts: Catalogue
    expansion: Expansion
    usd: UsdFiles = UsdFiles.ALL
    device: str = PROCESSOR
    proposals: Mapping[int, Sequence[Way]] | None = None
    """What a model proposed for each base, by its number; None draws by level."""
    review: Callable[[Sequence[Outcome]], list[Outcome]] | None = None
    """Looks at what was made before it is kept; works in one process only."""

    def expander(self) -> Expander:
        """Build what makes scenes without keeping any, on the processor."""
        return Expander(self.expansion, self._workshop(PROCESSOR).session(self.expansion), remembers=self.chunk)

    def _workshop(self, device: str) -> Workshop:
        root, scratch = Path(self.folder, USD), Path(self.folder, SCRATCH)
        return Workshop.of(self.cell, self.parts, robots=root / CELLS, scratch=scratch, device=device)

    def __call__(self) -> Callable[[list[int]], list[Line]]:
        """Build the worker: from indices to the lines of what was kept."""
        workshop = self._workshop(self.device)
        session = workshop.session(self.expansion)
        if self.proposals is not None:
            session = replace(session, proposed=partial(_of_base, self.proposals))
        expander = Expander(self.expansion, session, remembers=self.chunk)
        usd = FolderFiles(Path(self.folder, USD)) if self.usd is UsdFiles.ALL else None
        keeper = Keeper(workshop.writer, workshop.context.metered, expansion_id=self.expansion.content_id, usd=usd)
        together, review = workshop.together, self.review
        if together.judge is None:
            if review is not None:
                return lambda indices: [keeper.keep(one) for one in review([expander.make(i) for i in indices])]
            # A scene is kept before the next is made: what its checks saw is at hand then.
            return lambda indices: [keeper.keep(expander.make(index)) for index in indices]

        def work(indices: list[int]) -> list[Line]:
            # Bases first: the variants of one shall not all make it at once.
            bases = dict.fromkeys(map(expander.base_of, indices))
            deque(together.run(partial(expander.prepare, base) for base in bases), maxlen=0)
            made = together.run(partial(expander.make, index) for index in indices)
            lines = [keeper.keep(outcome) for outcome in (review(list(made)) if review else made)]
            together.say_overflows()
            return lines

        return work

    @property
    def chunk(self) -> int:
        """Most indices that a worker should be given at once."""
        if self.device != PROCESSOR:
            return CHUNK_TOGETHER
        return CHUNK if any(AXES[name].keeps_layout for name in self.expansion.axes) else CHUNK_APART


def _of_base(proposals: Mapping[int, Sequence[Way]], base: int) -> Sequence[Way]:
    return proposals.get(base, ())
