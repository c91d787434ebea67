"""Agents get the same by every door: MCP over stdio and HTTP, tool calls, and commands; out of one real memory."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from blackbird import home as homes
from blackbird.doors import adapters
from blackbird.provider import Provider
from blackbird.usage import read
from tests.blackbird.recall.kept import Kept

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
_COMMAND = [sys.executable, "-c", "from blackbird.cli.app import main; main()"]
QUERY = "SQLite store"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """A memory of two sessions, in the home of whoever asks."""
    found = Kept(tmp_path).record()
    monkeypatch.setenv("BLACKBIRD_HOME", str(found.home.path))
    monkeypatch.chdir(tmp_path)
    assert homes.find().path == found.home.path
    return found


def command(*words: str) -> list[dict[str, Any]]:
    done = subprocess.run([*_COMMAND, *words, "--json"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def by_stdio(name: str, arguments: dict[str, Any]) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    done = subprocess.run([*_COMMAND, "mcp"], input=json.dumps(message), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["result"]


@pytest.fixture
def server(kept: Kept) -> Iterator[tuple[str, str]]:
    """The server over HTTP as a user starts it: where it is, and its token."""
    with subprocess.Popen([*_COMMAND, "mcp", "--http", "--port", "0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.endswith(f"its token is in {kept.home.mcp_token}\n")
        yield said.split()[4].removesuffix("/mcp;"), kept.home.mcp_token.read_text()
        process.terminate()


def by_http(server: tuple[str, str], name: str, arguments: dict[str, Any]) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    fields = {"authorization": f"Bearer {server[1]}", "accept": "application/json, text/event-stream"}
    return httpx2.post(f"{server[0]}/mcp", json=message, headers=fields, timeout=20).json()["result"]


def by_tool(name: str, arguments: dict[str, Any]) -> Any:
    with adapters.memory() as memory:
        answer = memory.call(name, json.dumps(arguments))
    content = [{"type": "text", "text": answer.text}]
    return {"content": content, "structuredContent": answer.values, "isError": answer.is_error}


@pytest.mark.requirement("CORE-05", "SCHEMA-02", "MCP-04")
def test_every_door_gives_the_same(server: tuple[str, str], kept: Kept) -> None:
    cards = command("mem", "search", QUERY)
    identifier = cards[0]["id"]
    calls: dict[str, dict[str, Any]] = {
        "memory_search": {"query": QUERY},
        "memory_get": {"id": identifier},
        "memory_related": {"id": identifier},
        "memory_context_for_task": {"session": "s1", "task": "t9"},
    }
    answers = {name: by_tool(name, arguments) for name, arguments in calls.items()}
    for name, arguments in calls.items():
        assert by_stdio(name, arguments) == answers[name]
        assert by_http(server, name, arguments) == answers[name]
        assert answers[name]["isError"] is False
    told = {name: answer["structuredContent"] for name, answer in answers.items()}
    shown = [card for card in cards if card["schema"] == "card/1"]
    assert [card["id"] for card in told["memory_search"]["cards"]] == [card["id"] for card in shown]
    assert [card["title"] for card in told["memory_search"]["cards"]] == [card["title"] for card in shown]
    (whole,) = command("mem", "get", identifier)
    assert (told["memory_get"]["id"], told["memory_get"]["title"]) == (identifier, whole["title"])
    related = command("mem", "related", identifier)
    assert [each["id"] for each in told["memory_related"]["related"]] == [each["id"] for each in related]
    with kept.recall() as recall:
        assert told["memory_context_for_task"]["pack"] == recall.context(session="s1", task="t9").text


@pytest.mark.requirement("SCHEMA-03")
def test_every_door_gives_the_same_typed_errors(server: tuple[str, str]) -> None:
    for name, arguments, code in (
        ("memory_get", {"id": "art_nothing"}, "not_found"),
        ("memory_search", {"query": "x", "k": 99}, "invalid_arguments"),
        ("memory_search", {"query": "x", "session": "unheard-of"}, "not_found"),
    ):
        answer = by_tool(name, arguments)
        assert answer["structuredContent"]["code"] == code
        assert by_stdio(name, arguments) == answer
        assert by_http(server, name, arguments) == answer


def test_a_secret_that_reached_the_memory_leaves_by_no_door(server: tuple[str, str], kept: Kept) -> None:
    secret = "sk-ant-api03-" + "Zq9" * 31 + "AA"
    (card, *_) = command("mem", "search", "SQLite", "--type", "decision")
    kept.tamper("SQLite", secret)
    for name, arguments in (
        ("memory_search", {"query": "SQLite"}),
        ("memory_get", {"id": card["id"]}),
        ("memory_related", {"id": card["id"]}),
        ("memory_context_for_task", {"session": "s1", "task": "t9"}),
    ):
        for answer in (by_stdio(name, arguments), by_http(server, name, arguments), by_tool(name, arguments)):
            assert answer["isError"] is False
            assert secret[20:40] not in json.dumps(answer)
    assert "[redacted:" in json.dumps(by_tool("memory_get", {"id": card["id"]}))


def test_the_figures_of_the_memory_are_served(server: tuple[str, str]) -> None:
    by_http(server, "memory_search", {"query": QUERY})
    told = httpx2.get(f"{server[0]}/metrics", headers={"authorization": f"Bearer {server[1]}"}, timeout=20).text
    assert "blackbird_memory_up 1\n" in told


@pytest.mark.requirement("CONTRACT-05")
def test_calls_beyond_the_contract_are_counted_for_the_run(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_SESSION", "s1")
    monkeypatch.setenv("BLACKBIRD_RUN", "run_1")
    with adapters.memory() as memory:
        answers = [memory.call("memory_search", {"query": QUERY}) for _ in range(3)]
    assert ["note" in answer.values for answer in answers] == [False, True, True]
    assert [(use.door, use.op, use.run, use.beyond) for use in read(kept.home)] == [
        ("tool", "search", "run_1", False),
        ("tool", "search", "run_1", True),
        ("tool", "search", "run_1", True),
    ]


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("memory_*.py")))
def test_an_example_without_a_question_asks_for_one(example: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / example)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f'ask one question: python {example} "What …?"\n')


@pytest.mark.requirement("SCHEMA-01", "SCHEMA-02")
@pytest.mark.parametrize(
    ("example", "variable", "path"),
    [
        ("memory_openai_chat.py", "OPENAI_BASE_URL", "/v1"),
        ("memory_openai_responses.py", "OPENAI_BASE_URL", "/v1"),
        ("memory_anthropic.py", "ANTHROPIC_BASE_URL", ""),
        ("memory_gemini.py", "GOOGLE_GEMINI_BASE_URL", ""),
    ],
)
def test_the_examples_have_a_model_use_the_memory(kept: Kept, example: str, variable: str, path: str) -> None:
    kept.say(kept.two, "Let's use plain integer addition.", "I will.")
    kept.save()
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "none")
    with Provider() as provider:
        surroundings = {**os.environ, **keys, variable: provider.url + path}
        words = [sys.executable, str(EXAMPLES / example), "What does the memory say of adding?"]
        done = subprocess.run(words, env=surroundings, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "That is what the memory says.\n\n"), done.stderr
        asked = [request.body for request in provider.received]
    assert len(asked) == 3
    assert b"art_" not in asked[0]
    assert b"art_" in asked[1]
    assert asked[2].count(b"plain integer addition") > asked[1].count(b"plain integer addition")
