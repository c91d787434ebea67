"""The compact form: the founding example, what it costs, and that it is a log."""

import pytest
from hypothesis import HealthCheck, given, settings

from blackbox import parse, validate
from blackbox.check.findings import Severity
from blackbox.events import Event
from blackbox.events.messages import Todo
from blackbox.formats.flight import Entry, Flight, Loss, Losses, flight_of, is_same
from blackbox.formats.logs import compact_line, shorten, to_compact
from blackbox.formats.shortkeys import read_spelled
from blackbox.write.spelling import todos_of
from tests.blackbox.write import strategies

HEADER = "---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\n---\n"
LONG = """\
u: Add ad monetization to billing tier

a: I'll analyze the billing system.
t:grep "billing" type=rs → [4 files]
t:read src/billing/mod.rs → [186 lines]
  pub mod tiers;
t:git log -5 path=src/billing → [5 commits]
r: "billing monetization" → [0 matches]
c:github.issues q="ad monetization" → [2 issues]
s:pricing-tiers activate → [ok]
x:explore "ad tier check" → [found]
p:create "Ad monetization" → [6 steps]
m:auto
t:test → [ok]
c:github.pr create → #203
a: Done. PR #203.
"""
SHORT = """\
u:Add ad monetization to billing tier
a:I'll analyze the billing system.
t:grep billing type=rs→[4]
t:read src/billing/mod.rs→[186]
t:git log -5 path=src/billing→[5]
r:"billing monetization"→[0]
c:github.issues q="ad monetization"→[2]
s:pricing-tiers activate→[ok]
x:explore "ad tier check"→[found]
p:create "Ad monetization"→[6 steps]
m:auto
t:test→[ok]
c:github.pr create→#203
a:Done. PR #203.
"""
LINES = [
    ("u: one\n  two id=5", "u:one\\ntwo id\\=5"),
    ("# a remark\n  of two lines", "#a remark\\nof two lines"),
    ("a: x step=1 # metrics prompt=5", "a:x step=1 # metrics prompt=5"),
    ("o: id=c1 → [ok] 3 passed\n  first\n  second", "o:id=c1→[ok] 3 passed"),
    ("t:git diff →\n  a\n  b", "t:git diff→[2]"),
    ('q: id=q1 → "one\n  two"', 'q:id=q1→"one\\ntwo"'),
    ("@assess → P0: a, P1: b", "@assess→P0: a, P1: b"),
    ("@wait-approval → # later", "@wait-approval→\\e # later"),
    ("td: [pending] a [completed] b step=1", "td:[pending] a [completed] b step=1"),
    ("m:plan # why", "m:plan # why"),
    ("@phase exit approved=true", "@phase exit approved=true"),
]


def flight(log: str) -> Flight:
    return flight_of(parse(log)).flight


@pytest.mark.requirement("COMPACT-01", "COMPACT-03")
def test_the_founding_example() -> None:
    text, losses = to_compact(flight(HEADER + LONG))
    assert text == HEADER.replace("---\n", "escape: 1\n---\n").removeprefix("escape: 1\n") + SHORT
    assert losses == [Loss("bodies", 1), Loss("units", 5)]
    assert [loss.told for loss in losses] == ["bodies of 1 result", "units of 5 counts"]


@pytest.mark.requirement("COMPACT-01")
@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line for line, _ in LINES])
def test_one_line_an_event(line: str, expected: str) -> None:
    (entry,) = flight(line).entries
    assert compact_line(entry, Losses()) == expected


@pytest.mark.requirement("COMPACT-02")
def test_a_compact_log_is_a_log_without_errors() -> None:
    text, _ = to_compact(flight(HEADER + LONG))
    assert [finding for finding in validate(parse(text)) if finding.severity is Severity.ERROR] == []


@pytest.mark.requirement("COMPACT-02")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.lines)
def test_events_read_back_equal_but_for_the_named_losses(line: tuple[Event, dict[str, str]]) -> None:
    entry = Entry(*line)
    losses = Losses()
    written = compact_line(entry, losses)
    assert "\n" not in written
    read = read_spelled(written)
    assert read is not None
    assert is_same(read, Entry(shorten(entry, Losses()), entry.meta))
    assert losses.found or is_same(read, entry)


@pytest.mark.requirement("COMPACT-03")
def test_states_that_need_a_line_of_their_own_are_named() -> None:
    (entry,) = flight("td: [pending] a\n  [deferred] b").entries
    losses = Losses()
    assert compact_line(entry, losses) == "td:[pending] a\\n\\[deferred] b"
    assert [loss.told for loss in losses.found] == ["states in 1 todo list"]


def test_todo_whose_state_needs_a_line_of_its_own_is_read_as_it_was_written() -> None:
    event = todos_of([Todo("pending", ""), Todo("odd", "")])
    losses = Losses()
    written = compact_line(Entry(event, {}), losses)
    read = read_spelled(written)
    assert read is not None
    assert [loss.what for loss in losses.found] == ["todo-states"]
    assert is_same(read, Entry(shorten(Entry(event, {}), Losses()), {}))
    assert compact_line(read, Losses()) == written
