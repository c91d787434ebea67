"""What is read of a home for its figures."""

import time
from pathlib import Path

import pytest

from blackbird import derive, usage
from blackbird.home import Home
from blackbird.stats.collecting import collect
from blackbird.stats.figures import Lag
from blackbird.usage import Use
from tests.blackbird.flights import BEGIN, SECOND, Flight
from tests.blackbird.logbook import Logbook


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "home", tmp_path / "home" / "config.toml")
    found.path.mkdir()
    return found


@pytest.mark.requirement("METRICS-04")
def test_how_far_the_memory_is_behind(home: Home) -> None:
    book, flight = Logbook(), Flight("messages")
    book.exchange(flight.turn("Mend it.", says="Done."))
    book.save(home.trace)
    records = 5
    assert collect(home).lag.records == records
    derive.catch_up(home)
    assert collect(home).lag == Lag()
    book.exchange(flight.turn("Go on.", says="I did."))
    book.save(home.trace)
    lag = collect(home).lag
    assert lag.records == records
    # The second exchange began a second after the first.
    assert 0 <= lag.seconds - (time.time_ns() - BEGIN - SECOND) / SECOND + 5 < 10
    derive.catch_up(home)
    assert collect(home).lag == Lag()


@pytest.mark.requirement("METRICS-05", "METRICS-07")
def test_of_one_session_or_of_all(home: Home) -> None:
    book = Logbook()
    one = Flight("messages")
    book.exchange(one.turn("Mend it.", says="Done."))
    book.exchange(Flight("chat", session="s2", run="run_2", trace=one.trace).turn("Look.", says="I see."))
    book.save(home.trace)
    derive.catch_up(home)
    for session in ("s1", "s2", None):
        usage.note(home, Use(at=1, door="cli", op="search", ms=2.0, session=session))
    found = collect(home)
    assert (found.holdings.sessions, sum(found.holdings.artifacts.values())) == (2, 8)
    assert found.holdings.bytes > 10_000
    assert [(bill.session, bill.spent.generations) for bill in found.by_session] == [("s2", 1), ("s1", 1)]
    assert found.answers[0].took.count == 3
    own = collect(home, "s2")
    assert own.holdings.artifacts == {"outcome": 1, "summary": 1, "transcript": 2}
    assert [(bill.session, bill.spent.generations) for bill in own.by_session] == [("s2", 1)]
    assert own.answers[0].took.count == 1
