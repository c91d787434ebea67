"""The MCP inspector lists and calls every tool over stdio and over HTTP, and finds no fault with their schemas."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.install import FOLDER
from tests.blackbird.recall.kept import Kept

INSPECTOR = FOLDER / "inspector" / "node_modules" / ".bin" / "mcp-inspector"
NODE = FOLDER / "node" / "node_modules" / ".bin"
PROGRAM = [sys.executable, "-m", "blackbird.doors.stdio"]
NAMES = ["memory_search", "memory_get", "memory_context_for_task", "memory_related"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """A memory of two sessions, in the home of whoever asks."""
    found = Kept(tmp_path).record()
    monkeypatch.setenv("BLACKBIRD_HOME", str(found.home.path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return found


@pytest.fixture
def over_http(kept: Kept) -> Iterator[list[str]]:
    """The words that lead to a server over HTTP."""
    words = [sys.executable, "-c", "from blackbird.cli.app import main; main()", "mcp", "--http", "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        url = process.stderr.readline().split()[4].removesuffix(";")
        yield [url, "--transport", "http", "--header", f"Authorization: Bearer {kept.home.mcp_token.read_text()}"]
        process.terminate()


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, kept: Kept) -> list[str]:
    """The words that lead to a server."""
    if request.param == "http":
        found: list[str] = request.getfixturevalue("over_http")
        return found
    variables = ("BLACKBIRD_HOME", "PYTHONPATH")
    given = [word for name in variables if name in os.environ for word in ("-e", f"{name}={os.environ[name]}")]
    return [*given, *PROGRAM]


def inspect(server: list[str], *words: str) -> Any:
    environment = {**os.environ, "PATH": f"{NODE}:{os.environ['PATH']}"}
    command = [str(INSPECTOR), "--cli", *server, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def call(server: list[str], name: str, *arguments: str) -> Any:
    given = [word for argument in arguments for word in ("--tool-arg", argument)]
    result = inspect(server, "--method", "tools/call", "--tool-name", name, *given)
    assert not result.get("isError"), result
    return result["structuredContent"]


def test_it_lists_and_calls_every_tool(server: list[str]) -> None:
    listed = inspect(server, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == NAMES
    first = call(server, "memory_search", "query=SQLite", 'types=["decision"]')["cards"][0]
    assert first["type"] == "decision"
    assert call(server, "memory_get", f"id={first['id']}")["title"] == first["title"]
    assert first["id"] not in [each["id"] for each in call(server, "memory_related", f"id={first['id']}")["related"]]
    assert first["id"][:12] in call(server, "memory_context_for_task", "session=s1", "task=t9")["pack"]
