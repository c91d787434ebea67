"""Any lines for the MCP server, and any calls for its tools: what the fuzzer runs, and what it starts from."""

import io
import json

from blackbird.doors import schema, stdio
from tests.blackbird.doors import standin

MAX_BYTES = 2048
_PING = b'\n{"jsonrpc":"2.0","id":"end","method":"ping"}\n'
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Broken(AssertionError):
    """A promise of the server does not hold for this input."""


def exercise(data: bytes) -> None:
    """Any bytes, and then a ping: one answer a line at most, all of the protocol, and the ping is among them."""
    said: list[bytes] = []
    stdio.serve(io.BytesIO(data + _PING), stdio.Server(said.append, standin.opened))
    answers = [json.loads(line) for line in said]
    if len(answers) > data.count(b"\n") + 2:
        raise Broken("more answers than lines")
    if {"jsonrpc": "2.0", "id": "end", "result": {}} not in answers:
        raise Broken("the ping was not answered")
    if any(each["jsonrpc"] != "2.0" or ("result" in each) == ("error" in each) for each in answers):
        raise Broken("an answer is none of the protocol")


def seeds() -> list[bytes]:
    """A message of each kind, and a call of each tool."""
    methods = ["initialize", "ping", "tools/list", "server/discover", "notifications/cancelled", "resources/list"]
    messages = [{"jsonrpc": "2.0", "id": 1, "method": method, "params": {"requestId": 1}} for method in methods]
    messages += [
        {"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for name in (*schema.BY_NAME, *schema.ALIASES)
        for arguments in ({"query": "x", "k": 3, "types": ["decision"]}, {"id": "art_aaaaaaaa"}, {"budget": 500})
    ]
    enveloped = [{**each, "params": {**each["params"], "_meta": _ENVELOPE}} for each in messages]  # type: ignore[dict-item]
    return [json.dumps(each).encode() for each in (*messages, *enveloped, [], 7, {"id": 1, "result": {}})]
