"""A small writer that goes the way of `expand`: journal, layers, commits, a tag, a branch; run again, it resumes.

Its rows are made up, but sealed and published like real ones.
"""

from pathlib import Path
from typing import Any

from library.commit import FileFacts, file_hash
from library.curated import Action, decision
from library.intake import Intake
from library.journal import Journal
from library.row import KeptVerdict, Line, Row, attempt_columns, sealed
from library.versioned import USD, Changes, Signature, VersionedLibrary
from scenegen.facet import FACETS, Facet, scenario_key
from scenegen.provenance import AxisSetting, Provenance
from scenegen.record import canonical_text, content_hash
from scenegen.units import Quantity, Unit
from scenegen.usd.files import scene_path
from scenegen.verdict import Status

EXPANSION = content_hash(b"expansion of the crash tests")
CELL = content_hash(b"cell of the crash tests")
COMMITS, LINES, TOGETHER = 3, 4, 2
"""Commits on main, lines a commit, lines that are made durable together."""
INDICES = range(COMMITS * LINES)
TAG, BRANCH = "v1", "adversarial"


def layer(scenario_id: str) -> bytes:
    """Return what stands for a scenario's USD layer."""
    return f"#usda 1.0\n# {scenario_id}\n".encode() * 20


def facet_texts(index: int) -> dict[Facet, str]:
    """Return what stands for the facets of the made-up scenario of an index."""
    return {facet: canonical_text({"facet": facet.value, "index": index}) for facet in FACETS}


def facet_ids(index: int) -> dict[Facet, str]:
    """Return the ids of its facets."""
    return {facet: content_hash(text.encode()) for facet, text in facet_texts(index).items()}


def scenario_id(index: int) -> str:
    """Return its id."""
    return scenario_key(CELL, (), facet_ids(index))


def made_up(index: int, *, expansion: str = EXPANSION) -> Line:
    """Return what an index of the made-up expansion gives; every fifth one has no scene."""
    base, variant = content_hash(f"base {index // 4}".encode()), scenario_id(index)
    rejected = {"overlap:overlap": 1} if index % 3 == 0 else {}
    if index % 5 == 4:
        return Line(index, None, base, rejected, {"attempts": [attempt_columns(expansion, index, None, rejected)]})
    severity = (Quantity(name="level", value=1.0 + index, unit=Unit.NONE),)
    row = Row(
        kind="variant",
        scenario_id=variant,
        cell_id=CELL,
        facets=facet_ids(index),
        provenance=Provenance(
            axes=(AxisSetting(axis="pose", level=1 + index % 5, severity=severity),),
            base_id=base,
            generator="procedural",
            generator_version="0",
            seed=0,
            index=index,
        ),
        expansion=expansion,
        plan_id=content_hash(b"plan"),
        scene_sha256=file_hash(layer(variant)),
    )
    verdict = KeptVerdict(scenario_id=variant, plan_id=content_hash(b"plan"), ok=True, statuses={"a@1": Status.PASSED})
    rows: dict[str, list[dict[str, Any]]] = {
        "scenarios": [row.columns()],
        "verdicts": [verdict.columns()],
        "facets": [
            sealed({"facet_id": content_hash(text.encode()), "facet": facet.value, "json": text})
            for facet, text in facet_texts(index).items()
        ],
        "attempts": [attempt_columns(expansion, index, variant, rejected)],
    }
    return Line(index, variant, base, rejected, rows)


def write(folder: Path, durable: Path) -> None:
    """Write a whole library, or go on with one.

    Args:
        folder: The library.
        durable: Gets a line for each index as soon as its rows are promised to survive.
    """
    library = VersionedLibrary.create(folder)
    with Journal(folder, EXPANSION) as journal:
        files: dict[str, FileFacts] = library.keep_file(f"{USD}/cells/cell.usda", layer("cell"))
        intake = Intake(library, journal, expansion_id=EXPANSION, files=files)
        for commit in range(COMMITS):
            _keep(library, intake, range(commit * LINES, (commit + 1) * LINES), durable)
            intake.publish(f"commit {commit}")
    head = library.history.head("main")
    assert head is not None
    if TAG not in library.history.tags():
        library.tag(TAG, head)
    if library.history.head(BRANCH) is None:
        library.branch(BRANCH, head, Signature("harder scenes"))
    drop = decision(Action.DROP, scenario_id(0), "dropped", note="", author="", time="2026-01-01T00:00:00+00:00")
    library.publish(Changes(rows={"curation": [drop]}), Signature("drop"), branch=BRANCH)


def _keep(library: VersionedLibrary, intake: Intake, indices: range, durable: Path) -> None:
    todo = [index for index in indices if index not in intake.tally.indices]
    for start in range(0, len(todo), TOGETHER):
        some = todo[start : start + TOGETHER]
        lines = [made_up(index) for index in some]
        for line in lines:
            if line.scenario_id:
                library.files.put(f"{USD}/{scene_path(line.scenario_id)}", layer(line.scenario_id))
        intake.add(lines)
        for line in lines:
            intake.tally.add_line(line)
        with durable.open("a") as log:
            log.write("".join(f"{index}\n" for index in some))


def commit_often(folder: Path, name: str, count: int) -> None:
    """Commit rows of one's own, one a commit."""
    library, expansion = VersionedLibrary.create(folder), content_hash(name.encode())
    for index in range(count):
        row = attempt_columns(expansion, index, None, {})
        assert library.publish(Changes(rows={"attempts": [row]}), Signature(f"{name} {index}")) is not None
