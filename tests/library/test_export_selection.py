"""Which scenes an export is about."""

import pytest

from library.curated import DROPPED, Action, decision
from library.export_selection import Selection
from library.tables import CURATION
from library.versioned import Changes, Signature, VersionedLibrary
from scenegen.errors import InvalidOption


def chosen(library, **options):
    return [row["scenario_id"] for batch in Selection(**options).batches(library.at()) for row in batch.to_pylist()]


def decide(library, action, subject, value):
    row = decision(action, subject, value, note="why", author="tests", time="2026-02-01")
    library.publish(Changes({CURATION.name: [row]}), Signature("decide"))


def test_everything_in_order(kept):
    assert chosen(kept) == [row.scenario_id for row in kept.at().rows()]
    assert len(chosen(kept)) == 8


def test_a_condition_and_a_limit(kept):
    levels = [row.scenario_id for row in kept.at().rows() if row.provenance.axes and row.provenance.axes[0].level == 2]
    assert chosen(kept, where="level = 2") == levels
    assert chosen(kept, where="level = 2", limit=1) == levels[:1]
    assert chosen(kept, limit=3) == chosen(kept)[:3]


def test_dropped_scenes_are_left_out_unless_asked_for(kept, scene_maker):
    decide(kept, Action.DROP, scene_maker.scenario(2).id, DROPPED)
    assert scene_maker.scenario(2).id not in chosen(kept)
    assert scene_maker.scenario(2).id in chosen(kept, everything=True)
    assert len(chosen(kept)) == 7


def test_a_split(kept, scene_maker):
    decide(kept, Action.SPLIT, scene_maker.base.id, "train")
    assert len(chosen(kept, split="train")) == 8
    with pytest.raises(InvalidOption, match=r"^--split holdout - accepted: a split of this version: train$"):
        chosen(kept, split="holdout")


def test_a_split_where_none_was_assigned(kept):
    accepted = "a split of this version: none was assigned yet; see `scenegen library split`"
    with pytest.raises(InvalidOption) as caught:
        chosen(kept, split="train")
    assert str(caught.value) == f"--split train - accepted: {accepted}"


@pytest.mark.parametrize("where", ["nope = 3", "level =", "level = 'a'"])
def test_a_slip_in_the_condition_is_not_taken_for_damage(kept, where):
    with pytest.raises(InvalidOption) as caught:
        chosen(kept, where=where)
    assert str(caught.value).startswith(
        f"--where {where} - accepted: a condition in SQL over the columns of scenarios ("
    )


def test_an_empty_library(tmp_path):
    assert chosen(VersionedLibrary.create(tmp_path / "empty"), where="level = 1") == []
