"""`blackbird mcp` and `blackbird tools`, as they are typed."""

import json
import socket
import sys
from pathlib import Path

import pytest

from tests.blackbird.cli.command import Place, place


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def test_the_token_is_printed_and_stays_the_same(here: Place) -> None:
    first = here.run("mcp", "--show-token")
    assert first.code == 0
    assert first.out.strip() == here.home.mcp_token.read_text()
    assert here.run("mcp", "--show-token").out == first.out


def test_a_port_is_of_no_use_without_http(here: Place) -> None:
    done = here.run("mcp", "--port", "4000")
    assert done.code == 2
    assert "--port is of no use without --http" in done.err


def test_without_the_extra_http_is_refused_in_one_sentence(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "blackbird.doors.http", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = here.run("mcp", "--http")
    assert done.code == 2
    assert "blackbird mcp --http needs what is not installed (uvicorn)" in done.err
    assert "pip install 'blackbird[mcp]'" in done.err


def test_a_port_that_is_taken_is_told(here: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = here.run("mcp", "--http", "--port", str(port))
    assert done.code == 2
    assert f"127.0.0.1:{port}" in done.err


def test_beyond_this_machine_it_listens_only_with_a_token(here: Place) -> None:
    here.home.config_file.parent.mkdir(parents=True, exist_ok=True)
    here.home.config_file.write_text('[mcp]\nlisten = "0.0.0.0:4142"\n')
    done = here.run("mcp", "--http")
    assert done.code == 2
    assert "mcp.listen: 0.0.0.0:4142 can be reached from other machines, and mcp.token is not set" in done.err


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_the_tools_are_printed_for_each_api(here: Place, api: str) -> None:
    done = here.run("tools", "--format", api)
    assert done.code == 0
    assert done.out.count('"memory_get"') == 1
    assert isinstance(json.loads(done.out), list)
