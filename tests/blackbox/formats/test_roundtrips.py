"""Every way from one form to another and back: the same events with the same metadata."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blackbox import parse
from blackbox.events import Event
from blackbox.formats import convert
from blackbox.formats.flight import Entry, Flight, Loss, flight_of, is_same
from blackbox.formats.recognise import Form
from tests.blackbox.syntax.soup import log_bytes
from tests.blackbox.write import strategies

HEADER = {"format": "bbox/1", "id": "sess_1", "repo_sha": "abc1234", "model": "gannet-3"}
flights: st.SearchStrategy[Flight] = st.lists(strategies.lines, min_size=1, max_size=6).map(
    lambda lines: Flight(dict(HEADER), [Entry(*line) for line in lines])
)


def _named(lines: list[tuple[tuple[Event, dict[str, str]], str]]) -> Flight:
    """Calls, ends and observations that share few ids, as in a session."""
    entries = [Entry(event, {**meta, "id": name}) for (event, meta), name in lines]
    return Flight(dict(HEADER), entries)


calls: st.SearchStrategy[tuple[Event, dict[str, str]]] = st.tuples(strategies.call_events, strategies.metas)
busy_flights: st.SearchStrategy[Flight] = st.lists(
    st.tuples(calls, st.sampled_from(["call_1", "call_2"])), min_size=2, max_size=8
).map(_named)
often = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def through(flight: Flight, form: Form, suffix: str = "") -> Flight:
    """A session written in a form and read again; the blank line below a log's header is all that may get lost."""
    written = convert.write(flight, form)
    text = written.texts[suffix or next(iter(written.texts))]
    _, reading = convert.read(text.encode(), "test")
    assert reading.losses == ([Loss("blank-lines", 1)] if form is Form.BBOX else [])
    return reading.flight


def check(found: Flight, expected: Flight) -> None:
    assert found.header == expected.header
    assert len(found.entries) == len(expected.entries)
    for one, other in zip(found.entries, expected.entries, strict=True):
        assert is_same(one, other), (one, other)


@pytest.mark.requirement("JSONL-04")
@often
@given(flights)
def test_log_to_json_lines_and_back(flight: Flight) -> None:
    log = through(flight, Form.BBOX)
    check(through(through(log, Form.JSONL), Form.BBOX), log)


@pytest.mark.requirement("DUAL-03")
@often
@given(flights)
def test_log_to_companion_and_back(flight: Flight) -> None:
    log = through(flight, Form.BBOX)
    check(through(through(log, Form.COMPANION), Form.BBOX), log)


@often
@given(busy_flights)
def test_calls_and_their_answers_to_companion_and_back(flight: Flight) -> None:
    check(through(flight, Form.COMPANION), flight)


@often
@given(flights)
def test_json_lines_to_companion_and_back(flight: Flight) -> None:
    check(through(through(through(flight, Form.JSONL), Form.COMPANION), Form.JSONL), flight)


@pytest.mark.requirement("COMPACT-02")
@often
@given(flights)
def test_compact_is_its_own_compact_form(flight: Flight) -> None:
    first = convert.write(flight, Form.COMPACT).texts
    text = next(iter(first.values()))
    _, reading = convert.read(text.encode(), "test")
    assert convert.write(reading.flight, Form.COMPACT).texts == first
    assert len(reading.flight.entries) == len(flight.entries)


@often
@given(flights)
def test_companion_of_an_rlog_has_everything(flight: Flight) -> None:
    expected = Flight({**HEADER, "format": "rlog/1"}, flight.entries)
    check(through(flight, Form.RLOG, ".jsonl"), expected)


def said(entry: Entry) -> tuple[object, ...]:
    """What an entry says. Of odd quotes in a result, a log without the escape rule makes other fields."""
    event = entry.event
    result = getattr(event, "result", None)
    return type(event), getattr(event, "arguments", None), result and (result.kind, result.text), entry.meta


@pytest.mark.requirement("JSONL-04", "COMPACT-02")
@often
@given(log_bytes)
def test_any_bytes_read_as_a_log_come_through_every_form(data: bytes) -> None:
    flight = flight_of(parse(data)).flight
    for form in (Form.JSONL, Form.COMPANION):
        (text,) = convert.write(flight, form).texts.values()
        _, reading = convert.read(text.encode(), "test")
        assert list(map(said, reading.flight.entries)) == list(map(said, flight.entries))
    for form in (Form.BBOX, Form.COMPACT, Form.RLOG):
        written = convert.write(flight, form)
        log = next(text for suffix, text in written.texts.items() if suffix != ".jsonl")
        assert len(flight_of(parse(log.encode())).flight.entries) == len(flight.entries)
