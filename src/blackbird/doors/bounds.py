"""Answers kept short: lists lose their ends and texts their tails until a value fits, and it says that they did."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: Tried one after the other: how many items a list may have, and how many letters a text.
_STEPS = ((60, 4000), (40, 2000), (20, 1000), (12, 500), (8, 250), (5, 120), (3, 60), (1, 30))


def fit(value: dict[str, Any], measure: Callable[[dict[str, Any]], int], most: int) -> dict[str, Any]:
    """The same value if it measures no more than that, or the longest of its shortened forms that does."""
    if measure(value) <= most:
        return value
    shortened = value
    for items, letters in _STEPS:
        shortened = {**_shorten(value, items, letters), "is_cut": True}
        if measure(shortened) <= most:
            break
    return shortened


def first_that_fit(
    items: Sequence[Any],
    build: Callable[[Sequence[Any]], dict[str, Any]],
    measure: Callable[[dict[str, Any]], int],
    most: int,
) -> dict[str, Any]:
    """A value with as many of the first items as fit; at least with none."""
    low, high = 0, len(items)
    everything = build(items)
    if measure(everything) <= most:
        return everything
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if measure(build(items[:middle])) <= most else (low, middle)
    return build(items[:low])


def _shorten(value: Any, items: int, letters: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= letters else f"{value[:letters]}… [{len(value) - letters} more letters]"
    if isinstance(value, Mapping):
        return {key: _shorten(each, items, letters) for key, each in value.items()}
    if isinstance(value, list):
        kept = [_shorten(each, items, letters) for each in value[:items]]
        return kept if len(value) <= items else [*kept, f"… [{len(value) - items} more]"]
    return value
