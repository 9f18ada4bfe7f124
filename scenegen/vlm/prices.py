"""What tokens of models cost, as a user's YAML file tells it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from scenegen.errors import InvalidRecord
from scenegen.record import NonNegative, Record

_MILLION = 1e6


class Price(Record):
    """What a model's tokens cost."""

    input_usd_per_million: NonNegative
    output_usd_per_million: NonNegative

    def usd(self, input_tokens: int, output_tokens: int) -> float:
        """Return what so many tokens cost [USD]."""
        cost = input_tokens * self.input_usd_per_million + output_tokens * self.output_usd_per_million
        return cost / _MILLION


Prices = Mapping[str, Price]
"""By model, as the server names it or as `--vlm` does."""


def load_prices(path: Path) -> Prices:
    """Read a file of prices.

    Raises:
        InvalidRecord: It cannot be read, is no YAML, or holds something else than prices.
    """
    what = str(path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRecord(what, [f"cannot be read as UTF-8 text ({error})"]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidRecord(what, [f"not YAML ({' '.join(str(error).split())})"]) from error
    if not isinstance(data, dict) or not all(isinstance(model, str) for model in data):
        accepted = "MODEL: {input_usd_per_million: 2.5, output_usd_per_million: 10}"
        raise InvalidRecord(what, [f"no mapping of models to prices - accepted: {accepted}"])
    return {model: Price.from_data(price, what=f"{what}: {model}") for model, price in data.items()}


def price_of(model: str, prices: Prices) -> Price | None:
    """Return the price of a model; None where none is known.

    Args:
        model: As `--vlm` names it, for example `openai:gpt-5@https://example.org/v1`.
        prices: The prices.
    """
    bare = model.partition(":")[2].partition("@http")[0]
    return prices.get(model, prices.get(bare))
