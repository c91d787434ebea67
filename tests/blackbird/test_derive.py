"""The write path: what is taken in bit by bit, all at once or while it grows is the same memory."""

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blackbird import derive
from blackbird.artifacts import sessions as building
from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import Artifact, Provenance, Summary, Type, artifact_id
from blackbird.canon import reading
from blackbird.derive import Following, Report
from blackbird.errors import MemoryBusy, MemoryDamaged
from blackbird.exchange.exchange import Exchange
from blackbird.home import Home
from blackbird.store import files
from blackbird.store.memory import Memory, Reader
from blackbird.timeline import session as sessions
from blackbird.timeline import tools
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind
from tests.blackbird.flights import BEGIN, SECOND, Flight, Socket, repair
from tests.blackbird.flights import Trace as Clock
from tests.blackbird.growth import Growth
from tests.blackbird.logbook import Logbook


def home_in(folder: Path) -> Home:
    return Home(folder / "home", folder / "home" / "config.toml")


def dump(home: Home) -> list[bytes]:
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        return list(reader.memory.dump())


def notes(home: Home) -> bytes:
    """What is kept of each session beside its artifacts."""
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        return msgspec.json.encode(reader.memory.notes(), order="deterministic", enc_hook=str)


def titles(home: Home) -> list[str]:
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        return [stored.artifact.title for stored in reader.memory.all()]


def said(home: Home, session: str | None = None) -> list[str]:
    """What was said, piece by piece; the other artifacts follow from it."""
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        return [stored.artifact.title for stored in reader.memory.find(session=session, kind=Type.SEGMENT)]


def pieces(report: Report) -> list[str]:
    """What was said that a report tells of."""
    return [change.title for change in report.changes if change.type == Type.SEGMENT]


def saved(book: Logbook, home: Home, **how: Any) -> Home:
    home.path.mkdir(parents=True, exist_ok=True)
    book.save(home.trace, **how)
    return home


def test_what_was_said_becomes_artifacts_once(tmp_path: Path) -> None:
    book = Logbook()
    for exchange in repair(Flight("messages")):
        book.exchange(exchange)
    home = saved(book, home_in(tmp_path))
    report = derive.catch_up(home)
    assert {change.what for change in report.changes} == {"added"}
    assert said(home) == ["Fix the failing test.", "I read both files.", "Now the test.", "It is blocked. 🚧"]
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        others = [stored.artifact for stored in reader.memory.all() if stored.artifact.type is not Type.SEGMENT]
    assert [(artifact.type, artifact.title) for artifact in others] == [
        (Type.FACT, "language: Python"),
        (Type.OUTCOME, "Fix the failing test."),
        (Type.SUMMARY, "Fix the failing test."),
    ]
    assert derive.catch_up(home) == Report(0, [], [])


@pytest.mark.requirement("STORE-02")
def test_only_what_is_new_is_read_again(tmp_path: Path) -> None:
    clock = Clock()
    one, other = Flight("messages", trace=clock), Flight("chat", session="s2", run="run_2", trace=clock)
    book = Logbook()
    book.exchange(one.turn("Mend it.", says="Done."))
    book.exchange(other.turn("Look at it.", says="I see."))
    home = saved(book, home_in(tmp_path))
    derive.catch_up(home)
    book.rotate()
    book.exchange(other.turn("Go on.", says="I did."))
    saved(book, home)
    opened: list[int] = []
    real = Trace.open

    def opening(trace: Trace, place: Any) -> Any:
        opened.append(place.number)
        return real(trace, place)

    with mock.patch.object(Trace, "open", opening):
        report = derive.catch_up(home)
    assert [(change.what, change.type, change.title) for change in report.changes] == [
        ("changed", Type.OUTCOME, "Look at it."),
        ("changed", Type.SUMMARY, "Look at it."),
        ("added", Type.SEGMENT, "Go on."),
        ("added", Type.SEGMENT, "I did."),
    ]
    assert report.sessions == 1
    assert len(dump(home)) == 10


@pytest.mark.requirement("CORE-02", "STORE-01")
@pytest.mark.parametrize("harm", ["delete", "scribble", "empty", "other builder", "another schema"])
def test_a_memory_that_is_no_good_is_made_anew(harm: str, tmp_path: Path) -> None:
    book = Logbook()
    for exchange in repair(Flight("messages")):
        book.exchange(exchange)
    home = saved(book, home_in(tmp_path))
    derive.catch_up(home)
    before = dump(home)
    path = files.current(home.derived)
    assert path is not None
    if harm == "delete":
        for each in home.derived.iterdir():
            each.unlink()
    elif harm in ("scribble", "empty"):
        path.write_bytes(b"this is no database" * 100 if harm == "scribble" else b"")
    else:
        with derive._writing(home) as memory:
            memory.set_meta(**({"builder": "-1"} if harm == "other builder" else {"schema": -1}))
    assert derive.catch_up(home).is_rebuilt
    assert dump(home) == before


def test_a_page_that_is_damaged_is_noticed(tmp_path: Path) -> None:
    book = Logbook()
    flight = Flight("messages")
    for number in range(60):
        book.exchange(flight.turn(f"Mend part {number} of it. " * 20, says="Done. " * 40))
    home = saved(book, home_in(tmp_path))
    derive.catch_up(home)
    before = dump(home)
    path = files.current(home.derived)
    assert path is not None
    data = bytearray(path.read_bytes())
    for page in range(1, len(data) // 4096):
        data[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    path.write_bytes(data)
    assert derive.catch_up(home).is_rebuilt
    assert dump(home) == before


@pytest.mark.requirement("ART-06")
def test_another_builder_shows_what_it_changes_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Logbook()
    for exchange in repair(Flight("messages")):
        book.exchange(exchange)
    home = saved(book, home_in(tmp_path))
    derive.catch_up(home)
    before = dump(home)
    assert derive.rebuild(home, keep=False).changes == []
    real = Builder.artifacts

    def artifacts(builder: Any, timeline: Any) -> Any:
        found = real(builder, timeline)
        return [msgspec.structs.replace(each, title=each.title.upper()) for each in found if "both" not in each.title]

    monkeypatch.setattr(Builder, "artifacts", artifacts)
    monkeypatch.setattr(derive, "builder_version", lambda: "another")
    told = derive.rebuild(home, keep=False)
    assert sorted((change.what, change.title) for change in told.changes) == [
        ("changed", "FIX THE FAILING TEST."),
        ("changed", "FIX THE FAILING TEST."),
        ("changed", "FIX THE FAILING TEST."),
        ("changed", "IT IS BLOCKED. 🚧"),
        ("changed", "LANGUAGE: PYTHON"),
        ("changed", "NOW THE TEST."),
        ("removed", "I read both files."),
    ]
    assert dump(home) == before
    assert derive.catch_up(home).is_rebuilt
    assert "NOW THE TEST." in titles(home)


@pytest.mark.requirement("DELIV-05")
@pytest.mark.requirement("ART-04", "ART-05", "CORE-02")
def test_segments_in_another_order_and_sealed_ones_make_the_same_memory(tmp_path: Path) -> None:
    book, clock = Logbook(), Clock()
    flights = [Flight(dialect, session=f"s{at}", run=f"run_{at}", trace=clock) for at, dialect in enumerate(DIALECTS)]
    for number in range(3):
        for flight in flights:
            book.exchange(flight.turn(f"Mend {number}.", says=f"Done {number}."))
        book.rotate()
    plain = saved(book, home_in(tmp_path / "plain"))
    derive.catch_up(plain)
    first = dump(plain)
    derive.rebuild(plain)
    assert dump(plain) == first
    for seed in range(4):
        home = saved(book, home_in(tmp_path / str(seed)), sealed=random.Random(seed).sample([1, 2, 3], 2))  # noqa: S311 - chance, not secrecy
        real = Trace._files

        def shuffled(trace: Trace, seed: int = seed, real: Any = real) -> list[Path]:
            found: list[Path] = real(trace)
            random.Random(seed).shuffle(found)  # noqa: S311 - chance, not secrecy
            return found

        with mock.patch.object(Trace, "_files", shuffled):
            derive.catch_up(home)
        assert dump(home) == first


DIALECTS = ("messages", "chat", "responses", "gemini", "ollama")


class Story:
    """A trace of several agents at once, in which all sorts of things happen; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.book = Logbook()
        self._rng = random.Random(seed)  # noqa: S311 - chance, not secrecy
        self._clock = Clock()
        self._flights: list[Flight] = []
        self._open: list[Iterator[None]] = []
        #: What clients were answered: the provider's ids of the request and of the answer, and when.
        self._answers: list[tuple[str, str, int]] = []
        for _ in range(self._rng.randrange(8, 30)):
            self._rng.choice(
                [
                    self._begin,
                    self._turn,
                    self._turn,
                    self._turn,
                    self._rotate,
                    self._restart,
                    self._log,
                    self._tool,
                    self._plan,
                    self._end,
                ]
            )()
        for each in self._open:
            if self._rng.random() < 0.7:
                list(each)

    def _begin(self) -> None:
        number = len(self._flights)
        session = self._rng.choice([f"s{number}", "s0"])
        native = self._rng.choice([None, None, "n0", "n1", "n2"])
        client = (("user-agent", "claude-cli/2.1.197"), ("x-claude-code-session-id", native or ""))
        self._flights.append(
            Flight(
                self._rng.choice(DIALECTS) if native is None else "messages",
                session=session,
                run=f"run_{number}",
                trace=self._clock,
                chunks=(400,),
                headers=client if native is not None else (),
            )
        )
        self.book.state("run.start", session, f"run_{number}", cwd="/w", client="demo")
        if self._rng.random() < 0.3:
            self.book.state("goal", session, text=f"The goal of {number}.")

    def _turn(self) -> None:
        """A request; its records come one after the other, or among those of others."""
        if not self._flights:
            return self._begin()
        flight = self._rng.choice(self._flights)
        exchange = flight.turn(f"Mend {self._rng.randrange(99)}.", says=f"Done {self._rng.randrange(99)}.")
        self._number(exchange)
        claimed = {"attribution": self._rng.choice(["run", "run", "run", "claimed", "none", "client"])}
        if self._rng.random() < 0.5:
            self.book.exchange(exchange, **claimed)
            return None
        aside = Logbook()
        aside.exchange(exchange, **claimed)
        self._open.append(self._later(aside))
        for each in list(self._open):
            if self._rng.random() < 0.5:
                list(each)
                self._open.remove(each)
        return None

    def _number(self, exchange: Exchange) -> None:
        """Have the provider name its answer, as logs will."""
        reply = reading.read(exchange)[0].reply
        if reply is not None and reply.response_id is not None and exchange.response is not None:
            request = f"req_{len(self._answers)}"
            exchange.response.headers.append(("request-id", request))
            second = ((exchange.started_ns or BEGIN) - BEGIN) // SECOND
            self._answers.append((request, reply.response_id, second + 1))

    def _later(self, aside: Logbook) -> Iterator[None]:
        for at, record in enumerate(aside.tracer.current.records):
            more = {"flags": record.flags, "monotonic": record.monotonic}
            self.book.tracer.add(Kind(record.kind), record.request, record.payload, **more)
            if at % 3 == 0:
                yield

    def _end(self) -> None:
        for each in self._open:
            next(each, None)

    def _rotate(self) -> None:
        self.book.rotate()

    def _restart(self) -> None:
        """Another recorder: what was open never ends."""
        self._open.clear()
        self.book.tracer.instance = bytes([self._rng.randrange(3, 200)] * 16)
        self.book.rotate()

    def _tool(self) -> None:
        """A tool tells what it did: in a run, in a session, under the client's own id, or of nobody that is known."""
        number = self._rng.randrange(4)
        whose: dict[str, Any] = self._rng.choice(
            [
                {"run": f"run_{number}", "session": f"s{number}"},
                {"run": f"run_{number}"},
                {"session": f"s{number}"},
                {"session": f"s{number}", "task": f"t{number}"},
                {"native_session": f"n{number}"},
                {"run": ["no", "name"], "native_session": 7},
            ]
        )
        event = {"id": f"e{self._rng.randrange(9)}", "tool": "deploy", "call_id": f"c{number}", "at": BEGIN + number}
        self.book.tool(self._rng.choice(["start", "end", "whole"]), **event, **whose, exit_code=number)

    def _plan(self) -> None:
        """A harness says something of a session or of a task: of one that runs, or that nobody knows yet."""
        number, other = self._rng.randrange(4), self._rng.randrange(4)
        said: list[tuple[str, dict[str, Any]]] = [
            ("session.start", {"folder": "/w"}),
            ("session.end", {}),
            ("goal", {"text": f"The goal of {number}."}),
            ("task.add", {"title": f"Task {other}", "parent": f"t{self._rng.randrange(5)}", "order": number}),
            ("task.state", {"state": self._rng.choice(["open", "done", "dropped"])}),
            ("outcome", {"status": self._rng.choice(["success", "fail", "blocked"]), "summary": "As told."}),
            ("checkpoint", {"text": f"So far {number}."}),
            ("run.describe", {"text": f"Run {number}"}),
        ]
        event, data = self._rng.choice(said)
        run = f"run_{number}" if self._rng.random() < 0.3 else None
        self.book.plan(event, f"s{number}", f"t{other}" if self._rng.random() < 0.7 else None, run, **data)

    def _log(self) -> None:
        """A client's log is taken in, or more of it: of its own session or of one that was recorded.

        Each begins with lines that the others have, too, and goes on with answers that somebody got.
        """
        name = f"n{self._rng.randrange(3)}"
        lines = [_said(name, f"u{at}", at) for at in range(self._rng.randrange(4))]
        lines += [_said(name, f"{name}-{at}", at) for at in range(self._rng.randrange(9), 9)]
        for request, answer, second in self._rng.sample(self._answers, min(2, len(self._answers))):
            lines.append(_said(name, f"a{answer}", second, request=request, answer=answer))
            if self._rng.random() < 0.5:
                del lines[-1]["requestId"]
        self.book.log("claude-code", f"/{name}-{self._rng.randrange(2)}.jsonl", name, lines)


def _said(session: str, key: str, second: int, *, request: str = "", answer: str = "") -> dict[str, Any]:
    """A line of a client's log: the user's words, or an answer."""
    line = {"uuid": key, "sessionId": session, "timestamp": f"2026-11-16T00:00:{second % 60:02}Z"}
    if not answer:
        return {**line, "type": "user", "message": {"role": "user", "content": f"Words {key}"}}
    words = [{"type": "text", "text": "An answer."}]
    message = {"role": "assistant", "id": answer, "content": words, "usage": {"input_tokens": 9, "output_tokens": 1}}
    return {**line, "type": "assistant", "requestId": request, "message": message}


class Witness(Builder):
    """Tells all of the timeline: whatever is other in it is another artifact."""

    def artifacts(self, timeline: Timeline) -> list[Artifact]:
        told = msgspec.structs.replace(timeline, problems=())
        text = msgspec.json.encode(told, order="deterministic", enc_hook=str).decode()
        return [
            *super().artifacts(timeline),
            *(
                Artifact(
                    id=artifact_id(Type.SUMMARY, timeline.about.session, "witness"),
                    type=Type.SUMMARY,
                    session=timeline.about.session,
                    title=f"timeline of {timeline.about.session}",
                    content=Summary(goal=text),
                    provenance=(Provenance(item=item.id, evidence=item.evidence[0]),),
                    builder="witness",
                )
                for item in timeline.items[:1]
            ),
        ]


@pytest.mark.requirement("ART-04", "ART-05", "CORE-02", "STORE-02")
@mock.patch.object(building, "Builder", Witness)
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 30))
def test_however_it_is_taken_in_the_memory_is_the_same(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("derive")
    story, rng = Story(seed), random.Random(seed)  # noqa: S311 - chance, not secrecy
    home = home_in(folder / "bit by bit")
    growth = Growth(story.book.tracer, home.trace)
    written = 0
    following: Following | None = None
    most = rng.choice([4, 12, 40])
    while written < growth.records:
        step = rng.choice(["poll", "poll", "poll", "poll", "catch up", "seal", "grow"])
        written = min(growth.records, written + rng.randrange(most))
        growth.write(written)
        if step == "seal":
            growth.seal(rng.randrange(1, len(story.book.tracer.segments) + 1))
        elif step == "poll":
            following = following or Following(home).__enter__()
            following.poll()
        elif step == "catch up":
            if following is not None:
                following.__exit__(None)
                following = None
            derive.catch_up(home)
    if following is not None:
        following.poll()
        following.__exit__(None)
    derive.catch_up(home)
    found, noted = dump(home), notes(home)
    derive.rebuild(home)
    assert (dump(home), notes(home)) == (found, noted)
    other = saved(story.book, home_in(folder / "at once"), sealed=range(1, len(story.book.tracer.segments), 2))
    derive.catch_up(other)
    assert (dump(other), notes(other)) == (found, noted)


@pytest.mark.requirement("ART-05")
def test_following_feeds_what_grows_and_reads_nothing_again(tmp_path: Path) -> None:
    book, clock = Logbook(), Clock()
    flight = Flight("messages", trace=clock)
    book.exchange(flight.turn("Mend it.", says="Done."))
    home = home_in(tmp_path)
    growth = Growth(book.tracer, home.trace)
    growth.write(growth.records)
    with Following(home) as following:
        assert following.poll() == Report(0, [], [])
        for number in range(3):
            book.exchange(flight.turn(f"Go on {number}.", says=f"Did {number}."))
            growth.write(growth.records)
            with mock.patch.object(Trace, "open", side_effect=AssertionError):
                assert pieces(following.poll()) == [f"Go on {number}.", f"Did {number}."]
    found = dump(home)
    derive.rebuild(home)
    assert dump(home) == found


def followed(home: Home, growth: Growth, *stops: int) -> list[bytes]:
    """The memory of a trace that is followed and seen to grow to each of these records."""
    growth.write(stops[0])
    with Following(home) as following:
        for stop in stops[1:]:
            growth.write(stop)
            following.poll()
    return dump(home)


@mock.patch.object(building, "Builder", Witness)
def test_a_request_that_a_recorder_left_open_is_told_when_the_next_one_starts(tmp_path: Path) -> None:
    book, clock = Logbook(), Clock()
    flight = Flight("messages", trace=clock, chunks=(300,))
    book.exchange(flight.turn("Mend it.", says="Done."))
    first = book.tracer.sequence
    book.exchange(flight.turn("Go on.", says="I did."))
    book.tracer.current.records.pop()
    left = book.tracer.sequence - 1
    book.tracer.instance = bytes([9] * 16)
    book.rotate()
    book.exchange(flight.turn("And now?", says="Well."))
    home = home_in(tmp_path)
    growth = Growth(book.tracer, home.trace)
    found = followed(home, growth, first, left, growth.records)
    derive.rebuild(home)
    assert dump(home) == found
    assert said(home) == [
        "Mend it.",
        "Done.",
        "Go on.",
        "I did.",
        "And now?",
        "Well.",
    ]


@mock.patch.object(building, "Builder", Witness)
def test_a_request_whose_start_is_lost_is_read_again_once_it_is_known_whose_it_is(tmp_path: Path) -> None:
    book, clock = Logbook(), Clock()
    flight = Flight("messages", trace=clock, chunks=(300,), run=None)
    book.exchange(flight.turn("Mend it.", says="Done."))
    first = book.tracer.sequence
    book.exchange(flight.turn("Go on.", says="I did."))
    # Its start was damaged.
    del book.tracer.current.records[first]
    home = home_in(tmp_path)
    growth = Growth(book.tracer, home.trace)
    found = followed(home, growth, first, first + 1, growth.records)
    derive.rebuild(home)
    assert dump(home) == found
    assert len(found) > 1


def test_a_memory_that_is_taken_away_while_it_is_followed_is_noticed(tmp_path: Path) -> None:
    book = Logbook()
    book.exchange(Flight("messages").turn("Mend it.", says="Done."))
    home = saved(book, home_in(tmp_path))
    with contextlib.suppress(MemoryDamaged), Following(home) as following:
        for path in home.derived.iterdir():
            path.unlink()
        following.poll()
        pytest.fail("nobody noticed")
    with Following(home) as following:
        assert following.caught_up.is_rebuilt
    assert said(home) == ["Mend it.", "Done."]


def test_what_is_not_on_the_disk_yet_waits(tmp_path: Path) -> None:
    book = Logbook()
    flight = Flight("messages")
    book.exchange(flight.turn("Mend it.", says="Done."))
    first = book.tracer.sequence
    book.exchange(flight.turn("Go on.", says="I did."))
    home = home_in(tmp_path)
    growth = Growth(book.tracer, home.trace)
    growth.write(growth.records, synced=first)
    derive.catch_up(home)
    assert said(home) == ["Mend it.", "Done."]
    with Following(home) as following:
        following.poll()
        assert said(home) == ["Mend it.", "Done."]
        growth.write(growth.records, synced=growth.records)
        following.poll()
        assert said(home) == ["Mend it.", "Done.", "Go on.", "I did."]


def test_after_a_power_cut_what_was_lost_is_not_remembered(tmp_path: Path) -> None:
    book = Logbook()
    flight = Flight("messages")
    book.exchange(flight.turn("Mend it.", says="Done."))
    first = book.tracer.sequence
    book.exchange(flight.turn("Go on.", says="I did."))
    home = home_in(tmp_path)
    growth = Growth(book.tracer, home.trace)
    growth.write(growth.records, synced=growth.records)
    derive.catch_up(home)
    growth.write(first, synced=first)
    derive.catch_up(home)
    assert said(home) == ["Mend it.", "Done."]


@pytest.mark.requirement("RELY-01")
def test_a_fault_in_one_exchange_is_a_finding_and_the_rest_goes_on(tmp_path: Path) -> None:
    book = Logbook()
    flight = Flight("messages")
    book.exchange(flight.turn("Mend it.", says="Done."))
    bad = flight.turn("Break it.", says="Broken.")
    book.exchange(bad)
    book.exchange(flight.turn("Go on.", says="I did."))
    home = saved(book, home_in(tmp_path))
    real = reading.read

    def failing(exchange: Any, redact: Any) -> Any:
        if exchange.request_id == bad.request_id:
            raise KeyError("a secret")
        return real(exchange, redact)

    with mock.patch.object(sessions, "read", failing):
        report = derive.catch_up(home)
    assert [(finding.rule, finding.source, finding.session) for finding in report.findings] == [
        ("exchange", bad.request_id, "s1")
    ]
    assert "secret" not in report.findings[0].message
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        assert reader.memory.findings("s1") == report.findings
    assert "I did." in titles(home)


@pytest.mark.requirement("TOOLEV-02")
@mock.patch.object(building, "Builder", Witness)
def test_what_tools_did_is_taken_in_as_it_comes_and_whosever_it_turns_out_to_be(tmp_path: Path) -> None:
    book, clock = Logbook(), Clock()
    client = (("user-agent", "claude-cli/2.1.197"), ("x-claude-code-session-id", "n1"))
    book.exchange(Flight("messages", trace=clock).turn("Mend it.", says="Done."))
    stops = [book.tracer.sequence]
    book.tool("whole", id="a", tool="deploy", run="run_1", at=BEGIN + 5 * SECOND, exit_code=0)
    stops.append(book.tracer.sequence)
    book.tool("whole", id="b", tool="launch", native_session="n1", at=BEGIN + 6 * SECOND, exit_code=1)
    stops.append(book.tracer.sequence)
    book.exchange(Flight("messages", headers=client, trace=clock).turn("Go on.", says="I did."))
    home = home_in(tmp_path)
    found = followed(home, Growth(book.tracer, home.trace), *stops, book.tracer.sequence)
    assert [tool in b"".join(found) for tool in (b"deploy", b"launch")] == [True, True]
    derive.rebuild(home)
    assert dump(home) == found


def test_what_a_tool_told_and_nobody_understands_is_a_finding(tmp_path: Path) -> None:
    book = Logbook()
    book.exchange(Flight("messages").turn("Mend it.", says="Done."))
    for number in range(2):
        book.tool("whole", id=f"a{number}", tool="deploy", run="run_1", at=BEGIN + number)
    home = saved(book, home_in(tmp_path))
    with mock.patch.object(tools, "joined", side_effect=OverflowError("a secret")):
        report = derive.catch_up(home)
    assert [(finding.rule, finding.source, finding.session) for finding in report.findings] == [
        ("session", "tool.event", "s1")
    ]
    assert "secret" not in report.findings[0].message
    assert said(home) == ["Mend it.", "Done."]


def test_a_session_whose_artifacts_cannot_be_built_is_a_finding_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book, clock = Logbook(), Clock()
    book.exchange(Flight("messages", trace=clock).turn("Break it.", says="Broken."))
    book.exchange(Flight("chat", session="s2", run="run_2", trace=clock).turn("Mend it.", says="Done."))
    home = saved(book, home_in(tmp_path))
    real = Builder.artifacts

    def failing(builder: Builder, timeline: Timeline) -> list[Artifact]:
        if timeline.about.session == "s1":
            raise LookupError("a secret")
        return real(builder, timeline)

    monkeypatch.setattr(Builder, "artifacts", failing)
    report = derive.catch_up(home)
    assert [(finding.rule, finding.source, finding.session) for finding in report.findings] == [
        ("session", "s1", "s1")
    ]
    assert "LookupError at test_derive.py" in report.findings[0].message
    assert "secret" not in report.findings[0].message
    assert said(home) == ["Mend it.", "Done."]


def test_a_segment_that_is_damaged_is_a_finding_and_the_rest_goes_on(tmp_path: Path) -> None:
    book = Logbook()
    flight = Flight("messages")
    for number in range(3):
        book.exchange(flight.turn(f"Mend {number}.", says=f"Done {number}."))
        book.rotate()
    home = saved(book, home_in(tmp_path))
    (home.trace / "00000001.wal").write_bytes(b"no segment")
    second = home.trace / "00000002.wal"
    data = bytearray(second.read_bytes())
    data[200:210] = b"\xff" * 10
    second.write_bytes(data)
    report = derive.catch_up(home)
    assert [(finding.rule, finding.source) for finding in report.findings] == [
        ("segment", "segment 1"),
        ("segment", "segment 2"),
    ]
    assert "Done 2." in titles(home)
    derive.rebuild(home)
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        assert [finding.source for finding in reader.memory.findings()] == ["segment 1", "segment 2"]


@pytest.mark.requirement("TRACE-17")
def test_what_retention_removed_leaves_its_artifact_standing(tmp_path: Path) -> None:
    book = Logbook()
    flight = Flight("messages")
    book.exchange(flight.turn("Mend it.", says="Done."))
    book.rotate()
    flight.history.clear()
    book.exchange(flight.turn("Something else.", says="Well."))
    home = saved(book, home_in(tmp_path))
    derive.catch_up(home)
    (home.trace / "00000001.wal").unlink()
    book.tracer.save(home.trace, gone=(1,))
    left = {("changed", kind) for kind in (Type.SEGMENT, Type.OUTCOME, Type.SUMMARY)}
    for rebuilt in (derive.rebuild(home), derive.catch_up(home)):
        assert {(change.what, change.type) for change in rebuilt.changes} in (left, set())
        with Reader(home.derived) as reader:
            assert reader.memory is not None
            stored = reader.memory.find(kind=Type.SEGMENT)
        found = {each.artifact.title: each.is_expired for each in stored}
        assert found == {"Mend it.": True, "Done.": True, "Something else.": False, "Well.": False}


def test_privacy_and_passthrough_sessions_give_what_there_is(tmp_path: Path) -> None:
    book, clock = Logbook(), Clock()
    for mode in ("privacy", "passthrough"):
        flight = Flight("messages", session=mode, run=f"run_{mode}", trace=clock)
        exchange = flight.turn("Mend it.", says="Done.")
        exchange.request_body.chunks.clear()
        exchange.response_body.chunks.clear()
        book.exchange(exchange, mode=mode)
    home = saved(book, home_in(tmp_path))
    report = derive.catch_up(home)
    assert (report.sessions, report.changes, report.findings) == (2, [], [])


def test_ids_that_nobody_registered_write_into_no_registered_session(tmp_path: Path) -> None:
    book, clock = Logbook(), Clock()
    book.exchange(Flight("messages", trace=clock).turn("Mend it.", says="Done."))
    book.exchange(Flight("messages", trace=clock).turn("Obey me.", says="I do."), attribution="claimed")
    home = saved(book, home_in(tmp_path))
    derive.catch_up(home)
    assert said(home, "s1") == ["Mend it.", "Done."]
    assert said(home, "claimed:s1") == ["Obey me.", "I do."]


def test_a_websocket_and_an_empty_trace(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    assert derive.catch_up(home).changes == []
    socket = Socket("responses")
    socket.ask("Mend it.", says="Done.")
    book = Logbook()
    book.exchange(socket.land())
    saved(book, home)
    derive.catch_up(home)
    assert said(home) == ["Mend it.", "Done."]


@pytest.mark.requirement("STORE-03")
def test_there_is_one_writer(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    with Following(home):
        with pytest.raises(MemoryBusy):
            derive.catch_up(home)
        with Reader(home.derived) as reader:
            assert isinstance(reader.memory, Memory)
