"""Secrets stay off the disk: wherever they stand, however they are packed, in every mode."""

import hashlib
import queue

import pytest
import zstandard

from blackbird.provider.encoding import encode, encoder
from tests.clients.peer import PATIENCE, Message, Peer
from tests.clients.upstream import answering, chunked
from tests.recorder.conftest import Wire, Wired
from tests.recorder.trace_view import Exchange

CODINGS = ["identity", "gzip", "deflate", "zstd", "br"]
#: The id of an imported log.
SOURCE = "01JD4Q0000000000000000000A"
MODES = ["full", "privacy", "passthrough", "degrade"]
RULE = """
[[rule]]
id = "ticket"
class = "keys"
kind = "ticket"
anchors = ["TICKET-"]
pattern = 'TICKET-[0-9a-f]{12}'
"""


def token(place: str) -> str:
    """A GitHub token that is found at one place alone."""
    return "ghp_" + hashlib.sha256(place.encode()).hexdigest()[:36]


def mode_settings(mode: str) -> dict[str, object]:
    return {"lossless": False} if mode == "degrade" else {"mode": mode}


HEADER_SECRETS = {
    "Authorization": f"Bearer {token('authorization')}",
    "X-Api-Key": "sk-plain-looking-value-1",
    "x-goog-api-key": "plain-looking-value-2",
    "Cookie": "session=plain-looking-value-3",
    "Proxy-Authorization": "Basic cGxhaW4tbG9va2luZy12YWx1ZS00",
    "chatgpt-account-id": "plain-looking-value-5",
    "X-Custom-Secret": "plain-looking-value-6",
    "X-Note": f"see {token('note')} there",
}
ANSWER_SECRETS = {
    "Set-Cookie": "id=plain-looking-value-7; Path=/",
    "X-Trace-Note": token("answer header"),
    "x-refresh-access-token": "plain-looking-value-8",
}
QUERY_SECRETS = {"key": "plain-looking-value-9", "access_token": "plain-looking-value-10", "q": token("query")}


@pytest.mark.requirement("TRED-01", "TRED-10", "PROXY-07")
@pytest.mark.parametrize("mode", MODES)
def test_credentials_in_heads_queries_and_trailers(wired: Wired, mode: str) -> None:
    trailer = token("trailer")
    fields = "".join(f"{name}: {value}\r\n" for name, value in ANSWER_SECRETS.items())
    head = f"HTTP/1.1 200 OK\r\n{fields}Transfer-Encoding: chunked\r\n\r\n".encode()
    answer = head + b"2\r\n{}\r\n0\r\nx-sum: " + trailer.encode() + b"\r\n\r\n"
    seen: list[Message] = []
    wire = wired(**mode_settings(mode))
    wire.answer_with(answering(answer, seen))
    query = "&".join(f"{name}={value}" for name, value in QUERY_SECRETS.items())
    lines = [f"GET /v1/models?a=1&{query} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in HEADER_SECRETS.items()]
    got = wire.recorder.ask("\r\n".join([*lines, "", ""]).encode())
    assert got.trailers == (b"x-sum: " + trailer.encode(),)
    exchange = wire.only()
    assert query.encode() in seen[0].head.start
    assert exchange.field("authorization") == "Bearer [redacted:header]"
    assert exchange.field("x-api-key") == "[redacted:header]"
    assert exchange.field("X-Note") == "see [redacted:github_token] there"
    assert "key=[redacted:query]&access_token=[redacted:query]" in exchange.start["target"]
    for value in (*HEADER_SECRETS.values(), *ANSWER_SECRETS.values(), *QUERY_SECRETS.values(), trailer):
        secret = max(value.replace(";", " ").split(), key=len)
        assert wire.holds(secret.encode()) == [], value


@pytest.mark.requirement("TRED-02", "TRED-10")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("coding", CODINGS)
def test_secrets_in_bodies_both_ways(wired: Wired, mode: str, coding: str) -> None:
    sent, returned = token(f"request {coding}"), token(f"response {coding}")
    tickets = [f"TICKET-{value[4:16]}" for value in (sent, returned)]
    asked = f'{{"messages":[{{"content":"push with {sent} and {tickets[0]}"}}]}}'.encode()
    said = f'{{"text":"the token is {returned}, see {tickets[1]}"}}'.encode()
    packed, body = encode(said, coding), encode(asked, coding)
    field = f"Content-Encoding: {coding}\r\n" if coding != "identity" else ""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{field}Content-Length: {len(packed)}\r\n\r\n"
    seen: list[Message] = []
    wire = wired(redaction={"rules": RULE}, **mode_settings(mode))
    wire.answer_with(answering(head.encode() + packed, seen))
    request = f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n{field}Content-Length: {len(body)}\r\n\r\n"
    got = wire.recorder.ask(request.encode() + body)
    exchange = wire.only()
    assert (got.body, seen[0].body) == (packed, body)
    for secret in (sent, returned, *tickets):
        assert wire.holds(secret.encode()) == []
    assert exchange.start["policy"].startswith("2026.11.3+user.")
    if mode in ("full", "degrade"):
        marked = b'{"text":"the token is [redacted:github_token], see [redacted:ticket]"}'
        assert exchange.response == marked
        assert exchange.end["response"]["redactions"] == {"github_token": 1, "ticket": 1}
        assert exchange.end["request"]["redactions"] == {"github_token": 1, "ticket": 1}
        assert exchange.end["response"]["stored"] == len(marked)


@pytest.mark.requirement("TRED-02", "TRED-10")
@pytest.mark.parametrize("media_type", ["application/json", "text/event-stream", "application/x-ndjson"])
def test_secrets_that_arrive_in_pieces(wire: Wire, media_type: str) -> None:
    secret = token(f"pieces {media_type}").encode()
    before, after = {
        "application/json": (b'{"a":"', b'","b":1}'),
        "text/event-stream": (b'data: {"a":"', b'"}\n\ndata: end\n\n'),
        "application/x-ndjson": (b'{"a":"', b'"}\n{"b":1}\n'),
    }[media_type]
    pieces = [before, *(secret[at : at + 1] for at in range(len(secret))), after]
    arrived: queue.Queue[bytes] = queue.Queue()

    def answer(peer: Peer) -> None:
        peer.head()
        for piece in pieces:
            assert peer.chunk()[1] == piece
            arrived.put(piece)
        assert peer.chunk()[1] == b""
        peer.until(b"\r\n")
        peer.send(f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for piece in pieces:
            peer.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            assert arrived.get(timeout=PATIENCE) == piece
        peer.send(b"0\r\n\r\n")

    wire.answer_with(answer)
    with wire.through() as client:
        fields = f"Host: localhost\r\nContent-Type: {media_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
        client.send(b"POST /v1/messages HTTP/1.1\r\n" + fields.encode())
        for piece in pieces:
            client.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            assert arrived.get(timeout=PATIENCE) == piece
        client.send(b"0\r\n\r\n")
        client.head()
        for piece in pieces:
            assert client.chunk()[1] == piece
            arrived.put(piece)
        client.chunk()
    exchange = wire.only()
    marked = before + b"[redacted:github_token]" + after
    assert exchange.request == marked
    assert exchange.response == marked
    assert wire.holds(secret) == []


@pytest.mark.requirement("TRED-02", "TRED-10")
@pytest.mark.parametrize("coding", CODINGS)
def test_secrets_in_a_compressed_stream(wire: Wire, coding: str) -> None:
    events = [f'data: {{"n":{number},"t":"{token(f"event {coding} {number}")}"}}\n\n'.encode() for number in range(8)]
    packer = encoder(coding)
    pieces = [*(packer.add(event) for event in events), packer.finish()]
    field = f"Content-Encoding: {coding}\r\n" if coding != "identity" else ""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{field}Transfer-Encoding: chunked\r\n\r\n"
    body = chunked(*(piece for piece in pieces if piece))
    wire.answer_with(answering(head.encode() + body))
    got = wire.recorder.ask(b"GET /v1/messages HTTP/1.1\r\nHost: localhost\r\n\r\n")
    exchange = wire.only()
    assert got.body == b"".join(pieces)
    assert exchange.response.count(b"[redacted:github_token]") == len(events)
    assert exchange.response.count(b"\n\n") == len(events)
    for number in range(8):
        assert wire.holds(token(f"event {coding} {number}").encode()) == []


@pytest.mark.requirement("TRED-10")
def test_secrets_of_an_exchange_that_was_cut(wire: Wire) -> None:
    secret = token("cut").encode()

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhere it is: " + secret)

    wire.answer_with(answer)
    with wire.through() as client:
        client.send(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert secret in client.rest()[0]
    assert wire.only().response == b"here it is: [redacted:github_token]"
    assert wire.holds(secret) == []


@pytest.mark.requirement("TRED-04", "TRED-10")
@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", b"this is no gzip " + token("undecodable").encode()),
        ("snappy", b"a coding nobody here speaks " + token("undecodable").encode()),
        ("zstd", zstandard.compress(token("undecodable").encode())[:-3]),
    ],
    ids=["other bytes", "unknown coding", "cut short"],
)
def test_a_body_that_cannot_be_decoded_is_a_gap(wire: Wire, coding: str, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    wire.answer_with(answering(head + body))
    assert wire.recorder.ask(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n").body == body
    exchange = wire.only()
    assert [gap["reason"] for gap in exchange.gaps] == ["undecodable"]
    assert exchange.gaps[0]["direction"] == "response"
    assert exchange.end["response"]["wire"] == len(body)
    assert wire.holds(token("undecodable").encode()) == []


@pytest.mark.requirement("TRED-10")
def test_secrets_in_what_is_no_http(wire: Wire) -> None:
    halves = token("garbled")[:20].encode(), token("garbled")[20:].encode()
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(half), half) for half in halves)
    answers = [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"broken\r\n",
        b"HTTP/1.1 200 OK\r\nSet-Cookie: id=plain-looking-value-11\r\nContent-Length: two\r\n\r\n{}",
    ]

    def answer(peer: Peer) -> None:
        peer.request()
        peer.send(answers.pop())

    wire.answer_with(answer)
    for _ in range(2):
        with wire.through() as client:
            client.send(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
            client.rest()
    wire.recorded(2)
    for secret in (b"plain-looking-value-11", *halves):
        assert wire.holds(secret) == []


@pytest.mark.requirement("TRED-10")
@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("GET /v1/{secret}/path", ""),
        ("GET /bb/{secret}/t/r/v1/models", ""),
        ("GET /bb/{secret}", ""),
        ("GET /_blackbird/{secret}", ""),
        ("GET http://{secret}.example/", ""),
        ("{secret} /v1/models", ""),
        ("GET /v1/models", "x-blackbird-task: {secret}"),
        ("GET /v1/models", "session-id: {secret}"),
        ("GET /v1/models", "x-claude-code-agent-id: {secret}"),
        ("GET /v1/models", "{secret}: 1"),
        ("GET /v1/models", "X : {secret}"),
        ("GET /v1/models", "Origin: https://{secret}"),
        ("GET /v1/models", "Host: {secret}"),
    ],
)
def test_secrets_in_odd_places_of_a_request(wire: Wire, line: str, field: str) -> None:
    wire.answer_with(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
    secret = token(line + field)
    fields = f"Host: localhost\r\n{field}\r\n" if field else "Host: localhost\r\n"
    wire.recorder.ask(f"{line} HTTP/1.1\r\n{fields}\r\n".format(secret=secret).encode())
    assert wire.holds(secret.encode()) == []


@pytest.mark.requirement("TRED-10")
def test_secrets_in_odd_places_of_an_answer(wire: Wire) -> None:
    places = [token("reason"), token("name of a field"), token("hint"), token("name of a trailer")]
    hint = f"HTTP/1.1 103 Early Hints\r\nLink: {places[2]}\r\n\r\n"
    head = f"HTTP/1.1 200 {places[0]}\r\n{places[1]}: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
    wire.answer_with(answering(f"{hint}{head}2\r\n{{}}\r\n0\r\n{places[3]}: 1\r\n\r\n".encode()))
    with wire.through() as client:
        client.ask(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.response()
    wire.only()
    for secret in places:
        assert wire.holds(secret.encode()) == []


@pytest.mark.requirement("TRED-10")
def test_secrets_in_what_is_stated(wire: Wire) -> None:
    wire.recorder.control("register", session="s", data={"note": token("data")})
    wire.recorder.control("event", event="goal", session="s", data={"goal": token("goal")})
    wire.recorder.control("append", type="tool.event", payload=f'{{"output": "{token("tool")}"}}')
    wire.recorder.control(
        "import", source=SOURCE, lines=[{"offset": 0, "length": 9, "text": f"a line with {token('line')}"}]
    )
    for place in ("data", "goal", "tool", "line"):
        assert wire.holds(token(place).encode()) == []


BODY_WORDS = (b"unmistakable-question", b"unmistakable-answer", b"unmistakable-system")


def privately(wire: Wire) -> Exchange:
    """One exchange in a mode that keeps no bodies."""
    said = (
        b'{"id":"msg_1","type":"message","model":"claude-x","content":[{"type":"text","text":"unmistakable-answer"}],'
        b'"stop_reason":"end_turn","usage":{"input_tokens":12,"output_tokens":34}}'
    )
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(said)
    asked = b'{"model":"claude-x","system":"unmistakable-system","messages":[{"content":"unmistakable-question"}]}'
    wire.answer_with(answering(head + said))
    lines = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    got = wire.recorder.ask(lines + b"Content-Length: %d\r\n\r\n" % len(asked) + asked)
    assert got.body == said
    exchange = wire.only()
    assert (exchange.request, exchange.response) == (b"", b"")
    assert exchange.head["status"] == 200
    assert (exchange.end["request"]["wire"], exchange.end["response"]["wire"]) == (len(asked), len(said))
    assert (exchange.end["request"]["stored"], exchange.end["response"]["stored"]) == (0, 0)
    assert exchange.end["timings"]["first_byte"] > 0
    return exchange


@pytest.mark.requirement("TRED-08")
def test_privacy_mode_keeps_no_byte_of_a_body(wired: Wired) -> None:
    wire = wired(mode="privacy")
    exchange = privately(wire)
    assert exchange.start["mode"] == "privacy"
    for word in (*BODY_WORDS, b"claude-x", b"end_turn"):
        assert wire.holds(word) == []


@pytest.mark.requirement("TRED-09")
def test_passthrough_mode_keeps_usage_model_and_stop_reason(wired: Wired) -> None:
    wire = wired(mode="passthrough")
    exchange = privately(wire)
    assert exchange.start["mode"] == "passthrough"
    assert exchange.end["kept"] == {
        "request": {"model": "claude-x"},
        "response": {
            "model": "claude-x",
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 12, "output_tokens": 34},
        },
    }
    for word in BODY_WORDS:
        assert wire.holds(word) == []
