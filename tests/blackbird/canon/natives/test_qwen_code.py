"""Chats of Qwen Code: each line follows the one that it names."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Reply, ToolResult, Usage
from blackbird.canon.natives.qwen_code import Reader
from blackbird.canon.seen import Entry
from tests.blackbird.canon.natives.fed import ODD, feed, line, texts

FILE = "/home/dev/.qwen/projects/-home-dev-job/chats/ses-1.jsonl"
TOKENS = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120, "cachedContentTokenCount": 60}
CALLED = {"functionCall": {"id": "call_1", "name": "read_file", "args": {"file_path": "a"}}}
ANSWERED = {
    "functionResponse": {"id": "call_1", "name": "read_file", "response": {"output": "Output: x\nExit Code: 0"}}
}
EVENT = {"uiEvent": {"event.name": "qwen-code.api_response", "response_id": "chatcmpl_1"}}


def record(key: str, before: str | None, kind: str, /, **more: Any) -> dict[str, Any]:
    common = {"uuid": key, "parentUuid": before, "sessionId": "ses-1", "timestamp": "2026-01-02T03:04:05.006Z"}
    return common | {"type": kind, "cwd": "/home/dev/job", "version": "0.15.10"} | more


CHAT = [
    record("u-1", None, "user", message={"role": "user", "parts": [{"text": "Fix it."}]}),
    record("u-2", "u-1", "system", subtype="ui_telemetry", systemPayload=EVENT),
    record(
        *("u-3", "u-2", "assistant"),
        model="qwen3",
        message={"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Reading."}, CALLED]},
        usageMetadata=TOKENS | {"thoughtsTokenCount": 5},
    ),
    record(
        *("u-4", "u-3", "tool_result"),
        message={"role": "user", "parts": [ANSWERED]},
        toolCallResult={
            "callId": "call_1",
            "status": "success",
            "resultDisplay": {"fileDiff": "@@", "fileName": "a"},
        },
    ),
    record("u-5", "u-4", "system", subtype="chat_compression", systemPayload={}),
]


def read(*records: object) -> list[Entry]:
    return feed(Reader("src_1", FILE), [line(each) for each in records])


def test_a_chat_is_told_in_order() -> None:
    entries = read(*CHAT)
    assert texts(entries) == [
        ("user", "Fix it."),
        ("assistant", "(Hm.)"),
        ("assistant", "Reading."),
        ("assistant", 'read_file({"file_path":"a"}) call_1'),
        ("user", "= Output: x\nExit Code: 0 call_1"),
    ]
    assert [(entry.key, entry.follows) for entry in entries] == [
        ("u-1", None),
        ("u-2", "u-1"),
        ("u-3", "u-2"),
        ("u-4", "u-3"),
        ("u-5", "u-4"),
    ]
    assert {(entry.session, entry.at) for entry in entries} == {("ses-1", 1767323045_006000000)}
    assert [entry.mark for entry in entries] == [None, "note", None, None, "compact"]
    assert [entry.about for entry in entries] == [
        {"client": "Qwen Code", "cwd": "/home/dev/job", "version": "0.15.10"},
        *({},) * 4,
    ]


@pytest.mark.parametrize(("total", "output"), [(120, 20), (125, 25)])
def test_a_response_has_its_id_and_its_tokens(total: int, output: int) -> None:
    said = CHAT[2] | {"usageMetadata": TOKENS | {"thoughtsTokenCount": 5, "totalTokenCount": total}}
    usage = Usage(input=40, cache_read=60, output=output, reasoning=5)
    replies = [entry.reply for entry in read(CHAT[1], said, CHAT[2] | {"usageMetadata": None}) if entry.reply]
    assert replies == [Reply(response_id="chatcmpl_1", model="qwen3", usage=usage), Reply(model="qwen3")]


def test_a_result_has_what_the_client_keeps_of_it() -> None:
    (result,) = [part for entry in read(CHAT[3]) if entry.turn for part in entry.turn.parts]
    assert isinstance(result, ToolResult)
    assert (result.error, result.details) == (False, {"exit_code": 0, "path": "a", "patch": "@@"})


def test_a_line_without_a_home_is_a_note() -> None:
    entries = feed(Reader("src_1", FILE), [line({"other": 1}), "{", ""])
    assert [(entry.mark, entry.text, entry.data) for entry in entries] == [
        ("note", "", {"other": 1}),
        ("note", "{", {}),
    ]
    assert {entry.session for entry in entries} == {"ses-1"}


@given(st.lists(ODD, max_size=5))
def test_no_json_breaks_it(values: list[object]) -> None:
    read(*values)


@given(st.lists(st.text(), max_size=5))
def test_no_text_breaks_it(lines: list[str]) -> None:
    feed(Reader("src_1", FILE), lines)
