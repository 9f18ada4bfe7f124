"""`library.lock`: equal libraries give equal bytes, and every replaced file is named."""

import hashlib
import json

import pytest

from library.files import USD
from library.lockfile import Digest, Lock, differences, layer_hashes
from library.versioned import VersionedLibrary
from scenegen.errors import InvalidRecord, LibraryError


def told(lock: Lock, library: VersionedLibrary) -> list[str]:
    return list(differences(lock, library, progress=lambda: None))


@pytest.fixture
def lock(kept) -> Lock:
    return Lock.of(kept, kept.history.find("main"))


def test_a_lock_states_the_version(kept, lock):
    commit = kept.history.find("main")
    assert (lock.library, lock.commit, lock.fingerprint) == ("scenes", commit.ref, commit.fingerprint)
    assert lock.scenes == 8
    assert lock.tables == {name: one.rows for name, one in commit.tables.items()}
    assert lock.digests.keys() == {*commit.tables, "records", "usd", "layers"}
    assert lock.digests["layers"].files == 9  # one layout and eight scenes
    assert sum(one.files for one in lock.digests.values()) == len(commit.files) + 9


def test_equal_versions_give_equal_bytes_and_come_back(kept, lock, tmp_path):
    again = Lock.of(VersionedLibrary.open(kept.folder), kept.history.find("main"))
    assert again.to_file() == lock.to_file()
    path = tmp_path / "library.lock"
    path.write_bytes(lock.to_file())
    assert Lock.from_file(path) == lock


def test_a_whole_library_has_no_differences(kept, lock):
    counted = []
    assert list(differences(lock, kept, progress=lambda: counted.append(1))) == []
    assert len(counted) == sum(one.files for one in lock.digests.values())


def test_a_later_commit_changes_nothing(kept, lock, scene_maker):
    scene_maker.keep(kept, range(7, 9))
    assert told(lock, kept) == []


@pytest.mark.parametrize("kind", ["scenes", "data", "index", "record", "cell", "asset", "scene", "layout"])
def test_every_replaced_file_is_named(kind, kept, lock):
    commit = kept.history.find("main")
    layers = dict(layer_hashes(kept.snapshot(commit)))
    begins = {
        "scenes": "tables/scenarios.lance/data/",
        "data": "tables/verdicts.lance/data/",
        "index": "tables/attempts.lance/_indices/",
        "record": "records/",
        "cell": f"{USD}/cells/",
        "asset": f"{USD}/assets/",
        "scene": f"{USD}/scenes/",
        "layout": f"{USD}/layouts/",
    }
    path = next(one for one in sorted({*commit.files, *layers}) if one.startswith(begins[kind]))
    target = kept.files.local(path)
    data = bytearray(target.read_bytes())
    data[len(data) // 2] ^= 1
    target.write_bytes(data)
    found = told(lock, kept)
    assert len(found) == 1
    assert found[0].startswith(f"{target}: damaged: its SHA-256 is not ")


def test_a_missing_layer_is_named(kept, lock, scene_maker):
    target = kept.usd / f"scenes/{scene_maker.base.id[:2]}/{scene_maker.base.id}.usda"
    target.unlink()
    assert told(lock, kept)[0].startswith(f"{target}: damaged: the file is missing")


def test_another_history_is_told_from_the_locked_one(lock, scene_maker, tmp_path):
    other = VersionedLibrary.create(tmp_path / "other" / "scenes")
    assert told(lock, other)[0].startswith(f"{other.files.local('branches/main/00000003.json')}: damaged: the file is")
    scene_maker.keep(other, range(4))
    first = Lock.of(other, other.history.find("main@0"))
    second = VersionedLibrary.create(tmp_path / "second" / "scenes")
    scene_maker.keep(second, range(4))
    commit = second.history.find("main")
    assert told(first, second) == [f"main@0 is commit {commit.content_id}, not {first.commit.id}"]
    assert commit.fingerprint == first.fingerprint  # the same scenes, by another commit


def test_a_lock_that_was_edited_is_told(kept, lock):
    digests = {**lock.digests, "layers": Digest(files=9, sha256="0" * 64)}
    edited = lock.replaced(scenes=9, digests=digests)
    assert told(edited, kept) == [
        "scenes: locked 9, found 8",
        "layers: the files are others than those that were locked",
    ]


def test_a_digest_depends_on_paths_and_hashes_and_not_on_their_order():
    one = Digest.of({"a": "1", "b": "2"})
    assert one == Digest.of({"b": "2", "a": "1"})
    assert one.sha256 == hashlib.sha256(b"1  a\n2  b\n").hexdigest()
    others = (Digest.of({"a": "2", "b": "1"}), Digest.of({"a": "1", "c": "2"}), Digest.of({"a": "1"}))
    assert one not in others


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no json", "no JSON - accepted: a file that `scenegen library lock` wrote"),
        ("[]", "format, version: None, None - accepted: 'scenegen-library-lock', 1"),
        (
            json.dumps({"format": "scenegen-library-lock", "version": 2}),
            "format, version: 'scenegen-library-lock', 2 - accepted: 'scenegen-library-lock', 1",
        ),
    ],
)
def test_what_is_no_lock_is_refused(text, sentence, tmp_path):
    path = tmp_path / "library.lock"
    path.write_text(text)
    with pytest.raises(InvalidRecord) as caught:
        Lock.from_file(path)
    assert str(caught.value) == f"{path}: {sentence}"


def test_a_missing_lock_is_refused(tmp_path):
    with pytest.raises(LibraryError, match="No such file or directory"):
        Lock.from_file(tmp_path / "library.lock")
