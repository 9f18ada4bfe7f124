"""The commands over the history: log, commit, tag, branch, lock, query."""

import json

import pytest
from typer.testing import CliRunner

from library.journal import Journal
from library.versioned import VersionedLibrary
from scenegen.commands import (
    library_branch,
    library_commit,
    library_lock,
    library_log,
    library_query,
    library_tag,
)
from scenegen.errors import InvalidOption, LibraryError, SceneGenError, UnknownName


def run(module, *arguments: object, expect: int = 0) -> str:
    done = CliRunner().invoke(module.app, [str(one) for one in arguments])
    if isinstance(done.exception, SceneGenError):
        raise done.exception
    assert done.exit_code == expect, done.output
    return done.output


@pytest.fixture(scope="module")
def folder(kept_folder):
    """The library, for commands that only read."""
    return kept_folder


def test_log_lists_commits_newest_first_with_tags_and_what_they_brought(folder):
    commits = list(VersionedLibrary.open(folder).history.log(VersionedLibrary.open(folder).history.find("main")))
    text = run(library_log, folder)
    assert [line.split()[0] for line in text.splitlines() if line.startswith("main@")] == [
        f"main@{commit.number}" for commit in commits
    ]
    assert f"main@0  {commits[-1].content_id[:12]}  " in text
    [tagged] = [line for line in text.splitlines() if line.endswith("tagged v1")]
    assert tagged.startswith("main@0")
    assert "    4 scenes\n    added: 4 attempts, 12 facets, 10 meters, 5 scenarios, 5 verdicts\n" in text


def test_log_is_limited_and_says_so(folder):
    text = run(library_log, folder, "--limit", "1")
    assert text.splitlines()[-1] == "older ones from main@2; --limit shows more"


def test_log_of_a_branch_goes_on_behind_its_beginning(folder):
    lines = run(library_log, folder, "--version", "trial").splitlines()
    assert [line.split()[0] for line in lines if "@" in line.split()[0]] == ["trial@2", "trial@1", "main@0"]


def test_log_as_json(folder):
    facts = [json.loads(line) for line in run(library_log, folder, "--json").splitlines()]
    assert facts[-1]["tags"] == ["v1"]
    assert facts[-1]["added"] == {"attempts": 4, "facets": 12, "meters": 10, "scenarios": 5, "verdicts": 5}
    assert [one["number"] for one in facts] == [3, 2, 1, 0]


def test_log_of_an_empty_library(tmp_path):
    VersionedLibrary.create(tmp_path / "empty")
    assert run(library_log, tmp_path / "empty") == "no commits\n"


def test_log_tells_of_an_unfinished_expansion_and_how_to_finish_it(kept, scene_maker):
    path = scene_maker.journal(kept, range(20, 23))
    with path.open("ab") as file:
        file.write(b"torn")
    command = "scenegen expand --axis lighting --levels 1,2,3 --seed 0 …"
    last = run(library_log, kept.folder).splitlines()[-1]
    assert last == f"1 expansion unfinished: 3 scenes waiting; run the same `{command}` again"
    with Journal(kept.folder, scene_maker.expansion.content_id):
        last = run(library_log, kept.folder).splitlines()[-1]
    assert last == f"1 expansion at work: 3 scenes wait for its next commit ({command})"


def test_log_says_nothing_of_an_expansion_that_is_finished(folder):
    assert "expansion" not in run(library_log, folder)


def test_commit_shows_everything_about_one_commit(kept):
    head = kept.history.find("v1")
    text = run(library_commit, "v1", kept.folder)
    size = sum(facts.size for facts in head.files.values())
    for line in (
        f"commit       {head.content_id}",
        "place        main@0",
        "after        nothing: it is the first",
        "tags         v1",
        f"author       {head.author}",
        "message      4 scenes",
        f"fingerprint  {head.fingerprint}",
        "added        4 attempts, 12 facets, 10 meters, 5 scenarios, 5 verdicts",
        f"files        {len(head.files)}, {size} bytes, besides the layers of scenes",
    ):
        assert line in text.splitlines()
    assert str(head.tables["scenarios"].version) in text
    assert f"pylance {head.packages['pylance']}" in text


def test_commit_as_json_has_every_file(kept):
    head = kept.history.find("main")
    facts = json.loads(run(library_commit, "main", kept.folder, "--json"))
    assert facts.pop("id") == head.content_id
    assert facts == head.model_dump(mode="json")


def test_commit_of_a_later_one_names_the_one_before(kept):
    first = kept.history.find("main@0")
    assert f"after        main@0 ({first.content_id})" in run(library_commit, "main@1", kept.folder)


def test_an_unknown_revision_is_refused(folder):
    with pytest.raises(UnknownName) as caught:
        run(library_commit, "v2", folder)
    assert str(caught.value) == "unknown version 'v2' - accepted: main, trial, v1"


def test_tag_prints_the_citation_and_never_moves(kept):
    head = kept.history.find("main")
    cited = f"scenes@v2 (commit {head.content_id[:12]}, 8 scenes, fingerprint {head.fingerprint})\n"
    assert run(library_tag, "v2", kept.folder, "--note", "more") == cited
    with pytest.raises(LibraryError) as caught:
        run(library_tag, "v2", kept.folder, "--version", "main@0")
    assert str(caught.value).endswith("tag v2 names main@3 already - tags never move: choose another name")
    assert kept.history.find("v2") == head


@pytest.mark.parametrize("by", ["argument", "nothing"])
def test_tags_are_listed(by, kept, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept.folder.rename(tmp_path / "scenarios")
    lines = run(library_tag, *(["scenarios"] if by == "argument" else [])).splitlines()
    assert lines[0].startswith("v1  main@0  ")
    assert lines[0].endswith("  the first")
    assert lines[1].startswith("    scenes@v1 (commit ")


def test_a_library_without_tags_says_so(tmp_path):
    VersionedLibrary.create(tmp_path / "empty")
    said = run(library_tag, tmp_path / "empty")
    assert said == "no tags; `scenegen library tag NAME` gives the newest version of main a name\n"


def test_what_was_never_committed_has_no_name(tmp_path):
    folder = tmp_path / "empty"
    VersionedLibrary.create(folder)
    for module in (library_tag, library_branch):
        with pytest.raises(LibraryError) as caught:
            run(module, "name", folder)
        assert str(caught.value) == f"{folder}: nothing was committed yet - make scenes with `scenegen expand`"


def test_a_branch_begins_takes_commits_and_is_closed(kept, scene_maker):
    assert run(library_branch, "adversarial", kept.folder, "--version", "v1").startswith(
        "branch adversarial begins at main@0: `scenegen expand --branch adversarial` adds to it\ncommitted as adver"
    )
    scene_maker.keep(kept, range(30, 32), branch="adversarial")
    listed = run(library_branch, kept.folder)
    assert "adversarial@2" in listed
    assert "closed" not in listed
    run(library_branch, "adversarial", kept.folder, "--close")
    assert kept.history.head("adversarial").closed
    assert "closed" in run(library_branch, kept.folder)
    with pytest.raises(LibraryError, match="branch adversarial is closed - make another branch"):
        scene_maker.keep(kept, range(32, 33), branch="adversarial")
    with pytest.raises(LibraryError, match="branch adversarial is closed already"):
        run(library_branch, "adversarial", kept.folder, "--close")


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (["main", "--close"], InvalidOption, "--close main - accepted: any other branch"),
        (["trail", "--close"], UnknownName, "unknown branch 'trail' - did you mean 'trial'?"),
        (["a b"], InvalidOption, "branch 'a b' - accepted: letters, digits, _ -, beginning with a letter or digit"),
        (["", "--close"], InvalidOption, "--close without a branch - accepted: scenegen library branch NAME --close"),
    ],
)
def test_wrong_branches_are_refused(arguments, error, sentence, folder):
    with pytest.raises(error) as caught:
        run(library_branch, arguments[0], folder, *arguments[1:])
    assert str(caught.value) == sentence


def test_a_branch_of_a_taken_name_is_refused(folder):
    for name in ("trial", "v1"):
        with pytest.raises(LibraryError, match=f"{name} names a branch or a tag already - choose another name"):
            run(library_branch, name, folder)


def test_a_lock_is_written_and_checked(kept, tmp_path):
    path = tmp_path / "locks" / "library.lock"
    assert run(library_lock, kept.folder, "-o", path).startswith(f"wrote {path}: scenes main@3 (commit ")
    said = run(library_lock, kept.folder, "--check", path)
    assert f"{kept.folder} has the very version that {path} locks: scenes main@3" in said
    asset = next((kept.usd / "assets").iterdir())
    asset.write_bytes(asset.read_bytes() + b"\0")
    said = run(library_lock, kept.folder, "--check", path, expect=1).splitlines()
    assert said[0].startswith(f"DIFFERS {asset}: damaged: its SHA-256 is not ")
    assert said[-1] == f"{kept.folder} is not what {path} says: 1 differences"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            "csv",
            'axis,one\nlighting,"[{""a"": 1}]"\n,"[{""a"": 0}]"\n',
        ),
        (
            "json",
            '{"axis": "lighting", "one": [{"a": 1}]}\n{"axis": null, "one": [{"a": 0}]}\n',
        ),
    ],
)
def test_answers_for_machines(form, text, folder):
    sql = "SELECT DISTINCT axis, [{'a': level}] AS one FROM scenarios WHERE level < 2 ORDER BY axis NULLS LAST"
    assert run(library_query, sql, folder, "--format", form) == text


def test_answers_for_people(folder):
    text = run(library_query, "SELECT kind, count(*) AS scenes FROM scenarios GROUP BY ALL ORDER BY ALL", folder)
    assert [line.split("│")[1:3] for line in text.splitlines() if "│" in line] == [
        [" base    ", " 1      "],
        [" variant ", " 7      "],
    ]
    text = run(library_query, "SELECT * FROM range(500)", folder)
    assert text.splitlines()[-1] == "the first 200; --format csv prints all"
