"""What tools did, joined to the calls of a conversation: by id, else by tool, arguments and time; else by itself."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Call, Evidence, Item, Result, Side, ToolCall, ToolResult
from blackbird.timeline import evidence, gather, tools
from blackbird.timeline.order import settle
from blackbird.timeline.timeline import Timeline
from blackbird.timeline.tools import Told
from blackbird.trace.folder import Trace
from tests.blackbird.flights import BEGIN, SECOND, Flight, repair
from tests.blackbird.logbook import Logbook


def calls_of(timeline: Timeline) -> list[Call]:
    return [item for item in timeline.items if isinstance(item, Call)]


def result_of(timeline: Timeline, call: Call) -> Result:
    return next(item for item in timeline.items if isinstance(item, Result) and item.call_id == call.call_id)


def recorded(
    folder: Path, *events: dict[str, Any], dialect: str = "messages", sealed: tuple[int, ...] = ()
) -> Timeline:
    """A repair of three calls, and what tools told of it."""
    book = Logbook()
    book.state("run.start", "s1", "run_1", client="claude")
    for exchange in repair(Flight(dialect)):
        book.exchange(exchange)
    for event in events:
        book.tool(**event)
    return gather.load(Trace(book.save(folder, sealed=sealed)), "s1")


def command_id(folder: Path) -> str:
    """The id of the call that runs the test."""
    return calls_of(recorded(folder))[-1].call_id


@pytest.mark.requirement("TOOLEV-02")
@pytest.mark.parametrize("sealed", [(), (1,)])
def test_an_event_is_joined_by_the_id_of_its_call(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    call_id = command_id(tmp_path / "plain")
    same = {"run": "run_1", "tool": "Bash", "call_id": call_id, "command": "make test", "cwd": "/lamp"}
    start = {"event": "start", "id": "a", "at": BEGIN + SECOND, **same}
    end = {"event": "end", "id": "b", "at": BEGIN + 3 * SECOND, "exit_code": 2, "failed": True, **same}
    timeline = recorded(tmp_path / "trace", start, end, sealed=sealed)
    call = calls_of(timeline)[-1]
    result = result_of(timeline, call)
    assert len(calls_of(timeline)) == 3
    assert result.result.details == {"command": "make test", "cwd": "/lamp", "exit_code": 2, "duration_ms": 2000}
    trace = Trace(tmp_path / "trace")
    told = [pointer for pointer in result.evidence if pointer.side is Side.EVENT]
    assert len(told) == 2
    for pointer in (*told, *(pointer for pointer in call.evidence if pointer.side is Side.EVENT)):
        there = evidence.resolve(trace, pointer)
        assert there is not None
        assert call_id.encode() in there


@pytest.mark.requirement("TOOLEV-02")
def test_an_event_without_an_id_is_joined_by_tool_arguments_and_time(tmp_path: Path) -> None:
    calls = calls_of(recorded(tmp_path / "plain"))
    at = (calls[1].at or 0) + SECOND
    tool = {"run": "run_1", "tool": "ReadFile", "input": {"path": "test_calc.py"}}
    timeline = recorded(
        tmp_path / "trace",
        {"event": "start", "id": "a", "at": at, **tool},
        {"event": "end", "id": "b", "at": at + SECOND, "failed": False, "reads": ["test_calc.py"], **tool},
    )
    assert [call.call_id for call in calls_of(timeline)] == [call.call_id for call in calls]
    details = [result_of(timeline, call).result.details for call in calls]
    assert details == [{}, {"path": "test_calc.py", "reads": ["test_calc.py"], "duration_ms": 1000}, {}]


def test_other_arguments_are_another_use(tmp_path: Path) -> None:
    calls = calls_of(recorded(tmp_path / "plain"))
    event = {"event": "whole", "id": "a", "at": (calls[1].at or 0) + 1, "run": "run_1", "tool": "read_file"}
    timeline = recorded(tmp_path / "trace", {**event, "input": {"path": "other.py"}, "exit_code": 0})
    assert len(calls_of(timeline)) == 4


@pytest.mark.requirement("TOOLEV-02")
def test_what_no_call_led_to_is_a_call_of_its_own(tmp_path: Path) -> None:
    event = {"event": "whole", "id": "a", "at": BEGIN + 1, "run": "run_1", "tool": "deploy", "output": "done"}
    timeline = recorded(tmp_path / "trace", {**event, "exit_code": 0, "input": {"to": "harbour"}})
    call = calls_of(timeline)[0]
    result = result_of(timeline, call)
    assert (call.call.name, call.call.arguments, call.is_made_up) == ("deploy", {"to": "harbour"}, True)
    assert (result.result.text, result.result.error, result.result.details) == ("done", False, {"exit_code": 0})
    assert (call.at, result.parent, call.thread) == (BEGIN + 1, call.id, timeline.threads[0].id)
    assert [pointer.side for pointer in (*call.evidence, *result.evidence)] == [Side.EVENT, Side.EVENT]


def test_an_event_that_came_twice_counts_once(tmp_path: Path) -> None:
    event = {"event": "whole", "id": "a", "at": BEGIN + 1, "run": "run_1", "tool": "deploy"}
    once = recorded(tmp_path / "once", event)
    assert recorded(tmp_path / "twice", event, event).items == once.items


def test_events_of_others_are_none_of_this_session(tmp_path: Path) -> None:
    event = {"event": "whole", "at": BEGIN + 1, "tool": "deploy"}
    timeline = recorded(tmp_path / "trace", {**event, "run": "run_9"}, {**event, "native_session": "c9"}, event)
    assert len(calls_of(timeline)) == 3


def test_notes_are_no_calls(tmp_path: Path) -> None:
    note = {"event": "note", "hook": "Stop", "run": "run_1", "at": BEGIN + 1}
    bad = {"event": "unreadable", "bytes": 3, "run": "run_1", "at": BEGIN + 1}
    assert recorded(tmp_path / "trace", note, bad).items == recorded(tmp_path / "plain").items


def test_events_of_a_session_without_words_are_told(tmp_path: Path) -> None:
    book = Logbook()
    book.state("run.start", "s1", "run_1", client="claude")
    book.tool("start", id="a", run="run_1", tool="Bash", call_id="toolu_1", at=BEGIN + 1)
    book.tool("end", id="b", run="run_1", tool="Bash", call_id="toolu_1", at=BEGIN + 2, exit_code=1)
    timeline = gather.load(Trace(book.save(tmp_path / "trace")), "s1")
    (call,) = calls_of(timeline)
    assert (call.call_id, call.is_made_up, timeline.threads[0].id) == ("toolu_1", False, call.thread)
    assert result_of(timeline, call).result.error is True


@pytest.mark.requirement("TOOLEV-02")
def test_following_ends_with_the_same(tmp_path: Path) -> None:
    event = {"event": "whole", "id": "a", "at": BEGIN + 1, "run": "run_1", "tool": "deploy"}
    whole = recorded(tmp_path / "trace", event)
    with gather.Following(tmp_path / "trace", "s1") as following:
        following.poll()
        following.close()
        assert following.timeline == whole


def told(number: int, kind: str, call_id: str | None) -> Told:
    fields = {"event": kind, "id": str(number), "tool": "Bash", "input": {"n": 1}}
    fields |= {} if call_id is None else {"call_id": call_id}
    place = Evidence(source=Side.EVENT, side=Side.EVENT, start=0, end=1, segment=1, sequence=number)
    return Told(fields, BEGIN + number, place)


def conversation(count: int) -> list[Item]:
    items: list[Item] = []
    for number in range(count):
        place = Evidence(source="req_1", side=Side.RESPONSE, start=0, end=1)
        call = ToolCall(name="bash", call_id=f"c{number}", arguments={"n": 1})
        shared = {"thread": "main", "at": BEGIN + number, "evidence": (place,), "call_id": f"c{number}"}
        items.append(Call(id=f"it_c{number}", call=call, **shared))  # type: ignore[arg-type]
        result = ToolResult(call_id=f"c{number}", text="")
        items.append(Result(id=f"it_r{number}", parent=f"it_c{number}", result=result, **shared))  # type: ignore[arg-type]
    return items


KINDS = st.tuples(st.sampled_from(["start", "end", "whole"]), st.sampled_from([None, "c0", "c1", "x"]))


@given(st.lists(KINDS, max_size=8), st.integers(0, 3), st.randoms(use_true_random=False))
def test_the_order_of_records_makes_no_difference(
    kinds: list[tuple[str, str | None]], count: int, shuffler: Any
) -> None:
    events = [told(number, kind, call_id) for number, (kind, call_id) in enumerate(kinds, 1)]
    items = conversation(count)
    expected = settle([*items, *tools.joined(items, events, ())])
    shuffler.shuffle(events)
    assert settle([*items, *tools.joined(items, events, ())]) == expected
    pointed = set(itertools.chain.from_iterable(item.evidence for item in expected))
    assert {event.evidence for event in events} <= pointed
