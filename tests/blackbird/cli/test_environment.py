"""`blackbird env`."""

from pathlib import Path

import pytest

from tests.blackbird.cli.command import Place, place
from tests.blackbird.recorder.twin import listening, scripted

REGISTERED = {"ok": True, "session": "harbour", "task": "task_01JD", "run": "run_01JD"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def test_without_a_session_the_upstreams_alone(here: Place) -> None:
    with listening(here.home.control_socket, scripted()[0]):
        done = here.run("env")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "export ANTHROPIC_BASE_URL=http://127.0.0.1:4141/anthropic",
        "export OPENAI_BASE_URL=http://127.0.0.1:4141/openai/v1",
        "export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4141/gemini",
        "export OLLAMA_HOST=http://127.0.0.1:4141/ollama",
        "export LM_STUDIO_API_BASE=http://127.0.0.1:4141/lmstudio/v1",
        "export OPENAI_API_BASE=http://127.0.0.1:4141/openai/v1",
        "export OLLAMA_API_BASE=http://127.0.0.1:4141/ollama",
        "export GEMINI_API_BASE=http://127.0.0.1:4141/gemini/v1beta",
    ]


@pytest.mark.requirement("SCOPE-04")
def test_with_a_session_a_run_begins(here: Place) -> None:
    answer, asked = scripted(REGISTERED)
    with listening(here.home.control_socket, answer):
        done = here.run("env", "--session", "harbour")
    assert asked == [{"op": "register", "session": "harbour", "task": None, "run": None, "data": {}}]
    lines = done.out.splitlines()
    assert lines[0] == "export ANTHROPIC_BASE_URL=http://127.0.0.1:4141/bb/harbour/task_01JD/run_01JD/anthropic"
    assert lines[-3:] == [
        "export BLACKBIRD_SESSION=harbour",
        "export BLACKBIRD_TASK=task_01JD",
        "export BLACKBIRD_RUN=run_01JD",
    ]


def test_a_run_of_its_own(here: Place) -> None:
    answer, asked = scripted({**REGISTERED, "session": "sess_01JD"})
    with listening(here.home.control_socket, answer):
        done = here.run("env", "--run-new", "--shell", "fish")
    assert asked == [{"op": "register", "session": None, "task": None, "run": None, "data": {}}]
    assert (
        done.out.splitlines()[3] == "set -gx OLLAMA_HOST http://127.0.0.1:4141/bb/sess_01JD/task_01JD/run_01JD/ollama"
    )


def test_json(here: Place) -> None:
    with listening(here.home.control_socket, scripted(REGISTERED)[0]):
        done = here.run("env", "--task", "crane", "--shell", "json")
    variables = done.json.pop("variables")
    assert done.json == {
        "schema": "env/1",
        "session": "harbour",
        "task": "task_01JD",
        "run": "run_01JD",
        "variables": variables,
    }
    assert variables["OPENAI_BASE_URL"] == "http://127.0.0.1:4141/bb/harbour/task_01JD/run_01JD/openai/v1"


def test_without_a_recorder_it_warns(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_PROXY_LISTEN", "127.0.0.1:5")
    done = here.run("env")
    assert done.code == 0
    assert done.out.startswith("export ANTHROPIC_BASE_URL=http://127.0.0.1:5/anthropic\n")
    assert done.err.startswith("! No recorder runs: ")


def test_without_a_recorder_no_run_begins(here: Place) -> None:
    done = here.run("env", "--session", "harbour")
    assert (done.code, done.out) == (3, "")
    assert done.err == f"✗ no recorder runs for {here.home.path}\n  blackbird up starts it\n"


@pytest.mark.requirement("SEC-01")
@pytest.mark.parametrize(("listen", "host"), [("0.0.0.0:4141", "127.0.0.1"), ("[::]:4141", "[::1]")])
def test_a_token_is_part_of_the_address(here: Place, monkeypatch: pytest.MonkeyPatch, listen: str, host: str) -> None:
    monkeypatch.setenv("BLACKBIRD_PROXY_TOKEN", "a-long-random-word")
    monkeypatch.setenv("BLACKBIRD_PROXY_LISTEN", listen)
    done = here.run("env")
    expected = f"export ANTHROPIC_BASE_URL='http://{host}:4141/bbt/a-long-random-word/anthropic'\n"
    assert done.out.startswith(expected.replace("'", "'" if "[" in host else ""))


@pytest.mark.requirement("SCOPE-04")
@pytest.mark.parametrize("text", ["", "a b", "a/b", "ä", "a" * 65, ".", "..", "a\n", "$(x)"])
@pytest.mark.parametrize("option", ["--session", "--task"])
def test_an_id_that_is_none_is_refused(here: Place, option: str, text: str) -> None:
    done = here.run("env", option, text)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"✗ {option}: `")


@pytest.mark.requirement("SCOPE-04")
@pytest.mark.parametrize("text", ["a", "a" * 64, "Harbour-2._x", "-", "..."])
def test_an_id_is_the_users_word(here: Place, text: str) -> None:
    answer, asked = scripted(REGISTERED)
    with listening(here.home.control_socket, answer):
        assert here.run("env", f"--session={text}").code == 0
    assert asked[0]["session"] == text
