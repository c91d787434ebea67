"""A log as a session: its events, and what of its text the session does not hold."""

import pytest

from blackbox import parse
from blackbox.events.comments import Elapsed, Remark
from blackbox.events.messages import Message
from blackbox.formats.flight import Entry, Flight, Loss, flight_of, is_same, merge


def test_header_and_events_without_what_is_spelling() -> None:
    reading = flight_of(parse("---\nformat: bbox/1\nid: s\nescape: 1\n---\nu: a\\→b step=1\n"))
    assert reading == (
        Flight({"format": "bbox/1", "id": "s"}, [Entry(Message("user", "a→b"), {"step": "1"})]),
        [],
    )


@pytest.mark.requirement("JSONL-04")
def test_what_is_not_held_is_named_with_its_lines() -> None:
    log = "---\nid: s\n# why\n---\n\nu: a\n\nnobody knows\n# t=00:00:05 or so\n# t=soon\n"
    reading = flight_of(parse(log))
    assert [entry.event for entry in reading.flight.entries] == [
        Message("user", "a"),
        Remark("nobody knows"),
        Elapsed(5, "00:00:05"),
        Remark("t=soon"),
    ]
    assert reading.losses == [
        Loss("blank-lines", 2),
        Loss("comment-words", 1, (9,)),
        Loss("header-comments", 1),
        Loss("unknown-lines", 1, (8,)),
    ]


def test_stray_blocks_are_kept_as_remarks() -> None:
    reading = flight_of(parse("  stray\n  block\nu: a\n"))
    assert [entry.event for entry in reading.flight.entries[:2]] == [Remark("  stray"), Remark("  block")]


def test_a_loss_tells_itself() -> None:
    assert Loss("blank-lines", 102).told == "102 blank lines"
    assert Loss("units", 1).told == "units of 1 count"
    assert Loss("bad-lines", 1, (7,)).told == "1 line that is no JSON object, left out (line 7)"
    told = Loss("bad-lines", 9, (1, 2, 3, 4, 5)).told
    assert told == "9 lines that are no JSON object, left out (lines 1, 2, 3, 4, 5, …)"


def test_losses_of_several_steps_are_summed() -> None:
    first, second = [Loss("bad-lines", 6, (1, 2, 3, 4, 5))], [Loss("bad-lines", 1, (9,)), Loss("units", 2)]
    assert merge(first, second) == [Loss("bad-lines", 7, (1, 2, 3, 4, 5)), Loss("units", 2)]


def test_the_spelling_of_a_result_makes_no_difference() -> None:
    one, other = (
        flight_of(parse(f"---\nescape: 1\n---\nt:x → {result}\n")).flight.entries[0] for result in ("a\\sb", "a b")
    )
    assert one != other
    assert is_same(one, other)


def test_fields_of_a_result_do() -> None:
    quoted, bare = (
        flight_of(parse(f"---\nescape: 1\n---\no: id=c → {result}\n")).flight.entries[0]
        for result in ('a="x y"', 'a=\\"x y\\"')
    )
    assert not is_same(quoted, bare)
