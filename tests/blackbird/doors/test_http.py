"""The HTTP door as a process, spoken to by the official client and by requests."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from blackbird.doors import schema
from tests.blackbird.doors import standin
from tests.blackbird.doors.test_stdio import CALLS, ROOT

TOKEN = standin.TOKEN
SHOWN = {"authorization": f"Bearer {TOKEN}"}
ACCEPT = {"accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where a server of its own answers out of the stand-in."""
    words = [sys.executable, "-m", "tests.blackbird.doors.standin", "http"]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def post(url: str, body: bytes, **fields: str) -> httpx2.Response:
    return httpx2.post(
        f"{url}/mcp", content=body, headers={**SHOWN, **ACCEPT, "content-type": "application/json", **fields}
    )


def call(url: str, name: str, arguments: Any, **fields: str) -> Any:
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return post(url, json.dumps(message).encode(), **fields).json()


@pytest.mark.requirement("MCP-01", "MCP-02", "MCP-03", "MCP-04", "SCHEMA-02")
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_official_client_lists_and_calls_every_tool(url: str, mode: str) -> None:
    own: Any = {"x-blackbird-session": "harbour", "x-blackbird-run": mode}

    async def main() -> None:
        async with (
            httpx2.AsyncClient(headers=SHOWN) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as server,
        ):
            tools = (await server.list_tools()).tools
            assert [(tool.name, tool.input_schema) for tool in tools] == [(t.name, t.schema) for t in schema.TOOLS]
            with standin.opened() as direct:
                for name, arguments in CALLS.items():
                    result = await server.call_tool(name, arguments, meta=own)
                    expected = direct.call(name, arguments, own)
                    assert result.structured_content == expected.values
                    assert [getattr(part, "text", None) for part in result.content] == [expected.text]
            with pytest.raises(MCPError):
                await server.call_tool("memory_forget", {})

    asyncio.run(main())


@pytest.mark.requirement("SCHEMA-03")
def test_malformed_calls_are_told_with_a_type(url: str) -> None:
    wrong = call(url, "memory_get", {"id": 7})["result"]
    assert (wrong["isError"], wrong["structuredContent"]["code"]) == (True, "invalid_arguments")
    assert call(url, "memory_forget", {})["error"]["data"]["code"] == "unknown_tool"
    assert call(url, "memory_get", ["x"])["error"]["code"] == -32602
    assert post(url, b"{bad").json()["error"]["code"] == -32700
    assert post(url, b"[]").status_code == 400
    assert post(url, b"x" * (2 << 20)).status_code == 413


def test_a_client_says_by_header_fields_whose_its_calls_are(url: str) -> None:
    fields = {"x-blackbird-session": "harbour", "x-blackbird-run": "one"}
    notes = [
        "note" in call(url, "memory_search", {"query": "x"}, **fields)["result"]["structuredContent"] for _ in "ab"
    ]
    assert notes == [False, True]
    other = call(url, "memory_search", {"query": "x"}, **{**fields, "x-blackbird-run": "two"})
    assert "note" not in other["result"]["structuredContent"]


def test_without_the_token_only_health_is_told(url: str) -> None:
    assert httpx2.get(f"{url}/health").json() == {"status": "ok"}
    refused = httpx2.get(f"{url}/metrics")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert refused.json()["code"] == "token_missing"
    assert post(url, b"{}", authorization="Bearer other").status_code == 401


def test_the_figures_are_text_for_prometheus(url: str) -> None:
    told = httpx2.get(f"{url}/metrics", headers=SHOWN)
    assert told.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert told.text == "figures 1\n"


def test_names_of_others_and_pages_are_refused(url: str) -> None:
    assert httpx2.get(f"{url}/health", headers={"host": "evil.example"}).status_code == 421
    assert post(url, b"{}", origin="http://evil.example").status_code == 403
