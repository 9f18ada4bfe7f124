"""What all benchmarks share: timing, the machine, an environment for peers, and the result that is written."""

import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".venv-bench"
REPEATS = 3
"""Each timing is the least of so many: other work on the machine only ever adds to it."""

Rows = list[dict[str, Any]]


def best_of(work: Callable[[], Any], *, repeats: int = REPEATS) -> float:
    """Return the least wall time of some runs [s]."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def machine() -> dict[str, Any]:
    """Describe the machine and the packages that were measured."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    models = [line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")]
    packages = (
        "scenegen",
        "numpy",
        "mujoco",
        "usd-exchange",
        "embreex",
        "shapely",
        "trimesh",
        "pylance",
        "pyarrow",
        "duckdb",
    )
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "packages": {name: version for name in packages if (version := _installed(name))},
    }


def _installed(name: str) -> str | None:
    """Return a package's version, if it is installed: what runs on a GPU needs few of them."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def peer_python() -> Path:
    """Return the Python of the peers' environment, made from `peers.txt` on first use."""
    python = PEERS / "bin" / "python"
    stamp, wanted = PEERS / "peers", (ROOT / "benchmarks" / "peers.txt").read_text(encoding="utf-8")
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        installer = ROOT / "requirements" / "install.sh"
        uv = subprocess.run([installer, "uv"], capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
        make = [uv, "venv", "--quiet", "--clear", "--no-project", "--python", sys.executable, PEERS]
        fill = [uv, "pip", "install", "--quiet", "--python", python, "-r", ROOT / "benchmarks" / "peers.txt"]
        for command in (make, fill):
            subprocess.run(command, check=True, cwd=ROOT)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def ask_peer(script: Path, *arguments: str | Path | float, timeout_s: float = 900) -> Any:
    """Run a script in the peers' environment and return the JSON of its last line."""
    command = [peer_python(), script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=timeout_s)
    return json.loads(done.stdout.splitlines()[-1])


def write_result(
    folder: Path, rows: Rows, *, title: str, notes: Sequence[str], load_before: float, name: str = "result"
) -> None:
    """Write `<name>.json` and `<name>.md` beside a benchmark, and print the latter."""
    command = " ".join(["python", str(Path(sys.argv[0]).resolve().relative_to(ROOT)), *sys.argv[1:]])
    facts = {
        "date": datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": command,
        "load_average": [round(load_before, 2), round(os.getloadavg()[0], 2)],
        "machine": machine(),
    }
    (folder / f"{name}.json").write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    about = facts["machine"]
    lines = [
        f"# {title}",
        "",
        f"{facts['date']}, `{command}`, {about['cores']} cores ({about['processor']}), Python {about['python']},"
        f" load average {facts['load_average'][0]} before and {facts['load_average'][1]} after.",
        "",
        *table(rows),
        "",
        *(f"- {note}" for note in notes),
        "",
    ]
    text = "\n".join(lines)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)


def table(rows: Rows) -> list[str]:
    """Lay rows out as a Markdown table; all rows share their columns."""
    columns = list(rows[0])
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return lines + [f"| {' | '.join(shown(row[column]) for column in columns)} |" for row in rows]


def shown(value: Any) -> str:
    """Write a number with three significant digits and everything else as it is."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def load_average() -> float:
    """Return the machine's load over the last minute."""
    return os.getloadavg()[0]
