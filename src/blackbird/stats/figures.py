"""Figures of the memory, computed from what was read of it; no file is opened here."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import msgspec

from blackbird.artifacts.note import Note
from blackbird.timeline.timeline import Spent
from blackbird.usage import Use

#: What the contract asks of a run at most; what goes beyond is counted, never refused.
CONTRACT = {"search": 1, "get": 2}
PACK = "context"
_Key = TypeVar("_Key", bound=Hashable)


class Took(msgspec.Struct, frozen=True, kw_only=True):
    """How long answers took, in milliseconds."""

    count: int = 0
    p50_ms: float = 0.0
    p95_ms: float = 0.0


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """Answers to one kind of question by one door; `beyond` are those that the contract would not have asked for."""

    op: str
    door: str
    took: Took
    #: Of one answer, not of all.
    tokens_p50: int = 0
    tokens_p95: int = 0
    beyond: int = 0


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """How long a section of a pack was, in tokens; packs without it do not count."""

    packs: int
    p50: int
    p95: int


class Packs(msgspec.Struct, frozen=True, kw_only=True):
    """Packs that were built, and those that were there already."""

    built: Took = Took()
    cached: Took = Took()
    sections: dict[str, Tokens] = {}

    @property
    def hits(self) -> float:
        """The share of those that were there already."""
        count = self.built.count + self.cached.count
        return self.cached.count / count if count else 0.0


class Lag(msgspec.Struct, frozen=True, kw_only=True):
    """How far the memory is behind: records of the trace that it does not have, and the age of the oldest of them."""

    records: int = 0
    seconds: float = 0.0


class Holdings(msgspec.Struct, frozen=True, kw_only=True):
    """What the memory has, and what it takes on the disk."""

    bytes: int = 0
    sessions: int = 0
    artifacts: dict[str, int] = {}
    findings: int = 0
    builder: str | None = None


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """What was spent for one thing; what it does not tell apart is missing."""

    session: str | None = None
    task: str | None = None
    model: str | None = None
    spent: Spent


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    lag: Lag
    holdings: Holdings
    #: When the oldest answer that is kept was given: nanoseconds since 1970.
    since: int | None = None
    answers: tuple[Answers, ...] = ()
    packs: Packs = Packs()
    by_model: tuple[Bill, ...] = ()
    by_session: tuple[Bill, ...] = ()
    by_task: tuple[Bill, ...] = ()


def figures(lag: Lag, holdings: Holdings, uses: Sequence[Use], notes: Iterable[Note]) -> Figures:
    """The figures of some answers and some sessions; sessions come newest first, models dearest first."""
    ordered = sorted(notes, key=lambda note: (note.began or 0, note.session), reverse=True)
    rows = [
        Bill(session=note.session, task=each.task, model=each.model, spent=each.spent)
        for note in ordered
        for each in note.spent
    ]
    models = _summed(rows, lambda row: row.model)
    return Figures(
        lag=lag,
        holdings=holdings,
        since=min((use.at for use in uses), default=None),
        answers=answers(uses),
        packs=packs(uses),
        by_model=tuple(
            Bill(model=model, spent=spent)
            for model, spent in sorted(models.items(), key=lambda item: (-(item[1].usd or 0), -item[1].usage.total))
        ),
        by_session=tuple(
            Bill(session=session, spent=spent) for session, spent in _summed(rows, lambda row: row.session).items()
        ),
        by_task=tuple(
            Bill(session=session, task=task, spent=spent)
            for (session, task), spent in _summed(rows, lambda row: (row.session, row.task)).items()
            if task is not None
        ),
    )


def answers(uses: Sequence[Use]) -> tuple[Answers, ...]:
    """By what was asked and by which door, in the order of their names."""
    extra = beyond(uses)
    groups = _grouped(enumerate(uses), lambda pair: (pair[1].op, pair[1].door))
    return tuple(
        Answers(
            op=op,
            door=door,
            took=took(use.ms for _, use in group),
            tokens_p50=round(quantile([use.tokens for _, use in group], 0.5)),
            tokens_p95=round(quantile([use.tokens for _, use in group], 0.95)),
            beyond=sum(number in extra for number, _ in group),
        )
        for (op, door), group in sorted(groups.items())
    )


def packs(uses: Iterable[Use]) -> Packs:
    """What packs took, and how long their sections were."""
    asked = [use for use in uses if use.op == PACK]
    names = sorted({name for use in asked for name in use.sections})
    return Packs(
        built=took(use.ms for use in asked if not use.cached),
        cached=took(use.ms for use in asked if use.cached),
        sections={name: _tokens([use.sections[name] for use in asked if name in use.sections]) for name in names},
    )


def beyond(uses: Sequence[Use]) -> set[int]:
    """The places of the answers that a run asked for beyond its contract, by who gave them or by counting."""
    found = {number for number, use in enumerate(uses) if use.beyond}
    counted: dict[tuple[str, str], int] = {}
    for number, use in sorted(enumerate(uses), key=lambda pair: pair[1].at):
        if use.run is None or use.op not in CONTRACT:
            continue
        counted[use.run, use.op] = counted.get((use.run, use.op), 0) + 1
        if counted[use.run, use.op] > CONTRACT[use.op]:
            found.add(number)
    return found


def took(milliseconds: Iterable[float]) -> Took:
    """Their number, and the two that people ask for."""
    values = list(milliseconds)
    return Took(count=len(values), p50_ms=quantile(values, 0.5), p95_ms=quantile(values, 0.95))


def quantile(values: Sequence[float], share: float) -> float:
    """The least value that this share of all is not above; 0 of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _tokens(values: Sequence[int]) -> Tokens:
    return Tokens(packs=len(values), p50=round(quantile(values, 0.5)), p95=round(quantile(values, 0.95)))


def _summed(rows: Iterable[Bill], key: Callable[[Bill], _Key]) -> dict[_Key, Spent]:
    total: dict[_Key, Spent] = {}
    for row in rows:
        name = key(row)
        total[name] = total[name] + row.spent if name in total else row.spent
    return total


_Value = TypeVar("_Value")


def _grouped(values: Iterable[_Value], key: Callable[[_Value], _Key]) -> dict[_Key, list[_Value]]:
    groups: dict[_Key, list[_Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups
