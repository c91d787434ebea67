"""WebSockets pass byte for byte, and their messages are in the trace."""

import json
import threading
import time
from collections.abc import Callable

import pytest
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from blackbird.provider.websocket import frames, packing
from blackbird.provider.websocket.frames import Frame, Opcode
from tests.clients.peer import PATIENCE, Ended, Peer
from tests.clients.upstream import answering
from tests.recorder.conftest import Wire, Wired
from tests.recorder.sockets import DEFLATE, MASK, Pair, agreement, opened, upgrade
from tests.recorder.test_secrets import MODES, mode_settings, token
from tests.recorder.trace_view import Message


@pytest.mark.requirement("PROXY-17")
def test_both_heads_pass_as_they_are(wire: Wire) -> None:
    offer = DEFLATE + b"; client_max_window_bits"
    chosen = DEFLATE + b"; server_no_context_takeover"
    with opened(wire, offer, b"Sec-WebSocket-Protocol: a, b", agreed=chosen) as pair:
        assert pair.asked.raw == upgrade(wire.host(), offer, b"Sec-WebSocket-Protocol: a, b")
        assert pair.agreed.raw == agreement(chosen)
        pair.close()
    recorded = wire.only()
    assert [head["status"] for head in recorded.heads] == [101]
    assert recorded.over["request"]["encoding"] == "permessage-deflate"
    assert recorded.over["timings"]["first_byte"] is not None


@pytest.mark.requirement("PROXY-17")
def test_messages_pass_both_ways_and_are_recorded(wire: Wire) -> None:
    with opened(wire) as pair:
        asked = pair.ask(b'{"type":"ask"}')
        told = pair.tell(b'{"type":"answer"}')
        told += pair.pass_on(pair.server, pair.client, frames.spell(Frame(Opcode.BINARY, bytes(range(256)))))
        told += pair.tell("Grüße".encode())
        pair.close()
    recorded = wire.only()
    assert recorded.messages == [
        Message("client", False, b'{"type":"ask"}', True),
        Message("server", False, b'{"type":"answer"}', True),
        Message("server", True, bytes(range(256)), True),
        Message("server", False, "Grüße".encode(), True),
    ]
    assert recorded.end["websocket"] == {
        "client": {"messages": 1, "pings": 0, "pongs": 0, "close": {"code": 1000, "reason": "bye"}},
        "server": {"messages": 3, "pings": 0, "pongs": 0, "close": {"code": 1000, "reason": ""}},
    }
    assert recorded.end["request"]["wire"] == len(asked) + 11
    assert recorded.end["response"]["wire"] == len(told) + 4
    assert recorded.end["request"]["complete"] is True
    assert recorded.end["response"]["complete"] is True
    assert (recorded.request, recorded.response) == (b"", b"")


def test_fragments_are_joined_whatever_comes_between_them(wire: Wire) -> None:
    ping, pong = Frame(Opcode.PING, b"beat"), Frame(Opcode.PONG, b"beat")
    with opened(wire) as pair:
        pair.ask(b"one, ", last=False)
        pair.pass_on(pair.client, pair.server, frames.spell(ping, MASK))
        pair.pass_on(pair.server, pair.client, frames.spell(pong))
        pair.pass_on(pair.client, pair.server, frames.spell(Frame(Opcode.CONTINUATION, b"", last=False), MASK))
        pair.pass_on(pair.client, pair.server, frames.spell(Frame(Opcode.CONTINUATION, b"two"), MASK))
        pair.close()
    recorded = wire.only()
    assert recorded.sent_by("client") == [b"one, two"]
    told = recorded.end["websocket"]
    assert (told["client"]["pings"], told["server"]["pongs"]) == (1, 1)


def test_a_message_of_16_mebibytes(wired: Wired) -> None:
    wire = wired(drain_seconds=27)  # a trace of its own, which other tests need not read
    data = b"".join(b"%d " % number for number in range(2_400_000))[: 16 << 20]
    with opened(wire) as pair:
        pair.ask(data)
        pair.tell(data)
        pair.close()
    recorded = wire.only()
    assert recorded.sent_by("client") == [data]
    assert recorded.sent_by("server") == [data]
    assert max(len(record.payload) for record in wire.recorder.records()) <= 1 << 20


def test_bytes_that_come_early_are_kept_in_order(wire: Wire) -> None:
    asked, told = frames.spell(Frame(Opcode.TEXT, b"early"), MASK), frames.spell(Frame(Opcode.TEXT, b"at once"))
    with opened(wire, early=asked, first=told) as pair:
        assert pair.server.exactly(len(asked)) == asked
        assert pair.client.exactly(len(told)) == told
        pair.close()
    recorded = wire.only()
    assert (recorded.sent_by("client"), recorded.sent_by("server")) == ([b"early"], [b"at once"])


@pytest.mark.requirement("PROXY-17")
@pytest.mark.parametrize(("code", "from_client"), [(1001, True), (1011, False), (4000, True), (4999, False)])
def test_close_codes_pass_from_either_side(wire: Wire, code: int, from_client: bool) -> None:
    with opened(wire) as pair:
        sender, receiver = (pair.client, pair.server) if from_client else (pair.server, pair.client)
        pair.pass_on(sender, receiver, frames.spell(frames.close(code, "why"), MASK if from_client else None))
        receiver.close()
        assert sender.sees_end()
    recorded = wire.only()
    side, other = ("client", "server") if from_client else ("server", "client")
    assert recorded.end["websocket"][side]["close"] == {"code": code, "reason": "why"}
    assert recorded.end["websocket"][other]["close"] is None
    # Whoever just closes after the other said goodbye has said all, too.
    assert recorded.end["request"]["complete"] is True
    assert recorded.end["response"]["complete"] is True


@pytest.mark.parametrize(
    ("end", "is_reset", "code"),
    [
        (lambda pair: pair.server.close(), False, "upstream_cut"),
        (lambda pair: pair.server.reset(), True, "upstream_reset"),
        (lambda pair: pair.client.close(), False, "client_disconnected"),
        (lambda pair: pair.client.reset(), True, "client_reset"),
    ],
    ids=["server closes", "server resets", "client closes", "client resets"],
)
def test_an_end_in_the_middle_is_passed_on(
    wire: Wire, end: Callable[[Pair], None], is_reset: bool, code: str
) -> None:
    with opened(wire) as pair:
        whole = frames.spell(Frame(Opcode.TEXT, b"half of this"))
        pair.pass_on(pair.server, pair.client, whole[:8])
        pair.ask(b"asked")
        end(pair)
        other = pair.client if code.startswith("upstream") else pair.server
        assert other.rest() == (b"", is_reset)
    recorded = wire.only()
    assert recorded.error["code"] == code
    assert recorded.messages[0] == Message("client", False, b"asked", True)
    assert recorded.messages[1] == Message("server", False, b"half o", False)
    assert recorded.error["websocket"]["server"]["messages"] == 0
    assert recorded.error["response"]["complete"] is False


def test_a_half_closed_connection_still_carries_the_other_way(wire: Wire) -> None:
    with opened(wire) as pair:
        pair.pass_on(pair.client, pair.server, frames.spell(frames.close(1000), MASK))
        pair.client.finish_sending()
        with pytest.raises(Ended):
            pair.server.exactly(1)
        pair.tell(b"a last word")
        pair.server.close()
        assert pair.client.sees_end()
    assert wire.only().sent_by("server") == [b"a last word"]


@pytest.mark.requirement("PROXY-17")
def test_compressed_messages_refer_to_earlier_ones(wire: Wire) -> None:
    """A client and a server of another make on both ends."""
    texts = ["again and again the same words"] * 3 + [json.dumps({"n": list(range(2000))}), ""]

    def echo(connection: ServerConnection) -> None:
        for text in connection:
            connection.send(text)

    with serve(echo, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        wire.answer_with(_bridge(port))
        with connect(f"ws://127.0.0.1:{wire.recorder.port}/v1/responses", proxy=None) as client:
            for text in texts:
                client.send(text)
                assert client.recv(PATIENCE) == text
            client.send([b"in ", b"two ", b"pieces"])
            assert client.recv(PATIENCE) == b"in two pieces"
            assert client.ping().wait(PATIENCE)
        server.shutdown()
    recorded = wire.only()
    expected = [*(text.encode() for text in texts), b"in two pieces"]
    assert recorded.sent_by("client") == expected
    assert recorded.sent_by("server") == expected
    assert recorded.end["response"]["encoding"] == "permessage-deflate"
    assert recorded.end["response"]["wire"] < recorded.end["response"]["decoded"]
    assert recorded.end["websocket"]["client"]["close"]["code"] == 1000
    assert recorded.gaps == []


def _bridge(port: int) -> Callable[[Peer], None]:
    """A handler that hands all on to another port, since the recorder's upstream is a given one."""

    def handle(peer: Peer) -> None:
        with Peer.connect(port) as other:
            pump = threading.Thread(target=_pump, args=(other, peer), daemon=True)
            pump.start()
            _pump(peer, other)
            pump.join(PATIENCE)

    return handle


def _pump(source: Peer, sink: Peer) -> None:
    while data := source.connection.recv(1 << 16):
        sink.send(data)
    sink.finish_sending()


@pytest.mark.requirement("PROXY-17")
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "deflated"])
@pytest.mark.parametrize("mode", MODES)
def test_secrets_in_messages_stay_off_the_disk(wired: Wired, mode: str, packed: bool) -> None:
    wire = wired(**mode_settings(mode))
    places = [f"socket {mode} {packed} {place}" for place in ("asked", "split", "told", "reason")]
    asked, split, told, reason = (token(place) for place in places)
    client, server = packing.Packing(), packing.Packing()

    def message(side: packing.Packing, secret: str) -> bytes:
        data = json.dumps({"model": "m-1", "key": secret, "padding": "x" * 50}).encode()
        return side.pack(data) if packed else data

    with opened(wire, DEFLATE, agreed=DEFLATE) as pair:
        pair.ask(message(client, asked), packed=packed)
        data = message(client, split)
        pair.ask(data[:20], packed=packed, last=False)
        for at in range(20, len(data)):
            pair.pass_on(
                pair.client, pair.server, frames.spell(Frame(Opcode.CONTINUATION, data[at : at + 1], False), MASK)
            )
        pair.pass_on(pair.client, pair.server, frames.spell(Frame(Opcode.CONTINUATION, b""), MASK))
        pair.tell(message(server, told), packed=packed)
        pair.pass_on(pair.client, pair.server, frames.spell(frames.close(1000, reason), MASK))
        pair.server.close()
    recorded = wire.only()
    for secret in (asked, split, told, reason):
        assert wire.holds(secret.encode()) == []
        assert wire.holds(secret[4:20].encode()) == []
    whole = mode in ("full", "degrade")
    assert len(recorded.messages) == (3 if whole else 0)
    assert all(b"[redacted:github_token]" in message.data for message in recorded.messages)
    assert recorded.end["websocket"]["client"]["messages"] == 2
    assert recorded.end["kept"] == (
        {"request": {"model": "m-1"}, "response": {"model": "m-1"}} if mode == "passthrough" else {}
    )
    assert recorded.end["websocket"]["client"]["close"]["reason"] == ("[redacted:github_token]" if whole else None)


@pytest.mark.parametrize("status", [b"404 Not Found", b"426 Upgrade Required", b"200 OK"])
def test_another_answer_passes_like_any(wire: Wire, status: bytes) -> None:
    wire.answer_with(answering(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\nno"))
    with wire.through() as client:
        for _ in range(2):
            answer = client.ask(upgrade(wire.host()))
            assert (answer.head.status, answer.body) == (int(status[:3]), b"no")
    assert [entry.response for entry in wire.recorded(2)] == [b"no", b"no"]
    assert wire.upstream.connections == 1


def test_what_is_no_frame_passes_all_the_same(wire: Wire) -> None:
    with opened(wire) as pair:
        pair.tell(b"sound")
        pair.pass_on(pair.server, pair.client, b"\xff\xff" + bytes(1000))
        pair.ask(b"the other way is sound")
        pair.pass_on(pair.client, pair.server, frames.spell(frames.close(1000), MASK))
        pair.server.close()
        assert pair.client.sees_end()
    recorded = wire.only()
    assert recorded.sent_by("server") == [b"sound"]
    assert recorded.sent_by("client") == [b"the other way is sound"]
    assert recorded.gaps == [{"reason": "undecodable", "direction": "response", "bytes": 1002, "records": 1}]


def test_a_silent_connection_stays_open(wire: Wire) -> None:
    with opened(wire) as pair:
        pair.ask(b"before")
        time.sleep(2.5)
        pair.tell(b"after")
        pair.close()
    assert [message.data for message in wire.only().messages] == [b"before", b"after"]
