"""What a session spent: tokens and money, each response counted once."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from blackbird.canon.model import Generation, Item, Usage
from blackbird.timeline.timeline import Spent, sum_of

UNNAMED = "unknown"
_Key = TypeVar("_Key", bound=Hashable)


class Share(NamedTuple):
    """What a part of a session was for, and who answered."""

    task: str | None
    run: str | None
    model: str


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
        reported = sum_of(reported, item.reported_cost)
        if item.usage is None:
            continue
        usage += item.usage
        if item.cost is None or item.cost.usd is None:
            unknown.setdefault(item.model or UNNAMED)
        else:
            usd, prices = sum_of(usd, item.cost.usd), item.cost.prices
    return Spent(usage=usage, usd=usd, reported=reported, unknown=tuple(unknown), generations=count, prices=prices)


def by_model(items: Iterable[Item]) -> dict[str, Spent]:
    """The same for each model, in the order in which they were first asked."""
    return _by(items, model_of)


def by_share(items: Iterable[Item], tasks: Mapping[str, str]) -> dict[Share, Spent]:
    """The same for each task, run and model; `tasks` has those of runs, for responses that do not name theirs."""
    return _by(items, lambda item: Share(item.task or tasks.get(item.run or ""), item.run, model_of(item)))


def model_of(item: Generation) -> str:
    """Who answered, or who was asked."""
    return item.model or item.settings.model or UNNAMED


def _by(items: Iterable[Item], key: Callable[[Generation], _Key]) -> dict[_Key, Spent]:
    groups: dict[_Key, list[Generation]] = {}
    for item in items:
        if isinstance(item, Generation) and (item.usage is not None or item.reported_cost is not None):
            groups.setdefault(key(item), []).append(item)
    return {name: spent(group) for name, group in groups.items()}
