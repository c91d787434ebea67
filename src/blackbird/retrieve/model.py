"""What is asked of the memory, and what it answers: cards that are bounded, and lead to the rest."""

import msgspec

from blackbird.artifacts.model import Type
from blackbird.artifacts.shortening import one_line


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Whose artifacts are meant: `task` before `session` before `project` before others.

    With `only`, nothing but the session is searched, or the project if there is none; a task never narrows a search.
    """

    session: str | None = None
    task: str | None = None
    #: Sessions of the same project, which are preferred to those of others.
    project: tuple[str, ...] = ()
    only: bool = True


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A search."""

    text: str
    scope: Scope = Scope()
    k: int = 8
    max_snippet_tokens: int = 60
    types: tuple[Type, ...] = ()


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """How a card came to its score: what the words gave, and by how much each boost multiplied it."""

    words: float
    scope: float
    recency: float
    type: float
    #: Below one for what no longer holds, was closed, or has lost its evidence.
    state: float = 1.0
    #: The words of the query that stand in it, by the field in which they do.
    matched: dict[str, tuple[str, ...]] = {}


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact, short enough to be read beside many others."""

    id: str
    type: Type
    title: str
    snippet: str
    score: float
    session: str
    task: str | None = None
    run: str | None = None
    #: Nanoseconds since 1970.
    at: int | None = None
    files: tuple[str, ...] = ()
    #: How it stands: `superseded`, `success`, `done`; empty for what simply holds.
    state: str = ""
    is_expired: bool = False
    #: How many others of its type that were weighed say the same; they have no card of their own.
    same: int = 0
    why: Why | None = None


#: Characters of a question that are said again with its answer.
_LONGEST_QUESTION = 240


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a search: the best cards first, and what was searched for them."""

    asked: Asked
    cards: tuple[Card, ...] = ()
    #: `all`: all words had to be there; `any`: some of them; `none`: nothing was left to search for.
    way: str = "none"
    words: tuple[str, ...] = ()
    #: Words that were not searched for: too common in any text, or in this memory.
    stopped: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    #: Words that were searched for, and stand in nothing that is in scope.
    nowhere: tuple[str, ...] = ()
    #: How many artifacts were in scope, and how many of the best were weighed.
    searched: int = 0
    weighed: int = 0
    #: What was left out, in words.
    left_out: tuple[str, ...] = ()
    tokens: int = 0

    @property
    def question(self) -> str:
        """What was asked, short enough to be said again."""
        return one_line(self.asked.text, _LONGEST_QUESTION)


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """Another artifact, and what it has to do with the one that was asked about.

    `relation` is `supersedes`, `superseded_by`, `task`, `file`, `symbol`, `decision` or `time`; `via` is the
    file, symbol or task.
    """

    relation: str
    card: Card
    via: str = ""
