"""What the trace keeps as evidence besides the bytes: fingerprints, policies, and what users and harnesses stated."""

import base64
import gzip
import hashlib
import hmac
import json
import os

import pytest

from blackbird.exchange.catalog import load, matching
from blackbird.trace.folder import Trace
from tests.clients.upstream import answering
from tests.recorder.conftest import Start, Wire, Wired
from tests.recorder.trace_view import HARNESS_EVENT

#: The id of an imported log.
SOURCE = "01JD4Q0000000000000000000A"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def post(body: bytes, fields: str = "") -> bytes:
    return (
        f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )


@pytest.mark.requirement("TRED-05")
def test_encoding_length_and_a_keyed_hash_stand_beside_the_redacted_body(wire: Wire) -> None:
    text = b'{"note": "ghp_' + b"aB3" * 12 + b'"}'
    body = gzip.compress(text, mtime=0)
    wire.answer_with(answering(OK))
    wire.recorder.ask(post(body, "Content-Encoding: gzip\r\n"))
    exchange = wire.only()
    key = (wire.recorder.home / "hmac.key").read_bytes()
    assert len(key) == 32
    kept = exchange.end["request"]
    assert (kept["encoding"], kept["wire"], kept["decoded"]) == ("gzip", len(body), len(text))
    assert kept["hmac"] == hmac.new(key, body, hashlib.sha256).hexdigest()
    assert exchange.request == b'{"note": "[redacted:github_token]"}'
    assert kept["redactions"] == {"github_token": 1}


@pytest.mark.requirement("TRED-06")
def test_random_looking_words_survive_on_the_wire(wire: Wire) -> None:
    signature = base64.b64encode(hashlib.sha512(b"signature").digest() * 4).decode()
    image = base64.b64encode(
        bytes(hashlib.sha512(str(number).encode()).digest()[0] for number in range(3000))
    ).decode()
    body = json.dumps(
        {"thinking": "x", "signature": signature, "encrypted_content": signature, "data": image}
    ).encode()
    wire.answer_with(answering(OK))
    wire.recorder.ask(post(body))
    assert wire.only().request == body


@pytest.mark.requirement("TRED-04")
def test_a_body_that_cannot_be_decoded_is_kept_if_the_user_says_so(wired: Wired) -> None:
    wire = wired(keep_undecodable=True)
    body = b"a coding nobody here speaks"
    wire.answer_with(answering(OK))
    wire.recorder.ask(post(body, "Content-Encoding: snappy\r\n"))
    exchange = wire.only()
    assert (exchange.request, exchange.gaps) == (body, [])


@pytest.mark.requirement("TRED-03", "SCOPE-05")
def test_a_run_is_on_record_with_its_policy(wire: Wire) -> None:
    run = wire.recorder.control("register", session="harbour", task="t1", data={"goal": "mend the lamp"})["run"]
    policy = wire.recorder.control("status")["policy"]
    events = [record.json for record in wire.recorder.records() if record.kind == HARNESS_EVENT]
    assert events[-1] == {
        "event": "run.start",
        "session": "harbour",
        "task": "t1",
        "run": run,
        "policy": policy,
        "mode": "full",
        "data": {"goal": "mend the lamp"},
    }


@pytest.mark.requirement("SCOPE-05")
@pytest.mark.parametrize("event", ["goal", "task.done", "outcome"])
def test_what_a_harness_states_is_a_record(wire: Wire, event: str) -> None:
    answer = wire.recorder.control("event", event=event, session="harbour", data={"said": "yes"})
    record = next(record for record in wire.recorder.records() if record.sequence == answer["sequence"])
    assert record.kind == HARNESS_EVENT
    assert (record.json["event"], record.json["session"], record.json["data"]) == (event, "harbour", {"said": "yes"})


@pytest.mark.requirement("CORE-01")
def test_what_an_agent_says_of_itself_does_not_replace_what_passed(wire: Wire) -> None:
    """A line of an agent's own log is a record of another type, and the exchange stays as it was."""
    wire.answer_with(answering(OK))
    wire.recorder.ask(post(b'{"model": "m"}'))
    before = wire.only()
    claim = json.dumps({"request_id": before.id.hex(), "status": 500, "body": "something else"})
    lines = [{"offset": 0, "length": len(claim), "text": claim}]
    assert wire.recorder.control("import", source=SOURCE, lines=lines)["ok"]
    after = wire.only()
    assert (after.request, after.response, after.head["status"]) == (b'{"model": "m"}', b"{}", 200)
    assert after.sequences == before.sequences


@pytest.mark.requirement("TRACE-09")
def test_a_history_that_is_sent_again_is_stored_once(start: Start, wire: Wire) -> None:
    recorder = start(default_upstream=wire.upstream.url)
    wire.answer_with(answering(OK))
    page = base64.b64encode(os.urandom(60_000)).decode()
    sent = [json.dumps({"messages": [page, *map(str, range(turn))]}).encode() for turn in range(20)]
    for body in sent:
        recorder.ask(post(body))
    recorder.exchanges(len(sent))
    [sealed] = recorder.control("seal")["sealed"]
    assert sealed["raw"] > 20 * len(page)
    assert sealed["sealed"] < 2 * len(page)
    trace = Trace(recorder.trace)
    read = [load(trace, request) for request in matching(trace, "")]
    assert sorted(exchange.request_body.data for exchange in read if exchange is not None) == sorted(sent)
