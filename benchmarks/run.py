"""Run benchmarks: all in a short form, or those that are named; `--long` takes the full sizes."""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = {
    **{name: f"{name}/run.py" for name in ("placement", "authoring", "collision", "settle", "expand", "imaging")},
    "vision": "vision/run.py",
    "vlm": "vlm/run.py",
    "rollout": "rollout/overhead.py",
    "library": "library/scale.py",
}
NAMES = tuple(SCRIPTS)


def main() -> int:
    """Run the benchmarks one after the other, so that they do not disturb each other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(NAMES)}; all by default")
    parser.add_argument("--long", action="store_true", help="full sizes, as published")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r} - accepted: {', '.join(NAMES)}")
    failed = []
    for name in options.names or NAMES:
        command = [sys.executable, HERE / SCRIPTS[name], *(["--long"] if options.long else [])]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
