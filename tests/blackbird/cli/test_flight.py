"""`blackbird export`, `show`, `tail` and `audit`: a session as a flight log."""

import json
import time
from pathlib import Path

import pytest

from blackbird.sessions.choice import NOTHING_YET
from blackbox.check.findings import Severity
from blackbox.check.validator import validate_bytes
from tests.blackbird.cli.command import Place, place
from tests.blackbird.flights import Flight, repair
from tests.blackbird.logbook import Logbook


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


@pytest.fixture
def session(here: Place) -> str:
    """The name of a session of three turns."""
    book = Logbook()
    for exchange in repair(Flight("messages", way="stream")):
        book.exchange(exchange)
    book.save(here.home.trace)
    return "s1"


def serious(data: bytes) -> list[str]:
    return [one.message for one in validate_bytes(data).findings if one.severity is not Severity.INFO]


@pytest.mark.usefixtures("session")
def test_export_writes_a_valid_log_the_same_twice(here: Place, tmp_path: Path) -> None:
    done = here.run("export", "s1", "-o", "one/")
    assert (done.code, done.out.splitlines()[0]) == (0, "one/s1.bbox")
    here.run("export", "-o", "two.bbox")
    data = (tmp_path / "one" / "s1.bbox").read_bytes()
    assert (tmp_path / "two.bbox").read_bytes() == data
    assert serious(data) == []
    text = data.decode()
    assert "\nu: Fix the failing test." in text
    assert "\n@end " in text


@pytest.mark.usefixtures("session")
def test_export_to_standard_output_and_as_json(here: Place, tmp_path: Path) -> None:
    assert here.run("export", "s1", "-o", "-").out.startswith("---\nformat: bbox/1\nid: s1\n")
    told = here.run("export", "s1", "--format", "rlog", "-o", "a.rlog", "--json").json
    assert told["schema"] == "export/1"
    assert (told["session"], told["format"], told["files"][:2]) == ("s1", "rlog", ["a.rlog", "a.jsonl"])
    assert serious((tmp_path / "a.rlog").read_bytes()) == []


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--format", "rlog", "-o", "-"),
        ("--format", "rlog", "--follow"),
        ("-o", "a.rlog", "--follow"),
        ("-o", "-", "--json"),
        ("-o", "there.bbox"),
    ],
)
def test_export_refuses_what_makes_no_sense(here: Place, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "there.bbox").write_text("mine")
    assert here.run("export", "s1", *arguments).code == 2
    assert (tmp_path / "there.bbox").read_text() == "mine"


@pytest.mark.usefixtures("session")
def test_export_follows_until_ctrl_c(here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", stop)
    assert here.run("export", "s1", "--follow", "-o", "live.bbox").code == 0
    data = (tmp_path / "live.bbox").read_bytes()
    assert serious(data) == []
    assert data.decode().splitlines()[-2].startswith("@end ")


@pytest.fixture
def imported(here: Place) -> str:
    """The name of a session that was not recorded, but imported; it goes on from another."""
    book = Logbook()
    book.log("claude-code", "/x/n0.jsonl", "n0", [said("Old words.", "n0", 10)])
    lines = [said("Old words.", "n1", 10), said("Mend it.", "n1", 20)]
    book.log("claude-code", "/x/n1.jsonl", "n1", lines)
    book.save(here.home.trace)
    return "n1"


def said(text: str, session: str, second: int) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": f"u{second}",
        "sessionId": session,
        "timestamp": f"2026-11-16T12:00:{second}Z",
        "message": {"role": "user", "content": text},
    }


def used(session: str, second: int, tool: str, path: str) -> dict[str, object]:
    """A line in which an agent calls a tool."""
    called = {"type": "tool_use", "id": f"c{second}", "name": tool, "input": {"file_path": path}}
    message = {"role": "assistant", "id": f"msg_{second}", "content": [called]}
    return said("", session, second) | {"type": "assistant", "message": message}


@pytest.mark.parametrize("target", ["live.bbox", "-"])
def test_an_imported_session_has_nothing_to_follow(
    here: Place, imported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    def wait(_seconds: float) -> None:
        pytest.fail("waits for more")

    monkeypatch.setattr(time, "sleep", wait)
    done = here.run("export", imported, "--follow", "-o", target)
    assert done.code == 0
    data = done.out if target == "-" else (tmp_path / target).read_text()
    assert data == here.run("export", imported, "-o", "-").out
    assert "\nu: Mend it." in data


def test_what_an_imported_session_goes_on_from_is_marked(here: Place, imported: str) -> None:
    lines = here.run("show", imported).out.splitlines()
    told = "  before   1 message from an earlier session or before recording began, not counted here"
    assert lines.count(told) == 1
    assert "before     user Old words." in lines
    assert "+ 0.00s    user Mend it." in lines


def test_an_audit_is_of_what_the_session_itself_did(here: Place) -> None:
    book = Logbook()
    first = [said("Mend it.", "n0", 10), used("n0", 11, "Edit", "old.py")]
    book.log("claude-code", "/x/n0.jsonl", "n0", first)
    copied = [line | {"sessionId": "n1"} for line in first]
    book.log(
        "claude-code", "/x/n1.jsonl", "n1", [*copied, said("Go on.", "n1", 20), used("n1", 21, "Edit", "new.py")]
    )
    book.save(here.home.trace)
    modified = [[file["path"] for file in here.run("audit", name, "--json").json["files"]] for name in ("n0", "n1")]
    assert modified == [["old.py"], ["new.py"]]
    text = here.run("export", "n1", "-o", "-").out
    assert serious(text.encode()) == []
    assert "\n@start id=n1 step=1 ts=2026-11-16T12:00:20.000Z\n" in text
    assert text.splitlines()[-1] == "# tools=1 skills=0 mcp=0 subagents=0 plans=0 duration=1s redactions=0"


@pytest.mark.usefixtures("session")
def test_the_name_of_a_file_says_what_is_written(here: Place, tmp_path: Path) -> None:
    assert here.run("export", "s1", "-o", "y.rlog", "--json").json["format"] == "rlog"
    assert (tmp_path / "y.rlog").read_text().startswith("---\nformat: rlog/1\n")
    assert here.run("export", "s1", "-o", "y.txt", "--json").json["format"] == "bbox"


@pytest.mark.parametrize(
    "arguments", [("sessions",), ("tail", "--no-follow"), ("show",), ("export",), ("audit",), ("session", "show")]
)
def test_an_empty_home_is_told_alike(here: Place, arguments: tuple[str, ...]) -> None:
    done = here.run(*arguments)
    assert NOTHING_YET in done.out + done.err
    assert "`blackbird import`" in NOTHING_YET


@pytest.mark.usefixtures("session")
def test_tail_says_why_there_is_nothing(here: Place) -> None:
    done = here.run("tail", "--no-follow", "--session", "nobody")
    assert done.out == "No such session is recorded. `blackbird sessions` lists what there is.\n"


def test_tail_of_an_empty_home_says_so_and_waits(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", stop)
    done = here.run("tail")
    assert (done.code, done.out, done.err.splitlines()[0]) == (0, "", NOTHING_YET)


def test_no_such_session(here: Place, session: str) -> None:
    for command in ("export", "audit", "show"):
        done = here.run(command, "nobody")
        assert (done.code, done.out) == (1, "")
        assert "there is no session nobody" in done.err


@pytest.mark.usefixtures("session")
def test_show_reads_like_a_replay(here: Place) -> None:
    done = here.run("show")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "s1"
    assert any(line.endswith("user Fix the failing test.") for line in lines)
    assert any("→ read_file" in line for line in lines)
    assert any("← " in line for line in lines)


@pytest.mark.usefixtures("session")
def test_show_as_json_is_an_object_an_item(here: Place) -> None:
    items = [json.loads(line) for line in here.run("show", "s1", "--json").out.splitlines()]
    assert {item["schema"] for item in items} == {"item/1"}
    assert [item["call"]["name"] for item in items if item["type"] == "call"][:2] == ["read_file", "read_file"]
    assert all(item["time"].endswith("Z") for item in items)
    assert here.run("show", "s1", "--thread", "main", "--json").out
    assert here.run("show", "s1", "--thread", "nobody").code == 1


@pytest.mark.usefixtures("session")
def test_show_of_a_request_stays_what_it_was(here: Place) -> None:
    first = json.loads(here.run("requests", "--json").out.splitlines()[0])["request_id"]
    assert here.run("show", first, "--headers").out.startswith(first)
    refused = here.run("show", "s1", "--raw")
    assert (refused.code, refused.out) == (2, "")
    assert "are for a request, and s1 is a session" in refused.err
    assert "there is no request nobody" in here.run("show", "nobody", "--raw").err
    assert here.run("show", "--raw").code == 2


@pytest.mark.usefixtures("session")
def test_tail_shows_the_lines_of_the_newest_session(here: Place) -> None:
    lines = here.run("tail", "--no-follow", "-n", "3").out.splitlines()
    assert lines[0] == "# session=s1"
    assert any(line.startswith("a: It is blocked.") for line in lines)
    items = [json.loads(line) for line in here.run("tail", "--no-follow", "-n", "2", "--json").out.splitlines()]
    assert [item["schema"] for item in items] == ["item/1"] * 2


def test_tail_shows_a_session_that_begins_while_it_waits(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Logbook()
    steps = iter([lambda: _record(book, here), None])

    def wait(_seconds: float) -> None:
        step = next(steps)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr(time, "sleep", wait)
    done = here.run("tail")
    assert done.code == 0
    assert done.out.startswith("# session=s1\n")
    assert "u: Fix the failing test." in done.out


def _record(book: Logbook, here: Place) -> None:
    for exchange in repair(Flight("messages", way="stream")):
        book.exchange(exchange)
    book.save(here.home.trace)


@pytest.mark.usefixtures("session")
def test_audit_answers_four_questions(here: Place) -> None:
    out = here.run("audit").out
    assert [line[:3] for line in out.splitlines() if line[:1].isdigit()] == ["1. ", "2. ", "3. ", "4. "]
    told = here.run("audit", "s1", "--json").json
    assert (told["schema"], told["session"]) == ("audit/1", "s1")
