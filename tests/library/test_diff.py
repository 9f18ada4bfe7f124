"""Differences of versions: empty with itself, mirrored the other way, and they name what differs."""

import itertools

import pytest

from library.curated import DROPPED, QUARANTINED, REJECTED, Action, decision
from library.diff import Difference, compare
from library.row import KeptVerdict
from library.tables import CURATION, VERDICTS
from library.versioned import Changes, Signature
from scenegen.verdict import Status

VERSIONS = ("main@0", "main@1", "main@2", "main", "trial")


@pytest.fixture
def other_maker(scene_maker):
    """Makes other scenes at the places of `scene_maker`'s, as a changed generator does."""

    class OtherMaker(type(scene_maker)):
        def scenario(self, index):
            made = super().scenario(index)
            first, *others = made.lights.lights
            changed = first.replaced(temperature_k=first.temperature_k + 500.0)
            return made.varied(lights=made.lights.replaced(lights=(changed, *others)))

    return OtherMaker(scene_maker.cell, scene_maker.catalogue, scene_maker.base)


def decide(library, action, subject, value):
    row = decision(action, subject, value, note="a test", author="tests", time="2026-02-01")
    library.publish(Changes({CURATION.name: [row]}), Signature("decide"))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_does_not_differ_from_itself(kept, version):
    assert compare(kept.at(version), kept.at(version)) == Difference()
    assert compare(kept.at(version), kept.at(version)).is_empty


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations(VERSIONS, 2)))
def test_the_other_direction_is_the_mirror(kept, a, b):
    forth = compare(kept.at(a), kept.at(b))
    assert compare(kept.at(b), kept.at(a)) == forth.mirrored
    assert forth.mirrored.mirrored == forth


def test_added_scenes_are_counted_by_axis_and_level(kept, scene_maker):
    found = compare(kept.at("main@0"), kept.at("main@1"))
    assert {one.scenario_id for one in found.added} == {scene_maker.scenario(index).id for index in (4, 5, 6)}
    assert found.strata == {"lighting 1": (1, 0, 0), "lighting 2": (1, 0, 0), "lighting 3": (1, 0, 0)}
    assert (found.removed, found.changed, found.verdicts, found.files) == ((), (), (), ())


@pytest.mark.parametrize(
    ("action", "value", "why"),
    [
        (Action.DROP, DROPPED, "dropped"),
        (Action.QUARANTINE, QUARANTINED, "in quarantine"),
        (Action.REVIEW, REJECTED, "rejected"),
    ],
)
def test_scenes_that_were_left_out_count_as_removed_and_say_why(kept, scene_maker, action, value, why):
    before, subject = kept.at(), scene_maker.scenario(1).id
    decide(kept, action, subject, value)
    found = compare(before, kept.at())
    assert [(one.scenario_id, one.stratum, one.why) for one in found.removed] == [(subject, "lighting 2", why)]
    (entry,) = found.curation
    assert (entry.name, entry.after) == (f"{action.value} {subject}", f"{value} (a test)")
    assert compare(kept.at(), before) == found.mirrored


def test_another_scene_in_the_same_place_is_a_change_with_its_fields(kept, scene_maker, other_maker):
    kept.branch("changed", kept.history.find("main@0"), Signature("another generator"))
    other_maker.keep(kept, range(4), branch="changed")
    for index in range(4):
        decide_on = decision(
            Action.DROP, scene_maker.scenario(index).id, DROPPED, note="old", author="tests", time="2026-02-01"
        )
        kept.publish(Changes({CURATION.name: [decide_on]}), Signature("drop"), branch="changed")
    found = compare(kept.at("main@0"), kept.at("changed"))
    assert (found.added, found.removed) == ((), ())
    assert found.strata == {"lighting 1": (0, 0, 2), "lighting 2": (0, 0, 1), "lighting 3": (0, 0, 1)}
    change = next(one for one in found.changed if one.before == scene_maker.scenario(1).id)
    assert change.after == other_maker.scenario(1).id
    assert [field.text for field in change.fields] == ["lights.lights.key.temperature_k: 3010 -> 3510 K"]
    assert compare(kept.at("changed"), kept.at("main@0")) == found.mirrored


def test_changed_verdicts_files_and_packages_are_named(kept, scene_maker):
    before, one = kept.at(), scene_maker.scenario(2).id
    verdict = KeptVerdict(scenario_id=one, plan_id="f" * 24, ok=False, statuses={"reach@2": Status.FAILED})
    files = kept.keep_file("records/note.json", b"{}")
    signature = Signature("check again", packages={"scenegen": "9.9.9"})
    kept.publish(Changes({VERDICTS.name: [verdict.columns()]}, files), signature)
    found = compare(before, kept.at())
    (changed,) = found.verdicts
    assert (changed.name, changed.after) == (one, f"not ok: reach@2 (plan {'f' * 24})")
    assert changed.before.startswith("ok (plan ")
    assert [(entry.name, entry.before) for entry in found.files] == [("records/note.json", None)]
    assert ("scenegen", "9.9.9") in [(entry.name, entry.after) for entry in found.packages]
    assert compare(kept.at(), before) == found.mirrored


def test_a_difference_survives_json(kept):
    found = compare(kept.at("main@0"), kept.at("trial"))
    assert Difference.from_json(found.canonical_json()) == found
