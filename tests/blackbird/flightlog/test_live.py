"""A flight log of a session that goes on, and what differs from one that is written later."""

import io
from typing import Any

from blackbird.canon.model import Amend, Item
from blackbird.flightlog import files
from blackbird.flightlog.files import FlightLog, SessionClock
from blackbird.flightlog.header import header_of
from blackbird.flightlog.live import LiveEntries, LiveLog, Speller
from blackbird.timeline.timeline import Timeline
from blackbox.check.findings import Severity
from blackbox.check.validator import validate_bytes
from blackbox.document.document import parse
from blackbox.events.messages import Message
from blackbox.formats.flight import flight_of
from blackbox.redaction.config import load_redactor
from blackbox.session.session import Session
from tests.blackbird.flightlog.sessions import agent, call, generation, result, timeline, user

BATCHES: list[list[Item]] = [
    [user("m1", "Hi", 1), generation("g1", 2), call("c1", "Bash", 2, generation="g1")],
    [],
    [result("c1", "ok", 3), generation("g2", 4), agent("m2", "Done.", second=4, generation="g2")],
]


class Script:
    """A session that grows by a batch at each look."""

    def __init__(self, batches: list[list[Item]], **about: Any) -> None:
        self._batches = list(batches)
        self._seen: list[Item] = []
        self._about = about

    @property
    def timeline(self) -> Timeline:
        return timeline(*self._seen, is_active=bool(self._batches), **self._about)

    def poll(self) -> list[Item | Amend]:
        batch = self._batches.pop(0) if self._batches else []
        self._seen += batch
        return list(batch)

    def close(self) -> list[Item | Amend]:
        return []


def test_a_call_without_its_result_yet_is_written_as_begun() -> None:
    entries = LiveEntries(Script(BATCHES))
    speller = Speller(load_redactor(), full=False)
    first = [speller.text(line) for line in entries.look()]
    assert first[:2] == [
        "u: Hi id=m1 step=2 ts=2026-03-01T09:00:01.000Z",
        "t!:Bash id=c1 step=3 ts=2026-03-01T09:00:02.000Z → [running]",
    ]
    assert first[2].startswith("# metrics step=3 ")
    assert entries.look() == []
    assert [speller.text(line) for line in entries.look()][:2] == [
        "o: id=c1 latency_ms=1000 step=3 ts=2026-03-01T09:00:03.000Z → ok",
        "a: Done. id=m2 step=4 ts=2026-03-01T09:00:04.000Z",
    ]
    assert entries.end() == []


def test_lines_are_cut_for_people_unless_all_is_wanted() -> None:
    long: list[list[Item]] = [[user("m1", "word " * 100)]]
    (line,) = LiveEntries(Script(long)).look()
    assert "word ..." in Speller(load_redactor(), full=False).text(line)
    assert "..." not in Speller(load_redactor(), full=True).text(line)


def test_a_log_that_grows_says_what_one_written_later_says() -> None:
    stream = io.BytesIO()

    def create(now: Timeline, clock: SessionClock) -> FlightLog:
        return FlightLog.to_stream(stream, header_of(now, form="bbox", is_whole=False), clock)

    script = Script(BATCHES, runs=("run_a",))
    live = LiveLog(script, create)
    assert (live.look(), live.is_over) == (3, False)
    assert (live.look(), live.is_over) == (0, False)
    assert (live.look(), live.is_over) == (3, True)
    live.end()
    grown, later = stream.getvalue(), files.bbox_bytes(script.timeline)
    report = validate_bytes(grown)
    assert [one for one in report.findings if one.severity is not Severity.INFO] == []
    assert said(grown) == said(later)
    assert b"\ntokens_total_in: " in later
    assert b"\ntokens_total_in: " not in grown
    assert grown.splitlines()[-2:] == later.splitlines()[-2:]


def test_a_session_without_a_run_has_no_end_that_is_known() -> None:
    live = LiveLog(
        Script([]), lambda now, clock: FlightLog.to_stream(io.BytesIO(), header_of(now, form="bbox"), clock)
    )
    assert not live.is_over


def said(data: bytes) -> list[tuple[object, ...]]:
    """The calls and messages of a log, whichever lines they stand on."""
    session = Session(parse(data))
    calls = [(call.id, call.name, call.status, call.latency_ms) for call in session.calls]
    spoken = [entry.event for entry in flight_of(parse(data)).flight.entries if isinstance(entry.event, Message)]
    return [*calls, *((message.role, message.text) for message in spoken)]
