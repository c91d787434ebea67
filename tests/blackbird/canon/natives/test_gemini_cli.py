"""Chats of Gemini CLI are told once each, however often the client writes a message."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Media, Reply, Thinking, ToolCall, ToolResult, Usage
from blackbird.canon.natives.gemini_cli import Reader
from blackbird.canon.seen import Entry
from tests.blackbird.canon.natives.fed import ODD, feed, line, texts

MAIN = "/home/dev/.gemini/tmp/job/chats/session-2026-01-02T03-04-aaaa.jsonl"
SUB = "/home/dev/.gemini/tmp/job/chats/ses-1/sub-1.jsonl"
HEAD = {"sessionId": "ses-1", "projectHash": "p", "startTime": "2026-01-02T03:04:05.006Z", "kind": "main"}
CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /home/dev/job\n</session_context>"
STEP = {
    "id": "m-2",
    "timestamp": "2026-01-02T03:04:07.000Z",
    "type": "gemini",
    "content": 'Reading "ä".',
    "thoughts": [{"subject": "Plan", "description": "First read.", "timestamp": "2026-01-02T03:04:07.000Z"}],
    "tokens": {"input": 100, "output": 20, "cached": 60, "thoughts": 5, "tool": 1, "total": 126},
    "model": "gemini-2.5-pro",
}
ANSWER = {"functionResponse": {"id": "c-1", "name": "read_file", "response": {"output": "def add():\n"}}}
CALL = {
    "id": "c-1",
    "name": "read_file",
    "args": {"file_path": "calc.py"},
    "result": [ANSWER],
    "status": "success",
    "timestamp": "2026-01-02T03:04:08.000Z",
    "resultDisplay": "",
}


def user(key: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"id": key, "timestamp": "2026-01-02T03:04:06.000Z", "type": "user", "content": list(parts)}


def read(*records: object, file: str = MAIN) -> list[Entry]:
    return feed(Reader("src_1", file), [line(record) for record in records])


def chat() -> list[dict[str, Any]]:
    return [
        HEAD,
        {"$set": {"messages": [user("m-0", {"text": CONTEXT})], "lastUpdated": "2026-01-02T03:04:05.010Z"}},
        user("m-1", {"text": "Fix it."}),
        {"$set": {"lastUpdated": "2026-01-02T03:04:06.000Z"}},
        STEP,
        STEP | {"toolCalls": [CALL]},
        user("m-3", ANSWER),
        {"id": "m-4", "timestamp": "2026-01-02T03:04:09.000Z", "type": "gemini", "content": "Done.", "model": "g"},
    ]


SAID = [
    ("user", CONTEXT),
    ("user", "Fix it."),
    ("assistant", "(First read.)"),
    ("assistant", 'Reading "ä".'),
    ("assistant", 'read_file({"file_path":"calc.py"}) c-1'),
    ("user", "= def add():\n c-1"),
    ("assistant", "Done."),
]


def test_a_chat_is_told_once_and_in_order() -> None:
    entries = read(*chat())
    assert texts(entries) == SAID
    assert {entry.session for entry in entries} == {"ses-1"}
    assert [entry.key for entry in entries] == [None, "m-0", "m-1", "m-2", "m-2/2", "m-2/3", "m-4"]
    assert entries[0].about == {"client": "Gemini CLI"}
    assert entries[1].about == {"cwd": "/home/dev/job"}
    assert [entry.mark for entry in entries] == [None] * 7


def test_times_are_those_of_the_messages_and_of_the_results() -> None:
    entries = read(*chat())
    begin = 1767323045_000000000
    assert [entry.at for entry in entries] == [
        begin + 6_000_000,
        *(begin + second * 1_000_000_000 for second in (1, 1, 2, 2, 3, 4)),
    ]


def test_tokens_are_counted_once_and_cached_ones_apart() -> None:
    replies = [entry.reply for entry in read(*chat()) if entry.reply is not None]
    counted = Usage(input=41, cache_read=60, output=25, reasoning=5)
    assert replies == [
        Reply(response_id="m-2", model="gemini-2.5-pro", usage=counted),
        Reply(response_id="m-2", model="gemini-2.5-pro"),
        Reply(response_id="m-4", model="g"),
    ]


def test_tokens_that_come_later_are_told_by_themselves() -> None:
    bare = {key: value for key, value in STEP.items() if key != "tokens"}
    entries = read(HEAD, bare, STEP)
    assert texts(entries) == [("assistant", "(First read.)"), ("assistant", 'Reading "ä".')]
    assert [(entry.turn is None, entry.reply and entry.reply.usage) for entry in entries[1:]] == [
        (False, None),
        (True, Usage(input=41, cache_read=60, output=25, reasoning=5)),
    ]


def test_a_resumed_chat_says_nothing_twice() -> None:
    again = [
        user("m-0", {"text": CONTEXT}),
        user("m-1", {"text": "Fix it."}),
        {
            "id": "m-2",
            "timestamp": "2026-01-02T05:00:00.000Z",
            "type": "gemini",
            "content": [
                {"text": "**Plan** First read.", "thought": True},
                {"text": "Reading "},
                {"text": '"ä".'},
                {"functionCall": {"id": "c-1", "name": "read_file", "args": {"file_path": "calc.py"}}},
            ],
        },
        user("m-2_response", ANSWER),
        user("m-3", ANSWER),
    ]
    resumed = [
        HEAD | {"startTime": "2026-01-02T05:00:00.000Z"},
        {"$set": {"messages": [user("m-0", {"text": CONTEXT})]}},
        {"$set": {"sessionId": "ses-1"}},
        {"$set": {"messages": again}},
        user("m-5", {"text": "And now?"}),
    ]
    entries = read(*chat(), *resumed)
    assert texts(entries) == [*SAID, ("user", "And now?")]
    assert [entry.mark for entry in entries if entry.mark] == []


def test_a_list_that_puts_a_summary_in_place_of_messages_is_a_compaction() -> None:
    summary = user("m-9", {"text": "<state_snapshot>short</state_snapshot>"})
    entries = read(*chat(), {"$set": {"messages": [summary]}})
    assert [entry.mark for entry in entries[-2:]] == ["compact", None]
    assert texts(entries[-1:]) == [("user", "<state_snapshot>short</state_snapshot>")]


def test_after_a_rewind_the_chat_goes_on_from_before_the_message() -> None:
    entries = read(*chat(), {"$rewindTo": "m-3"}, user("m-6", {"text": "Otherwise."}))
    assert (entries[-2].mark, entries[-2].text, entries[-2].data) == ("note", "rewind", {"$rewindTo": "m-3"})
    assert (entries[-1].key, entries[-1].follows) == ("m-6", "m-2")


@pytest.mark.parametrize(
    ("status", "output", "error", "details"),
    [
        ("success", "fine", False, {}),
        ("success", "Output: no\nExit Code: 2\nProcess Group PGID: 7", True, {"exit_code": 2}),
        ("error", "no such file", True, {}),
        ("cancelled", "stopped", True, {"is_interrupted": True}),
    ],
)
def test_a_result_says_how_it_ended(status: str, output: str, error: bool, details: dict[str, object]) -> None:
    answer = {"functionResponse": {"id": "c-1", "name": "t", "response": {"output": output}}}
    entries = read(HEAD, STEP | {"toolCalls": [CALL | {"status": status, "result": [answer]}]})
    result = entries[-1].turn and entries[-1].turn.parts[0]
    assert isinstance(result, ToolResult)
    assert (result.error, result.details, result.name) == (error, details, "t")


def test_a_change_of_a_file_is_kept_with_its_result() -> None:
    shown = {"fileDiff": "--- a\n+++ b\n", "fileName": "calc.py", "filePath": "/job/calc.py", "newContent": "x"}
    entries = read(HEAD, STEP | {"toolCalls": [CALL | {"resultDisplay": shown}]})
    result = entries[-1].turn and entries[-1].turn.parts[0]
    assert isinstance(result, ToolResult)
    assert result.details == {"path": "/job/calc.py", "patch": "--- a\n+++ b\n"}


def test_a_call_is_told_before_its_result_is_known() -> None:
    waiting = {key: value for key, value in CALL.items() if key != "result"} | {"status": "scheduled"}
    entries = read(HEAD, STEP | {"toolCalls": [waiting]}, STEP | {"toolCalls": [CALL]})
    assert texts(entries)[2:] == [
        ("assistant", 'read_file({"file_path":"calc.py"}) c-1'),
        ("user", "= def add():\n c-1"),
    ]


def test_a_sub_agent_belongs_to_the_session_that_its_folder_names() -> None:
    head = HEAD | {"sessionId": "sub-1", "kind": "subagent", "directories": ["/home/dev/job"]}
    entries = read(head, user("s-1", {"text": "Read."}), file=SUB)
    assert [(entry.session, entry.thread, entry.parent_thread) for entry in entries] == [
        ("ses-1", "sub-1", "ses-1")
    ] * 2
    assert entries[0].about == {"client": "Gemini CLI", "cwd": "/home/dev/job"}


def test_the_call_that_started_a_sub_agent_is_named() -> None:
    spawning = CALL | {"agentId": "sub-1", "args": {"agent_name": "generalist", "prompt": "Read."}}
    link = read(HEAD, STEP | {"toolCalls": [spawning]})[2]
    assert link.turn is None
    assert (link.thread, link.parent_thread, link.call_id, link.kind) == ("sub-1", "ses-1", "c-1", "generalist")


def test_an_older_chat_is_one_document() -> None:
    document = HEAD | {"messages": [user("m-1", {"text": "Fix it."}), STEP | {"toolCalls": [CALL]}]}
    entries = read(document, file=MAIN.removesuffix("l"))
    assert texts(entries) == [SAID[1], *SAID[2:6]]
    assert [entry.evidence.end - entry.evidence.start for entry in entries[1:2]] == [
        len(line(user("m-1", {"text": "Fix it."})))
    ]


def test_what_the_client_says_beside_the_conversation_is_a_mark() -> None:
    entries = read(
        HEAD,
        {"id": "i", "timestamp": "2026-01-02T03:04:06Z", "type": "info", "content": "Update available"},
        {"id": "e", "timestamp": "2026-01-02T03:04:07Z", "type": "error", "content": [{"text": "Quota"}]},
        {"$set": {"summary": "Fix add", "memoryScratchpad": {"a": 1}}},
        {"other": True},
    )
    assert [(entry.mark, entry.text, entry.data) for entry in entries[1:3]] == [
        ("note", "Update available", {"type": "info"}),
        ("error", "Quota", {"type": "error"}),
    ]
    assert entries[3].about == {"title": "Fix add"}
    assert [entry.data for entry in entries[4:]] == [{"$set": {"memoryScratchpad": {"a": 1}}}, {"other": True}]


def test_media_are_referred_to() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    address = {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://x"}}
    (turn,) = [entry.turn for entry in read(HEAD, user("m-1", picture, address, {"video": 1})) if entry.turn]
    sha256 = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
    assert turn.parts[:2] == (
        Media("image", "image/png", 2, sha256),
        Media("document", "application/pdf", url="gs://x"),
    )
    assert [type(part).__name__ for part in turn.parts] == ["Media", "Media", "Unknown"]


def test_a_line_that_is_no_json_is_a_note_and_an_empty_one_nothing() -> None:
    entries = feed(Reader("src_1", MAIN), ['{"id": "m', "", " "])
    assert [(entry.mark, entry.text) for entry in entries] == [("note", '{"id": "m')]


@given(st.lists(ODD, max_size=5))
def test_no_json_breaks_it(values: list[object]) -> None:
    read(*values)


@given(st.lists(st.text(), max_size=5))
def test_no_text_breaks_it(lines: list[str]) -> None:
    feed(Reader("src_1", MAIN), lines)


@given(st.lists(st.integers(0, 7), min_size=8, max_size=30))
def test_however_often_lines_are_written_again_nothing_is_said_twice(extra: list[int]) -> None:
    records = chat()
    entries = read(*records, *(records[index] for index in extra if index != 1))
    assert texts(entries) == SAID
    calls = [part for entry in entries if entry.turn for part in entry.turn.parts if isinstance(part, ToolCall)]
    thoughts = [part for entry in entries if entry.turn for part in entry.turn.parts if isinstance(part, Thinking)]
    assert (len(calls), len(thoughts)) == (1, 1)


def test_an_id_of_a_call_is_the_one_that_is_sent() -> None:
    logged = "read_file__c-1"
    answer = {"functionResponse": ANSWER["functionResponse"] | {"id": logged}}
    call = CALL | {"id": logged, "result": [answer]}
    entries = read(HEAD, STEP | {"toolCalls": [call]}, user("m-3", answer))
    parts = [part for entry in entries for part in (entry.turn.parts if entry.turn else ())]

    assert [part.call_id for part in parts if isinstance(part, ToolCall | ToolResult)] == ["c-1", "c-1"]
