"""`scenegen check`: check a cell, a USD scene or a library, or measure the checks themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from library.files import library_error
from library.layers import Layers
from library.row import Row
from library.snapshot import Snapshot
from library.versioned import VersionedLibrary
from scenegen.axes.registry import AXES
from scenegen.base import sample_base
from scenegen.cells.loader import BUILTIN, load_cell
from scenegen.commands.counted import Counted
from scenegen.commands.device import DEVICE
from scenegen.commands.exits import EXIT_FINDINGS
from scenegen.commands.model_options import BUDGET_TOKENS, BUDGET_USD, PRICES, TEXT_ONLY, TYPED, ModelOptions
from scenegen.commands.opened import open_version, split_version
from scenegen.commands.progress import progress_style
from scenegen.commands.recipe import Workshop, inventory_parts
from scenegen.errors import InvalidOption, LibraryError
from scenegen.scenario import Scenario
from scenegen.streams import stream
from scenegen.usd.files import CELLS
from scenegen.usd.folder import StageFolder
from scenegen.usd.package import unpacked
from scenegen.usd.reader import library_root, read_cell_and_parts, read_scenario
from scenegen.usd.robot_file import robot_bytes
from scenegen.verdict import Finding, Status, Verdict
from scenegen.vlm.chat import Chat
from scenegen.vlm.judging import SceneJudge
from scenegen.vlm.photographer import Photographer
from validators.cell_check import check_cell
from validators.judge_test import judge_test
from validators.repair import repair as mend
from validators.selftest import DEFECTS, self_test

USD_SUFFIXES = (".usda", ".usd", ".usdc", ".usdz")

app = typer.Typer()


@app.command()
def check(
    what: str = typer.Argument("", help="A cell file or name, a USD scene, or the folder of a library."),
    all_tiers: bool = typer.Option(False, "--all", help="Run all tiers, even after one failed."),
    repair: bool = typer.Option(False, help="Mend a scene where that can be done, and write the mended one."),
    measure: bool = typer.Option(False, "--self-test", help="Plant defects and measure what each check finds."),
    cell: str = typer.Option("fasteners", help="Cell for the self-test."),
    n: int = typer.Option(40, min=1, help="Scenes of the self-test."),
    seed: int = typer.Option(0, help="Seed of the self-test."),
    parts: Path = typer.Option(Path("parts"), help="Folder of your own parts."),
    vlm: str = typer.Option("", help=f"Self-test: also measure this model as a judge of meaning: {TYPED}."),
    text_only: bool = TEXT_ONLY,
    budget_tokens: int | None = BUDGET_TOKENS,
    budget_usd: float | None = BUDGET_USD,
    prices: Path | None = PRICES,
    device: str = DEVICE,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Check a cell, a USD scene or a library; exit code 1 if anything was found."""
    model = ModelOptions(vlm, text_only, budget_tokens, budget_usd, prices)
    if not vlm:
        model.require_none()
    if measure:
        _self_test(cell, model, n=n, seed=seed, parts=parts, as_json=as_json)
        return
    if vlm:
        raise InvalidOption("--vlm", vlm, "it only with --self-test, which measures the model as a judge")
    path = Path(what)
    if path.suffix in USD_SUFFIXES:
        good = _check_scene(path, all_tiers=all_tiers, repair=repair, device=device, as_json=as_json)
    elif path.is_dir() or Path(split_version(what)[0]).is_dir():
        good = _check_library(*open_version(what), device=device, as_json=as_json)
    elif what in BUILTIN or path.suffix in (".yaml", ".yml"):
        good = _check_cell(what, parts, as_json=as_json)
    else:
        raise InvalidOption("WHAT", what or "(nothing)", "a cell file or name, a .usda/.usdc/.usdz scene, or a library")
    if not good:
        raise typer.Exit(EXIT_FINDINGS)


def _check_cell(name: str, parts: Path, *, as_json: bool) -> bool:
    specification = load_cell(name)
    robot_bytes(specification, Path(name))
    findings = check_cell(specification, inventory_parts(specification, parts), AXES)
    if as_json:
        typer.echo(json.dumps([finding.model_dump(mode="json") for finding in findings]))
    elif findings:
        _print_findings(findings)
    else:
        typer.echo(
            f"{name}: ok - {len(specification.slots)} slots, {len(specification.bins)} bins, every part graspable"
        )
    return not findings


def _check_scene(path: Path, *, all_tiers: bool, repair: bool, device: str, as_json: bool) -> bool:
    with unpacked(path) as scene:
        scenario = read_scenario(scene)
        read = read_cell_and_parts(scene, trusted=True)
        workshop = Workshop.of(*read, robots=library_root(scene) / CELLS, device=device)
        verdict = workshop.checker.check(scenario, all_tiers=all_tiers)
    _print_verdict(str(path), verdict, as_json=as_json)
    if repair and not verdict.ok:
        return _repair_scene(path, scenario, verdict, workshop)
    return verdict.ok


def _repair_scene(path: Path, scenario: Scenario, verdict: Verdict, workshop: Workshop) -> bool:
    mended = mend(scenario, verdict, workshop.context)
    again = workshop.checker.check(mended) if mended else None
    if mended is None or again is None or not again.ok:
        typer.echo("not repaired: what was found cannot be mended without another scene", err=True)
        return False
    root = library_root(path)
    try:
        target = StageFolder(root, workshop.cell, workshop.parts, writer=workshop.writer).write(mended)
    except OSError as error:
        raise library_error(root, error) from error
    typer.echo(f"repaired: {target}")
    return True


def _check_library(store: VersionedLibrary, snapshot: Snapshot, *, device: str, as_json: bool) -> bool:
    """Check every kept scene again, from its USD files; side by side where the device can."""
    workshops: dict[str, Workshop] = {}
    layers, bad, checked = Layers(store, snapshot), 0, 0

    def build(path: Path) -> Workshop:
        return Workshop.of(*read_cell_and_parts(path, trusted=True), robots=store.usd / CELLS, device=device)

    for cell_id, rows in groupby(snapshot.rows(), key=lambda row: row.cell_id):
        scenes = (_located(row, layers) for row in rows)
        for scene, verdict in _verdicts(scenes, workshops, cell_id, build):
            checked += 1
            if verdict is not None and verdict.ok:
                continue
            bad += 1
            if verdict is None:
                typer.echo(str(scene))
            else:
                _print_verdict(str(scene), verdict, as_json=as_json)
    typer.echo(json.dumps({"checked": checked, "bad": bad}) if as_json else f"{checked} scenes checked, {bad} bad")
    for workshop in workshops.values():
        workshop.together.say_overflows()
    return bad == 0


def _located(row: Row, layers: Layers) -> Path | LibraryError:
    """Find a scene's root layer, or say what is wrong with its files."""
    try:
        return layers.scene(row)
    except LibraryError as error:
        return error


def _verdicts(
    scenes: Iterator[Path | LibraryError],
    workshops: dict[str, Workshop],
    cell_id: str,
    build: Callable[[Path], Workshop],
) -> Iterator[tuple[Path | LibraryError, Verdict | None]]:
    """Check scenes of one cell in their order; the first that is there builds the workshop, if there is none yet."""

    def verdict_on(scene: Path | LibraryError) -> tuple[Path | LibraryError, Verdict | None]:
        if isinstance(scene, LibraryError):
            return scene, None
        return scene, workshops[cell_id].checker.check(read_scenario(scene, trusted=True))

    while cell_id not in workshops:
        first = next(scenes, None)
        if first is None:
            return
        if isinstance(first, LibraryError):
            yield first, None
            continue
        workshops[cell_id] = build(first)
        scenes = chain([first], scenes)
    yield from workshops[cell_id].together.run(partial(verdict_on, scene) for scene in scenes)


def _self_test(name: str, model: ModelOptions, *, n: int, seed: int, parts: Path, as_json: bool) -> None:
    specification = load_cell(name)
    workshop = Workshop.of(specification, inventory_parts(specification, parts))
    sampler = partial(sample_base, workshop.cell, workshop.parts)
    with model.back_end() as back_end:
        with Counted("scenes", n * (1 + len(DEFECTS)), style=progress_style(as_json=False)) as checked:
            report = self_test(workshop.context, sampler, rng=stream(seed, "self-test"), n=n, looked_at=checked.add)
        typer.echo(report.canonical_json() if as_json else report.table())
        if back_end is None:
            return
        judge = SceneJudge(workshop.cell, workshop.parts)
        photographer = None if model.text_only else Photographer(workshop.cell, workshop.parts)

        def asks(scenario: Scenario) -> Chat:
            return judge.chat(scenario, photographer.photo(scenario, numbered=False) if photographer else None)

        rng = stream(seed, "judge")
        scenes = [scene for scene in (sampler(rng=rng) for _ in range(n)) if workshop.checker.check(scene).ok]
        with Counted("opinions", None, style=progress_style(as_json=False)) as told:
            judged = judge_test(workshop.context, scenes, asks=asks, back_end=back_end, rng=rng, judged=told.add)
        typer.echo(judged.canonical_json() if as_json else judged.table())


def _print_verdict(name: str, verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        typer.echo(verdict.canonical_json())
        return
    counts = {status: sum(result.status is status for result in verdict.results) for status in Status}
    summary = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
    typer.echo(f"{name}: {'ok' if verdict.ok else 'NOT OK'} - {summary} of {len(verdict.results)} checks")
    if verdict.findings:
        _print_findings(verdict.findings)


def _print_findings(findings: Iterable[Finding]) -> None:
    table = Table("check", "code", "what is wrong")
    for finding in findings:
        table.add_row(finding.check, finding.code, finding.sentence)
    Console().print(table)
