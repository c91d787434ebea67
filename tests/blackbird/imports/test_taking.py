"""What is new of a log is sent in batches, and the ledger knows of nothing that was not answered."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from blackbird.errors import RecorderFailed
from blackbird.imports import files
from blackbird.imports.finding import Search, State
from blackbird.imports.ledger import Ledger
from blackbird.imports.taking import Taker
from blackbird.trace.folder import Trace
from tests.blackbird.imports.twin import Bench, bench


def line(number: int, size: int = 0) -> str:
    return f'{{"type":"user","sessionId":"s","n":{number},"message":{{"content":"x"}},"x":"{"x" * size}"}}'


def log(folder: Path, *lines: str) -> Path:
    path = folder / "s.jsonl"
    path.write_text("".join(text + "\n" for text in lines), encoding="utf-8")
    return path


def take(made: Bench, path: Path) -> int:
    return sum(made.taker.take(candidate).lines for candidate in made.find(path))


def test_a_log_is_opened_sent_and_ended(tmp_path: Path) -> None:
    made, path = bench(tmp_path), log(tmp_path, line(1), "", line(2))
    assert take(made, path) == 2
    assert [op["op"] for op in made.twin.sent] == ["event", "import", "event"]
    [opened] = made.twin.events("import.open")
    assert (opened["format"], opened["path"], opened["generation"]) == ("claude-code", str(path), 1)
    [ended] = made.twin.events("import.end")
    assert (ended["lines"], ended["messages"], ended["bytes"]) == (2, 2, path.stat().st_size)
    assert made.twin.sent[0]["session"] == "s"
    assert [sent["text"] for sent in made.twin.lines()] == [line(1), line(2)]


def test_batches_stay_small_and_the_ledger_knows_each_that_was_answered(tmp_path: Path) -> None:
    made, path = bench(tmp_path), log(tmp_path, *(line(number, 100_000) for number in range(30)))
    asked: list[int] = []

    def fail_at(op: dict[str, Any], send: Any = made.twin.send) -> dict[str, Any]:
        if op["op"] == "import":
            asked.append(sum(len(each["text"]) for each in op["lines"]))
            if len(asked) == 3:
                raise RecorderFailed("it is gone", "")
        answer: dict[str, Any] = send(op)
        return answer

    made.twin.send = fail_at  # type: ignore[method-assign]
    with pytest.raises(RecorderFailed):
        take(made, path)
    assert max(asked) < 1 << 20
    [known] = made.ledger.all()
    sent = [each["text"] for each in made.twin.lines()]
    assert known.source.lines == len(sent)
    assert known.source.reached == sum(len(text) + 1 for text in sent)
    [rest] = made.find(path)
    assert (rest.state, rest.start) == (State.GROWN, known.source.reached)
    asked.extend([0] * 9)
    made.taker.take(rest)
    assert [each["text"] for each in made.twin.lines()] == [line(number, 100_000) for number in range(30)]


def test_an_end_that_was_never_told_is_told_the_next_time(tmp_path: Path) -> None:
    made, path = bench(tmp_path), log(tmp_path, line(1))

    def fail_at_end(op: dict[str, Any], send: Any = made.twin.send) -> dict[str, Any]:
        if op.get("event") == "import.end" and not made.twin.events("other"):
            raise RecorderFailed("it is gone", "")
        answer: dict[str, Any] = send(op)
        return answer

    made.twin.send = fail_at_end  # type: ignore[method-assign]
    with pytest.raises(RecorderFailed):
        take(made, path)
    made.twin.sent.append({"op": "event", "event": "other", "data": {}})
    assert take(made, path) == 0
    [ended] = made.twin.events("import.end")
    assert (ended["lines"], ended["messages"]) == (1, 1)
    assert len(made.twin.lines()) == 1
    assert take(made, path) == 0
    assert len(made.twin.events("import.end")) == 1


def test_a_stop_is_heeded_between_batches_and_the_next_time_goes_on(tmp_path: Path) -> None:
    made, path = bench(tmp_path), log(tmp_path, *(line(number, 300_000) for number in range(9)))
    stopping = Taker(made.twin, made.ledger, stop=lambda: True)
    [candidate] = made.find(path)
    first = stopping.take(candidate).lines
    assert 0 < first < 9
    assert len(made.twin.events("import.end")) == 1
    assert take(made, path) == 9 - first
    assert [each["text"] for each in made.twin.lines()] == [line(number, 300_000) for number in range(9)]


def test_a_long_line_is_sent_in_parts(tmp_path: Path) -> None:
    made, path = bench(tmp_path), log(tmp_path, line(1, 3 * files.LONGEST_PIECE), line(2))
    assert take(made, path) == 2
    parts = made.twin.lines()
    assert [(part.get("part"), part.get("more")) for part in parts] == [
        (0, True),
        (1, True),
        (2, True),
        (3, False),
        (None, None),
    ]
    assert "".join(part["text"] for part in parts[:4]) == line(1, 3 * files.LONGEST_PIECE)
    assert {(part["offset"], part["length"]) for part in parts[:4]} == {(0, len(line(1, 3 * files.LONGEST_PIECE)))}


def test_a_document_is_taken_in_anew_when_it_changed_and_only_then(tmp_path: Path) -> None:
    made, path = bench(tmp_path), tmp_path / "a.md"
    path.write_text("<!-- Generated by SpecStory -->\n_**User**_\n\none\n")
    assert take(made, path) == 1
    path.touch()
    assert [candidate.state for candidate in made.find(path)] == [State.TAKEN]
    path.write_text("<!-- Generated by SpecStory -->\n_**User**_\n\none\ntwo\n")
    assert take(made, path) == 1
    assert [opened["generation"] for opened in made.twin.events("import.open")] == [1, 2]
    assert {opened["document"] for opened in made.twin.events("import.open")} == {True}


def test_nothing_is_said_of_a_log_that_has_nothing_new(tmp_path: Path) -> None:
    made, path = bench(tmp_path), log(tmp_path, line(1))
    take(made, path)
    before = len(made.twin.sent)
    with path.open("a") as file:
        file.write("half a line")
    assert take(made, path) == 0
    assert len(made.twin.sent) == before
    assert [candidate.state for candidate in made.find(path)] == [State.TAKEN]


def test_only_a_pointer_for_what_is_not_kept(tmp_path: Path) -> None:
    made, path = bench(tmp_path, keep=False), log(tmp_path, line(1))
    [candidate] = made.find(path, keep=False)
    made.taker.take(candidate)
    [opened] = made.twin.events("import.open")
    assert opened["kept"] is False
    assert len(made.twin.sent) == 1
    assert [found.state for found in made.find(path, keep=False)] == [State.TAKEN]
    assert [found.state for found in made.find(path, keep=True)] == [State.NEW]


SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
#: As the recorder writes the folder of a run.
MASKED = "/home/ada/[redacted:github_token]/lamp"


@pytest.mark.parametrize("keep", [True, False])
def test_a_secret_in_the_folder_of_an_agent_is_noted_nowhere(tmp_path: Path, *, keep: bool) -> None:
    made = bench(tmp_path, keep=keep)
    path = log(tmp_path, json.dumps({"type": "user", "sessionId": "s", "cwd": f"/home/ada/{SECRET}/lamp"}))
    [candidate] = made.find(path, keep=keep)
    made.taker.take(candidate)
    made.ledger.save(is_open=False)
    stated = made.twin.events("import.end" if keep else "import.open")
    assert [each["folder"] for each in stated] == [hashlib.sha256(MASKED.encode()).hexdigest()]
    stored = (tmp_path / "home/derived/imports.json").read_text()
    assert SECRET not in stored
    assert json.loads(stored)["taken"][0]["source"]["folder"] == stated[0]["folder"]


def test_a_secret_that_was_noted_before_goes_when_the_ledger_is_read(tmp_path: Path) -> None:
    made, path = bench(tmp_path), log(tmp_path, line(1))
    take(made, path)
    made.ledger.save(is_open=False)
    stored = tmp_path / "home/derived/imports.json"
    about = json.loads(stored.read_text())
    about["taken"][0]["source"]["folder"] = f"/home/ada/{SECRET}/lamp"
    stored.write_text(json.dumps(about))
    ledger = Ledger(stored, Trace(tmp_path / "home/trace"))
    ledger.load()
    assert ledger.is_new is True
    ledger.save(is_open=False)
    assert SECRET not in stored.read_text()


def test_a_folder_without_a_secret_stays_what_it_is(tmp_path: Path) -> None:
    made = bench(tmp_path)
    take(made, log(tmp_path, json.dumps({"type": "user", "sessionId": "s", "cwd": "/home/ada/lamp"})))
    assert [taken.source.folder for taken in made.ledger.all()] == ["/home/ada/lamp"]


def test_what_is_not_kept_ends_when_its_last_line_says(tmp_path: Path) -> None:
    made = bench(tmp_path, keep=False)
    times = [f"2026-11-16T12:{minute:02}:00Z" for minute in range(30)]
    about = {"type": "user", "sessionId": "s", "x": "x" * 10_000}
    [candidate] = made.find(log(tmp_path, *(json.dumps(about | {"timestamp": time}) for time in times)), keep=False)
    made.taker.take(candidate)
    [opened] = made.twin.events("import.open")
    assert [opened[key][:19] + "Z" for key in ("first_at", "last_at")] == [times[0], times[-1]]


def test_a_long_document_that_is_not_kept_ends_when_its_last_turn_says(tmp_path: Path) -> None:
    made, path = bench(tmp_path, keep=False), tmp_path / "a.md"
    first, last = "_**User (2026-11-16 12:00:00Z)**_\n\nmend\n", "_**Agent (m 2026-11-16 12:09:00Z)**_\n\ndone\n"
    path.write_text(f"<!-- Generated by SpecStory -->\n{first}{'x' * 80 + chr(10)}" + "y\n" * 60_000 + last)
    [candidate] = made.find(path, keep=False)
    made.taker.take(candidate)
    [opened] = made.twin.events("import.open")
    assert (opened["first_at"][:19], opened["last_at"][:19]) == ("2026-11-16T12:00:00", "2026-11-16T12:09:00")


def test_what_is_kept_beside_a_log_is_no_unknown_log(tmp_path: Path) -> None:
    made, folder = bench(tmp_path), tmp_path / "old"
    folder.mkdir()
    log(folder, line(1))
    (folder / "s.meta.json").write_text('{"agentType":"x"}')
    search = Search(made.ledger)
    assert [each.file.path.name for each in search.at([folder])] == ["s.jsonl"]
    assert (search.unknown, search.barren) == ([], {})


def test_a_folder_is_searched_for_all_that_is_known(tmp_path: Path) -> None:
    made = bench(tmp_path)
    folder = tmp_path / "old"
    (folder / "deep").mkdir(parents=True)
    log(folder / "deep", line(1))
    (folder / "b.bbox").write_text("---\nformat: bbox/1\nid: sess_1\nagent: pelican\n---\nu: mend the lamp\n")
    (folder / "notes.md").write_text("# plain\n")
    (folder / "empty.jsonl").write_text("")
    found = made.find(folder)
    assert sorted((each.format.name, each.client, each.file.path.name) for each in found) == [
        ("bbox", "pelican", "b.bbox"),
        ("claude-code", "Claude Code", "s.jsonl"),
    ]


def test_lines_that_are_no_json_are_kept_and_named(tmp_path: Path) -> None:
    made, path = bench(tmp_path), log(tmp_path, line(1), "", '{"type":"user","sess', line(2), "[1]")
    [candidate] = made.find(path)
    outcome = made.taker.take(candidate)

    assert (outcome.lines, outcome.broken) == (4, [f"{path}:3", f"{path}:5"])
    assert [sent["text"] for sent in made.twin.lines()][1] == '{"type":"user","sess'
    with path.open("a") as file:
        file.write("torn\n")
    [candidate] = made.find(path)
    assert made.taker.take(candidate).broken == [f"{path}:6"]
