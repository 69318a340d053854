"""What tokens cost: prices for a million of them, in any money."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from unswayed.base.errors import UsageError, option

_MILLION = 1_000_000


class Prices(msgspec.Struct, frozen=True):
    """What a million tokens cost that a model reads, and that it writes."""

    tokens_in: float
    tokens_out: float

    def cost(self, tokens_in: float | None, tokens_out: float | None) -> float:
        """Of so many tokens; those that are not known cost nothing."""
        return (self.tokens_in * (tokens_in or 0) + self.tokens_out * (tokens_out or 0)) / _MILLION


def prices_of(price_in: object, price_out: object, whose: str = "") -> Prices | None:
    """Prices as options give them, None where there are none; what one of them alone leaves out costs nothing."""
    given = {f"{whose}price-in": price_in, f"{whose}price-out": price_out}
    for name, price in given.items():
        number = isinstance(price, (int, float)) and not isinstance(price, bool)
        if price is not None and not (number and 0 <= float(price) < float("inf")):  # type: ignore[arg-type]
            raise UsageError(f"{option(name)} must be a number of 0 or more, for a million tokens, not {price!r:.60}.")
    if price_in is None and price_out is None:
        return None
    return Prices(float(price_in or 0), float(price_out or 0))  # type: ignore[arg-type]


def costs(tokens: Mapping[str, float], prices: Prices | None) -> dict[str, float]:
    """The cost as it is counted beside `tokens in` and `tokens out`; empty where it is not known."""
    if prices is None or not tokens:
        return {}
    return {"cost": prices.cost(tokens.get("tokens_in"), tokens.get("tokens_out"))}
