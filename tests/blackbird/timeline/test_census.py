"""The census: what it knows survives being written down, and it names no more segments than a session stands in."""

from pathlib import Path
from unittest import mock

from blackbird.canon.model import Message
from blackbird.sessions.follow import Follower
from blackbird.timeline import gather, relatives
from blackbird.timeline.census import Census, Touched
from blackbird.timeline.picking import Extent
from blackbird.trace.folder import Trace
from tests.blackbird.flights import Flight
from tests.blackbird.flights import Trace as Clock
from tests.blackbird.logbook import Logbook


def book_of_two() -> Logbook:
    """Two sessions that share one segment; a third segment has a log of a client's own session."""
    book, clock = Logbook(), Clock()
    one, other = Flight("messages", trace=clock), Flight("chat", session="s2", run="run_2", trace=clock)
    book.state("run.start", "s1", "run_1", client="demo")
    book.exchange(one.turn("Mend it.", says="Done."))
    book.rotate()
    book.exchange(one.turn("Go on.", says="I did."))
    book.exchange(other.turn("Look.", says="I see."))
    book.rotate()
    words = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Mend it."}, "sessionId": "n1"}
    book.log("claude-code", "/x/n1.jsonl", "n1", [words])
    return book


def taken(folder: Path, census: Census | None = None, since: int = 0) -> Census:
    census = census or Census()
    with Follower(folder, bodies=False) as follower:
        for sighting in follower.read():
            if sighting.record.sequence > since:
                census.take(sighting.header, sighting.wall, sighting.record)
    return census


def test_each_session_has_the_segments_that_it_stands_in(tmp_path: Path) -> None:
    census = taken(book_of_two().save(tmp_path / "trace"))
    sessions = census.sessions()
    assert {name: set(census.wanted(scope).segments or ()) for name, scope in sessions.scopes.items()} == {
        "s1": {1, 2},
        "s2": {2},
        "n1": {3},
    }
    assert sessions.names(census.touched()) == {"s1", "s2", "n1"}
    assert sessions.names(census.touched()) == set()


def test_a_session_without_a_log_reads_nothing_of_others(tmp_path: Path) -> None:
    census = taken(book_of_two().save(tmp_path / "trace"))
    scopes = census.sessions().scopes
    assert {name: (scope.has_traffic, list(scope.others)) for name, scope in scopes.items()} == {
        "s1": (False, []),
        "s2": (False, []),
        "n1": (False, []),
    }
    with mock.patch.object(Trace, "open", side_effect=AssertionError):
        cases = [census.wanted(scope) for scope in scopes.values()]
        assert [relatives.before(Trace(tmp_path / "trace"), each.scope.case) for each in cases] == [{}, {}, {}]


def test_logs_that_were_written_when_another_begins_are_read_again_with_it(tmp_path: Path) -> None:
    book = Logbook()
    for name, first, last in (("n1", 0, 10), ("n2", 5, 20), ("n3", 30, 40)):
        lines = [words(name, second) for second in (first, last)]
        book.log("claude-code", f"/x/{name}.jsonl", name, lines)
    census = taken(book.save(tmp_path / "trace"))
    known = {name: next(iter(scope.sources)) for name, scope in census.sessions().scopes.items()}
    sessions = census.sessions()
    assert {name: list(scope.others) for name, scope in sessions.scopes.items()} == {
        "n1": [],
        "n2": [known["n1"]],
        "n3": [],
    }
    assert sessions.names(Touched.nothing()._replace(sources={known["n1"]})) == {"n1", "n2"}
    assert sessions.names(Touched.nothing()._replace(sources={known["n2"]})) == {"n2"}


def words(session: str, second: int) -> dict[str, object]:
    about = {"type": "user", "uuid": f"{session}-{second}", "sessionId": session}
    said = {"role": "user", "content": "Mend it."}
    return {**about, "timestamp": f"2026-11-16T00:00:{second:02}Z", "message": said}


def test_what_is_written_down_is_gone_on_from(tmp_path: Path) -> None:
    folder = book_of_two().save(tmp_path / "trace")
    whole = taken(folder)
    for cut in range(0, whole.sequence, 3):
        half = Census()
        with Follower(folder, bodies=False) as follower:
            for sighting in follower.read():
                if sighting.record.sequence <= cut:
                    half.take(sighting.header, sighting.wall, sighting.record)
        again = Census.read(half.spell())
        assert again is not None
        taken(folder, again, cut)
        assert again.spell() == whole.spell()


def test_what_nobody_wrote_is_no_census() -> None:
    assert Census.read(None) is None
    assert Census.read(b"nonsense") is None
    assert Census.read(Census().spell().replace(b"schema\x01", b"schema\x02")) is None


def test_one_pass_reads_all_sessions_as_each_alone_does(tmp_path: Path) -> None:
    folder = book_of_two().save(tmp_path / "trace", sealed=(2,))
    census, trace = taken(folder), Trace(folder)
    scopes = census.sessions().scopes
    extent = Extent(census.sequence, census.instance)
    found = {
        each.scope.name: each.timeline()
        for each in gather.gather(trace, map(census.wanted, scopes.values()), extent=extent)
    }
    assert found == {name: gather.load(trace, name) for name in scopes}


def test_what_is_behind_the_extent_is_not_read(tmp_path: Path) -> None:
    trace = Trace(book_of_two().save(tmp_path / "trace"))
    census = taken(trace.folder)
    scope = census.sessions().scopes["s1"]
    first = next(gather.gather(trace, [census.wanted(scope)], extent=Extent(8, census.instance)))
    assert [item.text for item in first.timeline().items if isinstance(item, Message)][-1:] == ["Done."]
