"""Steps: the lines that share a `step=`, and the metrics that name it."""

from collections.abc import Iterable

from blackbox.document.line import Line
from blackbox.events import Event
from blackbox.events.comments import Metrics
from blackbox.session.lines import Lines
from blackbox.session.usage import Measured, combine
from blackbox.syntax.kinds import Kind


class Step:
    """One step: its lines in order, metrics comments included, and what it used."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lines: list[Line] = []
        self.measured: list[Measured] = []

    def __repr__(self) -> str:
        return f"Step({self.number}, lines={[line.number for line in self.lines]})"

    @property
    def events(self) -> list[Event]:
        """What the lines say."""
        return [line.event for line in self.lines]

    @property
    def metrics(self) -> Metrics | None:
        """What the step used: all metrics that belong to it, as one."""
        return combine(self.measured) if self.measured else None


def steps_of(lines: Lines, measured: Iterable[Measured]) -> dict[int, Step]:
    """The steps by number, in order of number."""
    measured = list(measured)
    comments = {one.line: one.step for one in measured if one.line.kind is Kind.COMMENT}
    found: dict[int, Step] = {}
    for line in lines.all:
        number = comments.get(line, line.step)
        if number is not None:
            found.setdefault(number, Step(number)).lines.append(line)
    for one in measured:
        if one.step is not None:
            found.setdefault(one.step, Step(one.step)).measured.append(one)
    return dict(sorted(found.items()))
