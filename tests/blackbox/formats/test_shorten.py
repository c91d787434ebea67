"""What an .rlog shows: the beginnings of long texts, each marked where it was cut."""

import pytest
from hypothesis import HealthCheck, given, settings

from blackbox import parse
from blackbox.events import Event
from blackbox.events.calls import Arguments, ToolCall, build_subagent
from blackbox.events.comments import Note
from blackbox.events.messages import Message, Thinking
from blackbox.formats.flight import Entry, Flight, Loss, flight_of
from blackbox.formats.shorten import cut, shorten, shortened
from blackbox.write import results
from blackbox.write.render import render_event
from tests.blackbox.write import strategies


@pytest.mark.requirement("DUAL-02")
def test_limits() -> None:
    text = "x" * 300
    assert shorten(Entry(Message("user", text), {})) == Message("user", "x" * 200 + "...")
    assert shorten(Entry(Message("agent", text), {})) == Message("agent", "x" * 200 + "...")
    assert shorten(Entry(Thinking(text), {})) == Thinking("x" * 150 + "...")
    assert shorten(Entry(Note(text), {})) == Note("x" * 200 + "...")
    call = ToolCall("read", Arguments(("y" * 300,), {"k": "z" * 300}), results.ok(text))
    assert render_event(shorten(Entry(call, {}))) == (f"t:read {'y' * 100}... k={'z' * 100}... → [ok] {'x' * 100}...")


@pytest.mark.requirement("DUAL-02")
def test_what_is_short_stays_as_it_is() -> None:
    for line in ("u: hi", "t:read a → [3 lines]", "@start id=s", "# t=00:00:01", 'q: "Which?" → [pending]', "m:auto"):
        (entry,) = flight_of(parse(line)).flight.entries
        assert shorten(entry) == entry.event
    assert cut("x" * 200, 200) == "x" * 200


def test_a_result_stays_on_its_line() -> None:
    event = ToolCall("git", Arguments(("log",)), results.text("one\ntwo"))
    assert render_event(shorten(Entry(event, {}))) == "t:git log → one\\ntwo"


def test_a_cut_summary_is_still_a_summary() -> None:
    event = build_subagent("explore", Arguments(), results.fields(session_id="s1", summary="w" * 300))
    short = shorten(Entry(event, {}))
    assert render_event(short) == f'x:explore → session_id=s1 summary="{"w" * 200}..."'


def test_cuts_are_counted() -> None:
    flight = Flight({}, [Entry(Message("user", "x" * 201), {}), Entry(Message("user", "x"), {})])
    assert shortened(flight)[1] == [Loss("cut-texts", 1)]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.lines)
def test_anything_cut_can_be_written(line: tuple[Event, dict[str, str]]) -> None:
    render_event(shorten(Entry(*line)), line[1])


@pytest.mark.parametrize("mark", ["", "[3 lines] ", f"[err: {'e' * 90}] "], ids=["plain", "count", "error"])
def test_a_pointer_to_a_blob_is_never_cut(mark: str) -> None:
    line = f"t:read a → {mark}@blob sha256={'4f' * 32} bytes=123456789 mime=application/vnd.example.long+json"
    (entry,) = flight_of(parse(line)).flight.entries
    assert render_event(shorten(entry)) == line
