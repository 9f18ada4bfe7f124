"""Back ends that keep failing are left alone for a while; many chats at once come back in order."""

import threading
import time

import pytest

from scenegen.errors import BudgetSpent, VlmError
from scenegen.vlm.breaker import Breaker
from scenegen.vlm.many import many


class Moody:
    """Fails while it is `down`."""

    model = "openai:moody"

    def __init__(self, spoken):
        self.spoken, self.down, self.calls = spoken, True, 0

    def reply(self, chat):
        self.calls += 1
        if self.down:
            raise VlmError(self.model, "the server answered 503", "wait")
        return self.spoken.reply(chat)

    def close(self):
        self.spoken.close()


@pytest.fixture
def moody(spoken):
    return Moody(spoken())


@pytest.fixture
def clock():
    """A clock that is set by hand."""

    class Clock:
        now = 1000.0

        def __call__(self):
            return self.now

    return Clock()


def fail(breaker, chat, times):
    said = []
    for _ in range(times):
        with pytest.raises(VlmError) as raised:
            breaker.reply(chat)
        said.append(str(raised.value))
    return said


def test_it_opens_after_five_failures_and_tries_one_call_after_its_rest(moody, clock, ask):
    breaker = Breaker(moody, clock=clock)
    assert fail(breaker, ask(), 5) == ["openai:moody: the server answered 503 - wait"] * 5
    clock.now += 10
    refused = (
        "openai:moody: not asked, because 5 calls in a row failed (the last: the server answered 503) - "
        "it is tried again in 20 s"
    )
    assert fail(breaker, ask(), 3) == [refused] * 3
    assert moody.calls == 5
    clock.now += 20
    assert fail(breaker, ask(), 1) == ["openai:moody: the server answered 503 - wait"]
    assert fail(breaker, ask(), 1) == [refused.replace("20 s", "30 s")]
    assert moody.calls == 6
    clock.now += 30
    moody.down = False
    assert [breaker.reply(ask(text)).text for text in ("a", "b")] == ["A", "B"]
    moody.down = True
    fail(breaker, ask(), 5)
    assert moody.calls == 13


def test_failures_that_are_not_in_a_row_do_not_open_it(moody, clock, ask):
    breaker = Breaker(moody, clock=clock)
    for _ in range(3):
        moody.down = True
        fail(breaker, ask(), 4)
        moody.down = False
        breaker.reply(ask())
    assert moody.calls == 15


def test_a_spent_budget_is_no_failure_and_leaves_no_trial_behind(moody, clock, ask):
    breaker = Breaker(moody, clock=clock)
    fail(breaker, ask(), 5)
    clock.now += 30
    answer, moody.reply = moody.reply, lambda chat: (_ for _ in ()).throw(BudgetSpent("2", "1", "--more"))
    for _ in range(2):
        with pytest.raises(BudgetSpent):
            breaker.reply(ask())
    moody.reply, moody.down = answer, False
    assert breaker.reply(ask("a")).text == "A"
    breaker.close()
    assert moody.spoken.closed


def test_only_one_call_tries_whether_it_may_close(moody, clock, ask):
    breaker = Breaker(moody, clock=clock)
    fail(breaker, ask(), 5)
    clock.now += 30
    moody.down = False
    started, go = threading.Event(), threading.Event()

    def says(text):
        started.set()
        assert go.wait(5)
        return text

    moody.spoken.says = says
    trial = threading.Thread(target=breaker.reply, args=[ask()])
    trial.start()
    assert started.wait(5)
    assert fail(breaker, ask(), 1)[0].endswith("it is tried again in 0 s")
    go.set()
    trial.join()
    assert breaker.reply(ask("a")).text == "a"


def test_replies_come_in_order_and_failures_lose_none(spoken, ask):
    under_way, most, lock = set(), [0], threading.Lock()

    def says(text):
        with lock:
            under_way.add(text)
            most.append(len(under_way))
        time.sleep(0.002 * (10 - int(text)))  # the first end last
        with lock:
            under_way.remove(text)
        if text == "4":
            raise VlmError("openai:spoken", "no", "ask another")
        if text == "6":
            raise BudgetSpent("2", "1", "--more")
        return text

    answers = many(spoken(says), [ask(str(number)) for number in range(8)], 3)
    assert [type(answer).__name__ for answer in answers] == [
        *["Reply"] * 4,
        "VlmError",
        "Reply",
        "BudgetSpent",
        "Reply",
    ]
    assert [answer.text for answer in answers if not isinstance(answer, Exception)] == ["0", "1", "2", "3", "5", "7"]
    assert max(most) == 3


def test_a_bug_in_a_back_end_stops_the_rest(spoken, ask):
    def says(text):
        time.sleep(0.01)
        return {"0": "a"}[text]

    back_end = spoken(says)
    with pytest.raises(KeyError):
        many(back_end, [ask(str(number)) for number in range(50)], 1)
    assert len(back_end.asked) < 50
