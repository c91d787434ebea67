"""Which sessions there are: one row each, and one for what nobody can be named for. Keeps counts, not records."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from blackbird.exchange import payloads
from blackbird.sessions.imported import Log, Logs, Outing, made_by, title_of
from blackbird.sessions.links import Links, Sender, sender_of
from blackbird.sessions.tally import Tally
from blackbird.trace import ids
from blackbird.trace.records import Kind, Record, read_object

REGISTERED = "run"
CLAIMED = "claimed"
CLIENT = "client"
#: Nothing was recorded, but its log was taken in.
IMPORTED = "import"
NONE = "none"
#: Statements about what is kept, which say nothing of what a session did.
_KEEPING = ("pin", "unpin")


class Filing(NamedTuple):
    """Where a request belongs: the recorder's word on how it knows, and the session."""

    attribution: str
    session: str | None


UNATTRIBUTED = Filing(NONE, None)


def file_under(fields: dict[str, Any], links: Links) -> Filing:
    """The row of a `request.start`. Ids that nobody registered never share a row with those of a registered run."""
    attribution, session = payloads.text(fields, "attribution"), payloads.text(fields, "session")
    if attribution in (REGISTERED, CLAIMED):
        return Filing(attribution, session)
    if attribution == CLIENT and links.session is not None:
        return Filing(CLIENT, links.session)
    return UNATTRIBUTED


class Row:
    """What is known of a session; times are nanoseconds since 1970."""

    def __init__(self, filing: Filing) -> None:
        self.filing = filing
        #: This filing and those of sub-agents' own sessions below it.
        self.filings = {filing}
        self.began: int | None = None
        self.last: int | None = None
        self.goal: str | None = None
        self.tasks: dict[str, None] = {}
        self.runs: dict[str, None] = {}
        self.outings: dict[str, Outing] = {}
        self.natives: dict[str, None] = {}
        #: The client's ids of its sessions, as requests named them.
        self.senders: dict[str, None] = {}
        self.tally = Tally()
        self.stated: dict[str, None] = {}
        self.seen: dict[str, None] = {}
        #: The agents' own logs that were taken in.
        self.logs: list[Log] = []

    @property
    def title(self) -> str | None:
        """The user's first words, as an imported log has them."""
        return title_of(self.logs)

    @property
    def agents(self) -> list[str]:
        """The clients: as runs state them, else as requests and logs say, else how the logs are written."""
        forms = dict.fromkeys(log.format for log in self.logs if log.format is not None)
        return list(self.stated or self.seen or forms)

    @property
    def first_run(self) -> int | None:
        """When its first run began."""
        return min((outing.began for outing in self.outings.values() if outing.began is not None), default=None)

    @property
    def breadth(self) -> int:
        """How many names it is known by; it only grows."""
        return len(self.runs) + len(self.natives) + len(self.senders) + len(self.seen)

    def touch(self, wall: int) -> None:
        """Something happened."""
        self.began = wall if self.began is None else min(self.began, wall)
        self.last = wall if self.last is None else max(self.last, wall)

    def note(self, fields: dict[str, Any]) -> None:
        """Take the names of a request or a statement."""
        for names, key in ((self.tasks, "task"), (self.runs, "run")):
            name = payloads.text(fields, key)
            if name is not None:
                names.setdefault(name)

    def begin(self, request: bytes, fields: dict[str, Any], sender: Sender) -> None:
        """A request of it starts."""
        self.note(fields)
        links = sender.links
        if sender.agent is not None:
            self.seen.setdefault(sender.agent.name)
        self.natives.update(dict.fromkeys(name for name in (links.session, links.thread) if name is not None))
        self.senders.update(dict.fromkeys([links.session] if links.session is not None else []))
        self.tally.begin(request, fields)

    def state(self, fields: dict[str, Any], wall: int | None = None) -> None:
        """What a harness states of it."""
        self.note(fields)
        data = payloads.inner(fields, "data")
        run = payloads.text(fields, "run")
        if run is not None and wall is not None:
            self.outings.setdefault(run, Outing()).state(fields.get("event"), data, wall)
        client = payloads.text(data, "client") or payloads.text(data, "program")
        if fields.get("event") == "run.start" and client is not None:
            self.stated.setdefault(client)
        if fields.get("event") == "goal":
            self.goal = payloads.text(data, "text") or self.goal

    def add(self, other: "Row") -> None:
        """Take a sub-agent's own session in."""
        self.filings |= other.filings
        for wall in (other.began, other.last):
            if wall is not None:
                self.touch(wall)
        for mine, theirs in (
            (self.tasks, other.tasks),
            (self.runs, other.runs),
            (self.natives, other.natives),
            (self.senders, other.senders),
            (self.stated, other.stated),
            (self.seen, other.seen),
        ):
            mine.update(theirs)
        self.outings.update(other.outings)
        self.tally.add(other.tally)

    def take_in(self, log: Log) -> None:
        """An agent's own log belongs to it."""
        self.logs.append(log)
        is_dated = log.first_at is not None or log.last_at is not None
        for wall in (log.first_at, log.last_at) if is_dated else (log.taken_at,):
            if wall is not None:
                self.touch(wall)
        self.natives.update(dict.fromkeys(name for name in (log.session, log.thread) if name is not None))
        if log.client is not None:
            self.seen.setdefault(log.client)


class _KeptRow(msgspec.Struct, kw_only=True):
    """A row as a file has it: all but what passed, which is counted, and what is joined to it later."""

    filing: Filing
    began: int | None
    last: int | None
    goal: str | None
    tasks: list[str]
    runs: list[str]
    outings: dict[str, Outing]
    natives: list[str]
    senders: list[str]
    stated: list[str]
    seen: list[str]


class KeptRows(msgspec.Struct, kw_only=True):
    """The rows of a trace, to go on from later. `owners` has the number of the row that each request is in."""

    rows: list[_KeptRow]
    owners: dict[bytes, int]
    parents: list[tuple[Filing, Filing]]
    sessions: dict[str, str]
    logs: list[Log]


class Rows:
    """The rows of a trace, record by record.

    `shape` is another number whenever what is known of who belongs to whom may have changed.
    """

    def __init__(self, since: int | None = None) -> None:
        self._since = since
        self.shape = 0
        self._logs = Logs()
        self._rows: dict[Filing, Row] = {}
        self._owners: dict[bytes, Row] = {}
        self._parents: dict[Filing, Filing] = {}
        self._sessions: dict[str, str] = {}

    def take(self, record: Record, wall: int) -> None:
        """Count a record, in the order of the trace."""
        if record.request == ids.ZERO:
            self._hear(record, wall)
            return
        if record.kind == Kind.NATIVE_LINE:
            return
        row = self._owners.get(record.request)
        if row is None:
            row = self._begin(record)
        elif record.kind != Kind.REQUEST_START:
            row.tally.take(record)
        row.touch(wall)

    def weigh(self, record: Record) -> None:
        """Count a piece of a body, which says no more than its length."""
        row = self._owners.get(record.request)
        if row is not None:
            row.tally.weigh(record)

    def hear(self, record: Record) -> None:
        """Take what was stated before the time that is asked about: names and goals, but it is no activity."""
        self._hear(record, None)

    def rows(self) -> list[Row]:
        """All of them, newest first. A sub-agent's own session is in the row of the one that it belongs to."""
        folded: dict[Filing, Row] = {}
        for filing, row in self._rows.items():
            root = self._root(filing)
            folded.setdefault(root, Row(root)).add(row)
            folded[root].goal = folded[root].goal or row.goal
        self._join_logs(folded)
        happened = [row for row in folded.values() if row.last is not None]
        return sorted(happened, key=lambda row: (row.last or 0, row.filing.session or ""), reverse=True)

    def _join_logs(self, folded: dict[Filing, Row]) -> None:
        """A session that was both recorded and imported is one; the client's own id is what both have.

        A client that sends none is known by its runs: by who worked where, and when.
        """
        known = sorted(folded.values(), key=by_trust)
        owners = {native: row for row in known if row.filing != UNATTRIBUTED for native in row.natives}
        sessions = self._logs.by_session()
        for host in known:
            if host.outings and not host.natives:
                mine = {name: logs for name, logs in sessions.items() if name not in owners and _sent(host, logs)}
                host.natives.update(dict.fromkeys(sorted(made_by(host.outings.values(), mine))))
        owners |= {name: host for host in known if host.outings for name in host.natives if name not in owners}
        for name, logs in sessions.items():
            last = max((log.last_at or 0 for log in logs), default=0)
            row = owners.get(name)
            if row is None and self._since is not None and last < self._since:
                continue
            if row is None:
                row = folded.setdefault(Filing(IMPORTED, name), Row(Filing(IMPORTED, name)))
            for log in logs:
                row.take_in(log)

    def has(self, request: bytes) -> bool:
        """Whether a request was counted."""
        return request in self._owners

    def filing_of(self, request: bytes) -> Filing | None:
        """Where a request belongs by its own word, if it was counted."""
        owner = self._owners.get(request)
        return owner.filing if owner is not None else None

    def by_filing(self) -> dict[Filing, list[bytes]]:
        """All requests, by where they belong."""
        found: dict[Filing, list[bytes]] = {}
        for request, owner in self._owners.items():
            found.setdefault(owner.filing, []).append(request)
        return found

    def kept(self) -> KeptRows:
        """All of it, but for what passed."""
        numbers = {filing: number for number, filing in enumerate(self._rows)}
        return KeptRows(
            rows=[
                _KeptRow(
                    filing=row.filing,
                    began=row.began,
                    last=row.last,
                    goal=row.goal,
                    tasks=list(row.tasks),
                    runs=list(row.runs),
                    outings=row.outings,
                    natives=list(row.natives),
                    senders=list(row.senders),
                    stated=list(row.stated),
                    seen=list(row.seen),
                )
                for row in self._rows.values()
            ],
            owners={request: numbers[owner.filing] for request, owner in self._owners.items()},
            parents=list(self._parents.items()),
            sessions=self._sessions,
            logs=self._logs.all(),
        )

    @classmethod
    def from_kept(cls, kept: KeptRows) -> "Rows":
        """Rows that go on from what was kept; they count what passes from then on."""
        rows = cls()
        for known in kept.rows:
            row = rows._row(known.filing)
            row.began, row.last, row.goal, row.outings = known.began, known.last, known.goal, known.outings
            row.tasks, row.runs = dict.fromkeys(known.tasks), dict.fromkeys(known.runs)
            row.natives, row.seen = dict.fromkeys(known.natives), dict.fromkeys(known.seen)
            row.stated, row.senders = dict.fromkeys(known.stated), dict.fromkeys(known.senders)
        numbered = list(rows._rows.values())
        rows._owners = {request: numbered[number] for request, number in kept.owners.items()}
        rows._parents, rows._sessions = dict(kept.parents), kept.sessions
        rows._logs = Logs(kept.logs)
        return rows

    def requests(self, row: Row) -> list[bytes]:
        """The requests of a row."""
        return [request for request, owner in self._owners.items() if owner.filing in row.filings]

    def _begin(self, record: Record) -> Row:
        fields = (read_object(record) or {}) if record.kind == Kind.REQUEST_START else {}
        sender = sender_of(fields)
        links = sender.links
        filing = file_under(fields, links)
        row = self._owners[record.request] = self._row(filing)
        names = row.breadth
        row.begin(record.request, fields, sender)
        self.shape += row.breadth != names
        if record.kind != Kind.REQUEST_START:
            row.tally.take(record)
        if filing.attribution == CLIENT and links.parent_session is not None:
            self.shape += filing not in self._parents
            self._parents.setdefault(filing, Filing(CLIENT, links.parent_session))
        return row

    def _hear(self, record: Record, wall: int | None) -> None:
        fields = (read_object(record) or {}) if record.kind in (Kind.HARNESS_EVENT, Kind.TOOL_EVENT) else {}
        if record.kind == Kind.TOOL_EVENT:
            # A harness may have said nothing else of its session.
            self._state({key: fields.get(key) for key in ("session", "task", "run")}, wall)
            return
        if record.kind != Kind.HARNESS_EVENT:
            return
        self.shape += 1
        if fields.get("event") in _KEEPING or self._logs.take(fields, wall):
            return
        self._state(fields, wall)

    def _state(self, fields: dict[str, Any], wall: int | None) -> None:
        """What is stated of a session, or of a run that is known to be of one."""
        session, run = payloads.text(fields, "session"), payloads.text(fields, "run")
        if session is not None and run is not None:
            self._sessions.setdefault(run, session)
        session = session or self._sessions.get(run or "")
        if session is not None:
            row = self._row(Filing(REGISTERED, session))
            names = row.breadth
            row.state(fields, wall)
            self.shape += row.breadth != names
            if wall is not None:
                row.touch(wall)

    def _row(self, filing: Filing) -> Row:
        row = self._rows.get(filing)
        if row is None:
            row = self._rows[filing] = Row(filing)
            self.shape += 1
        return row

    def _root(self, filing: Filing) -> Filing:
        """The session at the top; if they name each other in a circle, the first of them by name."""
        passed = [filing]
        while (parent := self._parents.get(passed[-1])) is not None:
            if parent in passed:
                return min(passed[passed.index(parent) :], key=lambda known: known.session or "")
            passed.append(parent)
        return passed[-1]


def _sent(row: Row, logs: list[Log]) -> bool:
    """Whether the client that wrote these logs sent requests of the row."""
    return any(log.client in row.seen for log in logs)


def by_trust(row: Row) -> tuple[int, int, str]:
    """The least trusted first; of those that are alike, the one that began first."""
    return -_TRUST.index(row.filing.attribution), row.began or 0, row.filing.session or ""


def find(rows: Iterable[Row], text: str) -> list[Row]:
    """The rows that an id names, whole or by its start.

    A session's id goes before a run's, and that before a client's own.
    """
    known = sorted(rows, key=lambda row: _TRUST.index(row.filing.attribution))
    for names in (_sessions, _runs, _natives):
        found = [row for row in known if text in names(row)]
        if found:
            return found[:1]
    for names in (_sessions, _runs, _natives):
        found = [row for row in known if any(name.startswith(text) for name in names(row))]
        if found:
            return found[:1] if len({row.filing.session for row in found}) == 1 else found
    return []


_TRUST = (REGISTERED, CLIENT, IMPORTED, CLAIMED, NONE)
#: What the row of unattributed traffic is called where a session is asked for.
UNATTRIBUTED_NAME = "unattributed"


def names_of(row: Row) -> list[str]:
    """All ids by which a row can be asked for."""
    return [*_sessions(row), *_runs(row), *_natives(row)]


def _sessions(row: Row) -> list[str]:
    if row.filing == UNATTRIBUTED:
        return [UNATTRIBUTED_NAME]
    return [filing.session for filing in row.filings if filing.session is not None]


def _runs(row: Row) -> list[str]:
    return list(row.runs)


def _natives(row: Row) -> list[str]:
    return list(row.natives)
