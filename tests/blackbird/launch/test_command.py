"""`blackbird run`: its options, the dry run, and what is no launch."""

import json

import pytest

from blackbird.recorder import control
from tests.blackbird.launch.cockpit import BLACKBIRD, Cockpit
from tests.docs.test_generated import Documented

TOKEN = "a-long-random-word"


def test_a_dry_run_starts_nothing(alone: Cockpit) -> None:
    done = alone.run("--dry-run", "--session", "harbour", "--", "touch", "started")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == [
        "mode       reverse: SDKs read these variables; --forward is for those that change their ways with them",
        "client     a program that is not in the table",
        "session    harbour",
        "task       task_…",
        "run        run_…",
        "set        ANTHROPIC_BASE_URL='http://127.0.0.1:4141/bb/harbour/task_…/run_…/anthropic'",
        "set        OPENAI_BASE_URL='http://127.0.0.1:4141/bb/harbour/task_…/run_…/openai/v1'",
        "set        GOOGLE_GEMINI_BASE_URL='http://127.0.0.1:4141/bb/harbour/task_…/run_…/gemini'",
        "set        OLLAMA_HOST='http://127.0.0.1:4141/bb/harbour/task_…/run_…/ollama'",
        "set        LM_STUDIO_API_BASE='http://127.0.0.1:4141/bb/harbour/task_…/run_…/lmstudio/v1'",
        "set        OPENAI_API_BASE='http://127.0.0.1:4141/bb/harbour/task_…/run_…/openai/v1'",
        "set        OLLAMA_API_BASE='http://127.0.0.1:4141/bb/harbour/task_…/run_…/ollama'",
        "set        GEMINI_API_BASE='http://127.0.0.1:4141/bb/harbour/task_…/run_…/gemini/v1beta'",
        "set        _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL=1",
        "set        BLACKBIRD_SESSION=harbour",
        "set        BLACKBIRD_TASK='task_…'",
        "set        BLACKBIRD_RUN='run_…'",
        "start      touch started",
    ]
    assert control.status(alone.home) is None
    assert not alone.home.path.exists()
    assert list(alone.work.iterdir()) == []


@pytest.mark.parametrize("way", ["--forward", "--reverse"])
def test_a_dry_run_shows_no_token(alone: Cockpit, way: str) -> None:
    alone.program("claude", "#!/bin/sh\n")
    done = alone.run("--dry-run", way, "--", "claude", environ={"BLACKBIRD_PROXY_TOKEN": TOKEN})
    assert done.returncode == 0
    assert TOKEN.encode() not in done.stdout + done.stderr
    expected = "http://run_…:…@127.0.0.1:4141" if way == "--forward" else "/bbt/…/bb/"
    assert expected in done.stdout.decode()


def test_a_dry_run_as_an_object(alone: Cockpit) -> None:
    alone.program("claude", "#!/bin/sh\n")
    environ = {"ANTHROPIC_BASE_URL": "https://gateway.example/claude"}
    done = alone.run("--dry-run", "--json", "--task", "crane", "--", "claude", "-p", "x", environ=environ)
    found = json.loads(done.stdout)
    assert Documented().faults(found, "run-plan/1", "run-plan/1") == []
    assert (found["client"], found["mode"], found["task"]) == ("claude", "reverse", "crane")
    assert found["upstreams"] == {"anthropic": "https://gateway.example/claude"}
    assert found["arguments"][:2] == ["claude", "--settings"]
    assert found["arguments"][3:] == ["--session-id", "UUID", "-p", "x"]


def test_the_last_line_as_an_object_is_as_documented(shared: Cockpit) -> None:
    assert Documented().faults(shared.flight("--", "true"), "run/1", "run/1") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--forward", "--reverse"], "--forward and --reverse exclude each other"),
        (["--upstream", "anthropic"], "--upstream: `anthropic` is not NAME=URL"),
        (["--upstream", "anthropic=gateway"], "--upstream: `anthropic=gateway` is not NAME=URL"),
        (["--upstream", "A=http://x"], "--upstream: `A=http://x` is not NAME=URL"),
        (["--upstream", "http://user:pw@gateway"], "--upstream: `http://…@gateway` is not NAME=URL"),
        (
            ["--upstream", "a=http://user:pw@gateway"],
            'the upstream "a" cannot be used: "http://…@gateway" has credentials; the client sends its own',
        ),
        (["--nonsense"], "No such option: --nonsense"),
    ],
)
def test_options_that_cannot_be(alone: Cockpit, words: list[str], message: str) -> None:
    done = alone.run(*words, "--", "true")
    assert (done.returncode, done.stdout) == (125, b"")
    assert done.stderr.decode().splitlines()[0] == f"✗ {message}"


@pytest.mark.requirement("MEMCLI-05")
def test_without_a_command_there_is_nothing_to_run(alone: Cockpit) -> None:
    done = alone.run()
    assert (done.returncode, done.stdout) == (125, b"")
    assert done.stderr.decode().splitlines()[1] == "  blackbird run --help shows how it is used"


def test_an_error_is_an_object_on_request(alone: Cockpit) -> None:
    done = alone.run("--json", "--", "no-such-program")
    assert done.returncode == 127
    assert json.loads(done.stderr)["code"] == "not_started"


@pytest.mark.parametrize("word", ["dashbord", "zzz"])
def test_an_unknown_command_is_an_error(alone: Cockpit, word: str) -> None:
    alone.program(word, "#!/bin/sh\ntouch started\n")
    done = alone.direct(str(BLACKBIRD), word)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"✗ No such command '{word}'.")
    assert list(alone.work.iterdir()) == []


@pytest.mark.parametrize("word", ["claude", "codex"])
def test_an_agent_is_no_command_and_never_launched(alone: Cockpit, word: str) -> None:
    alone.program(word, "#!/bin/sh\ntouch started\n")
    done = alone.direct(str(BLACKBIRD), word, "-p", "x")
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"blackbird run -- {word}" in done.stderr.decode()
    assert list(alone.work.iterdir()) == []
