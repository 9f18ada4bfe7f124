"""Several processes at one library: writers, the same expansion twice, branches of one name, reading beside `gc`."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from library.gc import clear
from library.journal import Journal
from library.tables import ATTEMPTS, SCENARIOS
from library.verify import verify
from library.versioned import VersionedLibrary

sys.path.insert(0, str(Path(__file__).parent / "crash"))

import crash_faults as faults
import crash_writer

ONE_DAY_S = 24 * 3600.0


def started(code, *arguments):
    """Start Python code in a process of its own, with the crash tools at hand."""
    paths = os.pathsep.join([str(faults.ROOT), str(faults.HERE)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}
    prelude = "import sys, pathlib, crash_writer; folder = pathlib.Path(sys.argv[1]);"
    command = [sys.executable, "-c", prelude + code, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def ended(*processes):
    """Wait for processes; their exit codes and last words."""
    words = [process.communicate(timeout=300)[1] for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, words, strict=True)]


def committed_at_once(folder, count):
    """Two processes make a library together and commit to it at once; return it."""
    code = "crash_writer.commit_often(folder, sys.argv[2], int(sys.argv[3]))"
    writers = [started(code, folder, name, count) for name in ("left", "right")]
    assert ended(*writers) == [(0, ""), (0, "")]
    return VersionedLibrary.open(folder)


def require_all_there(library, count):
    """Each row of both writers is there once, in commits without a gap, each of which added one row."""
    rows = library.at().table(ATTEMPTS.name).scan().to_pylist()
    assert len({(row["expansion"], row["index"]) for row in rows}) == len(rows) == 2 * count
    commits = sorted(library.history.all(), key=lambda commit: commit.number)
    assert [commit.number for commit in commits] == list(range(2 * count))
    assert [commit.added for commit in commits] == [{"attempts": 1}] * (2 * count)
    assert [commit.tables["attempts"].rows for commit in commits] == list(range(1, 2 * count + 1))
    assert verify(library).damage == ()


def test_two_writers_at_once_lose_nothing(tmp_path):
    require_all_there(committed_at_once(tmp_path / "library", 8), 8)


@pytest.mark.slow
def test_two_writers_at_once_lose_nothing_in_a_hundred_commits_each(tmp_path):
    require_all_there(committed_at_once(tmp_path / "library", 100), 100)


def test_many_processes_that_make_one_library_at_once_make_one(tmp_path):
    code = "from library.versioned import VersionedLibrary; VersionedLibrary.create(folder)"
    makers = [started(code, tmp_path / "library") for _ in range(4)]
    assert ended(*makers) == [(0, "")] * 4


def test_one_expansion_run_twice_at_once_is_refused_with_a_sentence(tmp_path):
    folder = tmp_path / "library"
    VersionedLibrary.create(folder)
    with Journal(folder, crash_writer.EXPANSION) as journal:
        (code, words), *_ = ended(started("crash_writer.write(folder, folder.parent / 'durable')", folder))
    assert code == 1
    assert words.splitlines()[-1] == (
        f"scenegen.errors.LibraryError: {journal.path}: another process runs this very expansion"
        " - wait for it, or choose another --seed"
    )


def test_the_lock_of_a_killed_process_holds_nobody_up(tmp_path):
    folder = tmp_path / "library"
    VersionedLibrary.create(folder)
    code = (
        "from library.journal import Journal; import time\n"
        "with Journal(folder, crash_writer.EXPANSION):\n"
        "    (folder.parent / 'held').touch(); time.sleep(600)"
    )
    holder = started(code, folder)
    while not (tmp_path / "held").exists():
        assert holder.poll() is None
        time.sleep(0.05)
    holder.kill()
    ended(holder)
    with Journal(folder, crash_writer.EXPANSION) as journal:
        assert list(journal.lines()) == []


def test_a_journal_that_was_removed_while_it_was_opened_is_opened_anew(tmp_path, monkeypatch):
    folder = tmp_path / "library"
    VersionedLibrary.create(folder)
    removed, samestat = [], os.path.samestat

    def remove_once(one, other):
        if not removed:
            removed.append(True)
            os.unlink(Journal(folder, crash_writer.EXPANSION).path)
            return samestat(one, os.stat(folder))
        return samestat(one, other)

    monkeypatch.setattr(os.path, "samestat", remove_once)
    with Journal(folder, crash_writer.EXPANSION) as journal:
        journal.add([crash_writer.made_up(0)])
        assert journal.path.stat().st_size > 0
    assert removed


def test_two_expansions_at_once_both_succeed(tmp_path):
    code = (
        "from library.intake import Intake; from library.journal import Journal;"
        "from library.versioned import VersionedLibrary\n"
        "library = VersionedLibrary.create(folder)\n"
        "with Journal(folder, sys.argv[2]) as journal:\n"
        "    intake = Intake(library, journal, expansion_id=sys.argv[2])\n"
        "    for index in range(6):\n"
        "        intake.add([crash_writer.made_up(index, expansion=sys.argv[2])])\n"
        "        intake.publish('some')\n"
    )
    folder, ids = tmp_path / "library", ["a" * 24, "b" * 24]
    assert ended(*[started(code, folder, one) for one in ids]) == [(0, ""), (0, "")]
    snapshot = VersionedLibrary.open(folder).at()
    kept = snapshot.table(ATTEMPTS.name).scan().to_pylist()
    assert sorted((row["expansion"], row["index"]) for row in kept) == [
        (one, index) for one in ids for index in range(6)
    ]
    assert snapshot.table(SCENARIOS.name).rows == 10


def test_one_name_for_two_branches_at_once_is_given_once(tmp_path):
    folder = tmp_path / "library"
    crash_writer.commit_often(folder, "writer", 4)
    code = (
        "from library.versioned import Signature, VersionedLibrary; from scenegen.errors import LibraryError\n"
        "library = VersionedLibrary.open(folder)\n"
        "for name in range(20):\n"
        "    try:\n"
        "        library.branch(f'trial{name}', library.history.find(sys.argv[2]), Signature('begin'))\n"
        "    except LibraryError as error:\n"
        "        assert 'names a branch or a tag already' in str(error), error\n"
    )
    assert ended(*[started(code, folder, one) for one in ("main@0", "main@3")]) == [(0, ""), (0, "")]
    library = VersionedLibrary.open(folder)
    heads = library.history.branches()
    assert len(heads) == 21
    assert len(list(library.history.all())) == 4 + 20


def test_a_pinned_version_stays_readable_beside_a_writer_and_gc(tmp_path):
    folder = tmp_path / "library"
    crash_writer.commit_often(folder, "before", 3)
    library = VersionedLibrary.open(folder)
    loose = folder / "tables/attempts.lance/data" / "left-by-a-killed-writer.lance"
    loose.write_bytes(b"left")
    for path in folder.rglob("*"):  # all that is there is older than the grace
        os.utime(path, (time.time() - 2 * ONE_DAY_S,) * 2)
    pinned, seen = library.at("main@1"), 0
    writer = started("crash_writer.commit_often(folder, 'after', 20)", folder)
    cleared = []
    while writer.poll() is None:
        cleared += clear(library, now_s=time.time(), grace_s=ONE_DAY_S).paths
        assert library.snapshot(pinned.commit).table(ATTEMPTS.name).scan().num_rows == 2
        seen += 1
    assert ended(writer) == [(0, "")]
    assert seen > 0
    assert "tables/attempts.lance/data/left-by-a-killed-writer.lance" in cleared
    assert not loose.exists()
    assert library.at().table(ATTEMPTS.name).rows == 23
    assert verify(library).damage == ()
