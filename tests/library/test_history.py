"""Revisions, tags, branches and the chain of commits; files of others in between do no harm, lost ones are named."""

import re
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from library.commit import COPIES, Commit, commit_path
from library.files import FolderFiles
from library.history import History, Tag, require_branch_name
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.errors import InvalidOption, LibraryError, UnknownName


class Chains:
    """Commits without tables on main and a branch that leaves it."""

    def __init__(self, folder):
        self.files = FolderFiles(folder)
        self.history = History(self.files)

    def commit(self, branch, number, parent=None, **more):
        made = Commit(
            format=2,
            branch=branch,
            number=number,
            parent=parent.ref if parent else None,
            time="2026-01-01T00:00:00+00:00",
            **more,
        )
        assert self.files.create(made.path, made.to_file())
        return made


@pytest.fixture
def chains(tmp_path):
    return Chains(tmp_path)


@pytest.fixture
def commits(chains):
    """Five commits on main, and two on `trial`, which left main after its commit 2."""
    main = []
    for number in range(5):
        main.append(chains.commit("main", number, main[-1] if main else None))
    begun = chains.commit("trial", 3, main[2], message="begin")
    return {"main": main, "trial": [begun, chains.commit("trial", 4, begun, message="more")]}


def tagged(name, commit):
    return Tag(name=name, commit=commit.ref, time="2026-01-01T00:00:00+00:00")


def test_nothing_committed_has_no_branches_and_no_versions(chains):
    assert chains.history.branches() == {}
    assert chains.history.head("main") is None
    assert chains.history.tags() == {}
    with pytest.raises(UnknownName) as raised:
        chains.history.find("main")
    assert str(raised.value) == "unknown version 'main' - accepted: "


def test_revisions(chains, commits):
    find, main, trial = chains.history.find, commits["main"], commits["trial"]
    assert find("main") == main[4]
    assert find("trial") == trial[1]
    assert [find(f"main@{number}") for number in range(5)] == main
    assert [find(f"main~{back}") for back in range(5)] == main[::-1]
    assert [find(f"trial@{number}") for number in range(5)] == [*main[:3], *trial]
    assert [find(f"trial~{back}") for back in range(5)] == [*trial[::-1], *main[2::-1]]
    chains.history.tag(tagged("v1.0", main[1]))
    assert find("v1.0") == main[1]
    for commit in (*main, *trial):
        assert find(commit.content_id) == commit
        assert find(commit.content_id[:12]) == commit


@settings(max_examples=60)
@given(data=st.data())
def test_every_chain_gives_each_number_once(tmp_path_factory, data):
    chains = Chains(tmp_path_factory.mktemp("history"))
    made = [chains.commit("main", 0)]
    for number in range(1, data.draw(st.integers(1, 6))):
        made.append(chains.commit("main", number, made[-1]))
    origin = data.draw(st.sampled_from(made))
    other = [chains.commit("other", origin.number + 1, origin)]
    for _ in range(data.draw(st.integers(0, 3))):
        other.append(chains.commit("other", other[-1].number + 1, other[-1]))
    chain = list(chains.history.log(chains.history.find("other")))
    assert chain == [*other[::-1], *made[origin.number :: -1]]
    for commit in chain:
        assert chains.history.find(f"other@{commit.number}") == commit
        assert chains.history.find(f"other~{chain[0].number - commit.number}") == commit
    assert sorted(one.content_id for one in chains.history.all()) == sorted(one.content_id for one in [*made, *other])


@pytest.mark.parametrize(
    ("revision", "sentence"),
    [
        ("main@5", "--version main@5 - accepted: a number from 0 to 4"),
        ("main~5", "--version main~5 - accepted: a number from 0 to 4"),
        ("trial@9", "--version trial@9 - accepted: a number from 0 to 4"),
    ],
)
def test_numbers_that_are_not_there(chains, commits, revision, sentence):
    with pytest.raises(InvalidOption) as raised:
        chains.history.find(revision)
    assert str(raised.value) == sentence


@pytest.mark.parametrize(
    ("revision", "sentence"),
    [
        ("mian", "unknown version 'mian' - did you mean 'main'?"),
        ("nothing", "unknown version 'nothing' - accepted: main, trial"),
        ("mian@1", "unknown branch 'mian' - did you mean 'main'?"),
        ("main@-1", "unknown version 'main@-1' - did you mean 'main'?"),
        ("main@٢", "unknown version 'main@٢' - did you mean 'main'?"),
        ("main\n", "unknown version 'main\\n' - did you mean 'main'?"),
        ("../tags", "unknown version '../tags' - accepted: main, trial"),
        ("00000", "unknown version '00000' - accepted: main, trial"),
        ("000000", "unknown version '000000' - accepted: main, trial"),
        ("", "unknown version '' - accepted: main, trial"),
    ],
)
def test_names_that_are_not_there(chains, commits, revision, sentence):
    with pytest.raises(UnknownName) as raised:
        chains.history.find(revision)
    assert str(raised.value) == sentence


def test_a_number_of_thousands_of_digits_is_no_version(chains, commits):
    with pytest.raises(UnknownName, match="unknown version 'main@999"):
        chains.history.find("main@" + "9" * 5000)


def test_an_id_that_fits_several_commits(chains, monkeypatch):
    made, wanted = chains.commit("main", 0), 0
    begin = made.content_id[:6]
    monkeypatch.setattr("library.history._COMMIT_ID", re.compile("[0-9a-f]{1,24}"))
    ids = [made.content_id]
    while sum(one[0] == begin[0] for one in ids) < 2:
        wanted += 1
        made = chains.commit("main", wanted, made)
        ids.append(made.content_id)
    with pytest.raises(InvalidOption) as raised:
        chains.history.find(begin[0])
    assert str(raised.value) == f"--version {begin[0]} - accepted: more digits: several commits begin with these"


def test_a_tag_is_given_once(chains, commits):
    chains.history.tag(tagged("v1", commits["main"][1]))
    with pytest.raises(LibraryError) as raised:
        chains.history.tag(tagged("v1", commits["main"][2]))
    assert str(raised.value) == (
        f"{chains.files.folder}/tags: tag v1 names main@1 already - tags never move: choose another name"
    )
    assert chains.history.tags() == {"v1": tagged("v1", commits["main"][1])}


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", "v1\n", ".v1", "x" * 65])
def test_names_that_no_tag_can_have(chains, commits, name):
    with pytest.raises(InvalidOption) as raised:
        chains.history.tag(tagged(name, commits["main"][0]))
    assert str(raised.value) == f"tag {name!r} - accepted: letters, digits, . _ -, beginning with a letter or digit"


def test_a_branch_s_name_is_no_tag(chains, commits):
    with pytest.raises(InvalidOption) as raised:
        chains.history.tag(tagged("trial", commits["main"][0]))
    assert str(raised.value) == "tag trial - accepted: a name that no branch has"


def test_names_of_branches():
    for name in ("main", "a-b_c", "0", "x" * 64):
        require_branch_name(name)
    with pytest.raises(InvalidOption, match=r"^branch 'a\.b' - accepted: letters, digits, _ -, beginning with"):
        require_branch_name("a.b")


def test_files_of_others_do_no_harm(chains, commits):
    for path in (
        "branches/.DS_Store",
        "branches/README",
        "branches/main/.nfs0001",
        "branches/main/²",
        "branches/main/00000009.json~",
        "branches/main/old/00000007.json",
        "tags/.DS_Store",
        "tags/notes.txt",
    ):
        chains.files.put(path, b"x")
    assert list(chains.history.branches()) == ["main", "trial"]
    assert chains.history.head("main") == commits["main"][4]
    assert len(list(chains.history.all())) == 7
    assert chains.history.tags() == {}


@pytest.mark.parametrize("number", [1, 3])
def test_a_lost_commit_is_named(chains, commits, number):
    path = chains.files.local(commit_path("main", number))
    path.unlink()
    with pytest.raises(LibraryError) as raised:
        chains.history.head("main")
    assert str(raised.value) == (
        f"{path}: damaged: the file is missing - `scenegen library verify` names all damage and what can be done"
    )


def test_a_lost_newest_commit_is_named_where_its_copy_is(chains, commits):
    newest = commits["main"][4]
    chains.files.put(f"{COPIES}/{newest.path}", newest.to_file())
    chains.files.delete(newest.path)
    with pytest.raises(LibraryError, match=r"main/00000004\.json: damaged: the file is missing"):
        chains.history.head("main")


def test_a_commit_made_while_commits_are_listed_is_no_gap(chains, commits, monkeypatch):
    listing, late = FolderFiles.list, commits["main"][:]

    def overtaken(files, folder):
        found = list(listing(files, folder))
        if folder == "branches/main" and len(late) == 5:
            for number in (5, 6):  # two more are made, and the listing sees only the second of them
                late.append(chains.commit("main", number, late[-1]))
            found = [one for one in listing(files, folder) if "00000005" not in one.path]
        return iter(found)

    monkeypatch.setattr(FolderFiles, "list", overtaken)
    assert chains.history.head("main") == late[6]


def test_copies_are_listed_before_commits(tmp_path, monkeypatch):
    library = VersionedLibrary.create(tmp_path / "library")
    listing, made = FolderFiles.list, []

    def overtaken(files, folder):
        found = list(listing(files, folder))
        if "branches/main" in folder and len(made) == 1:
            made.append(None)
            made.append(library.publish(_files(library, 1), Signature("b")))
        return iter(found)

    made.append(library.publish(_files(library, 0), Signature("a")))
    monkeypatch.setattr(FolderFiles, "list", overtaken)
    head = VersionedLibrary.open(library.folder).history.head("main")
    assert head in (made[0], made[2])


def _files(library, number):
    return Changes(files=library.keep_file(f"records/{number}.json", b"{}"))


def test_a_commit_in_another_s_place_is_named(chains, commits):
    path = chains.files.local(commits["trial"][1].path)
    shutil.copy(chains.files.local(commits["main"][4].path), path)
    with pytest.raises(LibraryError) as raised:
        chains.history.find("trial")
    assert str(raised.value) == (
        f"{path}: damaged: it is commit 4 of branch main"
        " - `scenegen library verify` names all damage and what can be done"
    )


def test_a_replaced_parent_is_named(chains, commits):
    parent = commits["main"][3]
    chains.files.put(parent.path, parent.replaced(message="another").to_file())
    with pytest.raises(LibraryError, match=r"00000003\.json: damaged: it is not the commit that the next one names"):
        chains.history.find("main~2")


def test_a_tag_of_a_replaced_commit_is_named(chains, commits):
    commit = commits["main"][0]
    chains.history.tag(tagged("v1", commit))
    chains.files.put(commit.path, commit.replaced(message="another").to_file())
    with pytest.raises(LibraryError, match=r"00000000\.json: damaged: it is not the commit that tag v1 names"):
        chains.history.find("v1")


@settings(max_examples=80)
@given(data=st.data())
def test_any_changed_byte_of_a_commit_or_a_tag_is_found(tmp_path_factory, data):
    chains = Chains(tmp_path_factory.mktemp("history"))
    commit = chains.commit("main", 0, message="text")
    chains.history.tag(tagged("v1", commit))
    path = chains.files.local(data.draw(st.sampled_from([commit.path, "tags/v1.json"])))
    whole = path.read_bytes()
    at, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
    with pytest.raises(LibraryError, match=r"damaged: |is newer than this scenegen knows"):
        chains.history.find("v1")
