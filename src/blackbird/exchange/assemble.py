"""Puts one exchange together from its records, which may lie in several segments and may have no end."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from blackbird.exchange import messages, payloads
from blackbird.exchange.clock import Clock, to_rfc3339
from blackbird.exchange.exchange import Body, Chunk, Exchange, Gap, Head, Provenance, Sent, Source, State, WebSocket
from blackbird.trace.header import Header
from blackbird.trace.ids import request_name, to_text
from blackbird.trace.records import Direction, Kind, Record, read_object

_FINAL_STATUS = 200
_SWITCHING_PROTOCOLS = 101


class Part(NamedTuple):
    """The records of one request in one segment."""

    header: Header
    clock: Clock
    records: Sequence[Record]


def assemble(parts: Sequence[Part], live: bytes | None) -> Exchange:
    """The exchange that these records are; `live` is the instance of the recorder that runs, if one does.

    The parts are in the order of their segments, and each has at least one record.
    """
    records = [record for part in parts for record in part.records]
    start = _first(records, Kind.REQUEST_START)
    end = _first(records, Kind.RESPONSE_END)
    failure = _first(records, Kind.ERROR)
    opening = _fields(start)
    closing = _fields(end or failure)
    heads = [payloads.head(_fields(record)) for record in records if record.kind == Kind.RESPONSE_START]
    finals = [head for head in heads if _is_final(head)]
    kept = payloads.inner(closing, "kept")
    began = parts[0].clock.wall(parts[0].records[0])
    return Exchange(
        request_id=request_name(records[0].request),
        state=_state(end, failure, is_live=parts[-1].header.instance == live),
        provenance=_provenance(parts, records),
        session=payloads.text(opening, "session"),
        task=payloads.text(opening, "task"),
        run=payloads.text(opening, "run"),
        attribution=payloads.text(opening, "attribution"),
        client=payloads.texts(opening, "client"),
        via=payloads.text(opening, "via"),
        method=payloads.text(opening, "method"),
        path=payloads.text(opening, "target"),
        version=payloads.text(opening, "version"),
        headers=payloads.headers(opening),
        upstream=payloads.text(opening, "upstream"),
        url=payloads.text(opening, "url"),
        mode=payloads.text(opening, "mode"),
        policy=payloads.text(opening, "policy") or parts[0].header.policy,
        started=to_rfc3339(began),
        started_ns=began,
        response=finals[-1] if finals else None,
        interim=[head for head in heads if not _is_final(head)],
        request_body=_body(parts, Direction.REQUEST, closing),
        response_body=_body(parts, Direction.RESPONSE, closing),
        timings=payloads.timings(closing),
        error=payloads.fault(_fields(failure)) if failure is not None else None,
        gaps=_gaps(records),
        websocket=_websocket(records, finals, closing),
        kept={side: dict(payloads.inner(kept, side)) for side in kept},
    )


def _first(records: Iterable[Record], kind: Kind) -> Record | None:
    return next((record for record in records if record.kind == kind), None)


def _fields(record: Record | None) -> dict[str, Any]:
    return (read_object(record) or {}) if record is not None else {}


def _state(end: Record | None, failure: Record | None, *, is_live: bool) -> State:
    if failure is not None:
        return State.ERROR
    if end is not None:
        return State.COMPLETE
    return State.ACTIVE if is_live else State.INTERRUPTED


def _is_final(head: Head) -> bool:
    return head.status is None or head.status >= _FINAL_STATUS or head.status == _SWITCHING_PROTOCOLS


def _provenance(parts: Sequence[Part], records: Sequence[Record]) -> Provenance:
    sources = [Source(part.header.number, to_text(part.header.id)) for part in parts]
    return Provenance(sources, records[0].sequence, records[-1].sequence)


def _body(parts: Sequence[Part], direction: Direction, closing: dict[str, Any]) -> Body:
    about = payloads.inner(closing, direction.value)
    zero = parts[0].records[0].monotonic
    chunks = [
        Chunk((record.monotonic - zero) // 1000, record.length, record.payload, part.header.number, record.sequence)
        for part in parts
        for record in part.records
        if record.direction is direction
    ]
    return Body(
        chunks,
        payloads.number(about, "wire"),
        payloads.number(about, "decoded"),
        payloads.text(about, "encoding"),
        about.get("complete") is True,
        payloads.counts(about, "redactions"),
    )


def _gaps(records: Sequence[Record]) -> list[Gap]:
    return [payloads.gap(_fields(record)) for record in records if record.kind == Kind.GAP]


def _websocket(records: Sequence[Record], finals: Sequence[Head], closing: dict[str, Any]) -> WebSocket | None:
    """What passed as messages, if the exchange became a WebSocket."""
    is_switched = any(head.status == _SWITCHING_PROTOCOLS for head in finals)
    found = messages.join(records)
    if not (is_switched or found):
        return None
    about = payloads.inner(closing, "websocket")

    def sent(side: str, direction: Direction) -> Sent:
        return payloads.sent(payloads.inner(about, side), sum(message.direction is direction for message in found))

    return WebSocket(sent("client", Direction.REQUEST), sent("server", Direction.RESPONSE), found)
