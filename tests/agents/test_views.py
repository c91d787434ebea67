"""The traffic of a flight and the client's own log of it tell the same, and together they tell it once."""

import functools
from collections.abc import Mapping
from typing import Any

import pytest

from blackbird.canon.model import Call, Generation, Message, Origin, Result
from tests.agents import test_faults
from tests.agents.harness import views
from tests.agents.harness.cases import cases
from tests.agents.harness.flight import fly
from tests.agents.harness.views import Views
from tests.agents.test_flights import FLIGHTS
from tests.blackbird.timeline.test_gather import check_places

CASES = {name: case for name, case in cases().items() if case.views is not None}
SMOOTH, RESUMED = "smooth", "resumed"
FLOWN = [
    (name, fault)
    for name, case in CASES.items()
    for fault in (SMOOTH, *([RESUMED] if case.resume else []), *test_faults.FAULTS)
    if fault not in case.gives_up
]
every_flight = pytest.mark.parametrize(("name", "fault"), FLOWN, ids=map("-".join, FLOWN))


@functools.cache
def seen(name: str, fault: str) -> Views:
    """A recorded flight, seen three ways; one flight serves all questions."""
    case = CASES[name]
    way = case.faults[-1]
    if fault in (SMOOTH, RESUMED):
        keep = FLIGHTS / f"{name}-{way}-{fault}"
        return views.take(fly(case, way, keep, is_resumed=fault == RESUMED).folder)
    return views.take(test_faults.fly_into(name, way, fault).folder)


def known(name: str) -> Mapping[str, Any]:
    """What the log of a client is known to leave out or to change."""
    return CASES[name].views or {}


@every_flight
def test_the_log_tells_what_the_wire_tells(name: str, fault: str) -> None:
    found = seen(name, fault)
    wire, log = (views.tell(view, known(name)) for view in (found.wire, found.log))
    assert wire.words
    assert wire.calls
    assert log == wire


@every_flight
def test_the_log_counts_what_the_wire_counts(name: str, fault: str) -> None:
    found, unlogged = seen(name, fault), {*known(name).get("unlogged", ()), views.GIVEN_UP}
    assert views.spent(found.log) == views.spent(found.wire, unlogged)
    asked = {purpose for purpose, _ in found.wire.generations()}
    assert asked - {"turn"} <= unlogged


@every_flight
def test_both_together_are_one_session_that_tells_it_once(name: str, fault: str) -> None:
    found = seen(name, fault)
    # Each run is a session of its own, with its part of the log.
    runs = 2 if fault == RESUMED else 1
    assert [len(view.timelines) for view in found.each().values()] == [runs, 1, runs]
    one, other = ([timeline.about.session for timeline in view.timelines] for view in (found.wire, found.both))
    assert one == other
    wire, both = (views.tell(view, known(name)) for view in (found.wire, found.both))
    assert both == wire
    assert views.spent(found.both) == views.spent(found.wire)
    assert len(list(found.both.generations())) == len(list(found.wire.generations()))


@every_flight
def test_all_that_both_have_is_joined(name: str, fault: str) -> None:
    found = seen(name, fault)
    said = [
        item
        for item in found.both.items
        if isinstance(item, Call | Result)
        or (isinstance(item, Message) and item.origin in (Origin.USER, Origin.AGENT))
    ]
    assert [item for item in said if not item.is_joined] == []
    logged, joined = (
        [item for item in view.items if isinstance(item, Generation) and (item.is_joined or view is found.log)]
        for view in (found.log, found.both)
    )
    assert len(joined) == len(logged)
    ended = [
        {item.call_id: item.result.error for item in view.items if isinstance(item, Result)}
        for view in (found.log, found.both)
    ]
    assert ended[0] == ended[1]


@every_flight
def test_every_pointer_leads_to_its_text(name: str, fault: str) -> None:
    for view in seen(name, fault).each().values():
        for timeline in view.timelines:
            assert timeline.problems == ()
            assert check_places(view.trace, timeline) > 0


@every_flight
def test_exports_are_flawless_and_the_same_each_time(name: str, fault: str) -> None:
    for what, view in seen(name, fault).each().items():
        folder = view.home.parent / f"{what}-logs"
        once = views.export(view, folder)
        assert views.findings(folder) == []
        assert views.export(view, folder) == once
