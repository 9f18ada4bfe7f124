"""All commits and tags of a library as far as they can be read, how they hang together, and what is damaged of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Self

from library.commit import COPIES, Commit, CommitRef, commit_path
from library.history import Tag
from library.versioned import MARKER, VersionedLibrary
from scenegen.errors import LibraryError

Place = tuple[str, int]
"""Branch and number of a commit."""

_COMMIT = re.compile(r"^(?:copies/)?branches/([^/]+)/(\d{8})\.json$")


@dataclass
class Lineage:
    """The commits and tags of a library.

    What cannot be read is in `damage`; the rest is there.
    """

    commits: dict[Place, Commit] = field(default_factory=dict)
    tags: dict[str, Tag] = field(default_factory=dict)
    damage: dict[str, tuple[str, tuple[Place, ...]]] = field(default_factory=dict)
    """Path -> what is wrong, and the commits that are lost with it."""
    uncopied: int = 0
    """Files without their second copy; that is no damage."""

    @classmethod
    def read(cls, library: VersionedLibrary) -> Self:
        """Read what there is."""
        lineage = cls()
        lineage._read_commits(library)
        lineage._read_tags(library)
        lineage._check_refs()
        lineage._check_copies(library)
        return lineage

    @property
    def heads(self) -> dict[str, Commit]:
        """The newest readable commit of each branch."""
        return {branch: self.commits[branch, number] for branch, number in sorted(self.commits)}

    @property
    def live(self) -> set[Place]:
        """Commits that are in use: those of branches that are not closed, and those of tags, with all before them."""
        heads = [commit for commit in self.heads.values() if not commit.closed]
        tagged = [self.commits.get(_place(tag.commit)) for tag in self.tags.values()]
        return {place for one in (*heads, *tagged) if one for place in map(_of, self.chain(one))}

    def chain(self, commit: Commit) -> list[Commit]:
        """Return a commit and all before it, newest first, as far as they can be read."""
        chain = [commit]
        while (ref := chain[-1].parent) is not None:
            parent = self.commits.get(_place(ref))
            if parent is None or parent.content_id != ref.id:
                break
            chain.append(parent)
        return chain

    def tips(self, places: set[Place] | None = None) -> list[Commit]:
        """Return the commits that no other one follows, among some or all."""
        chosen = [self.commits[place] for place in sorted(self.commits if places is None else places)]
        followed = {(_place(one.parent), one.parent.id) for one in chosen if one.parent}
        return [one for one in chosen if (_of(one), one.content_id) not in followed]

    def _read_commits(self, library: VersionedLibrary) -> None:
        places: set[Place] = set()
        for folder in ("branches", f"{COPIES}/branches"):
            found = (_COMMIT.match(listed.path) for listed in library.files.list(folder))
            places.update((one[1], int(one[2])) for one in found if one)
        numbers: dict[str, list[int]] = {}
        for branch, number in places:
            numbers.setdefault(branch, []).append(number)
        for branch, some in sorted(numbers.items()):
            for number in range(min(some), max(some) + 1):
                try:
                    self.commits[branch, number] = library.history.read(branch, number)
                except LibraryError as error:
                    self._add(commit_path(branch, number), _reason(error), (branch, number))

    def _read_tags(self, library: VersionedLibrary) -> None:
        for folder in ("tags", f"{COPIES}/tags"):
            for listed in library.files.list(folder):
                path = f"tags/{listed.path.rpartition('/')[2]}"
                if not path.endswith(".json"):
                    continue
                try:
                    tag = library.history.read_tag(path.removeprefix("tags/").removesuffix(".json"))
                    self.tags[tag.name] = tag
                except LibraryError as error:
                    self._add(path, _reason(error))

    def _check_refs(self) -> None:
        """Find commits that another commit or a tag names and that are missing or were replaced."""
        refs = [(f"{one.branch}@{one.number}", one.parent) for one in self.commits.values()]
        refs += [(f"tag {name}", tag.commit) for name, tag in self.tags.items()]
        for name, ref in refs:
            if ref is None:
                continue
            known = self.commits.get(_place(ref))
            if known is None:
                self._add(commit_path(ref.branch, ref.number), "the file is missing", _place(ref))
            elif known.content_id != ref.id:
                self._add(commit_path(ref.branch, ref.number), f"it is not the commit that {name} names", _place(ref))

    def _check_copies(self, library: VersionedLibrary) -> None:
        originals = {MARKER: marker_bytes(library)}
        originals |= {commit.path: commit.to_file() for commit in self.commits.values()}
        originals |= {f"tags/{name}.json": tag.to_file() for name, tag in self.tags.items()}
        for path, data in originals.items():
            try:
                same = data is None or library.files.read(f"{COPIES}/{path}") == data
            except FileNotFoundError:
                self.uncopied += 1
                continue
            except LibraryError as error:
                self._add(f"{COPIES}/{path}", _reason(error))
                continue
            if not same:
                self._add(f"{COPIES}/{path}", f"it is not a copy of {path}")

    def _add(self, path: str, reason: str, *places: Place) -> None:
        self.damage.setdefault(path, (reason, places))


def marker_bytes(library: VersionedLibrary) -> bytes | None:
    """Return the bytes of a library's `library.json`; None if it is damaged."""
    try:
        data = library.files.read(MARKER)
        VersionedLibrary.open(library.folder)
    except (FileNotFoundError, LibraryError):
        return None
    return data


def _place(ref: CommitRef) -> Place:
    return ref.branch, ref.number


def _of(commit: Commit) -> Place:
    return commit.branch, commit.number


def _reason(error: LibraryError) -> str:
    return error.reason.removeprefix("damaged: ")
