"""Decisions: the newest of a kind counts, whatever else was decided."""

from hypothesis import given
from hypothesis import strategies as st

from library.curated import (
    ACCEPTED,
    DROPPED,
    QUARANTINED,
    REJECTED,
    RELEASED,
    RESTORED,
    Action,
    Curated,
    decision,
)  # fmt: skip

VALUES = {
    Action.DROP: (DROPPED, RESTORED),
    Action.QUARANTINE: (QUARANTINED, RELEASED),
    Action.REVIEW: (ACCEPTED, REJECTED, "odd"),
    Action.SPLIT: ("train", "hold-out"),
}
decisions = st.lists(
    st.sampled_from(sorted(VALUES)).flatmap(
        lambda action: st.tuples(st.just(action), st.sampled_from("abc"), st.sampled_from(VALUES[action]))
    ),
    max_size=20,
)


def curated(some):
    return Curated.of(
        decision(action, subject, value, note="", author="tests", time=str(at))
        for at, (action, subject, value) in enumerate(some)
    )


@given(decisions)
def test_the_newest_decision_of_a_kind_counts(some):
    newest = {(action, subject): value for action, subject, value in some}
    known = curated(some)
    for action in Action:
        for subject in "abc":
            assert known.value(action, subject) == newest.get((action, subject))
        for value in VALUES[action]:
            wanted = {subject for (kind, subject), found in newest.items() if (kind, found) == (action, value)}
            assert known.subjects(action, value) == wanted
    assert known.splits == {subject: value for (action, subject), value in newest.items() if action is Action.SPLIT}


@given(decisions)
def test_what_was_dropped_quarantined_or_rejected_is_hidden(some):
    newest = {(action, subject): value for action, subject, value in some}
    hiding = {DROPPED, QUARANTINED, REJECTED}
    assert curated(some).hidden == {subject for (_, subject), value in newest.items() if value in hiding}


def test_the_same_decision_at_another_time_is_another_row():
    rows = [decision(Action.DROP, "a", DROPPED, note="", author="x", time=time) for time in ("1", "2")]
    assert rows[0]["row_hash"] != rows[1]["row_hash"]
