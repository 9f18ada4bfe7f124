"""Kills and disturbs writers of a library: builds the shim, starts the server of crashes, tells what came of it."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
COMPILERS = ("cc", "gcc", "clang")
NO_COMPILER = f"NO CRASH WAS TRIED: there is no C compiler here ({', '.join(COMPILERS)})"


def compiler() -> str | None:
    """Return the C compiler; None if there is none."""
    return next((found for name in COMPILERS if (found := shutil.which(name))), None)


def build_shim(folder: Path) -> Path:
    """Compile the shim into a folder."""
    command, target = compiler(), folder / "shim.so"
    assert command is not None
    options = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([command, *options, "-o", target, HERE / "shim.c", "-ldl"], check=True)
    return target


class Crashes:
    """A server of crashes; every request runs in a fresh process below one folder.

    Args:
        folder: Scratch folder.
        shim: The compiled shim.
    """

    def __init__(self, folder: Path, shim: Path) -> None:
        self.folder = folder
        self._number = 0
        paths = os.pathsep.join([str(ROOT), str(HERE)])
        environment = {**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, HERE / "crash_server.py"]
        self._server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            bufsize=1,
            start_new_session=True,  # Ctrl-C is for the one who asks
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.close()
        self._server.wait(timeout=150)
        self._server.stdout.close()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.write(json.dumps(request) + "\n")
        line = self._server.stdout.readline()
        if not line:
            raise RuntimeError("the server of crashes ended")
        return json.loads(line)

    def library(self) -> "Victim":
        """Return a new library, not there yet."""
        self._number += 1
        return Victim(self, self.folder / f"victim {self._number}")


class Victim:
    """A library that is written under faults."""

    def __init__(self, crashes: Crashes, home: Path) -> None:
        home.mkdir(parents=True)
        self._crashes = crashes
        self.home = home
        self.folder = home / "library"
        self.durable = home / "durable"

    def _ask(self, do: str, **more: Any) -> dict[str, Any]:
        return self._crashes.ask(do=do, folder=str(self.folder), durable=str(self.durable), **more)

    def write(self, fault: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """Run the writer, under a fault if one is given."""
        return self._ask("write", fault=fault, **more)

    def read(self, fault: dict[str, Any]) -> dict[str, Any]:
        """Read the newest version under a fault."""
        return self._ask("read", fault=fault)

    def check(self) -> dict[str, Any]:
        """Prove every version."""
        return self._ask("check")

    def settle(self) -> dict[str, Any]:
        """Prove every version, let an undisturbed run finish, and prove every version again."""
        return self._ask("settle")

    def remove(self) -> None:
        """Forget the library."""
        shutil.rmtree(self.home)


class Undisturbed:
    """What the writer gives when nobody disturbs it: which fingerprints main has on the way, and at the end."""

    def __init__(self, crashes: Crashes) -> None:
        victim, begin = crashes.library(), time.monotonic()
        self.calls = victim.write({"at": 0})["count"]
        """Calls that a fault can hit."""
        self.seconds = time.monotonic() - begin
        """How long it takes [s]."""
        facts = victim.check()
        assert facts["torn"] == facts["lost"] == facts["twice"] == []
        self.heads = facts["heads"]
        self.steps = self._steps(victim.folder)
        victim.remove()

    @staticmethod
    def _steps(folder: Path) -> list[str]:
        commits = [json.loads(path.read_text())["commit"] for path in sorted((folder / "branches/main").iterdir())]
        return [commit["fingerprint"] for commit in commits]

    def problems(self, facts: dict[str, Any], *, finished: bool) -> list[str]:
        """Say in sentences what is wrong with a library after a fault, or after it was finished by a second run."""
        found = _common(facts)
        if finished and {name: head[1] for name, head in facts["heads"].items()} != {
            name: head[1] for name, head in self.heads.items()
        }:
            found.append(f"another end than undisturbed: {facts['heads']}")
        main = facts["heads"].get("main")
        if not finished and main and main[1] not in self.steps:
            found.append(f"neither the old nor the new version: {main}")
        return found


@dataclass
class Kills:
    """How many kills there were, and what was wrong after them."""

    kills: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Rows that had been promised, and were gone."""
        return sum(one.startswith("lost:") for one in self.problems)

    @property
    def torn(self) -> int:
        """Everything else: versions that are neither old nor new, damage, runs that could not go on."""
        return len(self.problems) - self.lost

    def count(self, problems: list[str]) -> None:
        """Add what was wrong."""
        self.problems += problems


def _common(facts: dict[str, Any]) -> list[str]:
    found = [f"torn: {one}" for one in facts["torn"]] + [f"lost: index {one}" for one in facts["lost"]]
    return found + [f"kept twice: index {one}" for one in facts.get("twice", [])]


def killed_at(crashes: Crashes, undisturbed: Undisturbed, at: int, *, mode: str = "kill") -> list[str]:
    """Kill a writer at its n-th call, look at what it left, let a second run finish; return what is wrong."""
    victim = crashes.library()
    answer = victim.write({"at": at, "mode": mode})
    problems = [] if answer["killed"] else [f"was not killed: {answer}"]
    problems += settled(victim, undisturbed)
    if not problems:
        victim.remove()
    return [f"{mode} at call {at}: {one}" for one in problems]


def settled(victim: Victim, undisturbed: Undisturbed, *, first: bool = True) -> list[str]:
    """Prove what a fault left, and what an undisturbed run makes of it; return what is wrong.

    Args:
        victim: The library.
        undisturbed: What it has to be in the end.
        first: Only one run was disturbed: its newest version is one that an undisturbed run makes on its way.
    """
    answer = victim.settle()
    if "error" in answer:
        return [f"cannot be read or finished: {answer['error']}"]
    return [
        *(undisturbed.problems(answer["left"], finished=False) if first else _common(answer["left"])),
        *undisturbed.problems(answer["end"], finished=True),
    ]


def killed_at_random(crashes: Crashes, undisturbed: Undisturbed, *, rng: np.random.Generator, kills: int) -> Kills:
    """Kill a writer up to `kills` times, each run going on where the last one was, and let a last run finish.

    One kill in four comes at a random time, the others at a random call.
    """
    victim, result = crashes.library(), Kills()
    for _ in range(kills):
        if rng.random() < 0.25:
            answer = victim.write(kill_after_s=float(rng.uniform(0, undisturbed.seconds / 3)))
        else:
            answer = victim.write({"at": int(rng.integers(1, undisturbed.calls // 3)), "mode": "kill"})
        if not answer["killed"]:
            break
        result.kills += 1
        facts = victim.check()
        result.count([f"cannot be read: {facts['error']}"] if "error" in facts else _common(facts))
    result.count(settled(victim, undisturbed, first=False))
    if not result.problems:
        victim.remove()
    return result
