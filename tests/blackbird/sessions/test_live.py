"""Requests as they go on: told when they end, also if their start was missed or their recorder died."""

from pathlib import Path
from typing import Any

from blackbird.exchange import catalog
from blackbird.exchange.exchange import State
from blackbird.sessions.follow import Follower
from blackbird.sessions.lines import of_event, of_start
from blackbird.sessions.links import Agent
from blackbird.sessions.live import Ended, Event, Live, Message, Opened
from blackbird.trace.folder import Trace
from blackbird.trace.records import Direction, Flag, Kind
from tests.blackbird.trace.encoder import END, Tracer, identifier

CLIENT = int(Flag.FROM_CLIENT)
MORE = int(Flag.CONTINUES)
CLAUDE = {"headers": [["user-agent", "claude-cli/2.1.197 (external)"]]}


def told(tracer: Tracer, tmp_path: Path, segment: int = 1) -> tuple[list[Event], Live]:
    folder = tracer.save(tmp_path / "trace")
    live = Live(lambda request: catalog.load(Trace(folder), request, bodies=False))
    with Follower(folder, segment=segment) as follower:
        return [event for sighting in follower.read() for event in live.take(sighting)], live


def ended(events: list[Event]) -> list[Ended]:
    return [event for event in events if isinstance(event, Ended)]


def text(event: Event, width: int | None = None) -> str:
    return "  ".join(cell.text for cell in of_event(event, width)).rstrip()


def attempt(tracer: Tracer, number: int, status: int, body: str) -> None:
    request = identifier(number)
    tracer.add(Kind.REQUEST_START, request, {"target": "/v1/messages", "session": "harbour"})
    tracer.add(Kind.RESPONSE_START, request, {"status": status})
    tracer.add(Kind.RESPONSE_END, request, END | {"request": END["request"] | {"hmac": body}})


def test_a_request_is_told_once_it_ended(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1, start=CLAUDE)
    tracer.exchange(2, end=False)
    events, live = told(tracer, tmp_path)
    (end,) = ended(events)
    assert (end.exchange.request_id, end.agent, end.model, end.masked, end.attempt) == (
        "req_01000000000000000000000001",
        Agent("Claude Code", "2.1.197"),
        "gannet-3",
        1,
        1,
    )
    assert list(live.pending) == [identifier(2)]
    assert end.exchange == catalog.load(Trace(tmp_path / "trace"), identifier(1), bodies=False)


def test_the_same_body_after_a_failure_is_another_attempt(tmp_path: Path) -> None:
    tracer = Tracer()
    for number, (status, body) in enumerate(
        [(529, "a"), (529, "a"), (200, "a"), (200, "a"), (500, "b"), (200, "c"), (200, "b")], 1
    ):
        attempt(tracer, number, status, body)
    events, _ = told(tracer, tmp_path)
    assert [end.attempt for end in ended(events)] == [1, 2, 3, 1, 1, 1, 1]


def test_one_whose_start_was_before_is_looked_up(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1, end=False, start=CLAUDE)
    tracer.rotate()
    tracer.add(Kind.RESPONSE_END, identifier(1), END)
    (end,) = ended(told(tracer, tmp_path, segment=2)[0])
    assert (end.exchange.path, end.exchange.status, end.agent) == (
        "/v1/messages?beta=true",
        200,
        Agent("Claude Code", "2.1.197"),
    )


def test_what_a_recorder_left_open_is_interrupted_when_the_next_one_writes(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1, end=False)
    tracer.rotate()
    tracer.add(Kind.RESPONSE_BODY, identifier(1), b"data: three\n\n")
    tracer.rotate(instance=bytes([9] * 16))
    tracer.checkpoint()
    events, live = told(tracer, tmp_path)
    (end,) = ended(events)
    assert (end.exchange.state, live.pending) == (State.INTERRUPTED, {})
    assert [source.number for source in end.exchange.provenance.segments] == [1, 2]


def talk(tracer: Tracer) -> None:
    request = identifier(1)
    tracer.add(Kind.REQUEST_START, request, {"method": "GET", "target": "/v1/responses", "session": "s"} | CLAUDE)
    tracer.add(Kind.RESPONSE_START, request, {"status": 101})
    for payload, flags in (
        (b'{"type":"response.create",', CLIENT | MORE),
        (b'"model":"tern-2"}', CLIENT),
        (b'{"type":"response.created"}', 0),
        (b'{"type":"response.', MORE),
        (b'completed"}', 0),
        (b'{"type":"response.completed"}', 0),
        (b'{"type":"response.create"}', CLIENT),
        (b'{"type":"a"}', 0),
        (b'{"type":"b"}', CLIENT),
        (b"\x00\xff", int(Flag.BINARY)),
    ):
        tracer.add(Kind.WS_FRAME, request, payload, flags=flags)
    tracer.add(Kind.RESPONSE_END, request, END)


def test_of_a_websocket_each_message_of_the_client_and_the_end_of_each_answer(tmp_path: Path) -> None:
    tracer = Tracer()
    talk(tracer)
    events, _ = told(tracer, tmp_path)
    assert [type(event) for event in events] == [Opened, *[Message] * 6, Ended]
    messages = [event for event in events if isinstance(event, Message)]
    request, response = Direction.REQUEST, Direction.RESPONSE
    assert [(m.direction, m.number, m.messages, m.bytes, m.model, m.duration_us) for m in messages] == [
        (request, 1, 1, 43, "tern-2", None),
        (response, 1, 3, 85, None, 4000),
        (request, 2, 1, 26, None, None),
        (response, 2, 1, 12, None, 2000),
        (request, 3, 1, 12, None, None),
        (response, 3, 1, 2, None, 2000),
    ]


def test_lines(tmp_path: Path) -> None:
    tracer = Tracer()
    talk(tracer)
    tracer.exchange(2, start=CLAUDE)
    failure = {"where": "upstream", "code": "upstream_cut", "message": "closed early"}
    tracer.exchange(3, end=False, start={"attribution": "none", "session": None, "method": None, "target": None})
    tracer.add(Kind.GAP, identifier(3), {"reason": "queue_full"})
    tracer.add(Kind.ERROR, identifier(3), END | failure)
    events, _ = told(tracer, tmp_path)
    opened, asked, answered = events[:3]
    first, second = ended(events)[1:]
    assert text(opened).startswith("12:00:00  unattributed ")
    assert "GET /v1/responses" in text(opened)
    assert text(opened).endswith("websocket open")
    assert "→ message 1  tern-2" in text(asked)
    assert "← answer 1, 3 messages" in text(answered)
    assert text(answered).endswith("85 B    4.0 ms")
    words = [word for word in text(first).split("  ") if word.strip()]
    assert [word.strip() for word in words] == [
        "12:00:00",
        "harbour/00000A",
        "Claude Code",
        "POST /v1/messages",
        "gannet-3",
        "200",
        "28 B",
        "15 B",
        "812.3 ms",
        "1 masked",
    ]
    assert text(second).split()[1:5] == ["unattributed", "-", "?", "?"]
    assert text(second).endswith("upstream_cut  1 masked  not all recorded")


def test_a_line_fits_a_terminal(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1, start={"target": "/v1/" + "x" * 200, "session": "s" * 60} | CLAUDE)
    events, _ = told(tracer, tmp_path)
    for width in (80, 100, 119, 120, 140, 200):
        assert len(text(events[0], width)) <= width
    assert "gannet-3" in text(events[0], 80)
    assert "Claude Code" not in text(events[0], 80)
    assert "Claude Code" in text(events[0], 140)
    assert "x" * 200 in text(events[0])


def test_a_request_under_way(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1, end=False, start=CLAUDE)
    _, live = told(tracer, tmp_path)
    (pending,) = live.pending.values()
    line = "  ".join(cell.text for cell in of_start(pending.exchange(is_live=True), pending.agent, None))
    assert "POST /v1/messages" in line
    assert line.endswith("under way")
    assert pending.exchange(is_live=True).state is State.ACTIVE


def test_colours_say_what_is_to_be_noticed(tmp_path: Path) -> None:
    tracer = Tracer()
    attempt(tracer, 1, 529, "a")
    attempt(tracer, 2, 301, "a")
    events, _ = told(tracer, tmp_path)
    styles: list[dict[str, Any]] = [{cell.text.strip(): cell.style for cell in of_event(e, None)} for e in events]
    assert (styles[0]["529"], styles[1]["301"], styles[1]["attempt 2"]) == ("red", "yellow", "yellow")


def test_times_are_those_of_the_records(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.exchange(1, start=CLAUDE)
    events, _ = told(tracer, tmp_path)
    assert events[0].exchange.started == "2026-11-16T12:00:00.001000Z"
