"""Sessions that go on from others: what was copied into their logs is told, but it is not theirs, nor paid twice."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from blackbird.canon import natives, reading
from blackbird.canon.model import Evidence, Generation, Message
from blackbird.canon.natives import claude_code
from blackbird.canon.seen import Entry
from blackbird.exchange.exchange import Exchange
from blackbird.timeline import gather
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace
from tests.blackbird.flights import BEGIN, SECOND, Flight
from tests.blackbird.logbook import Logbook

Lines = list[dict[str, Any]]
#: What an answer of a log took, and what one of the wire did.
LOGGED, SENT = {"input_tokens": 10, "output_tokens": 5}, {"input_tokens": 10, "output_tokens": 5}


def said(session: str, second: int, words: str, **more: Any) -> dict[str, Any]:
    """A user's line, with the id `u` and its second."""
    return _line(session, second, "user", {"content": words}) | more


def answered(session: str, second: int, words: str, **more: Any) -> dict[str, Any]:
    """An agent's line."""
    message = {"id": f"msg_{second}", "content": [{"type": "text", "text": words}], "usage": LOGGED}
    return _line(session, second, "assistant", message) | more


def queued(session: str, second: int) -> dict[str, Any]:
    """A line without an id, which no client copies."""
    return {"type": "queue-operation", "operation": "enqueue", "sessionId": session, "timestamp": _time(second)}


def _line(session: str, second: int, role: str, message: dict[str, Any]) -> dict[str, Any]:
    about = {"type": role, "sessionId": session, "uuid": f"{role[0]}{second}", "timestamp": _time(second)}
    return about | {"message": {"role": role, **message}}


def _time(second: int) -> str:
    return f"2026-11-16T00:00:{second:02}Z"


def copied(session: str, lines: Lines) -> Lines:
    """The lines with ids, as those of another session."""
    return [line | {"sessionId": session} for line in lines if "uuid" in line]


def path_of(session: str) -> str:
    return f"/home/a/.claude/projects/x/{session}.jsonl"


def trace_of(folder: Path, logs: Sequence[tuple[str, Lines]], *, book: Logbook | None = None, **save: Any) -> Trace:
    """A trace into which logs were taken in this order."""
    book = book or Logbook()
    for session, lines in logs:
        book.log("claude-code", path_of(session), session, lines)
    return Trace(book.save(folder / "trace", **save))


def words(timeline: Timeline, *, inherited: bool) -> list[str]:
    """What was said in a session, or before it."""
    return [
        item.text
        for item in timeline.items
        if isinstance(item, Message) and item.is_inherited is inherited and item.text
    ]


FIRST = [said("c0", 10, "Mend it."), answered("c0", 11, "Mended.")]
FORK = [*copied("c1", FIRST), said("c1", 20, "Again?"), answered("c1", 21, "Once more.")]
ON = [said("c0", 30, "Thanks."), answered("c0", 31, "Welcome.")]
#: The log that was copied, and the copy.
FORKS = {
    "it ended": (FIRST, FORK),
    "it went on": ([*FIRST, *ON], FORK),
    "it has lines without an id": ([queued("c0", 9), *FIRST, *ON], [queued("c1", 19), *FORK]),
}


@pytest.mark.parametrize("kind", FORKS)
@pytest.mark.parametrize("order", list(itertools.permutations((0, 1))))
@pytest.mark.parametrize("sealed", [(), (1,)])
def test_the_original_is_told_by_its_lines_whatever_was_imported_first(
    kind: str, order: tuple[int, ...], sealed: tuple[int, ...], tmp_path: Path
) -> None:
    logs = list(zip(("c0", "c1"), FORKS[kind], strict=True))
    trace = trace_of(tmp_path, [logs[at] for at in order], sealed=sealed)
    first, fork = (gather.load(trace, name) for name in ("c0", "c1"))
    assert words(first, inherited=True) == []
    assert words(first, inherited=False)[:2] == ["Mend it.", "Mended."]
    assert words(fork, inherited=True) == ["Mend it.", "Mended."]
    assert words(fork, inherited=False) == ["Again?", "Once more."]
    assert (first.spent.usage.input, fork.spent.usage.input) == (10 if kind == "it ended" else 20, 10)
    assert fork.about.began == BEGIN + (19 if "without" in kind else 20) * SECOND


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_copy_of_a_copy(order: tuple[int, ...], tmp_path: Path) -> None:
    last = [*copied("c2", FORK), said("c2", 40, "And now?"), answered("c2", 41, "Now, too.")]
    logs = [("c0", FIRST), ("c1", FORK), ("c2", last)]
    trace = trace_of(tmp_path, [logs[at] for at in order])
    found = [gather.load(trace, name) for name, _ in logs]
    assert [timeline.spent.usage.input for timeline in found] == [10, 10, 10]
    assert words(found[2], inherited=True) == ["Mend it.", "Mended.", "Again?", "Once more."]


def test_all_that_came_out_of_a_copied_line_was_copied(tmp_path: Path) -> None:
    """A change of the mode is a mark without an id of its own."""
    begun = [FIRST[0] | {"permissionMode": "default"}, *FIRST[1:]]
    first = [*begun, said("c0", 12, "Plan it.", permissionMode="plan")]
    trace = trace_of(tmp_path, [("c0", first), ("c1", [*copied("c1", first), *FORK[2:]])])
    fork = gather.load(trace, "c1")
    old = [item for item in fork.items if (item.at or 0) < BEGIN + 20 * SECOND]
    assert [type(item).__name__ for item in old] == ["Message", "Generation", "Message", "Message", "Mark"]
    assert [item.is_inherited for item in old] == [True] * 5


def test_a_log_that_says_where_it_was_copied_from_needs_no_other(tmp_path: Path) -> None:
    told = [line | {"forkedFrom": {"sessionId": "c0", "messageUuid": "x"}} for line in copied("c1", FIRST)]
    fork = gather.load(trace_of(tmp_path, [("c1", [*told, *FORK[2:]])]), "c1")
    assert words(fork, inherited=True) == ["Mend it.", "Mended."]
    assert fork.spent.usage.input == 10


def test_the_original_may_have_been_left_outside(tmp_path: Path) -> None:
    path = tmp_path / "c0.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in FIRST))
    book = Logbook()
    outside = book.log("claude-code", str(path), "c0", FIRST, is_kept=False)
    trace = trace_of(tmp_path, [("c1", FORK)], book=book)
    assert outside.is_kept is False
    assert gather.load(trace, "c1").spent.usage.input == 10
    path.unlink()
    assert gather.load(trace, "c1").spent.usage.input == 20


def test_logs_that_have_nothing_of_it_are_not_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = [said("c9", 9, "Something else.", uuid="x1"), answered("c9", 59, "Done.", uuid="x2")]
    trace = trace_of(tmp_path, [("c0", FIRST), ("c9", other), ("c1", FORK)])
    asked: list[str] = []

    def read(source: str, file: str) -> claude_code.Reader:
        asked.append(Path(file).stem)
        return claude_code.Reader(source, file)

    monkeypatch.setitem(natives.READERS, "claude-code", read)
    assert gather.load(trace, "c1").spent.usage.input == 10
    assert sorted(asked) == ["c0", "c1", "c1"]


CLIENT = ("user-agent", "claude-cli/2.1.197")


def sent(flight: Flight, words: str, says: str, request: str) -> Exchange:
    """A turn on the wire, with an id of the provider's for its request."""
    exchange = flight.turn(words, says=says, usage=SENT)
    assert exchange.response is not None
    exchange.response.headers[:] = [("request-id", request)]
    return exchange


def answer_of(exchange: Exchange) -> str:
    reply = reading.read(exchange)[0].reply
    assert reply is not None
    return reply.response_id or ""


def client(native: str, session: str | None = None, run: str | None = None) -> Flight:
    """A client that names its own session in each request."""
    flight = Flight("messages", session, run, (CLIENT, ("x-claude-code-session-id", native)))
    flight.trace.at += 10 * SECOND
    return flight


@pytest.mark.parametrize("later", [0, 1800, 86_400])
@pytest.mark.parametrize("has_request", [False, True])
def test_what_another_session_was_answered_is_not_paid_twice(
    tmp_path: Path, later: int, *, has_request: bool
) -> None:
    """The original was recorded and never imported. An answer's own id is looked for in what passed at that time.

    That of the request may be off as far as clocks are.
    """
    book, flight = Logbook(), client("c0")
    exchange = sent(flight, "Mend it.", "Mended.", "req_a")
    exchange = msgspec.structs.replace(exchange, started_ns=(exchange.started_ns or 0) + later * SECOND)
    book.exchange(exchange)
    fork = json.loads(json.dumps(FORK))
    fork[1]["message"]["id"] = answer_of(exchange)
    fork[1] |= {"requestId": "req_a"} if has_request else {}
    trace = trace_of(tmp_path, [("c1", fork)], book=book)
    found = gather.load(trace, "c1")
    is_known = later < (3600 if has_request else 10)
    assert found.spent.usage.input == (10 if is_known else 20)
    assert words(found, inherited=True) == (["Mend it.", "Mended."] if is_known else [])
    assert gather.load(trace, "c0").spent.usage.input == 10


def test_what_passes_after_a_log_was_taken_in_tells_nothing_of_it(tmp_path: Path) -> None:
    book = Logbook()
    book.log("claude-code", path_of("c1"), "c1", [FORK[0], FORK[1] | {"requestId": "req_a"}])
    book.exchange(sent(client("c0"), "Mend it.", "Mended.", "req_a"))
    assert gather.load(trace_of(tmp_path, [], book=book), "c1").spent.usage.input == 10
    more = [FORK[0], FORK[1] | {"requestId": "req_a"}, *FORK[2:]]
    found = gather.load(trace_of(tmp_path, [("c1", more)], book=book), "c1")
    assert (words(found, inherited=True), found.spent.usage.input) == (["Mend it.", "Mended."], 10)


def test_a_line_that_cannot_be_understood_says_nothing_of_whose_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = claude_code.Reader.line

    def line(reader: claude_code.Reader, text: str, evidence: Evidence) -> list[Entry]:
        if "Mended." in text:
            raise KeyError(text)
        return list(real(reader, text, evidence))

    monkeypatch.setattr(claude_code.Reader, "line", line)
    found = gather.load(trace_of(tmp_path, [("c0", FIRST), ("c1", FORK)]), "c1")
    assert words(found, inherited=True) == ["Mend it."]
    assert words(found, inherited=False) == ["Again?", "Once more."]
    assert ["KeyError" in problem for problem in found.problems] == [True]


def test_what_was_sent_without_an_id_of_a_session_may_be_anybodys(tmp_path: Path) -> None:
    book = Logbook()
    flight = Flight("messages", session="s1", run="run_1")
    book.exchange(sent(flight, "Mend it.", "Mended.", "req_a"))
    log = [FORK[0], FORK[1] | {"requestId": "req_a"}]
    assert gather.load(trace_of(tmp_path, [("c1", log)], book=book), "c1").spent.usage.input == 10


@pytest.mark.parametrize("logs", [("c0", "c1"), ("c1", "c0"), ("c1",)])
def test_of_sessions_that_are_one_here_a_copy_is_the_same_line_again(tmp_path: Path, logs: tuple[str, ...]) -> None:
    """A client was run once, and had two sessions in that run."""
    book, flight = Logbook(), client("c0", "s1", "run_1")
    fork = flight.fork(headers=(CLIENT, ("x-claude-code-session-id", "c1")))
    exchanges = [sent(flight, "Mend it.", "Mended.", "req_a")]
    fork.history = json.loads(json.dumps(flight.history))
    exchanges.append(sent(fork, "Again?", "Once more.", "req_b"))
    lines = json.loads(json.dumps(FORK))
    for line, following in itertools.pairwise(lines):
        following["parentUuid"] = line["uuid"]
    for at, exchange, request in ((1, exchanges[0], "req_a"), (3, exchanges[1], "req_b")):
        book.exchange(exchange)
        lines[at]["message"]["id"] = answer_of(exchange)
        lines[at]["requestId"] = request
    every = {"c0": copied("c0", lines[:2]), "c1": lines}
    found = gather.load(trace_of(tmp_path, [(name, every[name]) for name in logs], book=book), "s1")
    first, then = ["You repair.", "Mend it.", "Mended."], ["You repair.", "Again?", "Once more."]
    assert words(found, inherited=False) == [*first, *then], "each thread tells what it was given to begin with"
    assert words(found, inherited=True) == []
    assert found.spent.usage.input == 20
    assert [(thread.native, thread.kind) for thread in found.threads] == [("c0", None), ("c1", "fork")]
    assert [item.is_joined for item in found.items if isinstance(item, Generation)] == [True, True]
