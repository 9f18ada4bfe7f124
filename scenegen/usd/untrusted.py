"""The rules for USD files from elsewhere, enforced in a process of its own before anything of ours opens them.

A USD file can name any file of the machine, compose without end out of a few hundred bytes, carry scripts that other
tools run when they open it, and crash a parser. So a child process with bounded memory and time parses every layer that
the file can reach, looks at every opinion, counts what would be composed, and only then composes it (see `inspection`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from scenegen.errors import UnsafeStage

LAYER_EXTENSIONS = (".usd", ".usda", ".usdc", ".usdz")
_PACKAGES = str(Path(__file__).parents[2])
_INSPECTION = f"import sys; sys.path.insert(0, {_PACKAGES!r}); from scenegen.usd.inspection import main; main()"


@dataclass(frozen=True)
class StageLimits:
    """How much an untrusted file may ask for; a scene of 32 parts needs a tenth of it."""

    prims: int = 20_000
    """Composed prims."""
    layers: int = 256
    """Files, the root layer among them."""
    depth: int = 64
    """Nesting of prims."""
    file_bytes: int = 256 * 2**20
    """Size of all files together."""
    numbers: int = 10_000_000
    """Numbers in all attributes of all files together: a few bytes of a binary file can hold millions."""
    memory_bytes: int = 2**30
    """Memory that the inspecting process may take (its data; address space that is only reserved does not count)."""
    seconds: float = 5.0
    """Wall-clock time of the inspection."""
    magnitude: float = 1e6
    """Greatest number in a transform or a shape [m]."""


DEFAULT_LIMITS = StageLimits()


def refuse_unsafe(path: Path, *, root: Path, limits: StageLimits = DEFAULT_LIMITS) -> None:
    """Refuse a file that breaks a rule; a file that is not there is left for the reader to report.

    Args:
        path: The file that is to be opened.
        root: The folder that it may refer into; everything it names must really lie below it.
        limits: How much it may ask for.

    Raises:
        UnsafeStage: Names the file that breaks a rule, the rule and what was found.
    """
    if not path.is_file():
        return
    real_root = os.path.realpath(root)
    real = os.path.realpath(path)
    if os.path.commonpath([real, real_root]) != real_root:
        raise UnsafeStage(str(path), "outside", f"it leads to {real}, which is not below {real_root}")
    if path.suffix.lower() not in LAYER_EXTENSIONS:
        raise UnsafeStage(str(path), "extension", f"accepted: {', '.join(LAYER_EXTENSIONS)}")
    finding = _inspect(str(path.absolute()), real_root, limits)
    if finding is not None:
        raise UnsafeStage(finding["file"], finding["rule"], finding["detail"])


def _inspect(path: str, root: str, limits: StageLimits) -> dict[str, str] | None:
    """Run the inspection; return what it found, or how it ended if it found nothing in time."""
    request = json.dumps({"path": path, "root": root, "limits": asdict(limits)})
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _INSPECTION],
            input=request,
            capture_output=True,
            text=True,
            timeout=limits.seconds,
            env=_environment(),
            cwd=root,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"file": path, "rule": "time", "detail": f"it was not understood within {limits.seconds:g} s"}
    if done.returncode == 0:
        return json.loads(done.stdout)
    if done.returncode == -24:  # SIGXCPU
        return {"file": path, "rule": "time", "detail": f"it was not understood within {limits.seconds:g} s"}
    if done.returncode == 1:  # an exception that the inspection did not expect: what it cannot read is not opened
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return {"file": path, "rule": "syntax", "detail": f"it cannot be inspected ({last})"}
    size = f"{limits.memory_bytes / 2**20:g} MiB"
    detail = f"the process that read it within {size} of memory ended with status {done.returncode}"
    return {"file": path, "rule": "resources", "detail": detail}


def _environment() -> dict[str, str]:
    """One thread (each would reserve address space), and none of the variables by which OpenUSD loads plug-ins."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PXR_", "PYTHON", "TF_"))}
    return kept | {"PXR_WORK_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
