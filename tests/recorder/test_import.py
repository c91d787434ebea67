"""Agents' own logs on their way into the trace, by the real program: whether one runs or not, whatever ends it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from blackbird import home as homes
from blackbird.imports import kept, sources
from blackbird.imports.line import Line
from blackbird.recorder import program
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind
from blackbird.trace.segment import Segment
from blackbird.trace.verify.verifier import Verifier
from tests.clients.peer import PATIENCE
from tests.recorder.conftest import Wire
from tests.recorder.harness import recorder_program, until
from tests.recorder.trace_view import CONTINUES, NATIVE_LINE

SOURCE = "01JD4Q0000000000000000000A"
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
SESSION = "6f0c8a52-95a7-4d5e-8d4c-0f1f8f3f9f10"
_MAIN = (
    "import sys; from pathlib import Path; from blackbird.recorder import program; "
    "named = Path(sys.argv.pop(1)); program.find = lambda folders=None: named; "
    "from blackbird.cli import app; app.main()"
)


def lines_of(wire: Wire) -> list[tuple[int, bytes]]:
    return [(record.flags, record.payload) for record in wire.recorder.records() if record.kind == NATIVE_LINE]


def test_lines_are_records_of_their_source(wire: Wire) -> None:
    lines = [{"offset": 0, "length": 3, "text": "one"}, {"offset": 4, "length": 5, "text": f"two {TOKEN}"}]
    answer = wire.recorder.control("import", source=SOURCE, lines=lines)
    assert answer["redactions"] == {"github_token": 1}
    written = [record for record in wire.recorder.records() if record.kind == NATIVE_LINE][-2:]
    assert [record.sequence for record in written] == [answer["sequence"] - 1, answer["sequence"]]
    assert {record.request for record in written} == {ids.from_text(SOURCE)}
    assert written[0].payload == b'{"length":3,"offset":0}\none'
    assert written[1].payload.endswith(b"\ntwo [redacted:github_token]")
    assert [record.flags for record in written] == [0, 1]


def test_a_line_may_come_in_parts_and_a_secret_over_two_of_them_is_found(wire: Wire) -> None:
    begun = {"offset": 0, "length": 44, "text": f"is {TOKEN[:20]}", "more": True}
    rest = {"offset": 0, "length": 44, "text": f"{TOKEN[20:]} here", "part": 1}
    before = len(lines_of(wire))
    assert wire.recorder.control("import", source=SOURCE, lines=[begun])["ok"]
    assert wire.recorder.control("import", source=SOURCE, lines=[rest])["ok"]
    first, second = lines_of(wire)[before:]
    assert (first[0] & CONTINUES, second[0] & CONTINUES) == (CONTINUES, 0)
    assert first[1].partition(b"\n")[2] + second[1].removeprefix(b"\n") == b"is [redacted:github_token] here"
    assert wire.holds(TOKEN.encode()) == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"source": "nonsense", "lines": []}, "source is missing or no id"),
        ({"lines": []}, "source is missing or no id"),
        ({"source": "0" * 26, "lines": []}, "source is missing or no id"),
        ({"source": SOURCE, "lines": [{"offset": 0}]}, "these are no lines"),
        ({"source": SOURCE}, "these are no lines"),
        (
            {"source": SOURCE, "lines": [{"offset": 9, "length": 1, "text": "x", "part": 3}]},
            "a part of a line does not follow upon the one before it",
        ),
    ],
)
def test_what_is_no_import_is_refused_and_writes_nothing(wire: Wire, asked: dict[str, Any], message: str) -> None:
    before = len(lines_of(wire))
    answer = wire.recorder.control("import", **asked)
    assert (answer["ok"], answer["code"]) == (False, "bad_value")
    assert answer["message"].startswith(message)
    assert answer["remedy"]
    assert len(lines_of(wire)) == before


def test_a_line_cannot_be_appended_without_its_source(wire: Wire) -> None:
    assert wire.recorder.control("append", type="native.line", payload="x")["code"] == "bad_value"


def is_intact(folder: Path) -> bool:
    trace = Trace(folder)
    verifier = Verifier(trace.synced())
    for place, content in trace.contents():
        verifier.add(place, content)
    return verifier.finish().is_intact


class Machine(NamedTuple):
    """A user's machine with a log of Claude Code, and the command on it."""

    log: Path
    home: Path
    run: Callable[..., Any]

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", _MAIN, str(recorder_program()), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def kept(self) -> list[Line]:
        """Every line in the trace, of all sources in the order of the trace."""
        joiners: dict[bytes, kept.Joiner] = {}
        found = []
        for segment in Trace(self.home / "trace").segments():
            assert isinstance(segment, Segment)
            for record in segment.records():
                if record.kind == Kind.NATIVE_LINE:
                    joiner = joiners.setdefault(record.request, kept.Joiner())
                    line = joiner.take(record, segment.header.number)
                    found += [line] if line is not None else []
        return found

    def records(self) -> int:
        """How many records of lines there are, whatever they hold."""
        segments = [each for each in Trace(self.home / "trace").segments() if isinstance(each, Segment)]
        return sum(record.kind == Kind.NATIVE_LINE for each in segments for record in each.records())

    def texts(self) -> list[str]:
        return [line.text for line in self.kept()]


def entry(number: int, words: str = "mend the lamp") -> str:
    message = {"role": "user", "content": f"{words} {number}"}
    time_of = f"2026-11-16T12:{number // 60 % 60:02}:{number % 60:02}.000Z"
    return json.dumps({"type": "user", "sessionId": SESSION, "timestamp": time_of, "message": message})


@pytest.fixture
def machine(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    project = tmp_path / ".claude" / "projects" / "-lamp"
    project.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BLACKBIRD_HOME", str(home))
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int = 0) -> Any:
        done = subprocess.run(
            [sys.executable, "-c", _MAIN, str(recorder_program()), *words, "--json"],
            capture_output=True,
            check=False,
        )
        assert done.returncode == code, done.stderr.decode()
        return json.loads(done.stdout) if done.stdout else done.stderr.decode()

    return Machine(project / f"{SESSION}.jsonl", home, run)


def add(path: Path, *lines: str, end: str = "\n") -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(line + end for line in lines))


def test_a_log_is_taken_in_once_and_what_is_added_later(machine: Machine) -> None:
    add(machine.log, entry(1), entry(2))
    with machine.log.open("a", encoding="utf-8") as file:
        file.write(entry(3))  # not yet whole
    before = (machine.log.read_bytes(), machine.log.stat().st_mtime_ns, machine.log.stat().st_ino)
    assert machine.run("import", "--all")["imported"]["lines"] == 2
    assert machine.run("import", "--all")["imported"]["lines"] == 0
    assert (machine.log.read_bytes(), machine.log.stat().st_mtime_ns, machine.log.stat().st_ino) == before
    add(machine.log, "", entry(4))
    assert machine.run("import", "claude-code")["imported"]["lines"] == 2
    assert machine.texts() == [entry(number) for number in range(1, 5)]
    [source] = sources.find(Trace(machine.home / "trace")).all()
    assert (source.native_session, source.lines, source.messages) == (SESSION, 4, 4)
    assert source.title == "mend the lamp 1"
    assert source.reached == machine.log.stat().st_size
    offsets = [line.offset for line in machine.kept()]
    data = machine.log.read_bytes()
    assert [data[line.offset : line.offset + line.length].decode() for line in machine.kept()] == machine.texts()
    assert offsets == sorted(offsets)
    assert is_intact(machine.home / "trace")


def test_what_is_written_is_for_its_owner_alone(machine: Machine) -> None:
    add(machine.log, entry(1))
    machine.run("import", "--all")
    modes = {path.name: path.stat().st_mode & 0o777 for path in machine.home.rglob("*") if path.is_file()}
    assert set(modes.values()) == {0o600}
    assert {"imports.json", "imports.lock", "00000001.wal"} <= modes.keys()
    folders = [path for path in machine.home.rglob("*") if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}


@pytest.mark.requirement("TRACE-15")
def test_secrets_are_replaced_and_counted(machine: Machine) -> None:
    add(machine.log, entry(1, f"the token is {TOKEN}"))
    assert machine.run("import", "--all")["imported"]["redactions"] == {"github_token": 1}
    found = [path for path in machine.home.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert found == []
    assert "[redacted:github_token]" in machine.texts()[0]
    [source] = sources.find(Trace(machine.home / "trace")).all()
    assert source.title == "the token is [redacted:github_token] 1"


@pytest.mark.parametrize("is_redacted", [False, True])
def test_without_its_ledger_the_trace_tells_how_far_it_was(machine: Machine, is_redacted: bool) -> None:
    add(machine.log, entry(1), entry(2, TOKEN if is_redacted else "plain"))
    machine.run("import", "--all")
    (machine.home / "derived" / "imports.json").unlink()
    assert machine.run("import", "--all")["imported"]["lines"] == 0
    add(machine.log, entry(3))
    (machine.home / "derived" / "imports.json").unlink()
    assert machine.run("import", "--all")["imported"]["lines"] == 1
    assert machine.records() == 3
    [source] = sources.find(Trace(machine.home / "trace")).all()
    assert (source.lines, source.messages, source.generation) == (3, 3, 1)


def test_a_log_that_was_rewritten_is_another_source(machine: Machine) -> None:
    add(machine.log, entry(1), entry(2))
    machine.run("import", "--all")
    machine.log.write_text(entry(1) + "\n" + entry(9) + "\n", encoding="utf-8")
    done = machine.run("import", "--all")
    assert (done["clients"][0]["rewritten"], done["imported"]["lines"]) == (1, 2)
    found = sources.find(Trace(machine.home / "trace")).all()
    assert [source.generation for source in found] == [1, 2]
    assert len({source.id for source in found}) == 2


def test_bytes_that_are_no_text_are_replaced_and_counted(machine: Machine) -> None:
    machine.log.write_bytes(entry(1).encode() + b"\n" + b'{"type":"user","x":"\xff"}\n')
    assert machine.run("import", "--all")["imported"]["damaged_lines"] == 1
    assert machine.texts()[1] == '{"type":"user","x":"\ufffd"}'
    assert machine.run("import", "--all")["imported"]["lines"] == 0


def test_a_line_longer_than_any_record_comes_back_whole(machine: Machine) -> None:
    long = entry(1, "é" * 5_000_000)
    add(machine.log, long, entry(2))
    assert machine.run("import", "--all")["imported"]["lines"] == 2
    assert machine.texts() == [long, entry(2)]
    assert machine.records() > 3


def test_it_goes_through_the_recorder_that_runs(machine: Machine) -> None:
    add(machine.log, entry(1))
    subprocess.run(
        [sys.executable, "-c", _MAIN, str(recorder_program()), "up", "--port", "0"], check=True, capture_output=True
    )
    try:
        assert machine.run("import", "--all")["imported"]["lines"] == 1
        assert len(list((machine.home / "trace").glob("*.wal"))) == 1
    finally:
        subprocess.run(
            [sys.executable, "-c", _MAIN, str(recorder_program()), "down"], check=True, capture_output=True
        )
    assert machine.texts() == [entry(1)]


def test_a_trace_that_somebody_else_writes_is_named(machine: Machine) -> None:
    add(machine.log, entry(1))
    machine.run("import", "--all")
    add(machine.log, entry(2))
    config = homes.Home(machine.home, machine.home / "config.toml").recorder_json
    holder = subprocess.Popen(
        [recorder_program(), "import", "--config", config], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        holder.stdin.write(b'{"op":"status"}\n')
        holder.stdin.flush()
        assert json.loads(holder.stdout.readline())["ok"]
        said = json.loads(machine.run("import", "--all", code=3))
        assert said["code"] == "recorder_failed"
        assert "trace" in said["message"]
        assert said["remedy"]
    finally:
        holder.stdin.close()
        holder.wait(PATIENCE)
        holder.stdout.close()
    assert machine.run("import", "--all")["imported"]["lines"] == 1
    assert machine.texts() == [entry(1), entry(2)]


def test_nothing_is_lost_or_twice_after_kill_9(machine: Machine) -> None:
    wanted = [entry(number, "w" * 2000) for number in range(15_000)]
    add(machine.log, *wanted)
    running = machine.start("import", "--all")
    size = machine.log.stat().st_size
    until(lambda: sum(path.stat().st_size for path in machine.home.glob("trace/*.wal")) > size // 8, "some lines")
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    until(lambda: _is_free(machine.home), "the end of the process that writes")
    begun = machine.records()
    assert 0 < begun < len(wanted)
    # What was killed never said how far it came, so the trace has to.
    done = machine.run("import", "--all")
    assert done["imported"]["lines"] == len(wanted) - begun
    assert machine.records() == len(wanted)
    assert machine.texts() == wanted
    [source] = sources.find(Trace(machine.home / "trace")).all()
    assert (source.lines, source.messages, source.title) == (len(wanted), len(wanted), source.title)
    assert source.title is not None
    assert is_intact(machine.home / "trace")


def _is_free(home: Path) -> bool:
    """Whether nobody writes the trace any more."""
    return "import" not in " ".join(_commands(str(home)))


def _commands(word: str) -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in command and program.PROGRAM in command:
            yield command


def test_ctrl_c_leaves_a_state_to_go_on_from(machine: Machine) -> None:
    wanted = [entry(number, "w" * 2000) for number in range(15_000)]
    add(machine.log, *wanted)
    running = machine.start("import", "--all", "--json")
    size = machine.log.stat().st_size
    until(lambda: sum(path.stat().st_size for path in machine.home.glob("trace/*.wal")) > size // 8, "some lines")
    running.send_signal(signal.SIGINT)
    out, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert b"Interrupted; the same command goes on where this one stopped" in said
    first = json.loads(out)["imported"]["lines"]
    assert 0 < first < len(wanted)
    assert machine.run("import", "--all")["imported"]["lines"] == len(wanted) - first
    assert machine.texts() == wanted
    assert machine.records() == len(wanted)


def test_follow_takes_in_what_is_added_and_new_logs(machine: Machine) -> None:
    add(machine.log, entry(1))
    subprocess.run(
        [sys.executable, "-c", _MAIN, str(recorder_program()), "up", "--port", "0"], check=True, capture_output=True
    )
    running = machine.start("import", "--all", "--follow", "--json")
    try:
        until(lambda: _has(machine, 1), "the first line")
        add(machine.log, entry(2))
        until(lambda: _has(machine, 2), "the second")
        other = machine.log.with_name("7f0c8a52-95a7-4d5e-8d4c-0f1f8f3f9f10.jsonl")
        add(other, entry(3))
        until(lambda: _has(machine, 3), "the new log")
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
        subprocess.run(
            [sys.executable, "-c", _MAIN, str(recorder_program()), "down"], check=True, capture_output=True
        )
    assert running.returncode == 0
    assert [json.loads(line)["imported"]["lines"] for line in out.splitlines()] == [1, 1, 1]


def test_follow_takes_in_at_once_without_a_recorder_too(machine: Machine) -> None:
    add(machine.log, entry(1))
    running = machine.start("import", "--all", "--follow", "--json")
    try:
        until(lambda: _has(machine, 1), "the first line")
        for number in range(2, 5):
            added = time.monotonic()
            add(machine.log, entry(number))
            until(lambda number=number: _has(machine, number), "the next")  # type: ignore[misc]
            assert time.monotonic() - added < 5
        running.send_signal(signal.SIGINT)
        out, said = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
    assert running.returncode == 0
    assert [json.loads(line)["imported"]["lines"] for line in out.splitlines()] == [1, 1, 1, 1]
    assert b"Following 1 log, and new ones as they come; Ctrl-C ends it" in said
    # Lines that come one soon after the other share a segment.
    assert len(list(machine.home.glob("trace/*.wal"))) == 2


def _has(machine: Machine, count: int) -> bool:
    return (machine.home / "trace").exists() and machine.records() >= count


def test_what_is_not_kept_is_only_pointed_at(machine: Machine) -> None:
    add(machine.log, entry(1), entry(2))
    machine.run("import", "--all", "--no-keep")
    assert machine.records() == 0
    [source] = sources.find(Trace(machine.home / "trace")).all()
    assert (source.is_kept, source.path, source.title) == (False, str(machine.log), None)
    assert source.last_at is not None
    assert machine.run("import", "--all", "--no-keep")["clients"][0]["taken"] == 1
    # Who changes their mind gets all of it.
    assert machine.run("import", "--all")["imported"]["lines"] == 2
    [source] = sources.find(Trace(machine.home / "trace")).all()
    assert (source.is_kept, source.lines) == (True, 2)


def test_a_sub_agent_is_taken_in_with_what_is_kept_beside_it(machine: Machine) -> None:
    add(machine.log, entry(1))
    folder = machine.log.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    add(folder / "agent-a735.jsonl", json.dumps({"type": "user", "agentId": "a735", "sessionId": SESSION}))
    (folder / "agent-a735.meta.json").write_text('{"agentType":"general","toolUseId":"toolu_1"}')
    machine.run("import", "--all")
    [_, sub] = sorted(sources.find(Trace(machine.home / "trace")).all(), key=lambda each: each.native_thread or "")
    assert (sub.native_session, sub.native_thread) == (SESSION, "a735")
    beside = next(line for line in machine.kept() if "agent-meta" in line.text)
    expected = {"type": "agent-meta", "agentId": "a735", "agentType": "general", "toolUseId": "toolu_1"}
    assert (beside.length, json.loads(beside.text)) == (0, expected)
    assert machine.run("import", "--all")["imported"]["lines"] == 0
    assert machine.records() == 3
