"""Records as lines of JSON: payloads as JSON or text, and as base64 too where they are no UTF-8."""

import base64
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from blackbird.exchange.clock import Clock, to_rfc3339
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import JSON_KINDS, Flag, Kind, Record, read_object
from blackbird.trace.scan import Corruption, Intact
from blackbird.trace.segment import Segment

SCHEMA = "trace-record/1"


class Wanted(msgspec.Struct, frozen=True):
    """Which records: those of one request, of a session's or a run's requests and what was stated of it, or all."""

    request: bytes | None = None
    session: str | None = None
    run: str | None = None

    @property
    def is_all(self) -> bool:
        """Whether no record is left out."""
        return self == Wanted()

    def names(self, record: Record) -> bool:
        """Whether a record's own JSON says that it belongs to the session or run."""
        if record.kind not in JSON_KINDS:
            return False
        fields = read_object(record) or {}
        is_session = self.session is None or fields.get("session") == self.session
        return is_session and (self.run is None or fields.get("run") == self.run)


def records(trace: Trace, wanted: Wanted) -> Iterator[dict[str, Any] | TraceError]:
    """The records that are wanted, as objects in order; what of the trace cannot be read comes as its error."""
    chosen = _requests(trace, wanted)
    for segment in trace.segments():
        if isinstance(segment, TraceError):
            yield segment
            continue
        clock = Clock(segment.header)
        try:
            for record in _read(segment, None if wanted.is_all else chosen | {ids.ZERO}):
                if isinstance(record, TraceError):
                    yield record
                    continue
                clock.take(record)
                if wanted.is_all or record.request in chosen or (wanted.request is None and wanted.names(record)):
                    yield describe(record, segment.header.number, clock)
        except TraceError as error:
            yield error


def _read(segment: Segment, chosen: frozenset[bytes] | None) -> Iterator[Record | TraceError]:
    """The records of some requests, or all, and what is corrupt between them."""
    if chosen is not None:
        yield from segment.pick(chosen)
    # A segment with corruption is never sealed.
    if chosen is not None and segment.sealed_root is not None:
        return
    for step in segment.steps(bodies=chosen is None):
        if isinstance(step, Corruption):
            size = step.end - step.start
            yield TraceError(f"{size} bytes are corrupt and left out", step.start, segment.file)
        elif isinstance(step, Intact) and chosen is None:
            yield step.record


def _requests(trace: Trace, wanted: Wanted) -> frozenset[bytes]:
    if wanted.is_all:
        return frozenset()
    if wanted.request is not None:
        return frozenset([wanted.request])
    found: set[bytes] = set()
    for segment in trace.segments():
        if isinstance(segment, Segment):
            found.update(record.request for record in _starts(segment) if wanted.names(record))
    return frozenset(found)


def _starts(segment: Segment) -> Iterable[Record]:
    """The starts of requests, as far as the segment can be read; what cannot is told when its records are read."""
    try:
        yield from (record for record in segment.records(bodies=False) if record.kind == Kind.REQUEST_START)
    except TraceError:
        return


def describe(record: Record, segment: int, clock: Clock) -> dict[str, Any]:
    """One record as an object."""
    return {
        "schema": SCHEMA,
        "segment": segment,
        "sequence": record.sequence,
        "type": record.name,
        "version": record.version,
        "time": to_rfc3339(clock.wall(record)),
        "monotonic": record.monotonic,
        "request_id": ids.request_name(record.request) if record.request != ids.ZERO else None,
        "redacted": bool(record.flags & Flag.REDACTED),
        "decoded": bool(record.flags & Flag.DECODED),
        "flags": record.flags,
        "bytes": record.length,
        **_payload(record),
    }


def _payload(record: Record) -> dict[str, Any]:
    fields = read_object(record) if record.kind in JSON_KINDS else None
    return {"data": fields} if fields is not None else describe_bytes(record.payload or b"")


def describe_bytes(data: bytes) -> dict[str, str]:
    """Bytes as text; what is no UTF-8 shows as U+FFFD there, and is whole in `base64`."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"text": data.decode(errors="replace"), "base64": base64.b64encode(data).decode("ascii")}
