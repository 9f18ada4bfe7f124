"""Branches, tags and the way from a revision to its commit; commits are only ever added."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from library.commit import BRANCH_PATTERN, COPIES, MAIN, Commit, CommitRef, commit_path, damaged
from library.files import Files
from scenegen.errors import InvalidOption, LibraryError, UnknownName
from scenegen.record import Record, Text, canonical_text, content_hash

TAG_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_NUMBERED = re.compile(r"^(?P<branch>[^@~]+)(?:@(?P<number>[0-9]{1,9})|~(?P<back>[0-9]{1,9}))$")
_COMMIT_FILE = re.compile(r"^([0-9]{8,9})\.json$")
_COMMIT_ID = re.compile(r"^[0-9a-f]{6,24}$")


def require_branch_name(name: str) -> None:
    """Refuse what cannot name a branch.

    Raises:
        InvalidOption: Names what is accepted.
    """
    if not re.fullmatch(BRANCH_PATTERN, name):
        raise InvalidOption("branch", repr(name), "letters, digits, _ -, beginning with a letter or digit")


class Tag(Record):
    """A name for a version, given once."""

    name: str
    commit: CommitRef
    note: Text = ""
    author: Text = ""
    time: str

    def to_file(self) -> bytes:
        """Return the bytes of the tag's file: the record and its own hash."""
        return json.dumps({"id": self.content_id, "tag": json.loads(self.canonical_json())}, indent=1).encode()


class History:
    """The commits of a library.

    A revision is a tag, a branch (its newest commit), `branch@7` (its commit number 7), `branch~2` (two before its
    newest) or the first six or more digits of a commit's id.
    """

    def __init__(self, files: Files) -> None:
        self._files = files

    def branches(self) -> dict[str, Commit]:
        """Return the newest commit of every branch, by name; closed branches as well."""
        heads = {name: self.head(name) for name in self._branch_names()}
        return {name: head for name, head in heads.items() if head is not None}

    def head(self, branch: str) -> Commit | None:
        """Return the newest commit of a branch; None if there is no such branch.

        Raises:
            LibraryError: The branch has a gap, or its newest commit is damaged.
        """
        copies = self._numbers(branch, root=f"{COPIES}/branches")  # first: who commits meanwhile writes copies last
        numbers = self._numbers(branch)
        known = sorted({*numbers, *copies})
        if not known:
            return None
        for number in sorted(set(range(known[0], known[-1] + 1)) - set(numbers)):
            self.read(branch, number)  # a listing may pass over what is made during it; what is lost is named here
        return self.read(branch, known[-1])

    def read(self, branch: str, number: int) -> Commit:
        """Read one commit and prove it.

        Raises:
            LibraryError: It is missing, damaged, or of a newer format.
        """
        path = commit_path(branch, number)
        name = str(self._files.local(path))
        try:
            commit = Commit.from_file(self._files.read(path), what=name)
        except FileNotFoundError:
            raise damaged(name, "the file is missing") from None
        if (commit.branch, commit.number) != (branch, number):
            raise damaged(name, f"it is commit {commit.number} of branch {commit.branch}")
        return commit

    def log(self, commit: Commit) -> Iterator[Commit]:
        """Iterate from a commit to the first one, each proved by the one after it.

        Raises:
            LibraryError: A commit is missing, damaged or replaced.
        """
        yield commit
        while commit.parent is not None:
            parent = self.read(commit.parent.branch, commit.parent.number)
            if parent.content_id != commit.parent.id:
                raise damaged(str(self._files.local(parent.path)), "it is not the commit that the next one names")
            commit = parent
            yield commit

    def tags(self) -> dict[str, Tag]:
        """Return all tags by name.

        Raises:
            LibraryError: A tag is damaged.
        """
        return {name: self.read_tag(name) for name in self._tag_names()}

    def tag(self, tag: Tag) -> None:
        """Give a version a name, for good.

        Raises:
            InvalidOption: The name cannot be one.
            LibraryError: The name is taken.
        """
        if not re.fullmatch(TAG_PATTERN, tag.name):
            raise InvalidOption("tag", repr(tag.name), "letters, digits, . _ -, beginning with a letter or digit")
        if tag.name in self.branches():
            raise InvalidOption("tag", tag.name, "a name that no branch has")
        data, path = tag.to_file(), f"tags/{tag.name}.json"
        if not self._files.create(path, data):
            known = self.read_tag(tag.name)
            raise LibraryError(
                str(self._files.local("tags")),
                f"tag {tag.name} names {known.commit.branch}@{known.commit.number} already",
                "tags never move: choose another name",
            )
        self._files.put(f"{COPIES}/{path}", data, durable=True)

    def find(self, revision: str) -> Commit:
        """Return the commit that a revision names.

        Raises:
            UnknownName: Nothing has that name.
            InvalidOption: An id's first digits fit several commits.
            LibraryError: What it names is damaged.
        """
        tags, numbered = self._tag_names(), _NUMBERED.fullmatch(revision)
        if revision in tags:
            ref = self.read_tag(revision).commit
            commit = self.read(ref.branch, ref.number)
            if commit.content_id != ref.id:
                raise damaged(str(self._files.local(commit.path)), f"it is not the commit that tag {revision} names")
            return commit
        if numbered:
            return self._numbered(numbered["branch"], numbered["number"], numbered["back"], revision)
        head = self.head(revision) if re.fullmatch(BRANCH_PATTERN, revision) else None
        if head is not None:
            return head
        return self._by_id(revision, tags)

    def all(self) -> Iterator[Commit]:
        """Iterate over every commit of every branch.

        Raises:
            LibraryError: A commit is damaged.
        """
        for branch in self._branch_names():
            yield from (self.read(branch, number) for number in self._numbers(branch))

    def _branch_names(self) -> list[str]:
        """Name the branches that have commits, or copies of lost ones."""
        folders = ("branches", f"{COPIES}/branches")
        paths = [listed.path[len(root) + 1 :].split("/") for root in folders for listed in self._files.list(root)]
        return sorted({path[0] for path in paths if len(path) == 2 and _COMMIT_FILE.fullmatch(path[1])})

    def _tag_names(self) -> list[str]:
        """Name the tags that are there, or of which a copy is."""
        folders = ("tags", f"{COPIES}/tags")
        paths = {listed.path[len(root) + 1 :] for root in folders for listed in self._files.list(root)}
        tags = {path.removesuffix(".json") for path in paths if path.endswith(".json")}
        return sorted(tag for tag in tags if re.fullmatch(TAG_PATTERN, tag))

    def _numbers(self, branch: str, *, root: str = "branches") -> list[int]:
        if not re.fullmatch(BRANCH_PATTERN, branch):
            return []
        folder = f"{root}/{branch}"
        names = (_COMMIT_FILE.fullmatch(listed.path[len(folder) + 1 :]) for listed in self._files.list(folder))
        return sorted(int(name[1]) for name in names if name)

    def _numbered(self, branch: str, number: str | None, back: str | None, revision: str) -> Commit:
        head = self.head(branch)
        if head is None:
            raise UnknownName("branch", branch, self.branches())
        steps = head.number - int(number) if number else int(back or 0)
        chain = self.log(head)
        for commit in chain:
            if steps == head.number - commit.number:
                return commit
        raise InvalidOption("--version", revision, f"a number from 0 to {head.number}")

    def _by_id(self, revision: str, tags: list[str]) -> Commit:
        if _COMMIT_ID.fullmatch(revision):
            found = [commit for commit in self.all() if commit.content_id.startswith(revision)]
            if len(found) == 1:
                return found[0]
            if found:
                raise InvalidOption("--version", revision, "more digits: several commits begin with these")
        raise UnknownName("version", revision, [*tags, *self.branches()])

    def read_tag(self, name: str) -> Tag:
        """Read one tag and prove it.

        Raises:
            LibraryError: It is missing or damaged.
        """
        path = f"tags/{name}.json"
        what = str(self._files.local(path))
        try:
            data = self._files.read(path)
            content = json.loads(data)
            tag = Tag.from_data(content["tag"], what=what)
            proved = content["id"] == content_hash(canonical_text(content["tag"]).encode())
            whole = data == json.dumps(content, indent=1).encode()
        except FileNotFoundError:
            raise damaged(what, "the file is missing") from None
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(what, str(error)) from None
        if tag.name != name or not proved or not whole:
            raise damaged(what, "its content does not match its hash")
        return tag


__all__ = ["MAIN", "History", "Tag", "require_branch_name"]
