"""The steps of a flight log: whose each is, and the results that wait until all that a step said is told.

What a step used stands behind its last line, and a line may hold a call with its result: what the agent said must be
told as a whole before anyone answers it.
"""

from collections.abc import Iterable

from blackbird.canon.model import Role
from blackbird.canon.seen import Entry


class Steps:
    """Knows of each step the thread, and whether what an agent said still waits for what it used."""

    def __init__(self) -> None:
        self._threads: dict[int, str | None] = {}
        self._place: tuple[str | None, int | None] = (None, None)
        self._waiting: list[Entry] = []
        #: The threads in which an agent spoke last.
        self._spoken: set[str | None] = set()
        self._measured: set[object] = set()

    def enter(self, thread: str | None, step: int | None) -> list[Entry]:
        """A line of a step begins; what waited for the end of another one comes before it."""
        place = (thread, step)
        released = self.release() if step is None or place != self._place else []
        self._place = place
        if step is not None:
            self._threads.setdefault(step, thread)
        return released

    def thread_of(self, step: int | None) -> str | None:
        """Whose a step is; without a number, the one that the last line was of."""
        return self._place[0] if step is None else self._threads.get(step)

    def hold(self, answers: Iterable[Entry]) -> None:
        """Let results wait for the end of the step that they stand in."""
        self._waiting += answers

    def release(self) -> list[Entry]:
        """What waited."""
        released, self._waiting = self._waiting, []
        return released

    def heard(self, entries: Iterable[Entry]) -> None:
        """Take note of who spoke last in which thread."""
        for entry in entries:
            if entry.turn is not None and entry.turn.role is Role.ASSISTANT:
                self._spoken.add(entry.thread)
            elif entry.turn is not None:
                self._spoken.discard(entry.thread)

    def has_spoken(self, thread: str | None) -> bool:
        """Whether the agent of a thread said something that nobody answered yet."""
        return thread in self._spoken

    def is_repeat(self, step: int | None, counts: object) -> bool:
        """Whether the very same was said of a step before: beside its words and in a line of its own, say."""
        which = (step, counts)
        is_known = step is not None and which in self._measured
        self._measured.add(which)
        return is_known
