"""`scenegen train-vision`: teach the reference camera policy to see a cell."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from scenegen import __version__
from scenegen.cell import Cell
from scenegen.cells.loader import load_cell
from scenegen.commands.counted import Counted, Style
from scenegen.commands.progress import progress_style
from scenegen.commands.recipe import inventory_parts
from scenegen.errors import MissingExtra
from scenegen.parts.catalogue import Catalogue
from scenegen.record import canonical_text

try:
    from evaluator.vision.accuracy import Accuracy, measured
    from evaluator.vision.eye import Eye
    from evaluator.vision.gathering import Shoot, gathered, read_pictures
    from evaluator.vision.pictures import HELD_OUT, PictureMaker
    from evaluator.vision.subject import Subject
    from evaluator.vision.training import SAVE_EVERY, Training, TrainOptions
    from evaluator.vision.weights import write_weights
except ModuleNotFoundError as error:
    raise MissingExtra("Training", "vision") from error

MEASURED = 100
"""Pictures of other scenes on which the net is measured."""

app = typer.Typer()


@app.command()
def train_vision(
    cell: str = typer.Option("fasteners", help="A built-in cell or a cell file."),
    output: Path = typer.Option(..., "--output", "-o", help="File for the weights, for example mine.safetensors."),
    scenes: int = typer.Option(TrainOptions().scenes, min=1, help="Pictures to learn from."),
    steps: int = typer.Option(TrainOptions().steps, min=1, help="Steps of learning."),
    device: str = typer.Option("cpu", help="cpu, or cuda:0; pictures are made on processors."),
    seed: int = typer.Option(0, help="Another seed gives other scenes and other weights."),
    parts: Path = typer.Option(Path("parts"), help="Folder of your own parts."),
    processes: int = typer.Option(0, min=0, help="Processes that make pictures; 0 takes one a core."),
    as_json: bool = typer.Option(False, "--json", help="Progress and result as JSON lines."),
) -> None:
    """Photograph nominal scenes of a cell and teach a small net to sort them; run it again to continue.

    Then `scenegen evaluate --policy vision:FILE`. Equal options give equal bytes on one machine with `--device cpu`.
    """
    specification = load_cell(cell)
    catalogue = inventory_parts(specification, parts)
    options = TrainOptions(scenes=scenes, steps=steps, seed=seed, device=device)
    school = _School(specification, catalogue, options, Path(f"{output}.training"), as_json=as_json)
    training = school.learn(school.gather(processes or os.cpu_count() or 1))
    accuracy = school.measure(training)
    command = f"scenegen train-vision --cell {cell} --scenes {scenes} --steps {steps} --seed {seed} --device {device}"
    facts = {
        "cell": specification.name,
        "command": command,
        "packages": {
            "scenegen": __version__,
            **{name: importlib.metadata.version(name) for name in ("numpy", "torch")},
        },
        "held_out": accuracy.rates(),
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    write_weights(output, training.net, school.subject, facts)
    shutil.rmtree(school.folder)
    _print(output, accuracy, as_json=as_json)


class _School:
    """Takes one net from pictures to weights; what is done is kept in a folder."""

    def __init__(self, cell: Cell, parts: Catalogue, options: TrainOptions, folder: Path, *, as_json: bool) -> None:
        self._cell, self._parts, self._options, self.folder = cell, parts, options, folder
        self._style: Style = progress_style(as_json)
        self.subject = Subject.of(cell, parts)
        what = canonical_text({"subject": self.subject.content_id, "fill": cell.fill, "seed": options.seed})
        known = folder / "pictures.json"
        if not known.exists() or known.read_text(encoding="utf-8") != what:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            known.write_text(what, encoding="utf-8")

    def gather(self, processes: int) -> Any:
        """Make the pictures."""
        count = self._options.scenes
        shoot = Shoot(self._cell, self._parts, self._options.seed)
        with Counted("pictures", count, style=self._style) as progress:
            for there in gathered(shoot, self.folder, count=count, processes=processes):
                progress.add(there - progress.done)
        return read_pictures(self.folder, count=count, subject=self.subject)

    def learn(self, pictures: Any) -> Training:
        """Train the net."""
        training = Training(pictures, self._options, kept=self.folder / "state.pt")
        losses: list[float] = []
        with Counted("steps", self._options.steps, style=self._style, done=training.done) as progress:
            for loss in training.run():
                progress.add()
                losses.append(loss)
                if training.done % SAVE_EVERY == 0 and self._style == "lines":
                    typer.echo(f"step {training.done}: loss {sum(losses) / len(losses):.3f}", err=True)
                    losses = []
        return training

    def measure(self, training: Training) -> Accuracy:
        """Measure it on scenes that it did not learn from."""
        eye = Eye(self._cell, self.subject, training.net.to("cpu"))
        maker, accuracy = PictureMaker(self._cell, self._parts), Accuracy(self.subject.classes)
        pictures = (maker.nominal(self._options.seed, index, use=HELD_OUT) for index in range(MEASURED))
        with Counted("held-out pictures", MEASURED, style=self._style) as progress:
            for outcome, found, region in measured(eye, pictures, cell=self._cell, parts=self._parts):
                accuracy.add(outcome, found, region)
                progress.add()
        return accuracy


def _print(output: Path, accuracy: Accuracy, *, as_json: bool) -> None:
    rates = accuracy.rates()
    if as_json:
        typer.echo(json.dumps({"event": "done", "file": str(output), **rates}))
        return
    table = Table("held out", "share", title=f"{output}: {MEASURED} other scenes", title_justify="left")
    for name, rate in rates.items():
        table.add_row(_WORDS.get(name, name), "-" if rate is None else f"{rate:.1%}")
    Console().print(table)


_WORDS = {
    "named": "parts found and named rightly",
    "graspable": "... with a grasp that would hold",
    "wrong": "places pointed at in vain",
    "first_pick": "pictures whose first pick would succeed",
}
