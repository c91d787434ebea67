"""One exchange from its records: whole, without an end, without a start, with anything in its payloads."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.exchange.assemble import Part, assemble
from blackbird.exchange.clock import Clock
from blackbird.exchange.exchange import Chunk, Exchange, Fault, Gap, Head, Source, State, Timings
from blackbird.trace import header as headers
from blackbird.trace import ids
from blackbird.trace.records import Direction, Kind, Record
from tests.blackbird.trace.encoder import END, INSTANCE, START, Tracer, Written, identifier, make_record

REQUEST = identifier(1)


def parts_of(segments: list[Written], request: bytes = REQUEST) -> list[Part]:
    parts = []
    for segment in segments:
        header = headers.parse(segment.header)
        clock = Clock(header)
        for record in segment.records:
            clock.take(record)
        records = [record for record in segment.records if record.request == request]
        if records:
            parts.append(Part(header, clock, records))
    return parts


def assembled(tracer: Tracer, live: bytes | None = None) -> Exchange:
    return assemble(parts_of(tracer.segments), live)


def test_a_whole_exchange() -> None:
    tracer = Tracer()
    tracer.exchange(1)
    found = assembled(tracer)
    assert found.request_id == "req_" + ids.to_text(REQUEST)
    assert (found.state, found.complete, found.status, found.error) == (State.COMPLETE, True, 200, None)
    assert (found.session, found.task, found.run, found.attribution) == (
        "harbour",
        "t1",
        "run_01JD4Q0000000000000000000A",
        "run",
    )
    assert (found.method, found.path, found.version) == ("POST", "/v1/messages?beta=true", "HTTP/1.1")
    assert (found.upstream, found.url) == ("anthropic", "https://api.anthropic.com/v1/messages?beta=true")
    assert (found.mode, found.policy) == ("full", "2026.11.3")
    assert found.headers == [("Host", "127.0.0.1:4141"), ("x-api-key", "[redacted:header]")]
    assert found.response == Head(200, "OK", "HTTP/1.1", [])
    assert found.timings == Timings(210, 400, 31000, 812345)
    assert found.started == "2026-11-16T12:00:00.001000Z"
    assert (found.request_body.wire, found.request_body.size, found.request_body.stored) == (28, 28, 26)
    body = found.body(Direction.RESPONSE)
    assert body.data == b"data: one\n\ndata: two\n\n"
    assert body.chunks == [Chunk(3000, 11, b"data: one\n\n", 1, 4), Chunk(4000, 11, b"data: two\n\n", 1, 5)]
    assert (body.wire, body.decoded, body.encoding, body.redactions) == (15, 22, "gzip", {"github_token": 1})
    assert (found.provenance.first_sequence, found.provenance.last_sequence) == (1, 6)
    assert found.provenance.segments == [Source(1, ids.to_text(tracer.current.id))]


@pytest.mark.requirement("PROXY-21", "RELY-03")
@pytest.mark.parametrize(
    ("live", "state"), [(INSTANCE, State.ACTIVE), (None, State.INTERRUPTED), (b"another recorder", State.INTERRUPTED)]
)
def test_without_an_end_it_is_active_only_while_its_recorder_runs(live: bytes | None, state: State) -> None:
    tracer = Tracer()
    tracer.exchange(1, end=False)
    found = assembled(tracer, live)
    assert (found.state, found.complete) == (state, False)
    assert found.response_body.data == b"data: one\n\ndata: two\n\n"
    assert (found.response_body.wire, found.response_body.size) == (None, 22)
    assert found.timings == Timings()


@pytest.mark.requirement("PROXY-21")
def test_every_beginning_of_an_exchange_is_shown() -> None:
    tracer = Tracer()
    tracer.exchange(1)
    records = list(tracer.current.records)
    for count in range(1, len(records) + 1):
        tracer.current.records = records[:count]
        found = assembled(tracer)
        assert found.method == "POST"
        assert found.status == (200 if count > 2 else None)
        assert found.state is (State.COMPLETE if count == len(records) else State.INTERRUPTED)


def test_an_end_is_believed_whoever_runs() -> None:
    tracer = Tracer()
    tracer.exchange(1)
    assert assembled(tracer, INSTANCE).state is State.COMPLETE


def test_an_error_says_where_and_why() -> None:
    tracer = Tracer()
    tracer.exchange(1, end=False)
    closing = END | {"where": "upstream", "code": "upstream_reset", "message": "connection reset"}
    closing["response"] = closing["response"] | {"complete": False}
    tracer.add(Kind.ERROR, REQUEST, closing)
    found = assembled(tracer, INSTANCE)
    assert (found.state, found.complete) == (State.ERROR, False)
    assert found.error == Fault("upstream", "upstream_reset", "connection reset")
    assert found.timings.total_us == 812345
    assert found.response_body.wire == 15


def test_it_may_span_segments() -> None:
    tracer = Tracer()
    tracer.exchange(1, end=False)
    tracer.checkpoint("rotation")
    tracer.rotate(wall=0, monotonic=1)
    tracer.add(Kind.RESPONSE_BODY, REQUEST, b"data: three\n\n")
    tracer.add(Kind.RESPONSE_END, REQUEST, END)
    found = assembled(tracer)
    assert found.state is State.COMPLETE
    assert found.response_body.data == b"data: one\n\ndata: two\n\ndata: three\n\n"
    assert [source.number for source in found.provenance.segments] == [1, 2]
    assert (found.provenance.first_sequence, found.provenance.last_sequence) == (1, 8)
    assert found.started == "2026-11-16T12:00:00.001000Z"


def test_informational_heads_come_before_the_final_one() -> None:
    tracer = Tracer()
    tracer.add(Kind.REQUEST_START, REQUEST, START)
    for status in (103, 200):
        tracer.add(Kind.RESPONSE_START, REQUEST, {"status": status, "reason": "", "version": "", "headers": []})
    found = assembled(tracer)
    assert found.status == 200
    assert [head.status for head in found.interim] == [103]


def test_gaps_and_frames_of_a_websocket() -> None:
    tracer = Tracer()
    tracer.add(Kind.REQUEST_START, REQUEST, START)
    tracer.add(Kind.WS_FRAME, REQUEST, b"ping", flags=4)
    tracer.add(Kind.WS_FRAME, REQUEST, b"pong")
    tracer.add(Kind.GAP, REQUEST, {"reason": "queue_full", "direction": "response", "bytes": 8192, "records": 2})
    found = assembled(tracer)
    assert (found.request_body.data, found.response_body.data) == (b"ping", b"pong")
    assert found.gaps == [Gap("queue_full", "response", 8192, 2)]


def test_a_record_of_another_version_is_not_interpreted() -> None:
    tracer = Tracer()
    tracer.exchange(1, end=False)
    newer = make_record(Kind.RESPONSE_BODY, 6, REQUEST, b"who knows")
    tracer.current.records.append(Record(2, 4, 0, 6, newer.monotonic, REQUEST, newer.length, newer.payload))
    found = assembled(tracer)
    assert found.response_body.data == b"data: one\n\ndata: two\n\n"
    assert found.provenance.last_sequence == 6


def test_a_checkpoint_anchors_the_clock_anew() -> None:
    tracer = Tracer()
    tracer.add(Kind.CHECKPOINT, payload={"reason": "clock", "wall": 0, "monotonic": 5_002_000_000})
    tracer.exchange(1)
    assert assembled(tracer).started == "1970-01-01T00:00:00.000000Z"


def test_a_time_that_no_calendar_has_is_left_out() -> None:
    tracer = Tracer()
    tracer.add(Kind.CHECKPOINT, payload={"reason": "clock", "wall": 10**30, "monotonic": 0})
    tracer.exchange(1)
    assert assembled(tracer).started is None


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_KEYS = sorted({*START, *END, "status", "reason", "where", "code", "message", "bytes", "records", "direction"})
_OBJECTS = st.dictionaries(st.sampled_from(_KEYS), _JSON).map(lambda value: json.dumps(value).encode())


@given(st.lists(st.tuples(st.sampled_from(Kind), _OBJECTS | st.binary(max_size=8)), min_size=1, max_size=8))
def test_any_payloads_make_an_exchange(content: list[tuple[Kind, bytes]]) -> None:
    records: list[Record] = [
        make_record(kind, sequence, REQUEST, payload) for sequence, (kind, payload) in enumerate(content, start=1)
    ]
    header = headers.parse(Tracer().current.header)
    found = assemble([Part(header, Clock(header), records)], None)
    kinds = [kind for kind, _ in content]
    assert (found.state is State.ERROR) == (Kind.ERROR in kinds)
    assert found.provenance.last_sequence == len(records)
    pieces = [data for kind, data in content if kind is Kind.REQUEST_BODY]
    assert found.request_body.data == b"".join(pieces)
