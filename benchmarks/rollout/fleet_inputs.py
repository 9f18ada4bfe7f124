"""Write the varied scenes of libraries into one file that `fleet.py` plays anywhere.

For the published figures each of lighting, glare, color_shift, sensor and pose had
`scenegen expand --cell benchmarks/rollout/twelve.yaml --axis AXIS --n 2000 --library FOLDER`.
"""

import argparse
import json
import lzma
import sys
from itertools import batched
from pathlib import Path

from library.versioned import VersionedLibrary

BATCH = 256
"""Scenes that are read together."""


def main() -> None:
    """Read, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True, help="the file that is written, some megabytes of .jsonl.xz")
    arguments = parser.parse_args()
    written = 0
    with lzma.open(arguments.out, "wb") as file:
        for library in arguments.libraries:
            snapshot = VersionedLibrary.open(library).at()
            for rows in batched((row for row in snapshot.rows() if row.provenance.axes), BATCH):
                for row, scenario in zip(rows, snapshot.scenarios(rows), strict=True):
                    setting = row.provenance.axes[0]
                    facts = {
                        "axis": setting.axis,
                        "level": setting.level,
                        "scenario": json.loads(scenario.canonical_json()),
                    }
                    file.write(f"{json.dumps(facts, sort_keys=True)}\n".encode())
                    written += 1
    print(f"{arguments.out}: {written} scenes", file=sys.stderr)


if __name__ == "__main__":
    main()
