"""What is installed, what conflicts, what the machine offers, and how to mend it: environment -> diagnoses.

Nothing heavy is imported: versions come from the packages' metadata, places from the import system's finders.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path

from scenegen.record import Name, Record, Text

OUR_PACKAGES = ("scenegen", "validators", "library", "evaluator", "prompts")
PYTHON = (3, 12)
"""Isaac Lab 3.0.0 accepts this Python alone, and one environment serves everything."""
LEAST_DISK_GB = 2.0
"""Ten thousand scenes of thirty parts take about 0.1 GB; this leaves room for a library."""

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?(?P<pin>[^;]*)(?:;.*extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"])?"
)


class Health(StrEnum):
    """How a diagnosis is meant."""

    GOOD = "good"
    ABSENT = "absent"
    """Optional and not there."""
    BAD = "bad"
    """Must be mended."""


class Diagnosis(Record):
    """One thing that the doctor looked at."""

    subject: Name
    health: Health
    sentence: Text
    remedy: Text | None = None
    """What to type."""


class Requirement(Record):
    """One dependency as the package's metadata names it."""

    name: str
    pin: str
    """Version specifier, for example `==3.0.1`; empty if any version will do."""
    extra: str | None
    """The extra that asks for it; None for the core."""


def examine(folder: Path) -> tuple[Diagnosis, ...]:
    """Look at everything.

    Args:
        folder: Where scenes will be written: its disk is looked at.
    """
    installed = installed_versions()
    requirements = own_requirements()
    install = install_command(sys.executable, has_pip=importlib.util.find_spec("pip") is not None)
    return (
        diagnose_python(sys.version_info[:3]),
        *diagnose_core(requirements, installed, install=install),
        *diagnose_extras(requirements, installed, install=install),
        diagnose_usd(installed, install=install),
        *diagnose_shadows({name: package_folder(name) for name in OUR_PACKAGES}),
        diagnose_processor(os.cpu_count() or 1, memory_gb()),
        diagnose_gpus(query_gpus(), torch_version=installed.get("torch")),
        diagnose_disk(folder, shutil.disk_usage(folder).free / 1e9),
        diagnose_warp_cache(installed.get("warp-lang"), warp_cache_folder()),
    )


def installed_versions() -> dict[str, str]:
    """Versions of all installed distributions by normalised name."""
    found = importlib.metadata.distributions()
    return {re.sub(r"[-_.]+", "-", item.name).lower(): item.version for item in found if item.name}


def own_requirements() -> tuple[Requirement, ...]:
    """Read scenegen's dependencies from its metadata; none if scenegen itself is not installed."""
    try:
        lines = importlib.metadata.requires("scenegen") or []
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(parse_requirement(line) for line in lines)


def parse_requirement(line: str) -> Requirement:
    """Split `name[extras]pin; extra == 'x'` into its parts."""
    match = _REQUIREMENT.match(line)
    assert match is not None, f"not a requirement: {line}"
    return Requirement(name=match["name"].lower(), pin=match["pin"].strip(), extra=match["extra"])


def install_command(executable: str, *, has_pip: bool) -> str:
    """Return how packages are changed in this environment; uv's environments have no pip of their own."""
    return f"{executable} -m pip" if has_pip else f"VIRTUAL_ENV={Path(executable).parent.parent} uv pip"


def diagnose_python(version: tuple[int, int, int]) -> Diagnosis:
    """Compare the running Python with the accepted one."""
    shown = ".".join(map(str, version))
    if version[:2] == PYTHON:
        return Diagnosis(subject="python", health=Health.GOOD, sentence=f"Python {shown}")
    return Diagnosis(
        subject="python",
        health=Health.BAD,
        sentence=f"Python {shown} - accepted: {PYTHON[0]}.{PYTHON[1]}",
        remedy="remove .venv and run: make setup",
    )


def diagnose_core(
    requirements: Iterable[Requirement], installed: Mapping[str, str], *, install: str
) -> tuple[Diagnosis, ...]:
    """Tell for each core dependency whether it is there; exact pins are compared."""
    core = [item for item in requirements if item.extra is None]
    if not core:
        sentence = "scenegen itself is not installed, so its dependencies cannot be told"
        remedy = f"in the checkout: {install} install --no-deps --editable ."
        return (Diagnosis(subject="core", health=Health.BAD, sentence=sentence, remedy=remedy),)
    wrong = [item for item in core if not _satisfied(item, installed)]
    bad = tuple(
        Diagnosis(
            subject=_subject(item.name),
            health=Health.BAD,
            sentence=f"{item.name} {installed.get(item.name, 'is missing')} - accepted: {item.pin or 'any version'}",
            remedy=f"{install} install '{item.name}{item.pin}'",
        )
        for item in wrong
    )
    shown = ", ".join(f"{item.name} {installed[item.name]}" for item in core if item not in wrong)
    return (Diagnosis(subject="core", health=Health.GOOD, sentence=shown), *bad) if shown else bad


def diagnose_extras(
    requirements: Iterable[Requirement], installed: Mapping[str, str], *, install: str
) -> tuple[Diagnosis, ...]:
    """Tell which extras are there; a wrong version of an exact pin is bad, an absent extra is not."""
    extras: dict[str, list[Requirement]] = {}
    for item in requirements:
        if item.extra is not None:
            extras.setdefault(item.extra, []).append(item)
    return tuple(_diagnose_extra(name, items, installed, install) for name, items in extras.items())


def _diagnose_extra(name: str, items: list[Requirement], installed: Mapping[str, str], install: str) -> Diagnosis:
    subject = _subject(f"extra_{name}")
    missing = [item.name for item in items if item.name not in installed]
    if missing:
        sentence, remedy = f"not installed ({', '.join(missing)} missing)", f"{install} install 'scenegen[{name}]'"
        return Diagnosis(subject=subject, health=Health.ABSENT, sentence=sentence, remedy=remedy)
    shown = ", ".join(f"{item.name} {installed[item.name]}" for item in items)
    if wrong := [item.name + item.pin for item in items if not _satisfied(item, installed)]:
        sentence = f"{shown} - accepted: {', '.join(wrong)}"
        remedy = f"{install} install {' '.join(map(repr, wrong))}"
        return Diagnosis(subject=subject, health=Health.BAD, sentence=sentence, remedy=remedy)
    return Diagnosis(subject=subject, health=Health.GOOD, sentence=shown)


def diagnose_usd(installed: Mapping[str, str], *, install: str) -> Diagnosis:
    """See that `pxr` comes from usd-exchange alone: usd-core writes other files into the same folder."""
    ours, rival = installed.get("usd-exchange"), installed.get("usd-core")
    if rival is None and ours is not None:
        return Diagnosis(subject="usd", health=Health.GOOD, sentence=f"pxr comes from usd-exchange {ours} alone")
    reinstall = f"{install} install --force-reinstall --no-deps usd-exchange=={ours or '3.0.1'}"
    if rival is None:
        sentence, remedy = "usd-exchange is missing, so there is no pxr", reinstall
    else:
        beside = f"beside usd-exchange {ours}: both install pxr, and each overwrites the other" if ours else "is there"
        sentence = f"usd-core {rival} {beside} - accepted: usd-exchange alone"
        uninstall = f"{install} uninstall usd-core".replace("-m pip uninstall", "-m pip uninstall -y")
        remedy = f"{uninstall} && {reinstall}"
    return Diagnosis(subject="usd", health=Health.BAD, sentence=sentence, remedy=remedy)


def package_folder(name: str) -> Path | None:
    """Tell where `import name` would find a top-level package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    return (Path(places[0]).parent if spec.origin else Path(places[0])) if places else None


def diagnose_shadows(folders: Mapping[str, Path | None]) -> tuple[Diagnosis, ...]:
    """See that each of our packages is found beside `scenegen`, not as a foreign package of the same name."""
    home = (folders["scenegen"] or Path(__file__).parent).parent
    strange = {name: folder for name, folder in folders.items() if folder is None or folder.parent != home}
    if not strange:
        sentence = f"{', '.join(folders)} come from {home}"
        return (Diagnosis(subject="packages", health=Health.GOOD, sentence=sentence),)
    return tuple(
        Diagnosis(
            subject=name,
            health=Health.BAD,
            sentence=f"import {name} finds {folder or 'nothing'} - accepted: {home / name}",
            remedy=f"uninstall the distribution that owns {folder}" if folder else "remove .venv and run: make setup",
        )
        for name, folder in strange.items()
    )


def memory_gb() -> float:
    """Size of the machine's memory [GB]."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def diagnose_processor(cores: int, memory: float) -> Diagnosis:
    """Tell cores and memory [GB]."""
    return Diagnosis(subject="processor", health=Health.GOOD, sentence=f"{cores} cores, {memory:.0f} GB of memory")


def query_gpus() -> tuple[str, ...]:
    """Ask the driver for its devices: one line each, name, memory, driver version; none without a driver."""
    command = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.strip() for line in done.stdout.splitlines() if line.strip())


def diagnose_gpus(gpus: tuple[str, ...], *, torch_version: str | None) -> Diagnosis:
    """Tell the devices; making and checking scenes need none."""
    if not gpus:
        sentence = "no NVIDIA device found: scenes are made and checked on the CPU, rollouts run on it too"
        return Diagnosis(subject="gpu", health=Health.ABSENT, sentence=sentence)
    driven = f"; torch {torch_version}" if torch_version else "; torch is not installed, so it is not used"
    shown = "; ".join(f"{name}, {memory}, driver {driver}" for name, memory, driver in (g.split(", ") for g in gpus))
    return Diagnosis(subject="gpu", health=Health.GOOD, sentence=shown + driven)


def diagnose_disk(folder: Path, free_gb: float) -> Diagnosis:
    """Compare the room on a folder's disk [GB] with what a library needs."""
    sentence = f"{free_gb:.1f} GB free for {folder}"
    if free_gb >= LEAST_DISK_GB:
        return Diagnosis(subject="disk", health=Health.GOOD, sentence=sentence)
    sentence = f"{sentence} - accepted: {LEAST_DISK_GB:g} GB or more"
    return Diagnosis(subject="disk", health=Health.BAD, sentence=sentence, remedy="free some room, or use another disk")


def warp_cache_folder() -> Path:
    """Tell where Warp keeps compiled kernels."""
    return Path(os.environ.get("WARP_CACHE_PATH") or Path.home() / ".cache" / "warp")


def diagnose_warp_cache(warp_version: str | None, folder: Path) -> Diagnosis:
    """See that compiled kernels can be kept: without, every rollout compiles for minutes."""
    if warp_version is None:
        sentence = "Warp is not installed (it comes with the extra isaac)"
        return Diagnosis(subject="warp_cache", health=Health.ABSENT, sentence=sentence)
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        filled = existing == folder and any(folder.iterdir())
        sentence = str(folder) if filled else f"{folder} is empty: the first rollout compiles for minutes"
        return Diagnosis(subject="warp_cache", health=Health.GOOD, sentence=sentence)
    sentence, remedy = f"{folder} cannot be written", "export WARP_CACHE_PATH=/a/folder/that/can/be/written"
    return Diagnosis(subject="warp_cache", health=Health.BAD, sentence=sentence, remedy=remedy)


def _satisfied(item: Requirement, installed: Mapping[str, str]) -> bool:
    version = installed.get(item.name)
    return version is not None and (not item.pin.startswith("==") or fnmatch(version, item.pin[2:]))


def _subject(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)
