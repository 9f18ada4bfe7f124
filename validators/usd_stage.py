"""Is what is written of a scenario valid USD, and does it read back as the scenario?

Every structure is written to a scratch folder and put before OpenUSD's validators: the cell, each part, and layouts
and scenes as composed stages. A scene whose shapes have all passed before (see `scenegen.usd.grammar`) differs from
those in nothing but values and passes by construction; one in `AUDIT` of such scenes is measured all the same.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from multiprocessing.util import Finalize
from pathlib import Path

from scenegen.cell import Cell
from scenegen.errors import UnreadableStage
from scenegen.parts.catalogue import Catalogue
from scenegen.scenario import Facet, Scenario
from scenegen.usd.folder import StageFolder
from scenegen.usd.grammar import Shape, shapes_of
from scenegen.usd.reader import scenario_of
from scenegen.usd.sdf import says_the_same
from scenegen.usd.stage import open_stage
from scenegen.usd.validation import StageFinding, validate_stage
from scenegen.usd.writer import SceneWriter
from scenegen.verdict import Basis, Finding, Tier
from validators.check import Check, CheckContext, Limits, Proof, finding

NAME = "usd_stage"
AUDIT = 100
"""One in so many scenes is measured although it would pass by construction."""


class StageValidator:
    """Validates the USD files of one cell's scenarios; remembers which shapes have passed.

    Example:
        >>> StageValidator(cell, parts).check(scenario).findings  # doctest: +SKIP
        ()
    """

    def __init__(
        self,
        cell: Cell,
        parts: Catalogue,
        *,
        writer: SceneWriter | None = None,
        robots: Path | None = None,
        scratch: Path | None = None,
    ) -> None:
        self._cell = cell
        self._writer = writer
        self._robots = robots
        self._scratch = scratch
        self._parts = parts
        self._passed: set[Shape] = set()
        self._files: dict[Path, tuple[Finding, ...]] = {}
        """What was found in the files of the cell and of the parts."""
        self._open: list[object] = []
        """Stages of those files: while they are open, scenes that refer to the files need not parse them again."""
        self._layout: tuple[str, frozenset[Shape]] = ("", frozenset())
        """The last layout's key and its shapes that have not passed yet: variants of one base share it."""

    def check(self, scenario: Scenario) -> Proof:
        """Return what is wrong with a scenario's USD files, and how that is known.

        Raises:
            InvalidRecord: The scenario does not belong to the cell and the parts, or contradicts itself.
        """
        new = self._new_shapes(scenario)
        if not new and int(scenario.id, 16) % AUDIT:
            return Proof((), Basis.BY_CONSTRUCTION)
        findings = (*self._shared_files(scenario), *self._own_files(scenario))
        if not findings:
            self._passed |= new
            self._layout = (self._layout[0], frozenset())
        return Proof(findings, Basis.MEASURED)

    @cached_property
    def _folder(self) -> StageFolder:
        """The scratch folder; it goes when the validator goes."""
        path = tempfile.mkdtemp(prefix="scenegen-usd-", dir=self._scratch)
        # Unlike `atexit`, this also runs when a worker process ends; a copy of the process leaves the folder alone.
        Finalize(self, shutil.rmtree, args=(path,), kwargs={"ignore_errors": True}, exitpriority=0)
        return StageFolder(Path(path), self._cell, self._parts, writer=self._writer, robots=self._robots)

    def _new_shapes(self, scenario: Scenario) -> frozenset[Shape]:
        """Return the shapes of a scenario's layout and of its own layer that have not passed yet."""
        writer, key = self._folder.writer, scenario.key(Facet.LAYOUT)
        if self._layout[0] != key:
            self._layout = (key, shapes_of(writer.layout_tree(scenario).prims) - self._passed)
        own = [fragment.shapes - self._passed for fragment in writer.fragments(scenario)]
        return self._layout[1].union(*own)

    def _shared_files(self, scenario: Scenario) -> Iterator[Finding]:
        """Look at the files of the cell and of the scenario's parts, each once."""
        files = {"cell": self._folder.write_cell()}
        files |= {asset.part: self._folder.write_asset(asset.part) for asset in scenario.assets}
        for subject, file in files.items():
            if file not in self._files:
                self._files[file] = tuple(_invalid(validate_stage(file), file, subject))
                self._open.append(open_stage(file))
            yield from self._files[file]

    def _own_files(self, scenario: Scenario) -> Iterator[Finding]:
        """Look at the files of the layout and of the scene, and remove them again."""
        writer = self._folder.writer
        layout, scene = self._folder.write_layout(scenario), self._folder.write(scenario)
        if self._layout[1]:
            yield from _invalid(validate_stage(layout), layout, "layout")
        texts = {"layout": (layout, writer.layout_tree(scenario)), "scene": (scene, writer.scene_tree(scenario))}
        for subject, (file, tree) in texts.items():
            if not says_the_same(file.read_text(encoding="utf-8"), tree):
                yield finding(
                    NAME, "text", [subject], f"the text of the {subject} layer is not the layer that Sdf would author"
                )
        yield from _composed(scene, scenario)
        for file in (layout, scene):
            file.unlink()


def usd_stage_check(
    cell: Cell,
    parts: Catalogue,
    *,
    writer: SceneWriter | None = None,
    robots: Path | None = None,
    scratch: Path | None = None,
) -> Check:
    """Build the check for one cell; it holds a scratch folder until it is dropped.

    Args:
        cell: The cell.
        parts: The parts of its inventory.
        writer: A writer to share, so that what was written once need not be written again to be looked at.
        robots: Where the robot's file lies that the cell names.
        scratch: Where the scratch folder is made; by default among the system's temporary files.
    """
    validator = StageValidator(cell, parts, writer=writer, robots=robots, scratch=scratch)

    def run(scenario: Scenario, _ctx: CheckContext, _limits: Limits) -> Proof:
        return validator.check(scenario)

    doc = "Its USD files pass OpenUSD's validators, say what Sdf would author, and read back as the scenario."
    return Check(name=NAME, version=1, tier=Tier.USD, depends=frozenset(Facet), doc=doc, run=run)


def _invalid(complaints: Iterable[StageFinding], file: Path, subject: str) -> Iterator[Finding]:
    for found in complaints:
        sentence = f"{subject}: {found.prim}: {found.message} ({found.identifier})"
        yield finding(NAME, "invalid", [subject, found.prim], sentence.replace(str(file), file.name))


def _composed(file: Path, scenario: Scenario) -> Iterator[Finding]:
    """Look at a scene as OpenUSD composes it."""
    try:
        stage = open_stage(file)
        yield from _invalid(validate_stage(stage), file, "scene")
        read = scenario_of(stage, file)
    except UnreadableStage as error:
        yield finding(NAME, "unreadable", ["scene"], str(error).replace(str(file), file.name))
        return
    for facet in sorted(read.changed(scenario)):
        yield finding(NAME, "misread", [facet.value], f"the scene reads back with another facet {facet.value!r}")
