"""What tokens cost, by the price list that comes with genai-prices; nothing is ever fetched."""

import datetime as dt
import functools
import importlib.metadata
from decimal import Decimal
from typing import TYPE_CHECKING

from blackbird.canon.model import Cost, Usage

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

    _Price = Decimal | TieredPrices | None

_PACKAGE = "genai-prices"
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
#: For what has no time: the newest prices of the list, the same on every day.
_LATEST = dt.datetime(9999, 12, 31, 12, tzinfo=dt.UTC)
_MILLION = 1_000_000
_THOUSAND = 1_000
#: What a token that stays in the cache for an hour costs to write, in fresh input tokens.
_HOUR_WRITE = 2


class Pricer:
    """Prices by model and time. The list is loaded when something is priced for the first time."""

    @functools.cached_property
    def prices(self) -> str:
        """The price list and its version."""
        return f"{_PACKAGE} {importlib.metadata.version(_PACKAGE)}"

    def cost(self, model: str | None, usage: Usage, at: int | None, provider_hint: str | None = None) -> Cost:
        """What a response cost at a time (nanoseconds since 1970), as far as the list knows its model.

        `provider_hint` is the address that was asked, or a provider's name in the list; the model's name decides
        where it says nothing.
        """
        found = self._find(model, provider_hint) if model else None
        if found is None:
            return Cost(None, self.prices)
        when = _EPOCH + dt.timedelta(microseconds=at // 1000) if at is not None else _LATEST
        return Cost(price(found.get_prices(when), usage), self.prices)

    @functools.cached_property
    def _snapshot(self) -> "DataSnapshot":
        # It takes as long to import as a whole command takes to start.
        from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

        return get_snapshot()

    def _find(self, model: str, hint: str | None) -> "ModelInfo | None":
        if hint is not None:
            is_address = "://" in hint
            found = self._look_up(model, None if is_address else hint, hint if is_address else None)
            if found is not None:
                return found
        if ":" in model:
            # A build of one's own or a fine-tune is called so, and costs something else than the model it comes from.
            return None
        maker, slash, name = model.partition("/")
        return self._look_up(name, maker, None) if slash else self._look_up(model, None, None)

    def _look_up(self, model: str, provider: str | None, address: str | None) -> "ModelInfo | None":
        try:
            return self._snapshot.find_provider_model(model, None, provider, address)[1]
        except LookupError:
            return None


def price(prices: "ModelPrice", usage: Usage) -> Decimal | None:
    """The sum: none if the list has no price for tokens, or for counts that cannot be, as a server may send them.

    The library sums up, too, but says that a model without any price is free, and takes seven times as long.
    """
    # As above.
    from genai_prices.types import calc_unit_price  # noqa: PLC0415

    fresh, said = prices.input_mtok, prices.output_mtok
    if fresh is None or (said is None and usage.output):
        return None
    write, hour_write, times = prices.cache_write_mtok, prices.cache_write_1h_mtok, 1
    if hour_write is None:
        hour_write, times = fresh, _HOUR_WRITE if write is not None else 1
    thought = min(usage.reasoning, usage.output)
    counted = (
        (fresh, usage.input),
        (_either(prices.cache_read_mtok, fresh), usage.cache_read),
        (_either(write, fresh), usage.cache_write - usage.cache_write_1h),
        (hour_write, usage.cache_write_1h * times),
        (said, usage.output - thought),
        (_either(prices.output_reasoning_mtok, said), thought),
    )
    if any(count < 0 for _, count in counted):
        return None
    tokens = sum((calc_unit_price(rate, count, usage.prompt, _MILLION) for rate, count in counted), Decimal(0))
    return tokens + calc_unit_price(prices.requests_kcount, 1, usage.prompt, _THOUSAND)


def _either(own: "_Price", otherwise: "_Price") -> "_Price":
    """A price of its own, which may be nothing, or else that of what it is a part of."""
    return otherwise if own is None else own
