"""Jobs take turns, and each gets the answer to what it asked, whatever the others ask."""

from collections import deque
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenegen.errors import UnknownName
from scenegen.physics.settle import Settled
from scenegen.scenario import Layout, Matter
from scenegen.side_by_side import SideBySide

EMPTY = Layout(fixtures=(), items=()), Matter(items=())


class Slow:
    """Answers each request after as many rounds as its limit says; a limit of 9 s is an error."""

    engine = "slow 1"

    def __init__(self):
        self.open, self.most, self.forgotten = {}, 0, 0

    def submit(self, ticket, request):
        assert ticket not in self.open
        self.open[ticket] = [request, int(request.limit_s)]
        self.most = max(self.most, len(self.open))

    def advance(self):
        for entry in self.open.values():
            entry[1] -= 1
        ready = [ticket for ticket, (_, left) in self.open.items() if left <= 0]
        return [(ticket, answer(self.open.pop(ticket)[0].limit_s)) for ticket in ready]

    def forget(self):
        self.forgotten += len(self.open)
        self.open.clear()

    def settle(self, layout, matter, *, limit_s=2.0, nudge=True):
        return answer(limit_s)


def answer(limit_s):
    if limit_s == 9:
        return UnknownName("slot", "nine", ["one"])
    return Settled.at(EMPTY[0], np.zeros((0, 7)), speed_m_s=0.0, penetration_m=0.0, seconds=limit_s)


def asks(together, limits):
    """A job: what it hears when it asks for scenes one after the other."""
    return [together.settle(*EMPTY, limit_s=limit).seconds for limit in limits]


@given(st.lists(st.lists(st.integers(1, 4), max_size=4), max_size=12), st.integers(1, 5))
def test_results_come_in_order_and_answers_go_to_who_asked(limits, at_once):
    many = Slow()
    together = SideBySide(many, at_once=at_once)
    assert list(together.run(partial(asks, together, own) for own in limits)) == limits
    assert many.most <= at_once
    assert many.open == {}


def test_jobs_really_wait_together():
    many = Slow()
    together = SideBySide(many, at_once=8)
    deque(together.run(partial(asks, together, [3, 3]) for _ in range(8)), maxlen=0)
    assert many.most == 8


def test_no_two_jobs_work_at_the_same_time():
    together, working, seen = SideBySide(Slow(), at_once=6), [], []

    def job(name):
        for limit in (2, 1, 3):
            working.append(name)
            seen.append(len(working))
            working.remove(name)
            together.settle(*EMPTY, limit_s=limit)

    deque(together.run(partial(job, name) for name in range(6)), maxlen=0)
    assert set(seen) == {1}


def test_an_error_of_the_simulator_is_raised_where_it_was_asked():
    together = SideBySide(Slow(), at_once=3)

    def mended():
        with pytest.raises(UnknownName, match="unknown slot 'nine'"):
            together.settle(*EMPTY, limit_s=9)
        return "mended"

    assert list(together.run([mended, partial(asks, together, [2])])) == ["mended", [2]]


def test_an_error_of_a_job_is_raised_in_its_place_and_ends_the_others():
    many = Slow()
    together, begun = SideBySide(many, at_once=2), []

    def job(number):
        begun.append(number)
        if number == 1:
            raise LookupError("job 1")
        return asks(together, [1 if number == 0 else 50])

    results = together.run(partial(job, number) for number in range(40))
    assert next(results) == [1]
    with pytest.raises(LookupError, match="job 1"):
        next(results)
    assert many.open == {}
    assert len(begun) < 40


def test_what_is_not_wanted_any_more_is_forgotten():
    many = Slow()
    together = SideBySide(many, at_once=4)
    results = together.run(partial(asks, together, [1 if number == 0 else 50]) for number in range(9))
    next(results)
    results.close()
    assert many.forgotten >= 3
    assert asks(together, [2]) == [2]


def test_outside_of_jobs_a_scene_is_settled_alone():
    together = SideBySide(Slow(), at_once=1)
    assert together.engine == "slow 1"
    assert asks(together, [4]) == [4]
