"""What calls may cost: counted before they are sent and after, in tokens and, where prices are known, in money."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

from scenegen.errors import BudgetSpent, InvalidOption
from scenegen.vlm.chat import BackEnd, Chat, Reply
from scenegen.vlm.prices import Price, Prices, price_of
from scenegen.vlm.tokens import chat_tokens
from scenegen.vlm.wrapped import Wrapped

NO_PRICES: Prices = MappingProxyType({})


@dataclass(frozen=True)
class Spent:
    """What calls cost together."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    """Money; None as soon as one of the calls has no known price."""

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input_tokens + self.output_tokens

    def plus(self, input_tokens: int, output_tokens: int, price: Price | None) -> Spent:
        """Return what is spent after one more call."""
        usd = None if self.usd is None or price is None else self.usd + price.usd(input_tokens, output_tokens)
        return Spent(self.calls + 1, self.input_tokens + input_tokens, self.output_tokens + output_tokens, usd)


class Budget:
    """What all calls of a run together may cost; many threads use it.

    Args:
        tokens: How many tokens, sent and received; None is without limit.
        usd: How much money; None is without limit.
        prices: What tokens cost.
    """

    def __init__(self, *, tokens: int | None = None, usd: float | None = None, prices: Prices = NO_PRICES) -> None:
        self.tokens, self.usd, self.prices = tokens, usd, prices
        self._lock = threading.Lock()
        self._spent = Spent()
        self._promised: Mapping[object, tuple[int, int, Price | None]] = {}
        """Calls under way with what they may need."""

    @property
    def spent(self) -> Spent:
        """What was spent on replies."""
        return self._spent

    def price(self, model: str) -> Price | None:
        """Return what a model costs; None where it does not matter.

        Raises:
            InvalidOption: Money is limited, and the model has no price.
        """
        price = price_of(model, self.prices)
        if price is None and self.usd is not None:
            listed = ", ".join(self.prices) or "none"
            raise InvalidOption(
                "--budget-usd", f"{self.usd:g}", f"it only with a price of {model} in --prices (listed: {listed})"
            )
        return price

    @contextmanager
    def promised(self, input_tokens: int, output_tokens: int, price: Price | None) -> Iterator[None]:
        """Keep what a call may need at most, while it is under way.

        Raises:
            BudgetSpent: There is not so much left.
        """
        call = object()
        with self._lock:
            before = self._spent
            for needed in self._promised.values():
                before = before.plus(*needed)
            after = before.plus(input_tokens, output_tokens, price)
            if self.tokens is not None and after.tokens > self.tokens:
                raise _spent(before.tokens, after.tokens - before.tokens, self.tokens, "tokens", "--budget-tokens")
            if self.usd is not None and before.usd is not None and after.usd is not None and after.usd > self.usd:
                raise _spent(before.usd, after.usd - before.usd, self.usd, "USD", "--budget-usd")
            self._promised = {**self._promised, call: (input_tokens, output_tokens, price)}
        try:
            yield
        finally:
            with self._lock:
                self._promised = {other: needed for other, needed in self._promised.items() if other is not call}

    def count(self, reply: Reply, price: Price | None) -> None:
        """Count a reply."""
        with self._lock:
            self._spent = self._spent.plus(reply.input_tokens, reply.output_tokens, price)


class Budgeted(Wrapped):
    """Asks a back end only as long as a budget holds the most that the next reply may cost.

    Calls that fail are not counted: what they cost is not known.

    Args:
        back_end: What answers.
        budget: What all calls together may cost.

    Raises:
        InvalidOption: Money is limited, and the back end's model has no price.
    """

    def __init__(self, back_end: BackEnd, budget: Budget) -> None:
        super().__init__(back_end)
        self._budget = budget
        self._price = budget.price(back_end.model)

    def reply(self, chat: Chat) -> Reply:
        """Answer, and count what it cost.

        Raises:
            VlmError: As the back end says.
            BudgetSpent: The reply might cost more than is left; nothing was asked.
        """
        with self._budget.promised(chat_tokens(chat), chat.request.max_tokens, self._price):
            reply = self._back_end.reply(chat)
            self._budget.count(reply, self._price)
        return reply


def _spent(before: float, needed: float, allowed: float, unit: str, option: str) -> BudgetSpent:
    return BudgetSpent(f"{before:.10g} {unit} (the next reply may need {needed:.4g})", f"{allowed:.10g} {unit}", option)
