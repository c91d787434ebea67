"""A session out of a trace on disk: written or sealed, in one segment or several, from traffic and from logs."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from blackbird.canon.model import (
    Call,
    Evidence,
    Generation,
    Item,
    Message,
    Outcome,
    Part,
    Refusal,
    Result,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from blackbird.errors import NotFound
from blackbird.timeline import evidence, gather
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind
from blackbox.errors import ReadError
from tests.blackbird.flights import BEGIN, SECOND, Flight, Socket, repair
from tests.blackbird.logbook import Logbook
from tests.blackbird.trace.encoder import MONOTONIC

WAYS = [
    ("messages", "stream"),
    ("chat", "stream"),
    ("responses", "stream"),
    ("gemini", "stream"),
    ("ollama", "stream"),
]
WAYS += [("gemini", "array"), ("messages", "json"), ("chat", "json"), ("responses", "json")]
SAID = [
    ("message", "Fix the failing test."),
    ("message", "I read both files."),
    ("call", "read_file"),
    ("call", "read_file"),
    ("result", "def add(a, b):\n    return a - b\n"),
    ("result", "assert add(2, 3) == 5\n"),
    ("message", "Now the test."),
    ("call", "run_command"),
    ("result", "FAILED (failures=1)\n"),
    ("message", "It is blocked. 🚧\n"),
]


def told(timeline: Timeline) -> list[tuple[str, str]]:
    """What was said and done, without system prompts, thoughts and metadata."""
    return [spelled for item in timeline.items if (spelled := _spelled(item)) is not None]


def _spelled(item: Item) -> tuple[str, str] | None:
    match item:
        case Message() if item.origin in ("user", "agent") and item.text:
            return "message", item.text
        case Call():
            return "call", item.call.name
        case Result():
            return "result", item.result.text
        case _:
            return None


def pointers(timeline: Timeline) -> Iterator[tuple[Item, Evidence]]:
    for item in timeline.items:
        assert item.evidence, item
        for pointer in item.evidence:
            yield item, pointer


def texts(item: Item) -> Iterator[tuple[str, Part]]:
    parts: tuple[Part, ...] = ()
    match item:
        case Message():
            parts = item.parts
        case Call():
            parts = (item.call,)
        case Result():
            parts = (item.result,)
        case _:
            pass
    for part in parts:
        if isinstance(part, Text | Thinking | Refusal | ToolResult):
            yield part.text, part
        elif isinstance(part, ToolCall):
            yield part.raw, part


def check_places(trace: Trace, timeline: Timeline) -> int:
    """Each pointer resolves, and each stretch of text is the text at its place."""
    found = 0
    for _, pointer in pointers(timeline):
        there = evidence.resolve(trace, pointer)
        assert there is not None, pointer
        assert len(there) == pointer.end - pointer.start, pointer
        assert pointer.sequence is not None
    for item in timeline.items:
        body = evidence.body(trace, item.evidence[0])
        assert body is not None
        for text, part in texts(item):
            for first, last, start, end in (msgspec.structs.astuple(span) for span in part.spans):  # type: ignore[union-attr]
                spelled = body[start:end]
                assert text[first:last] in (spelled.decode(), _inside_a_string(spelled))
                found += 1
    return found


def _inside_a_string(spelled: bytes) -> str | None:
    try:
        value = json.loads(b'"' + spelled + b'"', strict=False)
    except ValueError:
        return None
    return str(value)


@pytest.mark.requirement("CANON-05", "CANON-06", "CANON-08")
@pytest.mark.parametrize(("dialect", "way"), WAYS)
@pytest.mark.parametrize("sealed", [(), (1,)])
def test_every_dialect_gives_the_same_timeline(
    dialect: str, way: str, sealed: tuple[int, ...], tmp_path: Path
) -> None:
    book = Logbook()
    for exchange in repair(Flight(dialect, way=way, chunks=(37, 300))):
        book.exchange(exchange)
    trace = Trace(book.save(tmp_path / "trace", sealed=sealed))
    timeline = gather.load(trace, "s1")
    assert told(timeline) == SAID
    assert [item.outcome for item in timeline.items if isinstance(item, Generation)] == [Outcome.COMPLETE] * 3
    assert timeline.problems == ()
    assert check_places(trace, timeline) > len(SAID)


@pytest.mark.requirement("CANON-06")
def test_a_websocket_gives_it_too(tmp_path: Path) -> None:
    socket = Socket("responses")
    socket.ask(is_idle=True)
    reads = [("read_file", {"path": "calc.py"}), ("read_file", {"path": "test_calc.py"})]
    socket.ask("Fix the failing test.", says="I read both files.", calls=reads)
    results = ["def add(a, b):\n    return a - b\n", "assert add(2, 3) == 5\n"]
    socket.ask(results=results, says="Now the test.", calls=[("run_command", {"command": "true"})])
    socket.ask(results=["FAILED (failures=1)\n"], says="It is blocked. 🚧\n")
    book = Logbook()
    book.exchange(socket.land())
    trace = Trace(book.save(tmp_path / "trace"))
    timeline = gather.load(trace, "s1")
    assert told(timeline) == SAID
    assert check_places(trace, timeline) > len(SAID)


def test_an_exchange_may_lie_in_several_segments(tmp_path: Path) -> None:
    exchanges = repair(Flight("messages", chunks=(500,)))
    book = Logbook()
    book.exchange(exchanges[0])
    book.exchange(exchanges[1])
    records = book.tracer.current.records
    book.tracer.current.records, rest = records[:-4], records[-4:]
    book.tracer.rotate(first_sequence=rest[0].sequence, wall=BEGIN)
    book.tracer.current.records += rest
    book.exchange(exchanges[2])
    whole = gather.load(Trace(book.save(tmp_path / "written")), "s1")
    assert told(whole) == SAID
    assert {pointer.segment for _, pointer in pointers(whole)} == {1, 2}
    sealed = gather.load(Trace(book.save(tmp_path / "sealed", sealed=(1, 2))), "s1")
    assert sealed == whole


def test_only_the_session_that_was_asked_for(tmp_path: Path) -> None:
    book = Logbook()
    one = Flight("messages")
    repair(one)
    other = one.beside(session="s2", run="run_2")
    other.turn("Something else.", says="Yes.")
    for exchange in one.exchanges:
        book.exchange(exchange)
    trace = Trace(book.save(tmp_path / "trace"))
    assert told(gather.load(trace, "s1")) == SAID
    assert told(gather.load(trace, "run_2")) == [("message", "Something else."), ("message", "Yes.")]
    with pytest.raises(NotFound):
        gather.load(trace, "s3")


def test_what_a_run_states_is_about_its_session(tmp_path: Path) -> None:
    book = Logbook()
    book.state("run.start", "s1", "run_1", client="claude", cwd="/work/calc")
    book.state("run.context", "s1", "run_1", repository="https://example.org/calc.git", sha="a" * 40, dirty=False)
    book.state("run.context", "s1", "run_1", client_version="2.1", tools={"git": "2.45"}, branch="main")
    book.state("goal", "s1", text="Calc works")
    for exchange in repair(Flight("messages")):
        book.exchange(exchange)
    book.state("run.end", "s1", "run_1", exit_code=3)
    about = gather.load(Trace(book.save(tmp_path / "trace")), "s1").about
    assert (about.client, about.client_version, about.cwd) == ("claude", "2.1", "/work/calc")
    assert (about.repository, about.sha, about.branch) == ("https://example.org/calc.git", "a" * 40, "main")
    assert (about.dirty, about.tools, about.goal) == (False, {"git": "2.45"}, "Calc works")
    assert (about.runs, about.models, about.exit_code, about.is_active) == (("run_1",), ("scripted-1",), 3, False)


def test_following_tells_what_is_new_and_ends_with_the_same(tmp_path: Path) -> None:
    exchanges = repair(Flight("messages"))
    book = Logbook()
    book.state("run.start", "s1", "run_1", client="claude")
    with gather.Following(tmp_path / "trace", "s1") as following:
        assert following.poll() == []
        counts = []
        for exchange in exchanges:
            book.exchange(exchange)
            book.save(tmp_path / "trace")
            counts.append(len([item for item in following.poll() if isinstance(item, Call)]))
        assert counts == [2, 1, 0]
        assert following.timeline == gather.load(Trace(tmp_path / "trace"), "s1")


@pytest.mark.requirement("CANON-11")
def test_an_exchange_without_an_end_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    book = Logbook()
    flight = Flight("messages", chunks=(200,))
    flight.turn("Say something long.", says="One two three four five six seven eight nine ten.")
    book.exchange(flight.exchanges[0])
    del book.tracer.current.records[-3:]
    timeline = gather.load(Trace(book.save(tmp_path / "trace")), "s1")
    generation = next(item for item in timeline.items if isinstance(item, Generation))
    assert generation.outcome is Outcome.CUT
    said = told(timeline)
    assert said[0] == ("message", "Say something long.")
    assert "One two three four five six seven eight nine ten.".startswith(said[1][1])


SECRET = "ghp_" + "k7Rm2Qx9Lp4Zt8Vb3Nw6Yc1Hd5Jf0Gs" + "A1b2C3"


@pytest.mark.requirement("TRED-07")
@pytest.mark.requirement("CANON-07")
def test_a_secret_that_the_stream_cut_in_two_is_taken_out_of_the_text(tmp_path: Path) -> None:
    flight = Flight("messages")
    flight.turn("What is the token?", says=f"It is {SECRET}, keep it.")
    exchange = flight.exchanges[0]
    assert SECRET.encode() not in exchange.response_body.data
    book = Logbook()
    book.exchange(exchange)
    timeline = gather.load(Trace(book.save(tmp_path / "trace")), "s1")
    assert told(timeline)[-1] == ("message", "It is [redacted:github_token], keep it.")
    assert SECRET not in msgspec.json.encode(timeline).decode()


def said(second: int, role: str, words: str, **message: object) -> dict[str, object]:
    """A line of an agent's log."""
    line = {"type": role, "sessionId": "c1", "uuid": f"u{second}", "timestamp": f"2026-11-16T00:00:{second:02}Z"}
    return line | {"message": {"role": role, "content": [{"type": "text", "text": words}], **message}}


def test_a_log_that_two_runs_wrote_is_told_and_counted_once(tmp_path: Path) -> None:
    book = Logbook()
    client = (("user-agent", "claude-cli/2.1.197"), ("x-claude-code-session-id", "c1"))
    counted = {"input_tokens": 10, "output_tokens": 5}
    first = Flight("messages", session="s1", run="run_1", headers=client)
    first.trace.at += 10 * SECOND
    book.tracer.add(
        Kind.HARNESS_EVENT,
        payload={"event": "run.start", "session": "s1", "run": "run_1", "data": {}},
        monotonic=MONOTONIC + 9 * SECOND,
    )
    book.exchange(first.turn("Mend it.", says="Mended.", usage=counted))
    book.tracer.add(
        Kind.HARNESS_EVENT,
        payload={"event": "run.start", "session": "s2", "run": "run_2", "data": {}},
        monotonic=MONOTONIC + 30 * SECOND,
    )
    second = first.fork(session="s2", run="run_2")
    second.trace.at += 30 * SECOND
    book.exchange(second.turn("Again?", says="Once more.", usage=counted))
    book.log(
        "claude-code",
        "/home/a/.claude/projects/x/c1.jsonl",
        "c1",
        [
            said(10, "user", "Mend it."),
            said(11, "assistant", "Mended.", id="m1", usage=counted),
            said(41, "user", "Again?"),
            said(42, "assistant", "Once more.", id="m2", usage=counted),
        ],
    )
    trace = Trace(book.save(tmp_path / "trace"))
    one, other = (gather.load(trace, name) for name in ("s1", "s2"))
    new = [
        [
            item.text
            for item in timeline.items
            if isinstance(item, Message) and not item.is_inherited and item.is_joined
        ]
        for timeline in (one, other)
    ]
    assert new == [["Mend it.", "Mended."], ["Again?", "Once more."]]
    assert [words for _, words in told(one)] == ["Mend it.", "Mended."]
    assert [words for _, words in told(other)] == ["Mend it.", "Mended.", "Again?", "Once more."]
    counts = [
        [item.usage is not None for item in each.items if isinstance(item, Generation)] for each in (one, other)
    ]
    assert counts == [[True], [False, True]]


def test_a_log_whose_import_was_cut_off_is_there_as_far_as_it_came(tmp_path: Path) -> None:
    book = Logbook()
    words = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Mend it."}, "sessionId": "n1"}
    book.log("claude-code", "/x/n1.jsonl", "n1", [words])
    del book.tracer.current.records[-1]
    assert told(gather.load(Trace(book.save(tmp_path / "trace")), "n1")) == [("message", "Mend it.")]


def test_a_log_that_was_left_outside_is_read_where_it_is_and_missed_when_it_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "n1.jsonl"
    words = {
        "type": "user",
        "uuid": "u1",
        "message": {"role": "user", "content": f"It is {SECRET}."},
        "sessionId": "n1",
    }
    path.write_text(json.dumps(words) + "\n")
    book = Logbook()
    book.log("claude-code", str(path), "n1", [words], is_kept=False)
    trace = Trace(book.save(tmp_path / "trace"))
    assert SECRET.encode() not in book.tracer.current.wal
    timeline = gather.load(trace, "n1")
    assert told(timeline) == [("message", "It is [redacted:github_token].")]
    pointer = timeline.items[0].evidence[0]
    assert (pointer.segment, pointer.sequence, pointer.file, pointer.offset) == (None, None, str(path), 0)
    path.unlink()
    with pytest.raises(ReadError, match="the log was not kept in the trace"):
        gather.load(trace, "n1")


def test_a_line_that_is_no_json_is_a_problem(tmp_path: Path) -> None:
    book = Logbook()
    book.log(
        "claude-code", "/p/s9.jsonl", "s9", [{"type": "user", "message": {"content": "mend"}}, '{"type":"assist']
    )
    timeline = gather.load(Trace(book.save(tmp_path / "trace")), "s9")
    assert told(timeline) == [("message", "mend")]
    assert timeline.problems == ()
    assert timeline.unread == ("/p/s9.jsonl:2: this line is no JSON, and what it said is missing",)
