"""The budget's course: what was allowed, what was left when, what was spent in the end."""

import decimal
from collections.abc import Iterable

import msgspec

from blackbox.events import comments, lifecycle
from blackbox.session.lines import Lines, Mark
from blackbox.session.usage import EXACT, Cost
from blackbox.syntax.header import Header
from blackbox.syntax.values import money


class Budget(msgspec.Struct, frozen=True):
    """A session's money. `total` is the last one stated: by the header, `@start`, then the `# budget:` marks."""

    total: decimal.Decimal | None
    #: The `# budget:` lines, in order.
    marks: tuple[Mark[comments.Budget], ...]
    #: What was spent, and how that is known; the same as the session's cost.
    spent: Cost | None

    @property
    def remaining(self) -> decimal.Decimal | None:
        """What is left of the total; below zero after an overrun. Without a cost, what the last mark says."""
        if self.total is not None and self.spent is not None:
            return EXACT.subtract(self.total, self.spent.amount)
        return next((mark.value.remaining for mark in reversed(self.marks) if mark.value.remaining is not None), None)

    @property
    def overrun(self) -> decimal.Decimal:
        """By how much the total was exceeded; zero if it was not, or if that is not known."""
        left = self.remaining
        return EXACT.minus(left) if left is not None and left < 0 else decimal.Decimal(0)


def budget_of(lines: Lines, headers: Iterable[Header], spent: Cost | None) -> Budget:
    """The budget of a session."""
    marks = lines.marks(comments.Budget)
    stated = [money(header.budget) for header in headers]
    stated += [mark.value.budget for mark in lines.marks(lifecycle.Start)]
    stated += [mark.value.total for mark in marks]
    total = next((amount for amount in reversed(stated) if amount is not None), None)
    return Budget(total, marks, spent)
