"""What a session spent: tokens and money, each response counted once."""

from collections.abc import Iterable
from decimal import Decimal

from blackbird.canon.model import Generation, Item, Usage
from blackbird.timeline.timeline import Spent

UNNAMED = "unknown"


def spent(items: Iterable[Item]) -> Spent:
    """The sum over all responses. Attempts that failed count, if the provider says what they took."""
    usage, usd, reported = Usage(), None, None
    unknown: dict[str, None] = {}
    prices: str | None = None
    count = 0
    for item in items:
        if not isinstance(item, Generation):
            continue
        count += 1
        reported = _plus(reported, item.reported_cost)
        if item.usage is None:
            continue
        usage += item.usage
        if item.cost is None or item.cost.usd is None:
            unknown.setdefault(item.model or UNNAMED)
        else:
            usd, prices = _plus(usd, item.cost.usd), item.cost.prices
    return Spent(usage=usage, usd=usd, reported=reported, unknown=tuple(unknown), generations=count, prices=prices)


def by_model(items: Iterable[Item]) -> dict[str, Spent]:
    """The same for each model, in the order in which they were first asked."""
    groups: dict[str, list[Generation]] = {}
    for item in items:
        if isinstance(item, Generation) and (item.usage is not None or item.reported_cost is not None):
            groups.setdefault(item.model or item.settings.model or UNNAMED, []).append(item)
    return {model: spent(group) for model, group in groups.items()}


def _plus(total: Decimal | None, more: Decimal | None) -> Decimal | None:
    return total if more is None else more if total is None else total + more
