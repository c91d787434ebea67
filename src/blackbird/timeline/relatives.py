"""Finds the logs that a session's logs may have been copied from, and reads of them what tells whose each line is."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from blackbird.canon import natives
from blackbird.canon.model import Evidence, Side
from blackbird.imports import files
from blackbird.imports.kept import Joiner
from blackbird.imports.sources import Source
from blackbird.timeline import copies, traffic
from blackbird.timeline.copies import Account, Before, Line
from blackbird.timeline.picking import ALL, Extent, Places, pick
from blackbird.timeline.session import FAULTS
from blackbird.trace.folder import Trace
from blackbird.trace.records import Record
from blackbox.errors import ReadError


class Case(NamedTuple):
    """A session whose logs may be copies: its requests and its files, and what else there is."""

    requests: Collection[bytes]
    sources: Mapping[bytes, Source]
    #: Files of other sessions that were written when one of these begins.
    others: Mapping[bytes, Source]
    #: Whether the trace has requests of other sessions of a client than a file of these is of.
    has_traffic: bool


def before(trace: Trace, case: Case, extent: Extent = ALL, places: Places | None = None) -> dict[str, Before]:
    """What of a session's files happened in other sessions of the client, by the id of the file.

    Nothing is read if there can be no other. Of the traffic, what came before the last line of these files counts:
    lines tell of what is over, and so what is recorded later changes nothing here.
    """
    mine = {session_of(source) for source in case.sources.values()}
    if not mine or (not case.has_traffic and not case.others and len(mine) < 2):
        return {}
    logs = _Logs(trace, extent, places.logs if places is not None else None)
    accounts = logs.accounts(case.sources)
    last = extent.up_to(logs.last) if all(source.is_kept for source in case.sources.values()) else extent
    kin = logs.accounts(_kin(logs, accounts, case.others))
    lines = [line for account in accounts for line in account.lines]
    spans = places.spans if places is not None else None
    sent = traffic.read(trace, case.requests, lines, last, spans) if case.has_traffic else {}
    for account in (*accounts, *kin):
        account.sent = sent.get(account.name, ())
    found = {
        account.name: copies.before(
            account,
            [other for other in (*accounts, *kin) if other is not account],
            _elsewhere(sent, {account.name, *_threads(account.name, case.sources.values())}),
        )
        for account in accounts
    }
    return {source.id: found[session_of(source)] for source in case.sources.values()}


def _elsewhere(sent: Mapping[str, Collection[str]], own: Collection[str]) -> dict[str, str]:
    """The answers that came to other sessions alone, and to which."""
    mine = {answer for name in own for answer in sent.get(name, ())}
    others = sorted(name for name in sent if name not in own)
    return {answer: name for name in others for answer in sent[name] if answer not in mine}


def _threads(session: str, sources: Iterable[Source]) -> list[str]:
    """What the sub-agents of a session are called, which some clients give sessions of their own."""
    mine = (source for source in sources if session_of(source) == session)
    return [source.native_thread for source in mine if source.native_thread is not None]


def _kin(logs: "_Logs", accounts: Iterable[Account], others: Mapping[bytes, Source]) -> dict[bytes, Source]:
    """The files that have the earliest line of a session, too: what is copied is older than all that is not."""
    kin: dict[bytes, Source] = {}
    for account in accounts:
        at, key = min(((at, key) for key, at in account.known), default=(None, ""))
        near = {one: source for one, source in others.items() if at is not None and is_around(source, at)}
        kin |= {one: near[one] for one in logs.holding(near, key.encode())}
    return kin


def is_around(source: Source, at: int | None) -> bool:
    """Whether a file may tell of what happened then: of one whose import was cut off nobody knows."""
    if at is None or source.first_at is None or source.last_at is None:
        return True
    # What is stated of a file is precise to the microsecond.
    return source.first_at // 1000 <= at // 1000 <= source.last_at // 1000


def session_of(source: Source) -> str:
    """The session that a file is of; a log that names none is one by itself."""
    return source.native_session or source.id


class _Logs:
    """The logs of a trace, as far as it is read."""

    def __init__(self, trace: Trace, extent: Extent, places: Mapping[bytes, Collection[int]] | None) -> None:
        self._trace = trace
        self._extent = extent
        self._places = places
        #: The last record that was read of any of them.
        self.last = 0

    def holding(self, near: Mapping[bytes, Source], key: bytes) -> list[bytes]:
        """Which of some files have an id in them: most have not, and need not be understood for that."""
        found = {record.request for record in self._records(near) if key in (record.payload or b"")}
        found |= {one for one, source in near.items() if any(key in text.encode() for text in _outside(source))}
        return [one for one in near if one in found]

    def accounts(self, sources: Mapping[bytes, Source]) -> list[Account]:
        """What some files tell of whose their lines are, by session."""
        read = self._read(sources)
        found: dict[str, list[list[Line]]] = {}
        for one, source in sources.items():
            found.setdefault(session_of(source), []).append(read[one])
        return [Account(name, lines) for name, lines in found.items()]

    def _read(self, sources: Mapping[bytes, Source]) -> dict[bytes, list[Line]]:
        pages = {one: _Page(source) for one, source in sources.items()}
        joiners = {one: Joiner() for one in sources}
        for record in self._records(sources):
            self.last = max(self.last, record.sequence)
            line = joiners[record.request].take(record)
            if line is not None:
                pages[record.request].take(line.text)
        for one, source in sources.items():
            for text in _outside(source):
                pages[one].take(text)
        return {one: page.lines for one, page in pages.items()}

    def _records(self, wanted: Collection[bytes]) -> Iterator[Record]:
        return (record for _, record in pick(self._trace, wanted, self._extent, self._places))


class _Page:
    """What the lines of one file say of whose they are."""

    def __init__(self, source: Source) -> None:
        self.lines: list[Line] = []
        self._source = source
        self._reader: natives.Reader | None = None

    def take(self, text: str) -> None:
        """The next line. One that cannot be understood says nothing here; whoever tells the session tells that."""
        nowhere = Evidence(source=self._source.id, side=Side.LINE, start=0, end=0)
        try:
            self._reader = self._reader or natives.READERS[self._source.format](self._source.id, self._source.path)
            self.lines.append(copies.line_of(self._reader.line(text, nowhere)))
        except FAULTS:
            self.lines.append(Line())


def _outside(source: Source) -> Iterator[str]:
    """The lines of a file that was left outside of the trace; one that is gone tells nothing."""
    if source.is_kept:
        return
    try:
        for line in files.read(Path(source.path), is_document=source.is_document):
            yield line.text
    except ReadError:
        return
