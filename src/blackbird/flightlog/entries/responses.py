"""The responses of a session while their items are written: what is still to come of each, and the steps of a log."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from blackbird.canon.model import Amend, Call, Generation, Item, Mark, Message, Result, Usage


class Steps:
    """Numbers the steps of one log: a step is what the user said, or all that came out of one response."""

    def __init__(self) -> None:
        self.now = 1
        self._key = ""

    def take(self, key: str) -> int:
        """The step of something that is said or done; another key begins the next one."""
        if key != self._key:
            self._key = key
            self.now += 1
        return self.now


class Responses:
    """What is known of the responses, by their ids."""

    def __init__(self) -> None:
        self._known: dict[str, Generation] = {}
        #: How many items of a response are still to come, and of those that have lines, the last step.
        self._left: Counter[str] = Counter()
        self._steps: dict[str, int] = {}
        self._told: set[str] = set()

    def expect(self, news: Iterable[Item | Amend]) -> None:
        """Items that will be written next."""
        for item in news:
            if isinstance(item, Generation):
                self._known[item.id] = item
            elif not isinstance(item, Amend) and item.generation is not None:
                self._left[item.generation] += 1

    def of(self, item: Message | Call) -> Generation | None:
        """The response that an item came out of."""
        return self._known.get(item.generation or "")

    def taken(self, item: Message | Call | Result | Mark) -> Generation | None:
        """One item less of a response; the response itself once that was the last."""
        if item.generation is None:
            return None
        self._left[item.generation] -= 1
        return self._known.get(item.generation) if self._left[item.generation] <= 0 else None

    def is_complete(self, generation: Generation) -> bool:
        """Whether all its items are written."""
        return self._left[generation.id] <= 0

    def step_of(self, generation: Generation) -> int | None:
        """The last step with a line of it; None if it has none."""
        return self._steps.get(generation.id)

    def stands(self, name: str, step: int) -> None:
        """A line of a response was written."""
        self._steps[name] = step

    def is_told(self, generation: Generation) -> bool:
        """Whether its figures are written."""
        return generation.id in self._told

    def tell(self, generation: Generation) -> bool:
        """Whether its figures are to be written now: once, and no more."""
        is_new = generation.id not in self._told
        self._told.add(generation.id)
        return is_new

    def amend(self, name: str, usage: Usage) -> Generation | None:
        """What a response used turned out later; the response, if nobody knew."""
        known = self._known.get(name)
        if known is None or known.usage is not None:
            return None
        self._known[name] = msgspec.structs.replace(known, usage=usage)
        self._told.discard(name)
        return self._known[name]
