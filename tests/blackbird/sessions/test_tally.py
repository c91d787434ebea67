"""What passed, counted record by record."""

from collections import Counter

import pytest

from blackbird.sessions.tally import Tally, model_of
from blackbird.trace.records import Flag, Kind
from tests.blackbird.trace.encoder import END, Tracer, identifier


def tallied(tracer: Tracer, tally: Tally | None = None) -> Tally:
    tally = tally or Tally()
    for segment in tracer.segments:
        for record in segment.records:
            tally.take(record)
    return tally


def test_calls_bytes_statuses_secrets_and_models() -> None:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.exchange(2)
    tally = tallied(tracer)
    assert (tally.calls, tally.active, tally.failures, tally.tunnels) == (2, 0, 0, 0)
    assert (tally.request_bytes, tally.response_bytes) == (56, 30)
    assert tally.statuses == Counter({200: 2})
    assert tally.errors == Counter()
    assert tally.redactions == Counter({"github_token": 2})
    assert tally.models == Counter({"gannet-3": 2})


def test_a_call_without_an_end_counts_with_what_is_recorded() -> None:
    tracer = Tracer()
    tracer.exchange(1, end=False)
    tally = tallied(tracer)
    assert (tally.calls, tally.active, tally.request_bytes, tally.response_bytes) == (1, 1, 26, 22)


def test_a_status_and_a_broken_connection_are_one_failure() -> None:
    tracer = Tracer()
    request = identifier(1)
    tracer.add(Kind.REQUEST_START, request, {"target": "/v1/messages"})
    tracer.add(Kind.RESPONSE_START, request, {"status": 100})
    tracer.add(Kind.RESPONSE_START, request, {"status": 529})
    tracer.add(Kind.GAP, request, {"reason": "queue_full", "bytes": 3})
    tracer.add(Kind.ERROR, request, {**END, "where": "upstream", "code": "upstream_cut"})
    tally = tallied(tracer)
    assert (tally.failures, tally.errors, tally.faults) == (1, Counter({529: 1}), Counter({"upstream_cut": 1}))
    assert tally.gaps == Counter({"queue_full": 1})


@pytest.mark.parametrize(
    ("tally", "calls"),
    [
        (Tally(), 3),
        (Tally(session="quay"), 1),
        (Tally(run="run_b"), 1),
        (Tally(session="harbour", task="t1"), 2),
        (Tally(session="nobody"), 0),
    ],
    ids=["all", "session", "run", "task", "none"],
)
def test_only_what_is_asked_for(tally: Tally, calls: int) -> None:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.exchange(2, start={"session": "quay"})
    tracer.exchange(3, start={"run": "run_b"})
    assert tallied(tracer, tally).calls == calls


def test_tunnels_are_calls_of_which_nothing_was_decoded() -> None:
    tracer = Tracer()
    tracer.exchange(1, start={"method": "CONNECT", "via": "tunnel"})
    assert (tallied(tracer).calls, tallied(tracer).tunnels) == (1, 1)


def test_the_model_of_a_websocket_is_in_the_first_message_that_names_one() -> None:
    tracer = Tracer()
    request = identifier(1)
    tracer.add(Kind.REQUEST_START, request, {"target": "/v1/responses"})
    tracer.add(Kind.RESPONSE_START, request, {"status": 101})
    client = int(Flag.FROM_CLIENT)
    tracer.add(Kind.WS_FRAME, request, b'{"type":"hello"}', flags=client)
    tracer.add(Kind.WS_FRAME, request, b'{"type":"response.create",', flags=client | int(Flag.CONTINUES))
    tracer.add(Kind.WS_FRAME, request, b'"model":"tern-2"}', flags=client)
    tracer.add(Kind.WS_FRAME, request, b'{"type":"response.create","model":"tern-2"}', flags=client)
    tracer.add(Kind.RESPONSE_END, request, END)
    tally = tallied(tracer)
    assert (tally.models, tally.statuses) == (Counter({"tern-2": 1}), Counter({101: 1}))


def test_two_tallies_as_one() -> None:
    one, other = Tracer(), Tracer()
    one.exchange(1)
    other.exchange(2)
    other.exchange(3, end=False)
    total = tallied(one)
    total.add(tallied(other))
    assert (total.calls, total.request_bytes, total.response_bytes) == (3, 82, 52)
    assert (total.models, total.redactions) == (Counter({"gannet-3": 3}), Counter({"github_token": 2}))


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/v1/messages", b'{"messages":[{"model":"no"}],"model":"gannet-3"}', "gannet-3"),
        ("/v1beta/models/gannet%2D3:streamGenerateContent?alt=sse", b'{"contents":[]}', "gannet-3"),
        ("/v1/models/gannet-3", b"", None),
        ("/v1/messages", b'{"model":3}', None),
        ("/v1/messages", b'{"model":', None),
        ("/v1/messages", b"[" * 5000, None),
        (None, b"", None),
    ],
)
def test_which_model_was_asked_for(path: str | None, body: bytes, expected: str | None) -> None:
    assert model_of(path, body) == expected
