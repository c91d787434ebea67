"""A run from its start to its last line: what is recorded, counted, stated and told."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from blackbird.provider import Manner, Provider
from blackbird.recorder import control
from blackbird.trace.records import Kind
from tests.blackbird.launch.cockpit import BLACKBIRD, PATIENCE, Cockpit
from tests.recorder import trace_view

PLANTED = "AKIAIOSFODNN7EXAMPLQ"
#: What an agent does with each of the official libraries, all of which find the recorder by themselves.
SDKS = f"""
import sys
words = "the key is {PLANTED}"
asked = [{{"role": "user", "content": words}}]
if "anthropic" in sys.argv:
    import anthropic
    with anthropic.Anthropic(api_key="sk-ant-made-up", max_retries=0) as client:
        client.messages.create(model="m", max_tokens=9, messages=asked)
if "openai" in sys.argv:
    import openai
    with openai.OpenAI(api_key="sk-made-up", max_retries=0) as client:
        client.chat.completions.create(model="m", messages=asked)
if "gemini" in sys.argv:
    from google import genai
    with genai.Client(api_key="made-up") as client:
        client.models.generate_content(model="m", contents=words)
if "ollama" in sys.argv:
    import ollama
    ollama.chat(model="m", messages=asked)
"""
ALL = ("anthropic", "openai", "gemini", "ollama")
#: A stand-in for Claude Code: it has its session id from its arguments and names it with each request.
CLAUDE = f"""#!{sys.executable}
import os, sys, urllib.request
session = sys.argv[sys.argv.index("--session-id") + 1]
fields = {{"x-claude-code-session-id": session, "content-type": "application/json"}}
body = b'{{"model": "m", "max_tokens": 9, "messages": [{{"role": "user", "content": "hello"}}]}}'
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true"
urllib.request.urlopen(urllib.request.Request(url, body, fields)).read()
print(session)
"""
#: A stand-in for Codex: its base URL comes as an override of its configuration.
CODEX = f"""#!{sys.executable}
import sys, tomllib, urllib.request
assert sys.argv[-2:] == ["exec", "fix it"] and set(sys.argv[1:-2:2]) == {{"-c"}}, sys.argv
told = dict(tuple(tomllib.loads(word).items())[0] for word in sys.argv[2:-2:2] if word.startswith("openai"))
url = told["openai_base_url"] + "/responses"
fields = {{"session-id": "native", "thread-id": "thread", "content-type": "application/json"}}
body = b'{{"model": "m", "input": "hello"}}'
urllib.request.urlopen(urllib.request.Request(url, body, fields)).read()
"""


def agent(*names: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-c", SDKS, *names)


def lines(printed: bytes) -> list[str]:
    return printed.decode().splitlines()


def test_all_sdks_are_recorded_and_counted(shared: Cockpit) -> None:
    before = len(shared.provider.received)
    told = shared.flight("--session", "harbour", *agent(*ALL))
    received = shared.provider.received[before:]
    found = shared.exchanges(told["run"])
    assert [each.start["attribution"] for each in found] == ["run"] * 4
    assert sorted(each.start["upstream"] for each in found) == sorted(ALL)
    assert {each.start["session"] for each in found} == {"harbour"}
    assert told == {
        "schema": "run/1",
        "session": "harbour",
        "task": told["task"],
        "run": told["run"],
        "exit_code": 0,
        "signal": None,
        "duration_ms": told["duration_ms"],
        "calls": 4,
        "active": 0,
        "failed": {},
        "request_bytes": sum(len(request.body) for request in received),
        "response_bytes": sum(each.end["response"]["wire"] for each in found),
        "masked": {"aws_access_key_id": 4},
        "tunnels": 0,
        "trace": str(shared.home.trace),
        "problem": None,
        "pack": None,
        "outcome": told["outcome"],
    }


@pytest.mark.requirement("SCOPE-04")
def test_ids_that_are_not_given_are_made_up(shared: Cockpit) -> None:
    told = shared.flight("--", "true")
    for key, prefix in (("session", "sess"), ("task", "task"), ("run", "run")):
        assert re.fullmatch(rf"{prefix}_[0-9A-HJKMNP-TV-Z]{{26}}", told[key])


@pytest.mark.requirement("SCOPE-04")
@pytest.mark.parametrize("option", ["--session", "--task"])
@pytest.mark.parametrize("text", ["", "a/b", "..", "a" * 65])
def test_an_id_that_is_none_is_refused(shared: Cockpit, option: str, text: str) -> None:
    done = shared.run(f"{option}={text}", "--", "touch", "started")
    assert (done.returncode, done.stdout) == (125, b"")
    assert lines(done.stderr)[0] == f"✗ {option}: `{text}` is no id"
    assert not (shared.work / "started").exists()


def test_a_session_of_the_environment_is_used(shared: Cockpit) -> None:
    told = shared.flight("--", "true", environ={"BLACKBIRD_SESSION": "harbour", "BLACKBIRD_TASK": "crane"})
    assert told["session"] == "harbour"
    assert told["task"].startswith("task_")


def test_the_lines_at_start_and_end(shared: Cockpit) -> None:
    done = shared.run("--session", "s", "--task", "t", *agent("anthropic"))
    said = lines(done.stderr)
    run = said[3].rpartition(" ")[2]
    assert said[0] == (
        "✓ Recording the program in reverse mode (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL "
        "and 5 more) as s/t"
    )
    up, down = (shared.exchanges(run)[0].end[side]["wire"] for side in ("request", "response"))
    assert re.fullmatch(rf"✓ 1 call, {up} B up, {down} B down, \d+\.\d s", said[1])
    assert said[2:] == [
        "  masked     aws_access_key_id",
        f"  recorded   session s, task t, run {run}",
        f"             in {shared.home.trace}",
        "  next       blackbird session show s",
    ]


def test_without_a_call_it_says_so(shared: Cockpit) -> None:
    said = lines(shared.run("--", "true").stderr)
    assert len(said) == 2
    assert re.fullmatch(
        r"! No call of this run was seen in \d+\.\d s; blackbird doctor looks for the reason", said[1]
    )


def test_quiet(shared: Cockpit) -> None:
    done = shared.run("--quiet", "--", "echo", "said")
    assert (done.stdout, done.stderr) == (b"said\n", b"")


def test_failed_calls_are_counted_by_status(alone: Cockpit) -> None:
    with Provider(turns={1: Manner(status=529), 3: Manner(status=429)}) as provider:
        alone.up(anthropic=provider.url, openai=provider.url)
        words = (
            f"{sys.executable} -c '{SDKS}' anthropic; {sys.executable} -c '{SDKS}' anthropic; "
            f"{sys.executable} -c '{SDKS}' openai"
        )
        alone.program("agent", f"#!/bin/sh\nexec 2>/dev/null\n{words}\n")
        told = alone.flight("--", "agent")
        said = lines(alone.run("--", "agent").stderr)
    assert (told["exit_code"], told["calls"], told["failed"]) == (1, 3, {"429": 1, "529": 1})
    assert said[1].startswith("✓ 3 calls, ")


def test_a_call_that_reaches_nobody_failed_once(alone: Cockpit) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
    alone.up(anthropic=nobody)
    told = alone.flight(*agent("anthropic"))
    assert (told["calls"], told["failed"]) == (1, {"connect_failed": 1})


def test_what_is_stated_about_a_run(shared: Cockpit) -> None:
    told = shared.flight(
        "--describe", "second try", "--goal", "mend the crane", "--", "sh", "-c", "sleep 0.5; exit 3"
    )
    events = shared.events(told["run"])
    assert [name for name, _ in events if name != "run.context"] == ["run.start", "goal", "run.describe", "run.end"]
    stated = dict(events)
    assert stated["run.start"] == {
        "client": None,
        "program": "sh",
        "mode": "reverse",
        "cwd": str(shared.work),
        "native_session": None,
        "parent_run": None,
    }
    assert stated["goal"] == {"text": "mend the crane"}
    assert stated["run.describe"] == {"text": "second try"}
    assert stated["run.end"] == {"exit_code": 3, "duration_ms": told["duration_ms"]}
    context: dict[str, object] = {}
    for name, data in events:
        context |= data if name == "run.context" else {}
    assert (context["cwd"], context["repository"]) == (str(shared.work), None)
    assert {"os", "client_version", "tools"} <= context.keys()


def test_a_signal_is_stated(shared: Cockpit) -> None:
    told = shared.flight("--", "sh", "-c", "kill -TERM $$")
    assert (told["exit_code"], told["signal"]) == (None, "SIGTERM")
    assert dict(shared.events(told["run"]))["run.end"]["signal"] == "SIGTERM"


def test_claude_gets_a_session_id_that_is_recorded(shared: Cockpit) -> None:
    shared.program("claude", CLAUDE)
    done = shared.run("--reverse", "--json", "--", "claude", "-p", "hello")
    session = done.stdout.decode().strip()
    told = json.loads(lines(done.stderr)[-1])
    assert dict(shared.events(told["run"]))["run.start"]["native_session"] == session
    (call,) = shared.exchanges(told["run"])
    assert call.field("x-claude-code-session-id") == session
    assert (call.start["attribution"], call.start["target"]) == ("run", "/v1/messages?beta=true")


def test_codex_gets_its_base_url_as_an_argument(shared: Cockpit) -> None:
    shared.program("codex", CODEX)
    told = shared.flight("--reverse", "--", "codex", "exec", "fix it")
    (call,) = shared.exchanges(told["run"])
    assert (call.start["upstream"], call.start["target"]) == ("openai", "/v1/responses")
    assert (told["exit_code"], told["calls"]) == (0, 1)


def test_a_run_in_a_run(shared: Cockpit) -> None:
    inner = [str(BLACKBIRD), "run", "--json", "--", sys.executable, "-c", SDKS, "anthropic"]
    done = shared.run("--json", "--", *inner)
    within, around = (json.loads(line) for line in lines(done.stderr))
    assert (within["calls"], around["calls"]) == (1, 0)
    assert within["session"] == around["session"]
    assert dict(shared.events(within["run"]))["run.start"]["parent_run"] == around["run"]


def test_the_recorder_is_started_if_none_runs(alone: Cockpit) -> None:
    settings = {"BLACKBIRD_PROXY_LISTEN": "127.0.0.1:0", "BLACKBIRD_UPSTREAMS_ANTHROPIC": alone.provider.url}
    told = alone.flight(*agent("anthropic"), environ=settings)
    assert (told["exit_code"], told["calls"], told["problem"]) == (0, 1, None)
    assert control.status(alone.home) is not None


def test_without_a_recorder_nothing_is_started(alone: Cockpit) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = alone.run("--", "touch", "started", environ={"BLACKBIRD_PROXY_LISTEN": listen})
    assert (done.returncode, done.stdout) == (125, b"")
    assert lines(done.stderr)[0] == f"✗ {listen} is in use by another program"
    assert not (alone.work / "started").exists()


def test_a_recorder_that_dies_meanwhile_is_no_affair_of_the_agent(alone: Cockpit) -> None:
    alone.up()
    running = control.status(alone.home)
    assert running is not None
    kill = f"kill -9 {running['pid']}; {sys.executable} -c '{SDKS}' anthropic"
    told = alone.flight("--", "sh", "-c", kill)
    assert (told["exit_code"], told["calls"], told["failed"]) == (0, 1, {})
    after = control.status(alone.home)
    assert after is not None
    assert after["pid"] != running["pid"]


def test_the_end_is_stated_to_a_recorder_that_is_started_anew(alone: Cockpit) -> None:
    alone.up()
    running = control.status(alone.home)
    assert running is not None
    told = alone.flight("--", "sh", "-c", f"kill -9 {running['pid']}; exit 3")
    ends = [data for event, data in alone.events(told["run"]) if event == "run.end"]
    assert [data["exit_code"] for data in ends] == [3]


def test_agents_that_are_started_at_once_share_one_recorder(alone: Cockpit) -> None:
    running = [
        subprocess.Popen(alone.argv("--quiet", "--", "echo", str(number)), stdout=subprocess.PIPE, env=alone.environ)
        for number in range(4)
    ]
    said = [process.communicate(timeout=PATIENCE)[0] for process in running]
    assert said == [b"0\n", b"1\n", b"2\n", b"3\n"]
    assert [process.returncode for process in running] == [0, 0, 0, 0]


def test_stopping_the_recorder_names_the_agents_that_use_it(alone: Cockpit) -> None:
    alone.up()
    done = alone.run("--quiet", "--session", "harbour", "--", "sh", "-c", f"{BLACKBIRD} down 2>&1 >/dev/null")
    said = done.stdout.decode()
    end = "session harbour) still runs through the recorder; blackbird up lets it go on"
    assert re.fullmatch(rf"! sh \(process \d+, {re.escape(end)}\n", said)
    assert list(alone.home.run.glob("agent-*")) == []


def test_an_agent_whose_recorder_was_stopped_ends_as_ever(alone: Cockpit) -> None:
    alone.up()
    done = alone.run("--", "sh", "-c", f"{BLACKBIRD} down; exit 9")
    assert done.returncode == 9
    assert f"  trouble    no recorder runs for {alone.home.path}" in lines(done.stderr)


def test_a_background_process_that_lives_on_is_not_waited_for(shared: Cockpit) -> None:
    done = shared.run("--quiet", "--", "sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!")
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 0


def test_a_repository_is_described(shared: Cockpit, tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "init.defaultBranch=main"]
        return subprocess.run(
            ["git", *who, *words], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=PATIENCE
        ).stdout.strip()

    git("init")
    (tmp_path / "a").write_text("a")
    git("add", "a")
    git("commit", "-m", "first")
    git("remote", "add", "origin", "https://me:word@git.example/harbour/crane.git")
    index = (tmp_path / ".git" / "index").stat().st_mtime_ns
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    done = subprocess.run(
        shared.argv("--json", "--", "true"),
        cwd=tmp_path,
        env=shared.environ,
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    run = json.loads(done.stderr)["run"]
    data = next(data for name, data in shared.events(run) if name == "run.context")
    assert {key: data[key] for key in ("repository", "root", "sha", "branch", "dirty")} == {
        "repository": "https://git.example/harbour/crane.git",
        "root": str(tmp_path),
        "sha": git("rev-parse", "HEAD"),
        "branch": "main",
        "dirty": True,
    }
    assert (tmp_path / ".git" / "index").stat().st_mtime_ns == index


@pytest.mark.requirement("TOOLEV-03")
def test_what_a_run_changed_is_what_git_says(shared: Cockpit, tmp_path: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "init.defaultBranch=main"]
    git = " ".join(["git", *who])
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "b").write_text("b\n")
    subprocess.run(["sh", "-c", f"{git} init -q && {git} add . && {git} commit -qm 1"], cwd=tmp_path, check=True)
    (tmp_path / "b").write_text("b\nmine\n")
    work = f"echo three >> a && {git} commit -qam 2 && echo four >> a && git checkout -qb side && touch 'n w'"
    done = subprocess.run(
        shared.argv("--json", "--", "sh", "-c", f"sleep 0.5; {work}"),
        cwd=tmp_path,
        env=shared.environ,
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    data = next(data for name, data in shared.events(json.loads(done.stderr)["run"]) if name == "run.changes")
    said = subprocess.run(["git", "rev-parse", "HEAD~1", "HEAD"], cwd=tmp_path, check=True, capture_output=True)
    first, second = said.stdout.decode().split()
    assert data["before"] == {"sha": first, "branch": "main", "dirty": True}
    assert data["after"] == {"sha": second, "branch": "side", "dirty": True}
    assert data["files"] == [
        {"path": "a", "added": 2, "removed": 0},
        {"path": "b", "added": 1, "removed": 0, "was_changed": True},
        {"path": "n w", "added": None, "removed": None, "untracked": True},
    ]
    assert (data["added"], data["removed"], data["more_files"], data["counted"]) == (3, 0, 0, True)


@pytest.mark.requirement("DELIV-04")
def test_the_memory_says_what_changed_as_git_and_the_shell_do(shared: Cockpit, tmp_path: Path) -> None:
    """An agent that edits, tests, fails and mends; its harness tells of its commands, and git of its files."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "init.defaultBranch=main"]
    git = " ".join(["git", *who])
    (tmp_path / "lamp.txt").write_text("one\ntwo\n")
    subprocess.run(["sh", "-c", f"{git} init -q && {git} add . && {git} commit -qm 1"], cwd=tmp_path, check=True)
    tell = f"{BLACKBIRD} event shell --command 'grep -q lit lamp.txt' --exit-code"
    work = (
        f"grep -q lit lamp.txt; {tell} $?; echo lit >> lamp.txt; echo new > quay.txt; grep -q lit lamp.txt; {tell} $?"
    )
    done = subprocess.run(
        shared.argv("--json", "--task", "light", "--", "sh", "-c", f"sleep 0.5; {work}"),
        cwd=tmp_path,
        env=shared.environ,
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    run = json.loads(done.stderr)["run"]
    told = shared.direct(str(BLACKBIRD), "artifacts", run, "--type", "outcome", "--json")
    (outcome,) = (json.loads(line) for line in told.stdout.splitlines())
    assert (outcome["task"], outcome["run"]) == ("light", run)
    found = outcome["content"]
    counts = subprocess.run(["git", "diff", "--numstat"], cwd=tmp_path, check=True, capture_output=True, text=True)
    named = {file["path"]: (file["action"], file["added"], file["removed"]) for file in found["files"]}
    assert counts.stdout == "1\t0\tlamp.txt\n"
    assert named == {"lamp.txt": ("edited", 1, 0), "quay.txt": ("created", None, None)}
    assert [(one["line"], one["exit_code"], one["ok"]) for one in found["commands"]] == [
        ("grep -q lit lamp.txt", 1, False),
        ("grep -q lit lamp.txt", 0, True),
    ]


#: A stand-in for an agent: it does what its settings say before and after a tool call.
HOOKED = f"""#!{sys.executable}
import json, pathlib, subprocess, sys
given = sys.argv[sys.argv.index("--settings") + 1] if "--settings" in sys.argv else "{{}}"
settings = json.loads(given if given.startswith("{{") else pathlib.Path(given).read_text())
print(json.dumps(settings))
for event, more in (("PreToolUse", {{}}), ("PostToolUse", {{"tool_response": {{"stdout": "", "stderr": ""}}}})):
    said = {{"hook_event_name": event, "session_id": "native", "tool_name": "Bash", "tool_use_id": "toolu_1"}}
    for entry in settings.get("hooks", {{}}).get(event, []):
        for hook in entry["hooks"]:
            text = json.dumps({{**said, "tool_input": {{"command": "make"}}, **more}}).encode()
            assert subprocess.run(hook["command"], shell=True, input=text, capture_output=True).stdout == b""
"""


def tool_events(cockpit: Cockpit, run: str) -> list[Any]:
    records = trace_view.records(cockpit.home.trace)
    return [record.json for record in records if record.kind == Kind.TOOL_EVENT and record.json["run"] == run]


@pytest.mark.requirement("TOOLEV-01")
def test_an_agent_says_what_its_tools_did(shared: Cockpit) -> None:
    shared.program("claude", HOOKED)
    told = shared.flight("--", "claude", "-p", "x")
    events = tool_events(shared, told["run"])
    assert [(event["event"], event["command"], event.get("exit_code")) for event in events] == [
        ("start", "make", None),
        ("end", "make", 0),
    ]
    assert {(event["session"], event["task"]) for event in events} == {(told["session"], told["task"])}


@pytest.mark.requirement("TOOLEV-05")
def test_an_agent_is_not_asked_if_that_is_not_wanted(shared: Cockpit) -> None:
    shared.program("claude", HOOKED)
    done = shared.run("--json", "--no-hooks", "--", "claude", "-p", "x")
    assert json.loads(lines(done.stdout)[0]) == {}
    assert tool_events(shared, json.loads(lines(done.stderr)[-1])["run"]) == []


def test_settings_from_a_file_are_kept_and_the_file_is_left_alone(shared: Cockpit) -> None:
    shared.program("claude", HOOKED)
    mine = shared.work / "mine.json"
    mine.write_text('{"env": {"A": "b"}}')
    done = shared.run("--json", "--", "claude", "--settings", "mine.json")
    settings = json.loads(lines(done.stdout)[0])
    assert (settings["env"], sorted(settings["hooks"])) == (
        {"A": "b"},
        ["PostToolUse", "PostToolUseFailure", "PreToolUse"],
    )
    assert mine.read_text() == '{"env": {"A": "b"}}'
    assert list(shared.home.run.glob("hooks-*")) == []
    assert len(tool_events(shared, json.loads(lines(done.stderr)[-1])["run"])) == 2
