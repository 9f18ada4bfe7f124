"""A small library with a history, made without sampling: one base, its variants in light, two branches, a tag."""

import shutil
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from library import lance_table
from library.curated import DROPPED, RESTORED, Action, decision
from library.intake import Intake
from library.journal import Journal
from library.keeper import Keeper
from library.row import Line
from library.structures import keep_structures
from library.tables import CURATION
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.cell import Cell
from scenegen.expand import Expansion, Made, Outcome
from scenegen.imaging.metered import Metered
from scenegen.imaging.renderer import Renderer
from scenegen.parts.catalogue import Catalogue
from scenegen.provenance import AxisSetting, Provenance
from scenegen.scenario import Scenario
from scenegen.units import Quantity, Unit
from scenegen.usd.writer import SceneWriter
from scenegen.verdict import CheckPlan, Verdict

PLAN = CheckPlan(checks=(), engine="none: the tests keep scenes unchecked")


@dataclass(frozen=True)
class SceneMaker:
    """Makes lines as an expansion does: the variants of one base, each in light of another colour.

    Args:
        cell: The cell.
        catalogue: The parts of its inventory.
        base: The base.
        seed: Another seed is another expansion of the same scenes.
    """

    cell: Cell
    catalogue: Catalogue
    base: Scenario
    seed: int = 0

    @cached_property
    def metered(self) -> Metered:
        return Metered(self.cell, Renderer(self.cell, self.catalogue))

    @property
    def expansion(self) -> Expansion:
        assets = {part: self.catalogue[part].content_id for part in sorted(self.catalogue)}
        return Expansion(
            cell_id=self.cell.content_id, assets=assets, axes=("lighting",), levels=(1, 2, 3), seed=self.seed
        )

    def scenario(self, index: int) -> Scenario:
        first, *others = self.base.lights.lights
        warmer = first.replaced(temperature_k=3000.0 + 10.0 * index)
        return self.base.varied(lights=self.base.lights.replaced(lights=(warmer, *others)))

    def outcome(self, index: int) -> Outcome:
        scenario, base = self.scenario(index), self.base
        severity = (Quantity(name="temperature", value=3000.0 + 10.0 * index, unit=Unit.KELVIN),)
        origin = Provenance(base_id=base.id, generator="tests", generator_version="1", seed=self.seed, index=index)
        setting = AxisSetting(axis="lighting", level=1 + index % 3, severity=severity)
        made = Made("variant", scenario, _verdict(scenario), origin.replaced(axes=(setting,)))
        twin = Made("base", base, _verdict(base), origin.replaced(index=0))
        return Outcome(index, made, twin, Counter({"overlap:hit": index} if index else {}))

    def lines(self, library: VersionedLibrary | None, indices: range) -> list[Line]:
        """Make scenes and write their layers into a library; without one they are made when asked for."""
        usd = None if library is None else type(library.files)(library.usd)
        writer = SceneWriter(self.cell, self.catalogue)
        keeper = Keeper(writer, self.metered, expansion_id=self.expansion.content_id, usd=usd)
        return [keeper.keep(self.outcome(index)) for index in indices]

    def keep(self, library: VersionedLibrary, indices: range, *, branch: str = "main") -> None:
        """Publish scenes as an expansion does."""
        files = keep_structures(library, self.cell, self.catalogue)
        for record in (PLAN, self.expansion):
            files |= library.record(record)
        with Journal(library.folder, self.expansion.content_id) as journal:
            intake = Intake(library, journal, expansion_id=self.expansion.content_id, branch=branch, files=files)
            intake.add(self.lines(library, indices))
            intake.publish(f"{len(indices)} scenes")

    def journal(self, library: VersionedLibrary, indices: range) -> Path:
        """Leave scenes in the journal, as an expansion does that was killed."""
        with Journal(library.folder, self.expansion.content_id) as journal:
            journal.add(self.lines(library, indices))
            return journal.path


def _verdict(scenario: Scenario) -> Verdict:
    return Verdict(scenario_id=scenario.id, plan=PLAN, results=())


@pytest.fixture(scope="session")
def scene_maker(cell, catalogue, base_scenario) -> SceneMaker:
    return SceneMaker(cell, catalogue, base_scenario)


@pytest.fixture(scope="session")
def kept_folder(tmp_path_factory, scene_maker) -> Path:
    """A library: four scenes at main@0 (tag v1), three more at main@1, decisions at main@2, one scene at trial@1."""
    folder = tmp_path_factory.mktemp("kept") / "scenes"
    library = VersionedLibrary.create(folder)
    scene_maker.keep(library, range(4))
    first = library.history.find("main")
    library.tag("v1", first, note="the first")
    library.branch("trial", first, Signature("try something"))
    scene_maker.keep(library, range(4, 7))
    subject = scene_maker.scenario(5).id
    for number, value in enumerate((DROPPED, RESTORED)):
        row = decision(Action.DROP, subject, value, note="a test", author="tests", time=f"2026-01-0{number + 1}")
        library.publish(Changes({CURATION.name: [row]}), Signature("decide"))
    scene_maker.keep(library, range(7, 8), branch="trial")
    return folder


@pytest.fixture
def kept(kept_folder, tmp_path) -> VersionedLibrary:
    """A copy of the library that a test may damage; this process has not read it yet."""
    lance_table._checked.clear()
    return VersionedLibrary.open(shutil.copytree(kept_folder, tmp_path / "scenes"))
