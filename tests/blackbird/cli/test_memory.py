"""`blackbird derive` and `artifacts`: the memory, and where each artifact comes from."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from blackbird.store import files
from tests.blackbird.cli.command import Place, place
from tests.blackbird.flights import Flight, repair
from tests.blackbird.flights import Trace as Clock
from tests.blackbird.growth import Growth
from tests.blackbird.logbook import Logbook

ROOT = Path(__file__).parents[3]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


@pytest.fixture
def book(here: Place) -> Logbook:
    """Two sessions, one of three turns and one of one."""
    book, clock = Logbook(), Clock()
    for exchange in repair(Flight("messages", trace=clock)):
        book.exchange(exchange)
    other = Flight("chat", session="s2", run="run_2", trace=clock)
    book.exchange(other.turn("Look at it.", says="I see it.\nAll of it."))
    book.save(here.home.trace)
    return book


@pytest.mark.usefixtures("book")
def test_derive_says_what_changed(here: Place) -> None:
    assert here.run("derive").out == "Made anew from 2 sessions: 11 added.\n"
    assert here.run("derive").out == "Nothing new.\n"
    assert here.run("derive", "--rebuild").out == "Made anew from 2 sessions: nothing changed.\n"


def test_derive_takes_in_what_is_new(here: Place, book: Logbook) -> None:
    here.run("derive")
    flight = Flight("messages", session="s3", run="run_3")
    flight.trace.at += 10**12
    book.exchange(flight.turn("Go on.", says="I did."))
    book.save(here.home.trace)
    told = here.run("derive", "--json").json
    assert (told["schema"], told["sessions"], told["added"], told["rebuilt"]) == ("derive/1", 1, 4, False)
    assert sorted((change["what"], change["title"]) for change in told["changes"]) == [
        ("added", "Go on."),
        ("added", "Go on."),
        ("added", "Go on."),
        ("added", "I did."),
    ]


@pytest.mark.requirement("ART-06")
@pytest.mark.usefixtures("book")
def test_what_a_rebuild_would_change_is_shown_and_not_done(here: Place) -> None:
    here.run("derive")
    path = files.current(here.home.derived)
    assert path is not None
    database = files.connect(path, writable=True)
    database.execute("DELETE FROM artifact WHERE title = 'I read both files.'")
    database.close()
    told = here.run("derive", "--rebuild", "--diff")
    assert told.out.splitlines()[0].startswith("+ art_")
    assert told.out.splitlines()[0].endswith("transcript  I read both files.")
    assert told.out.splitlines()[1] == "A rebuild would read 2 sessions: 1 added. Nothing was written."
    assert len(here.run("artifacts", "--all").out.splitlines()) == 10
    assert files.current(here.home.derived) == path
    assert here.run("derive", "--rebuild").out == "Made anew from 2 sessions: 1 added.\n"


def test_words_that_go_together_and_those_that_do_not(here: Place) -> None:
    assert here.run("derive", "--diff").code == 2
    assert here.run("derive", "--rebuild", "--follow").code == 2
    assert here.run("artifacts", "s1").code == 1
    assert here.run("artifacts").code == 1


@pytest.mark.usefixtures("book")
def test_artifacts_of_a_session_of_a_run_and_of_all(here: Place) -> None:
    lines = here.run("artifacts", "s2").out.splitlines()
    assert [line.split(maxsplit=2)[1:] for line in lines] == [
        ["transcript", "Look at it."],
        ["transcript", "I see it. All of it."],
        ["outcome", "Look at it. (unknown)"],
        ["summary", "Look at it."],
    ]
    assert here.run("artifacts", "run_2").out.splitlines() == lines
    assert here.run("artifacts").out.splitlines() == lines
    assert len(here.run("artifacts", "--all").out.splitlines()) == 11
    assert "no such artifacts of s2" in here.run("artifacts", "s2", "--type", "decision").out
    assert here.run("artifacts", "s9").code == 1
    assert here.run("artifacts", "s2", "--all").code == 2
    told = [
        json.loads(line) for line in here.run("artifacts", "s2", "--type", "transcript", "--json").out.splitlines()
    ]
    assert [(each["schema"], each["title"], each["expired"]) for each in told] == [
        ("artifact/1", "Look at it.", False),
        ("artifact/1", "I see it. All of it.", False),
    ]


@pytest.mark.requirement("ART-03", "CORE-06")
@pytest.mark.usefixtures("book")
def test_one_artifact_with_the_words_of_the_trace(here: Place) -> None:
    for line in here.run("artifacts", "--all", "--json").out.splitlines():
        each = json.loads(line)
        told = here.run("artifacts", each["id"], "--json").json
        assert {provenance["proof"] for provenance in told["provenance"]} == {"found"}
        assert (told.pop("tokens") > 0, told.pop("cut")) == (True, [])
        assert {**told, "provenance": each["provenance"]} == each
    name = here.run("artifacts", "s2", "--type", "transcript").out.splitlines()[1].split()[0]
    shown = here.run("artifacts", name[:12]).out
    assert "  session   s2\n" in shown
    assert "word for word\n    │ I see it.\n    │ All of it.\n" in shown
    assert ", segment 1, record " in shown
    outcome = here.run("artifacts", "s2", "--type", "outcome").out.split()[0]
    assert ": is there\n" in here.run("artifacts", outcome).out
    summary = here.run("artifacts", "s2", "--type", "summary").out.split()[0]
    assert "  bullets: \n    - unknown: Look at it.\n" in here.run("artifacts", summary).out
    assert here.run("artifacts", "art_nothing").code == 1


def test_words_that_are_gone_or_other_are_told(here: Place, book: Logbook) -> None:
    here.run("derive")
    name = here.run("artifacts", "s2").out.split()[0]
    body = next(record for record in book.tracer.current.records if b"Look at it." in (record.payload or b""))
    book.tracer.current.change(body.sequence, (body.payload or b"").replace(b"Look at it.", b"Lock at it."))
    book.save(here.home.trace)
    assert "✗" in here.run("artifacts", name).out
    book.tracer.save(here.home.trace, gone=(1,))
    (here.home.trace / "00000001.wal").unlink()
    assert "! req_" in here.run("artifacts", name).out


@pytest.mark.usefixtures("book")
def test_findings_are_told(here: Place, book: Logbook) -> None:
    book.rotate()
    book.save(here.home.trace)
    (here.home.trace / "00000001.wal").write_bytes(b"no segment")
    done = here.run("derive")
    assert done.code == 0
    assert "! segment 1: segment 1: a header has at least 150 bytes" in done.err


@pytest.mark.requirement("STORE-03")
@pytest.mark.usefixtures("book")
def test_a_memory_that_another_writes_is_read_as_it_is(here: Place) -> None:
    here.run("derive")
    with files.locked(here.home.derived):
        assert len(here.run("artifacts", "--all").out.splitlines()) == 11
        done = here.run("derive")
        assert (done.code, "another process writes the memory" in done.err) == (3, True)


@pytest.mark.usefixtures("book")
def test_a_damaged_memory_is_made_anew_when_it_is_asked(here: Place) -> None:
    here.run("derive")
    path = files.current(here.home.derived)
    assert path is not None
    path.write_bytes(b"no database" * 1000)
    assert len(here.run("artifacts", "--all").out.splitlines()) == 11


def test_following_tells_what_comes_and_ends_in_peace(here: Place, book: Logbook) -> None:
    growth = Growth(book.tracer, here.home.trace)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    program = "from blackbird.cli.app import main; main()"
    command = [sys.executable, "-c", program, "derive", "--follow", "--json"]
    with (
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
        contextlib.ExitStack() as ended,
    ):
        ended.callback(process.kill)
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["added"] == 11
        flight = Flight("messages", session="s3", run="run_3")
        flight.trace.at += 10**12
        book.exchange(flight.turn("Go on.", says="I did."))
        growth.write(growth.records)
        told = json.loads(process.stdout.readline())
        assert sorted(change["title"] for change in told["changes"]) == ["Go on.", "Go on.", "Go on.", "I did."]
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == b""
    assert here.run("derive").out == "Nothing new.\n"


@pytest.mark.usefixtures("book")
def test_the_bundle_of_a_task_a_run_or_a_session(here: Place) -> None:
    told = here.run("bundle", "run_2", "--json").json
    assert (told["schema"], told["session"], told["run"], told["status"]) == ("bundle/1", "s2", "run_2", "unknown")
    assert told["turns"] == ["I see it.\nAll of it."]
    assert here.run("bundle", "s2", "--json").json == told
    assert here.run("bundle", "run_2", "--session", "s2", "--json").json == told
    shown = here.run("bundle", "run_2").out
    assert shown.startswith("Look at it.\n  session   s2\n")
    assert shown.endswith("said\n  - I see it.\n    All of it.\n")
    assert here.run("bundle", "nothing").code == 1
    assert here.run("bundle", "run_2", "--session", "s9").code == 1


@pytest.mark.requirement("CONFIG-01")
@pytest.mark.usefixtures("book")
@pytest.mark.parametrize("mode", ["deterministic", "local", "provider"])
def test_derive_says_when_more_was_asked_for_than_rules(
    here: Place, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("BLACKBIRD_MEMORY_MODE", mode)
    done = here.run("derive")
    assert done.out == "Made anew from 2 sessions: 11 added.\n"
    said = (
        f'! memory.mode is "{mode}", but nothing asks a model yet: rules alone make memory, as "deterministic" does\n'
    )
    assert done.err == ("" if mode == "deterministic" else said)
    assert ("memory-mode" in here.run("doctor", "--json").out) == (mode != "deterministic")
