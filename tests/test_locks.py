"""The locks: every pin has its hashes and no address, one resolution for all extras, no package that hides ours."""

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.utils import canonicalize_name

REQUIREMENTS = Path(__file__).parents[1] / "requirements"
LOCKS = ("core.lock", "all.lock")
OURS = frozenset({"scenegen", "validators", "evaluator", "prompts", "library"})
PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)\s*(?:;\s*(?P<marker>.*))?")


def entries(lock: str) -> dict[str, str]:
    """The lock's entries by normalised name; each with its continuation lines joined."""
    text = (REQUIREMENTS / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    return {canonicalize_name(re.split(r"[=<> ;\[@]", line)[0]): line for line in lines if line and line[0] != "#"}


def top_level_names(package: Distribution) -> set[str]:
    """Names that `import` finds because of a distribution: first path components of its modules."""
    names = set()
    for file in package.files or ():
        first = file.parts[0]
        if first == ".." or first.endswith((".dist-info", ".egg-info", ".data", ".libs", "__pycache__")):
            continue
        names.add(first.split(".")[0] if len(file.parts) == 1 else first)
    return names


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_is_one_pin_with_hashes(lock):
    wrong = [
        line for line in entries(lock).values()
        if not PIN.fullmatch(line.split("--hash")[0].strip()) or not re.search(r"--hash=sha256:[0-9a-f]{64}\b", line)
    ]  # fmt: skip
    assert wrong == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_holds_an_address(lock):
    assert "://" not in (REQUIREMENTS / lock).read_text(encoding="utf-8")


@pytest.mark.parametrize("lock", LOCKS)
def test_usd_comes_from_usd_exchange_alone(lock):
    names = entries(lock)
    assert "usd-exchange" in names
    assert "usd-core" not in names


def test_the_core_is_light():
    assert {"torch", "isaaclab", "warp-lang", "newton", "transformers"} & entries("core.lock").keys() == set()


def test_all_extras_cover_the_core():
    assert entries("core.lock").keys() - entries("all.lock").keys() == set()


def test_no_locked_package_hides_ours():
    absent, hiding = [], {}
    for name, line in entries("all.lock").items():
        pin = PIN.match(line.split("--hash")[0].strip())
        assert pin is not None
        if pin["marker"] and not Marker(pin["marker"]).evaluate():
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            absent.append(name)
            continue
        if shared := OURS & top_level_names(package):
            hiding[name] = shared
    assert absent == []
    assert hiding == {}


def test_a_hiding_package_would_be_seen(tmp_path):
    files = ["validators/__init__.py", "prompts.py", "validators-0.35.0.dist-info/RECORD"]
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("\n".join(f"{name},," for name in files))
    assert top_level_names(Distribution.at(tmp_path / "validators-0.35.0.dist-info")) == {"validators", "prompts"}
