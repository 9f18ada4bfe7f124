"""Budgets stop before they are overdrawn, count what was replied, and know money only where there are prices."""

import pytest

from scenegen.errors import BudgetSpent, InvalidOption, InvalidRecord
from scenegen.vlm.budget import Budget, Budgeted
from scenegen.vlm.many import many
from scenegen.vlm.prices import Price, load_prices, price_of
from scenegen.vlm.tokens import chat_tokens, picture_tokens

PRICE = Price(input_usd_per_million=1000, output_usd_per_million=10_000)


def test_tokens_are_counted_and_stop_before_too_many_are_spent(spoken, ask):
    back_end, budget = spoken(tokens=(40, 20)), Budget(tokens=200)
    budgeted = Budgeted(back_end, budget)
    assert chat_tokens(ask("a")) == 41
    assert [budgeted.reply(ask(text)).text for text in "ab"] == ["A", "B"]
    with pytest.raises(BudgetSpent) as raised:
        budgeted.reply(ask("c"))
    assert str(raised.value) == (
        "the budget is spent: 120 tokens (the next reply may need 91) of 200 tokens - allow more with --budget-tokens"
    )
    assert back_end.asked == ["a", "b"]
    spent = budget.spent
    assert (spent.calls, spent.input_tokens, spent.output_tokens, spent.tokens, spent.usd) == (2, 80, 40, 120, None)


def test_calls_under_way_count_with_the_most_that_they_may_need(spoken, ask):
    budget = Budget(tokens=4 * 91)
    back_end = spoken(tokens=(41, 50))
    answers = many(Budgeted(back_end, budget), [ask(f"{number}") for number in range(12)], 12)
    assert [isinstance(answer, BudgetSpent) for answer in answers].count(False) == 4
    assert budget.spent.tokens == 4 * 91


def test_calls_that_fail_are_not_counted(spoken, ask):
    budget = Budget(tokens=91)
    back_end = spoken(lambda text: {}[text])
    for _ in range(3):
        with pytest.raises(KeyError):
            Budgeted(back_end, budget).reply(ask("a"))
    assert budget.spent.tokens == 0


def test_money_stops_too(spoken, ask):
    budget = Budget(usd=1.5, prices={"spoken": PRICE})
    budgeted = Budgeted(spoken(tokens=(41, 50)), budget)
    assert [budgeted.reply(ask(text)).text for text in "ab"] == ["A", "B"]
    assert budget.spent.usd == pytest.approx(2 * (0.041 + 0.5))
    with pytest.raises(BudgetSpent) as raised:
        budgeted.reply(ask("c"))
    assert str(raised.value) == (
        "the budget is spent: 1.082 USD (the next reply may need 0.541) of 1.5 USD - allow more with --budget-usd"
    )


def test_money_without_a_price_is_refused(spoken):
    with pytest.raises(InvalidOption) as raised:
        Budgeted(spoken(), Budget(usd=2, prices={"gpt-5": PRICE}))
    assert str(raised.value) == (
        "--budget-usd 2 - accepted: it only with a price of openai:spoken in --prices (listed: gpt-5)"
    )


def test_prices_of_a_file(tmp_path):
    file = tmp_path / "prices.yaml"
    file.write_text("gpt-5: {input_usd_per_million: 1.25, output_usd_per_million: 10}\n")
    prices = load_prices(file)
    assert prices == {"gpt-5": Price(input_usd_per_million=1.25, output_usd_per_million=10)}
    assert price_of("openai:gpt-5", prices) == price_of("openai:gpt-5@https://a.example/v1", prices) == prices["gpt-5"]
    assert price_of("openai:gpt", prices) is None
    assert prices["gpt-5"].usd(1_000_000, 100_000) == 2.25


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "- a",
            "{file}: no mapping of models to prices - accepted: "
            "MODEL: {{input_usd_per_million: 2.5, output_usd_per_million: 10}}",
        ),
        (
            "a: {input_usd_per_million: -1, output_usd_per_million: 1}",
            "{file}: a: input_usd_per_million: -1 - accepted: greater than or equal to 0",
        ),
        (
            "a: {input_usd_per_million: 1}",
            "{file}: a: output_usd_per_million: missing - it is required",
        ),
    ],
)
def test_files_that_hold_no_prices(tmp_path, text, sentence):
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(InvalidRecord) as raised:
        load_prices(file)
    assert str(raised.value) == sentence.format(file=file)


def test_prices_that_cannot_be_read(tmp_path):
    with pytest.raises(InvalidRecord, match="cannot be read as UTF-8 text"):
        load_prices(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(InvalidRecord, match="not YAML"):
        load_prices(tmp_path / "bad.yaml")


def test_pictures_count_by_their_size():
    assert picture_tokens(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (640).to_bytes(4) + (480).to_bytes(4)) == 46 * 35
    assert picture_tokens(b"GIF") == 4096
