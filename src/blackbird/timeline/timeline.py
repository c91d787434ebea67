"""A session as it happened: who took part, what was said and done in which order, and what it cost."""

from decimal import Decimal
from typing import Any

import msgspec

from blackbird.canon.model import Evidence, Item, Thread, Usage


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a session besides what happened in it; what nobody said is missing."""

    session: str
    title: str | None = None
    goal: str | None = None
    client: str | None = None
    client_version: str | None = None
    slug: str | None = None
    cwd: str | None = None
    repository: str | None = None
    root: str | None = None
    sha: str | None = None
    branch: str | None = None
    dirty: bool | None = None
    sandbox: str | None = None
    tools: dict[str, str] = {}
    mcp: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    natives: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    policy: str | None = None
    #: Nanoseconds since 1970.
    began: int | None = None
    ended: int | None = None
    #: Whether something of it still runs, and how its last run ended.
    is_active: bool = False
    exit_code: int | None = None
    signal: str | None = None
    redactions: dict[str, int] = {}


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """What a harness or a user said of the session: a run that began or ended, a goal, an outcome."""

    event: str
    at: int
    evidence: Evidence
    task: str | None = None
    run: str | None = None
    data: dict[str, Any] = {}


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and money. `unknown` names the models without a price: `usd` is then what the others cost."""

    usage: Usage = Usage()
    usd: Decimal | None = None
    reported: Decimal | None = None
    unknown: tuple[str, ...] = ()
    generations: int = 0
    prices: str | None = None

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            usage=self.usage + other.usage,
            usd=sum_of(self.usd, other.usd),
            reported=sum_of(self.reported, other.reported),
            unknown=tuple(dict.fromkeys((*self.unknown, *other.unknown))),
            generations=self.generations + other.generations,
            prices=other.prices or self.prices,
        )


def sum_of(total: Decimal | None, more: Decimal | None) -> Decimal | None:
    """Two amounts, of which neither may be known."""
    return total if more is None else more if total is None else total + more


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """A session. Items are in order: by time, those of one moment as they stand in the trace."""

    about: About
    threads: tuple[Thread, ...]
    items: tuple[Item, ...]
    spent: Spent
    stated: tuple[Stated, ...] = ()
    by_model: dict[str, Spent] = {}
    #: What could not be read, in words: of the trace, and lines of agents' own logs.
    problems: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
