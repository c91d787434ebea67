"""What a trace says after a rough time, read with the product's own reader."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbird.trace.header import Header
from blackbird.trace.records import Kind, Record, read_object
from blackbird.trace.segment import Segment
from blackbird.trace.verify.findings import Report, Severity
from blackbird.trace.verify.verifier import Verifier

_BODIES = (Kind.REQUEST_BODY, Kind.RESPONSE_BODY)


@dataclass
class Account:
    """All that is recorded of one request."""

    id: bytes
    starts: list[dict[str, Any]] = field(default_factory=list)
    ends: list[dict[str, Any]] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[dict[str, Any]] = field(default_factory=list)
    heads: list[dict[str, Any]] = field(default_factory=list)
    #: The pieces of both bodies; only their lengths if bodies were not asked for.
    pieces: dict[str, list[bytes]] = field(default_factory=lambda: {"request": [], "response": []})
    stored: dict[str, int] = field(default_factory=lambda: {"request": 0, "response": 0})
    last_sequence: int = 0

    @property
    def target(self) -> str:
        return str(self.starts[0]["target"]) if self.starts else ""

    @property
    def over(self) -> dict[str, Any]:
        """The one record that ended it."""
        (end,) = [*self.ends, *self.errors]
        return end

    def body(self, direction: str) -> bytes:
        return b"".join(self.pieces[direction])

    def missing(self, direction: str) -> int:
        """The bytes that its gaps name."""
        return sum(int(gap["bytes"]) for gap in self.gaps if gap["direction"] == direction)


@dataclass
class Reading:
    """A trace, read from one end to the other."""

    headers: list[Header] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)
    accounts: dict[bytes, Account] = field(default_factory=dict)
    #: Records that belong to no request.
    others: list[Record] = field(default_factory=list)

    def by_target(self) -> dict[str, Account]:
        """Accounts by what was asked for, which tests make unique."""
        return {account.target: account for account in self.accounts.values()}


def read(folder: Path, *, bodies: bool = True, after: int = 0) -> Reading:
    """Every intact record of the trace, behind some segment if one is named."""
    reading = Reading()
    trace = Trace(folder)
    for place in trace.places():
        segment = trace.open(place) if place.number > after else None
        if not isinstance(segment, Segment):
            continue
        reading.headers.append(segment.header)
        for record in segment.records(bodies=bodies):
            reading.sequences.append(record.sequence)
            if record.request == ids.ZERO:
                reading.others.append(record)
            else:
                _add(reading.accounts.setdefault(record.request, Account(record.request)), record)
    return reading


def _add(account: Account, record: Record) -> None:
    account.last_sequence = record.sequence
    if record.kind in _BODIES:
        direction = "request" if record.kind == Kind.REQUEST_BODY else "response"
        account.stored[direction] += record.length
        if record.payload is not None:
            account.pieces[direction].append(bytes(record.payload))
        return
    places = {
        Kind.REQUEST_START: account.starts,
        Kind.RESPONSE_START: account.heads,
        Kind.RESPONSE_END: account.ends,
        Kind.ERROR: account.errors,
        Kind.GAP: account.gaps,
    }
    places[Kind(record.kind)].append(read_object(record) or {})


def verify(folder: Path) -> Report:
    """What is wrong with a trace."""
    trace = Trace(folder)
    verifier = Verifier(trace.synced())
    for place, content in trace.contents():
        verifier.add(place, content)
    return verifier.finish()


def errors(folder: Path) -> list[str]:
    """The findings that must not be."""
    return [finding.message for finding in verify(folder).findings if finding.severity is Severity.ERROR]
