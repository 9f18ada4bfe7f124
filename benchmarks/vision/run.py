"""How well does the reference camera policy see: on nominal scenes, and where light, colour and lens go wrong?"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from dry_line import DryLine  # noqa: E402
from harness import Rows, load_average, write_result  # noqa: E402

from evaluator.policies.context import PolicyContext  # noqa: E402
from evaluator.policies.registry import make_policy  # noqa: E402
from evaluator.vision.accuracy import ASKEW_RAD, Accuracy, measured  # noqa: E402
from evaluator.vision.eye import Eye  # noqa: E402
from evaluator.vision.pictures import HELD_OUT, PictureMaker  # noqa: E402
from evaluator.vision.subject import Subject  # noqa: E402
from evaluator.vision.weights import facts_of, shipped_weights  # noqa: E402
from scenegen.base import sample_base  # noqa: E402
from scenegen.cell import Cell  # noqa: E402
from scenegen.cells.loader import load_cell  # noqa: E402
from scenegen.commands.recipe import Workshop  # noqa: E402
from scenegen.expand import Expander, Expansion  # noqa: E402
from scenegen.parts.builtin import builtin_catalogue  # noqa: E402
from scenegen.parts.catalogue import Catalogue  # noqa: E402
from scenegen.scenario import Scenario  # noqa: E402
from scenegen.streams import stream  # noqa: E402

AXES = ("lighting", "glare", "color_shift", "occlusion", "sensor")
LEVEL = 5
SEED = 1
"""Nets were trained with seed 0."""
NOTES = (
    "`named`: of the targets that could be taken right away, the share that the eye points at (within 12 mm) and names"
    " rightly. `grasp`: ... and where the fingers, put down as the eye says, meet nothing but the part and hold it when"
    f" they close (the rule of the grasp check; parts that lie up to {np.degrees(ASKEW_RAD):.0f} degrees askew between"
    " them turn). `vain`: share of all places pointed at where there is no target or another one. `first pick`:"
    " pictures whose surest place is right in both ways.",
    f"Nominal pictures show trays at all stages of emptiness; those of axes show full trays at level {LEVEL}, each"
    " beside its `twin` before the axis. Ranges are 95 % intervals (Wilson).",
    "`sorted`: of all targets, the share that the policy brings to the right bin in whole episodes of a world without"
    " physics (`dry_line.py`), looking anew after each part; no slips, no bounces, no shadow of the arm. `oracle`: the"
    " same scenes sorted by the oracle; what it leaves, it ran out of time for (the cell's takt for each target).",
)


def main() -> None:
    """Measure both built-in cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="100 nominal scenes, 50 and 6 whole episodes of each axis")
    parser.add_argument(
        "--axes", nargs="+", choices=AXES, default=AXES, help="axes to measure; each takes a minute or two"
    )
    options = parser.parse_args()
    long = options.long
    before = load_average()
    rows: Rows = []
    notes = list(NOTES)
    for name in ("fasteners", "rings"):
        cell = load_cell(name)
        parts = builtin_catalogue([item.part for item in cell.inventory])
        bench = Bench(cell, parts)
        size = {"nominal": 100, "varied": 50, "episodes": 6} if long else {"nominal": 10, "varied": 3, "episodes": 1}
        rows += bench.rows(options.axes, **size)
        notes.append(bench.note())
    write_result(HERE, rows, title="The reference camera policy's eye", notes=notes, load_before=before)


class Bench:
    """Measures one cell."""

    def __init__(self, cell: Cell, parts: Catalogue) -> None:
        self._cell, self._parts = cell, parts
        self._subject = Subject.of(cell, parts)
        path = shipped_weights(self._subject)
        assert path is not None, f"no weights for {cell.name}"
        self._path, self._eye = path, Eye.of(cell, self._subject, path)
        self._maker = PictureMaker(cell, parts)
        self._workshop = Workshop.of(cell, parts)

    def rows(self, axes: Sequence[str], *, nominal: int, varied: int, episodes: int) -> Rows:
        """Measure nominal scenes, then each axis beside its twins."""
        pictures = (self._maker.nominal(SEED, index, use=HELD_OUT) for index in range(nominal))
        accuracy = self._accuracy(pictures)
        scenes = [sample_base(self._cell, self._parts, rng=stream(SEED, "episode", n)) for n in range(2 * episodes)]
        rows = [self._row("nominal", nominal, accuracy, self._sorted(scenes, "vision"), self._sorted(scenes, "oracle"))]
        for axis in axes:
            pairs = list(self._varied(axis, varied))
            for label, which in ((f"{axis} {LEVEL}, twin", 0), (f"{axis} {LEVEL}", 1)):
                scenes = [pair[which] for pair in pairs]
                accuracy = self._accuracy((scene, self._maker.picture(scene)) for scene in scenes)
                done = [self._sorted(scenes[:episodes], name) if which else "" for name in ("vision", "oracle")]
                rows.append(self._row(label, len(scenes), accuracy, *done))
                print(rows[-1], flush=True)
        return rows

    def note(self) -> str:
        """Say what was measured, and how long a look takes."""
        images = np.stack([self._maker.nominal(SEED, index)[1].image for index in range(8)])
        start = time.perf_counter()
        self._eye.look(images)
        seconds = (time.perf_counter() - start) / len(images)
        facts = facts_of(self._path)
        size = self._path.stat().st_size / 1e6
        overlap = {key: value for key, value in facts["held_out"].items() if key.startswith("iou ")}
        shares = ", ".join(f"{key.removeprefix('iou ')} {value:.2f}" for key, value in overlap.items())
        return (
            f"`{self._cell.name}`: {size:.1f} MB of weights by `{facts['command']}`; one look takes"
            f" {1000 * seconds:.0f} ms on a processor. Pixels told apart, intersection over union: {shares}."
        )

    def _accuracy(self, pictures: Iterator) -> Accuracy:
        accuracy = Accuracy(self._subject.classes)
        for outcome, found, region in measured(self._eye, pictures, cell=self._cell, parts=self._parts):
            accuracy.add(outcome, found, region)
        return accuracy

    def _varied(self, axis: str, count: int) -> Iterator[tuple[Scenario, Scenario]]:
        """Yield scenes of an axis with their twins, each on a layout of its own."""
        expansion = Expansion(
            cell_id=self._cell.content_id,
            assets={part: self._parts[part].content_id for part in sorted(self._parts)},
            axes=(axis,),
            levels=(LEVEL,),
            seed=SEED,
            per_base=1,
        )
        expander = Expander(expansion, self._workshop.session(expansion))
        index = 0
        while count:
            outcome = expander.make(index)
            index += 1
            if outcome.made is not None and outcome.base is not None:
                count -= 1
                yield outcome.base.scenario, outcome.made.scenario

    def _sorted(self, scenes: list[Scenario], name: str) -> str:
        line = DryLine(self._cell, self._parts, self._maker)
        done = total = 0
        for scene in scenes:
            policy = make_policy(name, PolicyContext(self._cell, self._parts))
            places = line.sort(policy, scene)
            names = {item.name: item.part for item in scene.layout.items}
            rules = {rule.match: rule.bin for rule in self._cell.rules}
            done += sum(place in (rules.get(names[name]), rules.get(self._parts[names[name]].label))
                        for name, place in places.items())  # fmt: skip
            total += len(places)
        return wilson(done, total)

    def _row(self, label: str, scenes: int, accuracy: Accuracy, share: str, oracle: str) -> dict:
        return {
            "cell": self._cell.name,
            "scenes": label,
            "n": scenes,
            "targets": accuracy.pickable,
            "named": wilson(accuracy.named, accuracy.pickable),
            "grasp": wilson(accuracy.graspable, accuracy.pickable),
            "vain": wilson(accuracy.wrong, accuracy.seen),
            "first pick": wilson(accuracy.sure, accuracy.pictures),
            "sorted": share,
            "oracle": oracle,
        }


def wilson(hits: int, total: int) -> str:
    """Write a share with its 95 % interval (Wilson 1927)."""
    if not total:
        return "-"
    share, z = hits / total, 1.96
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * (share * (1 - share) / total + z * z / (4 * total * total)) ** 0.5 / (1 + z * z / total)
    return f"{share:.1%} [{max(0.0, middle - half):.0%}, {min(1.0, middle + half):.0%}]"


if __name__ == "__main__":
    main()
