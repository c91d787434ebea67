"""Agents' own logs: which lines are calls, and that nothing that was said is kept."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from blackbird.doctor.native import READERS, Client, NativeCall, claude_calls, codex_calls, gemini_calls

AT = 1_794_830_400_000_000_000
TIME = "2026-11-16T12:00:00.000Z"


def lines(*values: dict[str, Any] | bytes) -> list[bytes]:
    return [value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n" for value in values]


def assistant(request: str | None, time: str = TIME) -> dict[str, Any]:
    message = {"id": "msg_1", "role": "assistant", "content": [{"type": "text", "text": "a secret thing"}]}
    more = {"requestId": request} if request is not None else {}
    return {"type": "assistant", "timestamp": time, "message": message, "sessionId": "s1", **more}


def test_claude_notes_a_response_in_several_lines_and_it_is_one_call() -> None:
    found = claude_calls(
        lines(
            {"type": "user", "timestamp": TIME, "message": {"content": '"requestId"'}},
            assistant("req_1"),
            assistant("req_1"),
            assistant(None),
            assistant("req_2", "2026-11-16T12:00:01.500Z"),
            {"type": "progress", "requestId": "req_9", "timestamp": TIME},
            b'{"type":"assistant","requestId":"req_3","timest',
            assistant("req_4", "yesterday"),
        )
    )
    assert list(found) == [
        NativeCall(Client.CLAUDE, AT, request="req_1"),
        NativeCall(Client.CLAUDE, AT + 1_500_000_000, request="req_2"),
    ]


def codex(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": TIME, "ordinal": 0, "type": kind, "payload": payload}


def test_codex_notes_the_tokens_of_each_call() -> None:
    meta = codex("session_meta", {"id": "thread-a", "session_id": "session-a"})
    count = codex("event_msg", {"type": "token_count", "info": {"total_token_usage": {}}})
    empty = codex("event_msg", {"type": "token_count", "info": None})
    record = codex("token_usage_record", {"response_id": "resp_1", "usage": {}})
    call = NativeCall(Client.CODEX, AT, thread="thread-a")
    assert list(codex_calls(lines(meta, record, count, record, empty))) == [call, call]
    assert list(codex_calls(lines(meta, count, empty))) == [call]
    assert list(codex_calls(lines(record))) == [NativeCall(Client.CODEX, AT)]
    assert list(codex_calls(lines(meta, codex("response_item", {"type": "message"})))) == []


def test_gemini_states_a_message_anew_when_it_changes() -> None:
    message = {"id": "m1", "type": "gemini", "timestamp": TIME, "content": "words", "tokens": {"input": 1}}
    user = {"id": "m0", "type": "user", "timestamp": TIME, "content": [{"text": '"gemini"'}]}
    assert list(gemini_calls(lines({"sessionId": "s"}, user, message, {"$set": {"type": "gemini"}}, message))) == [
        NativeCall(Client.GEMINI, AT)
    ]


def test_nothing_that_was_said_is_kept() -> None:
    for client, reader in READERS.items():
        found = list(reader(lines(assistant("req_1"), codex("token_usage_record", {"text": "a secret thing"}))))
        assert all(call.client is client for call in found)
        assert b"secret" not in msgspec.json.encode(found)


@given(st.lists(st.binary(max_size=200) | st.sampled_from(lines(assistant("req_1"), {"type": "gemini", "id": []}))))
def test_any_bytes_are_read_without_complaint(some: list[bytes]) -> None:
    for client, reader in READERS.items():
        assert all(call.client is client for call in reader(some))
