"""What `verify` found: damage, file by file, and what it means for versions and scenes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scenegen.record import Record


class Damage(Record):
    """One file that is not what was kept."""

    path: str
    """The file, relative to the library."""
    reason: str
    versions: tuple[str, ...] = ()
    """Versions that need it, `branch@number`."""
    scenes: int | None = None
    """Scenes that cannot be used without it; None where that cannot be told."""
    remedy: str

    @property
    def sentence(self) -> str:
        """Say in one line what is damaged, whom it concerns and what can be done."""
        concerned = f"; needed by {shown_versions(self.versions)}" if self.versions else ""
        count = "an unknown number of" if self.scenes is None else str(self.scenes)
        return f"{self.path}: {self.reason}{concerned}; {count} scenes affected - {self.remedy}"


class Report(Record):
    """What a check of a library found, and what was checked."""

    checked: dict[str, int] = {}
    """What was held against its hash or its law -> how many."""
    damage: tuple[Damage, ...] = ()
    expired: tuple[str, ...] = ()
    """Versions of closed branches whose files were cleared."""
    unreferenced: tuple[str, ...] = ()
    """Files that no version needs: what interrupted commands left, or what Lance keeps for itself."""
    unreferenced_bytes: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage


def shown_versions(versions: Iterable[str]) -> str:
    """Write versions shortly: `main@0..4, trial@3`."""
    numbers: dict[str, list[int]] = {}
    for version in versions:
        branch, _, number = version.rpartition("@")
        numbers.setdefault(branch, []).append(int(number))
    return ", ".join(f"{branch}@{text}" for branch, some in sorted(numbers.items()) for text in _ranges(sorted(some)))


def _ranges(numbers: list[int]) -> list[str]:
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    return ["..".join(map(str, one)) for one in ranges]


_REMEDIES: Mapping[str, str] = {
    "usd/v1/scenes/": "`scenegen library restore` makes it again from the tables; all other scenes stay usable",
    "usd/v1/layouts/": "`scenegen library restore` makes it again from the tables; all other scenes stay usable",
    "usd/v1/cells/": "`scenegen library restore` makes it again where it can, or takes it from a copy with --from",
    "usd/v1/assets/": "`scenegen library restore` makes it again where it can, or takes it from a copy with --from",
    "branches/": "`scenegen library restore` takes it from copies/, or from a copy of the library with --from",
    "tags/": "`scenegen library restore` takes it from copies/, or from a copy of the library with --from",
    "library.json": "`scenegen library restore` takes it from copies/, or from a copy of the library with --from",
    "copies/": "`scenegen library restore` writes it again; versions and scenes do not need it",
    "staging/": "`scenegen library restore` drops the damaged lines; `scenegen expand` makes those scenes again",
    "tables/": "take it from a copy: `scenegen library restore --from COPY`; versions that do not need it stay usable",
    "records/": "take it from a copy: `scenegen library restore --from COPY`; scenes stay usable",
}


def remedy_of(path: str) -> str:
    """Say what can be done about a damaged file."""
    return next(
        (remedy for begin, remedy in _REMEDIES.items() if path.startswith(begin)),
        "take it from a copy: `scenegen library restore --from COPY`",
    )
