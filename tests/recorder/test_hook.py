"""The hook program, with the recorder up, down or hung: it never breaks the agent, and no event goes missing."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.recorder.harness import Recorder, recorder_program, until

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
TOOL_EVENT = 9
#: Far more than the hook takes, and far less than anything that hangs.
_PROMPT_SECONDS = 2.0
IDS = {"BLACKBIRD_SESSION": "harbour", "BLACKBIRD_TASK": "t1", "BLACKBIRD_RUN": "run_1"}


def said(**more: Any) -> bytes:
    """What a client says after a command."""
    hook = {
        "hook_event_name": "PostToolUse",
        "session_id": "native-1",
        "cwd": "/lamp",
        "tool_name": "Bash",
        "tool_input": {"command": "make test"},
        "tool_response": {"stdout": "ok", "stderr": ""},
        "tool_use_id": "toolu_1",
    }
    return json.dumps({**hook, **more}).encode()


def hook(home: Path, text: bytes | None, *arguments: str) -> float:
    """Run the hook as a client does; how long it took."""
    config = home / "run" / "recorder.json"
    began = time.monotonic()
    done = subprocess.run(
        [recorder_program(), "hook", "--config", config, "--client", "claude", *arguments],
        input=text if text is not None else b"",
        env={**os.environ, **IDS},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return time.monotonic() - began


def events(recorder: Recorder) -> list[Any]:
    """What tools did; on a busy machine a hook may leave in the spool what the recorder took after all."""
    told = [record.json for record in recorder.records() if record.kind == TOOL_EVENT]
    return list({event["id"]: event for event in told}.values())


def spooled(home: Path) -> list[Any]:
    spool = home / "spool.jsonl"
    return [json.loads(line) for line in spool.read_text().splitlines()] if spool.exists() else []


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with Recorder(tmp_path / "home") as running:
        yield running


@contextmanager
def standstill(recorder: Recorder) -> Iterator[None]:
    """The recorder is there and does nothing."""
    pid = recorder.control("status")["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.requirement("TOOLEV-01")
@pytest.mark.requirement("TOOLEV-05")
def test_a_hook_becomes_a_record(recorder: Recorder) -> None:
    hook(recorder.home, said())
    (event,) = until(lambda: events(recorder), "the event")
    assert event.pop("at") > 1_700_000_000_000_000_000
    assert len(event.pop("id")) == 26
    assert event == {
        "client": "claude",
        "event": "end",
        "hook": "PostToolUse",
        "call_id": "toolu_1",
        "tool": "Bash",
        "command": "make test",
        "input": {"command": "make test"},
        "exit_code": 0,
        "failed": False,
        "output": "ok",
        "cwd": "/lamp",
        "native_session": "native-1",
        "session": "harbour",
        "task": "t1",
        "run": "run_1",
    }


@pytest.mark.requirement("TOOLEV-01")
def test_an_edit_is_recorded_with_its_file_and_its_diff(recorder: Recorder) -> None:
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
    response = {"filePath": "/lamp/a.py", "structuredPatch": [hunk]}
    hook(recorder.home, said(tool_name="Edit", tool_input={"file_path": "/lamp/a.py"}, tool_response=response))
    (event,) = until(lambda: events(recorder), "the event")
    assert event["writes"] == ["/lamp/a.py"]
    assert event["patch"] == "--- /lamp/a.py\n+++ /lamp/a.py\n@@ -1,1 +1,1 @@\n-a\n+b\n"


@pytest.mark.requirement("TOOLEV-05")
def test_without_a_recorder_an_event_waits_for_the_next(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "home")
    with recorder:
        pass
    assert hook(recorder.home, said()) < _PROMPT_SECONDS
    hook(recorder.home, said(tool_use_id="toolu_2"))
    until(lambda: len(spooled(recorder.home)) == 2, "the spool")
    assert (recorder.home / "spool.jsonl").stat().st_mode & 0o777 == 0o600
    with recorder:
        until(lambda: len(events(recorder)) == 2, "the events")
        assert {event["call_id"] for event in events(recorder)} == {"toolu_1", "toolu_2"}
        until(lambda: not list(recorder.home.glob("spool*")), "the end of the spool")


@pytest.mark.requirement("TOOLEV-05")
def test_a_recorder_that_hangs_is_not_waited_for(recorder: Recorder) -> None:
    with standstill(recorder):
        assert max(hook(recorder.home, said(tool_use_id=f"toolu_{number}")) for number in range(3)) < _PROMPT_SECONDS
        until(lambda: len(spooled(recorder.home)) == 3, "the spool")
    # What the recorder finds in its socket, and what it finds in the spool, are the same three.
    until(lambda: not list(recorder.home.glob("spool*")), "the end of the spool")
    assert sorted(event["call_id"] for event in events(recorder)) == ["toolu_0", "toolu_1", "toolu_2"]


def test_an_event_that_was_taken_half_counts_once(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "home")
    with recorder:
        hook(recorder.home, said())
        (event,) = until(lambda: events(recorder), "the event")
        # As if it had been killed between taking the event in and removing the file.
        (recorder.home / "spool.taken.jsonl").write_text(json.dumps(event) + "\n")
        until(lambda: not list(recorder.home.glob("spool*")), "the end of the spool")
        assert len(events(recorder)) == 1


@pytest.mark.requirement("TOOLEV-05")
@pytest.mark.skipif(os.geteuid() == 0 and not Path("/bin/chattr").exists(), reason="root writes everywhere")
def test_a_home_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "home")
    with recorder:
        pass
    # A folder where the file would be: nobody can write that, whoever they are.
    (recorder.home / "spool.jsonl").mkdir()
    assert hook(recorder.home, said()) < _PROMPT_SECONDS


@pytest.mark.requirement("TOOLEV-05")
def test_a_home_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    assert hook(tmp_path / "nowhere", said()) < _PROMPT_SECONDS
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("TOOLEV-05")
@pytest.mark.parametrize("text", [b"garbage", b"[1, 2]", b"{", b"\xff\xfe" * 100, b"[" * 100_000])
def test_garbage_is_told_and_nothing_more(recorder: Recorder, text: bytes) -> None:
    assert hook(recorder.home, text) < _PROMPT_SECONDS
    (event,) = until(lambda: events(recorder), "the event")
    assert (event["event"], event["bytes"], event["error"]) == (
        "unreadable",
        len(text),
        "the input is no JSON object",
    )


@pytest.mark.requirement("TOOLEV-05")
def test_no_input_is_no_event(recorder: Recorder) -> None:
    assert hook(recorder.home, None) < _PROMPT_SECONDS
    assert events(recorder) == []


@pytest.mark.requirement("TOOLEV-05")
def test_an_input_that_never_ends_is_not_waited_for(recorder: Recorder) -> None:
    command = [str(recorder_program()), "hook", "--config", str(recorder.run / "recorder.json")]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(said())
        process.stdin.flush()
        assert process.wait(5) == 0
    (event,) = until(lambda: events(recorder), "the event")
    assert event["call_id"] == "toolu_1"


@pytest.mark.requirement("TOOLEV-05")
@pytest.mark.parametrize(("size", "kind"), [(3 << 20, "end"), (24 << 20, "unreadable")])
def test_a_huge_input_is_cut(recorder: Recorder, size: int, kind: str) -> None:
    hook(recorder.home, said(tool_response={"stdout": "word " * (size // 5), "stderr": ""}))
    (event,) = until(lambda: events(recorder), "the event")
    assert event["event"] == kind
    assert len(json.dumps(event)) < 100_000
    assert event.get("cut") == (["output"] if kind == "end" else None)


@pytest.mark.requirement("TOOLEV-05")
def test_a_wrong_command_line_does_not_stop_the_tool(recorder: Recorder) -> None:
    hook(recorder.home, said(), "--unheard-of")
    assert events(recorder) == []


@pytest.mark.requirement("TRACE-16")
@pytest.mark.parametrize("way", ["up", "down", "hung"])
def test_a_secret_in_the_output_of_a_tool_is_nowhere(tmp_path: Path, way: str) -> None:
    recorder = Recorder(tmp_path / "home")
    text = said(tool_input={"command": f"curl -H 'x: {TOKEN}'"}, tool_response={"stdout": TOKEN, "stderr": ""})
    with recorder:
        if way == "up":
            hook(recorder.home, text)
        elif way == "hung":
            with standstill(recorder):
                hook(recorder.home, text)
                until(lambda: spooled(recorder.home), "the spool")
                assert recorder.holds(TOKEN.encode()) == []
    if way == "down":
        hook(recorder.home, text)
        until(lambda: spooled(recorder.home), "the spool")
        assert recorder.holds(TOKEN.encode()) == []
    with recorder:
        (event,) = until(lambda: events(recorder), "the event")
        assert event["output"] == "[redacted:github_token]"
    assert recorder.holds(TOKEN.encode()) == []


@pytest.mark.requirement("TOOLEV-05")
@pytest.mark.parametrize("mode", ["privacy", "passthrough"])
@pytest.mark.parametrize("way", ["up", "down"])
def test_other_modes_keep_no_words(tmp_path: Path, mode: str, way: str) -> None:
    recorder = Recorder(tmp_path / "home", mode=mode)
    with recorder:
        if way == "up":
            hook(recorder.home, said())
    if way == "down":
        hook(recorder.home, said())
        until(lambda: spooled(recorder.home), "the spool")
        assert recorder.holds(b"make test") == []
    with recorder:
        (event,) = until(lambda: events(recorder), "the event")
    assert (event["tool"], event["exit_code"], event["run"]) == ("Bash", 0, "run_1")
    assert not event.keys() & {"command", "input", "output", "cwd", "reads", "writes", "patch", "error", "transcript"}
    assert recorder.holds(b"make test") == []


@pytest.mark.requirement("TOOLEV-05")
def test_many_hooks_at_once_lose_nothing_while_the_recorder_dies(recorder: Recorder) -> None:
    def work(name: str) -> None:
        for number in range(4):
            hook(recorder.home, said(tool_use_id=f"{name}-{number}"))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    os.kill(recorder.control("status")["pid"], signal.SIGKILL)
    for thread in threads:
        thread.join()
    expected = {f"{name}-{number}" for name in "abcd" for number in range(4)}
    until(lambda: {event["call_id"] for event in events(recorder)} == expected, "all events")
    ids = {event["id"]: event["call_id"] for event in events(recorder)}
    assert sorted(ids.values()) == sorted(expected)
