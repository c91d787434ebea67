"""Which lines of a session's logs were another's first: decided by what lines say, never by when they were taken in.

A client that goes on from a session may copy its lines into the log of the new one, as if they were its own.
"""

import bisect
import functools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from blackbird.canon.seen import Entry

#: What two logs know the same line by: the client's id of it, and its time.
Name = tuple[str, int]


class Line(NamedTuple):
    """What a line says of whose it is."""

    key: str | None = None
    at: int | None = None
    #: The session that it names as its own, and the one that it says it was copied from.
    session: str | None = None
    copied_from: str | None = None
    #: The provider's ids of the answer that it is a part of, and of the request that led to it.
    answer: str | None = None
    request: str | None = None

    @property
    def name(self) -> Name | None:
        """What another log would know it by."""
        return (self.key, self.at) if self.key is not None and self.at is not None else None

    @property
    def answers(self) -> list[str]:
        """The ids of its answer."""
        return [name for name in (self.answer, self.request) if name is not None]


class Account:
    """The logs of one session of a client: their lines file by file, and the answers that its requests got."""

    def __init__(self, name: str, files: Sequence[Sequence[Line]], sent: Container[str] = ()) -> None:
        #: The client's id of the session.
        self.name = name
        self.files = files
        self.sent = sent

    @property
    def lines(self) -> Iterator[Line]:
        """The lines of all files."""
        return (line for file in self.files for line in file)

    @functools.cached_property
    def known(self) -> frozenset[Name]:
        """The lines that another log may have, too."""
        return frozenset(name for line in self.lines if (name := line.name) is not None)


class Before(NamedTuple):
    """What of a session's logs happened in other sessions, and in which."""

    lines: Mapping[Name, str] = {}
    answers: Mapping[str, str] = {}
    #: When answers were written down that others got, in order, and who did: what stands before was copied with them.
    times: Sequence[int] = ()
    askers: Sequence[str] = ()

    def owner(self, entry: Entry) -> str | None:
        """The session in which an entry happened, if it was another."""
        if entry.copied_from is not None or self == NOTHING:
            return entry.copied_from
        line = line_of([entry])
        asker = next((self.answers[name] for name in line.answers if name in self.answers), None)
        if asker is not None:
            return asker
        if line.name is not None and line.name in self.lines:
            return self.lines[line.name]
        place = bisect.bisect_left(self.times, entry.moment) if entry.moment is not None else len(self.times)
        return self.askers[place] if place < len(self.times) else None


NOTHING = Before()


def line_of(entries: Iterable[Entry]) -> Line:
    """What a line says of whose it is, by all that was read from it."""
    line = Line()
    for entry in entries:
        reply = entry.reply
        line = Line(
            line.key or entry.key,
            entry.at if line.at is None else line.at,
            line.session or entry.session,
            line.copied_from or entry.copied_from,
            line.answer or (reply.response_id if reply is not None else None),
            line.request or entry.provider_request,
        )
    return line


def before(mine: Account, others: Iterable[Account], elsewhere: Mapping[str, str]) -> Before:
    """What of a session's logs is another's; `elsewhere` are answers that other sessions' requests got, and whose.

    An answer says for sure who asked for it, so what stands before the last of them is no more the session's own
    than that one is.
    """
    originals = [other for other in sorted(others, key=lambda other: other.name) if _compare(other, mine) < 0]
    lines: dict[Name, str] = {}
    for original in sorted(originals, key=functools.cmp_to_key(_compare)):
        for name in mine.known & original.known:
            lines.setdefault(name, original.name)
    answers = {name: elsewhere[name] for line in mine.lines for name in line.answers if name in elsewhere}
    asked = sorted(
        (line.at, answers[name])
        for line in mine.lines
        for name in line.answers
        if line.at is not None and name in answers
    )
    return Before(lines, answers, [at for at, _ in asked], [asker for _, asker in asked])


def _compare(one: Account, other: Account) -> int:
    """Below zero if what both have was the first one's first, above if the other's; zero if they have nothing."""
    shared = one.known & other.known
    if not shared:
        return 0
    return -1 if _Stand.of(one, other, shared) < _Stand.of(other, one, shared) else 1


class _Stand(NamedTuple):
    """What speaks against a session having been first, the weightiest before: the lesser of two is the original."""

    #: None of the answers that both logs have came to one of its own requests.
    is_unsent: bool
    #: Its lines say that they are copies, or name the other session as theirs.
    is_told: bool
    #: It has nothing of its own from before the last line that both have. A copy begins behind that.
    is_late: bool
    #: It has something of its own at all.
    has_own: bool
    #: What is its own and later stands before what both have: it was there when that was copied.
    is_led: bool
    #: When its own begins, counted backwards. A copy has all that there was, so the original went on after it.
    is_ahead: int
    #: Nothing else tells them apart.
    name: str

    @classmethod
    def of(cls, account: Account, other: Account, shared: frozenset[Name]) -> "_Stand":
        """How a session stands to another that has some of the same lines."""
        last = max(at for _, at in shared)
        both = [line for line in account.lines if line.name in shared]
        pieces = [_Piece(file, shared) for file in account.files]
        own = [line.at for piece in pieces for line in piece.own if line.at is not None]
        return cls(
            is_unsent=not any(name in account.sent for line in both for name in line.answers),
            is_told=any(line.copied_from is not None or line.session == other.name for line in both),
            is_late=not any(at <= last for at in own) and not any(piece.is_mixed for piece in pieces),
            has_own=bool(own),
            is_led=any(line.at is not None and line.at > last for piece in pieces for line in piece.leading),
            is_ahead=-min(own, default=0),
            name=account.name,
        )


class _Piece:
    """One file of a session, taken apart by what another session has of it."""

    def __init__(self, file: Sequence[Line], shared: Container[Name | None]) -> None:
        self._file = file
        self._is_shared = [line.name in shared for line in file]
        places = [place for place, is_shared in enumerate(self._is_shared) if is_shared]
        self._first, self._last = (places[0], places[-1]) if places else (0, 0)

    @property
    def own(self) -> list[Line]:
        """What the other does not have."""
        return [line for line, is_shared in zip(self._file, self._is_shared, strict=True) if not is_shared]

    @property
    def leading(self) -> Sequence[Line]:
        """What stands before the first line that both have."""
        return self._file[: self._first]

    @property
    def is_mixed(self) -> bool:
        """Whether lines without a time stand between those that both have: what is copied stands in one piece."""
        between = range(self._first, self._last)
        return any(self._file[place].at is None and not self._is_shared[place] for place in between)
