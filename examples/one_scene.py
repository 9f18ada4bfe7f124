"""Make one scene in Python, vary it along an axis, check it, and write it as USD.

python examples/one_scene.py FOLDER
"""

import sys
from pathlib import Path

from scenegen.axes.registry import axis_named
from scenegen.base import sample_base
from scenegen.cells.loader import load_cell
from scenegen.parts.builtin import builtin_catalogue
from scenegen.streams import stream
from scenegen.usd.folder import StageFolder
from validators.check import CheckContext
from validators.plan import all_checks
from validators.run import Checker

cell = load_cell("fasteners")
parts = builtin_catalogue([item.part for item in cell.inventory])
context = CheckContext.of(cell, parts)

base = sample_base(cell, parts, rng=stream(0, "example"))
lighting = axis_named("lighting")
scene = lighting.vary(base, 4, ctx=context.for_axes, rng=stream(1, "example"))

for quantity in lighting.measure(base, scene, ctx=context.for_axes):
    print(f"{quantity.name}: {quantity.value} {quantity.unit}")

verdict = Checker(context, all_checks()).check(scene)
print("ok" if verdict.ok else [finding.sentence for finding in verdict.findings])
print(StageFolder(Path(sys.argv[1]), cell, parts).write(scene))
