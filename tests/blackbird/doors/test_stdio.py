"""The stdio server as a process, spoken to by the official client and by bytes."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from blackbird.doors import schema
from tests.blackbird.doors import standin

ROOT = Path(__file__).parents[3]
PROGRAM = [sys.executable, "-m", "tests.blackbird.doors.standin"]
CALLS: dict[str, dict[str, Any]] = {
    "memory_search": {"query": "adding"},
    "memory_get": {"id": "art_aaaaaaaa"},
    "memory_context_for_task": {"task": "crane"},
    "memory_related": {"id": "art_aaaaaaaa"},
}


def client(mode: str) -> Client:
    env = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "BLACKBIRD_HOME": os.environ["BLACKBIRD_HOME"]}
    return Client(StdioServerParameters(command=PROGRAM[0], args=PROGRAM[1:], cwd=ROOT, env=env), mode=mode)


@pytest.mark.requirement("MCP-01", "MCP-02", "MCP-03", "MCP-04", "SCHEMA-02")
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_official_client_lists_and_calls_every_tool(mode: str) -> None:
    async def main() -> None:
        async with client(mode) as server:
            tools = (await server.list_tools()).tools
            assert [(tool.name, tool.input_schema) for tool in tools] == [(t.name, t.schema) for t in schema.TOOLS]
            assert set(CALLS) == {tool.name for tool in tools}
            with standin.opened() as own:
                for name, arguments in CALLS.items():
                    result = await server.call_tool(name, arguments)
                    expected = own.call(name, arguments)
                    assert not result.is_error
                    assert result.structured_content == expected.values
                    assert [getattr(part, "text", None) for part in result.content] == [expected.text]

    asyncio.run(main())


@pytest.mark.requirement("SCHEMA-03")
def test_the_official_client_hears_of_errors() -> None:
    async def main() -> None:
        async with client("auto") as server:
            wrong = await server.call_tool("memory_get", {"id": 7})
            assert wrong.is_error
            assert wrong.structured_content is not None
            assert wrong.structured_content["code"] == "invalid_arguments"
            with pytest.raises(MCPError) as unknown:
                await server.call_tool("memory_forget", {})
            assert unknown.value.error.data["code"] == "unknown_tool"

    asyncio.run(main())


def start(*words: str, program: list[str] = PROGRAM) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*program, *words], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def ask(process: "subprocess.Popen[bytes]", method: str, **params: Any) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert answer["id"] == method
    return answer["result"]


def test_nothing_but_the_protocol_reaches_standard_output() -> None:
    with start() as process:
        message = {"name": "memory_search", "arguments": {"query": "print"}}
        assert ask(process, "tools/call", **message)["isError"] is False
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, b"")
    assert err == b"not of the protocol\nnor this\n"


def test_a_memory_that_opens_slowly_keeps_neither_handshake_nor_list_waiting() -> None:
    began = time.monotonic()
    with start("5") as process:
        ask(process, "initialize", protocolVersion="2025-06-18", capabilities={})
        ask(process, "tools/list")
        process.kill()
    assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    "program",
    [
        ["-m", "blackbird.doors.stdio"],
        ["-c", "from blackbird.cli.app import main; import sys; sys.argv[1:] = ['mcp']; main()"],
    ],
    ids=["module", "command"],
)
def test_the_first_answer_comes_before_an_agent_stops_waiting(program: list[str]) -> None:
    took: list[float] = []
    # What the machine does beside this is no fault of the program: one start of many has to be undisturbed.
    while len(took) < 20 and min(took, default=1.0) >= 0.3:
        began = time.monotonic()
        with start(program=[sys.executable, *program]) as process:
            ask(process, "initialize", protocolVersion="2025-11-25", capabilities={})
            took.append(time.monotonic() - began)
            process.kill()
    assert min(took) < 0.3


def test_what_takes_long_to_load_is_not_loaded_before_the_first_answer() -> None:
    program = "import blackbird.doors.stdio, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    slow = (
        "mcp",
        "pydantic",
        "typer",
        "rich",
        "apsw",
        "blackbird.recall",
        "blackbird.derive",
        "blackbird.config.load",
    )
    assert set(slow).isdisjoint(loaded)
