"""The log of Claude Code in canonical words."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Origin, Reply, Role, Settings, Text, Thinking, ToolCall, ToolResult, Usage
from tests.blackbird.canon.natives.reading import JSON, Line, marks, parts, read

FILE = "/home/dev/.claude/projects/-code/0b0e0000-0000-4000-8000-000000000001.jsonl"
PACK = "<blackbird-context>\nlearned\n</blackbird-context>"
SESSION = "0b0e0000-0000-4000-8000-000000000001"
BASE: dict[str, Any] = {
    "isSidechain": False,
    "cwd": "/code",
    "version": "2.1.197",
    "gitBranch": "main",
    "sessionId": SESSION,
    "timestamp": "2026-11-16T01:27:12.329Z",
}
USAGE: dict[str, Any] = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 7,
    "cache_read_input_tokens": 1622,
    "output_tokens": 102,
    "cache_creation": {"ephemeral_1h_input_tokens": 5, "ephemeral_5m_input_tokens": 2},
}
COUNTED = Usage(input=10, cache_read=1622, cache_write=7, cache_write_1h=5, output=102)


def user(uuid: str, content: object, follows: str | None = None, **more: object) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": uuid, "parentUuid": follows, "message": message, **BASE, **more}


def assistant(uuid: str, block: object, follows: str | None = None, **more: object) -> dict[str, Any]:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": [block],
        "stop_reason": "tool_use",
        "usage": USAGE,
    }
    told = {"type": "assistant", "uuid": uuid, "parentUuid": follows, "requestId": "req_1", "message": message}
    return {**told, **BASE, **more}


def claude(*lines: Line) -> list[Any]:
    return read("claude-code", FILE, lines)


def test_a_line_that_was_copied_says_from_where() -> None:
    told = {"sessionId": "s0", "messageUuid": "u0"}
    lines = [user("u1", "Hi"), user("u2", "Hi", forkedFrom=told), user("u3", "Hi", forkedFrom="s0")]
    assert [entry.copied_from for entry in claude(*lines)] == [None, "s0", None]


def test_a_user_line_has_words_ids_time_and_facts() -> None:
    (entry,) = claude(user("u1", "Fix the test. «ünïcode»"))

    assert (entry.session, entry.thread, entry.key, entry.follows) == (SESSION, None, "u1", None)
    assert entry.at == 1794792432329000000
    assert entry.turn is not None
    assert entry.turn.role is Role.USER
    assert parts(entry) == [Text("Fix the test. «ünïcode»")]
    assert entry.origin is None
    assert entry.about == {"client": "Claude Code", "cwd": "/code", "version": "2.1.197", "branch": "main"}


def test_facts_are_told_when_they_change() -> None:
    _, same, moved = claude(user("u1", "a"), user("u2", "b"), user("u3", "c", gitBranch="fix", slug="a-b-c"))

    assert same.about == {}
    assert moved.about == {"branch": "fix", "slug": "a-b-c"}


def test_each_line_of_a_response_names_it() -> None:
    entries = claude(
        assistant("a1", {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}),
        assistant("a2", {"type": "text", "text": "Reading."}, "a1"),
        assistant("a3", {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "a"}}, "a2"),
    )

    whole = Reply(response_id="msg_1", model="claude-opus-4-8", stop_reason="tool_use", usage=COUNTED)
    assert [entry.reply for entry in entries] == [whole] * 3
    assert [parts(entry) for entry in entries] == [
        [Thinking("Hm.", "c2ln")],
        [Text("Reading.")],
        [ToolCall("Read", "toolu_1", {"path": "a"}, '{"path":"a"}')],
    ]
    assert [entry.follows for entry in entries] == [None, "a1", "a2"]
    assert {entry.provider_request for entry in entries} == {"req_1"}
    assert {entry.settings for entry in entries} == {Settings(model="claude-opus-4-8")}


def test_usage_that_grew_while_a_response_streamed_is_told_again() -> None:
    first = assistant("a1", {"type": "text", "text": "a"})
    last = assistant("a2", {"type": "text", "text": "b"}, "a1")
    first["message"] = {**first["message"], "stop_reason": None, "usage": {**USAGE, "output_tokens": 3}}

    early, late = claude(first, last)

    assert early.reply.usage.output == 3
    assert late.reply == Reply(response_id="msg_1", model="claude-opus-4-8", stop_reason="tool_use", usage=COUNTED)


def test_results_have_the_details_that_the_client_keeps() -> None:
    def result(text: str, *, error: bool = False) -> list[dict[str, Any]]:
        return [{"type": "tool_result", "tool_use_id": "toolu_1", "content": text, "is_error": error}]

    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
    told: list[Any] = [
        ("Exit code 2\nno", True, "Error: Exit code 2\nno"),
        ("out", False, {"stdout": "out", "stderr": "warned", "interrupted": True, "durationMs": 12}),
        ("done", False, {"filePath": "/code/a", "structuredPatch": [hunk], "originalFile": "a"}),
        ("1\ta", False, {"type": "text", "file": {"filePath": "/code/a", "content": "a"}}),
        ("no", True, "User rejected tool use"),
    ]
    entries = claude(*(user("u", result(text, error=error), toolUseResult=kept) for text, error, kept in told))

    results = [entry.turn.parts[0] for entry in entries]
    assert all(isinstance(result, ToolResult) for result in results)
    assert [result.details for result in results] == [
        {"exit_code": 2},
        {"is_interrupted": True, "duration_ms": 12, "stdout": "out", "stderr": "warned"},
        {"path": "/code/a", "patch": "--- /code/a\n+++ /code/a\n@@ -1,1 +1,1 @@\n-a\n+b\n"},
        {"path": "/code/a"},
        {"is_rejected": True},
    ]
    assert [result.error for result in results] == [True, False, False, False, True]


def test_the_result_of_a_sub_agent_links_its_thread_to_the_call() -> None:
    block = {"type": "tool_result", "tool_use_id": "toolu_7", "content": "done"}
    kept = {"status": "completed", "agentId": "a735", "agentType": "Explore", "totalDurationMs": 4326}

    result, link = claude(user("u1", [block], toolUseResult=kept))

    assert result.turn.parts[0].details == {"thread": "a735", "duration_ms": 4326}
    assert (link.thread, link.call_id, link.kind) == ("a735", "toolu_7", "Explore")
    assert (link.turn, link.mark, link.key) == (None, None, None)


def test_a_sub_agents_file_names_its_session_and_thread() -> None:
    file = f"/home/dev/.claude/projects/-code/{SESSION}/subagents/agent-a735.jsonl"
    meta = {"type": "agent-meta", "agentType": "Explore", "description": "look", "toolUseId": "toolu_7"}
    link, first = read("claude-code", file, [meta, user("u1", "look around", isSidechain=True, agentId="a735")])

    assert (link.session, link.thread, link.call_id, link.kind) == (SESSION, "a735", "toolu_7", "Explore")
    assert link.data == {"description": "look"}
    assert (first.session, first.thread) == (SESSION, "a735")


def test_old_sidechains_are_threads_by_their_first_line() -> None:
    entries = claude(
        user("u1", "main"),
        user("s1", "one", isSidechain=True),
        user("t1", "two", isSidechain=True),
        assistant("s2", {"type": "text", "text": "of one"}, "s1", isSidechain=True),
        assistant("t2", {"type": "text", "text": "of two"}, "t1", isSidechain=True),
        assistant("u2", {"type": "text", "text": "of main"}, "u1"),
    )

    assert [entry.thread for entry in entries] == [
        None,
        "sidechain-s1",
        "sidechain-t1",
        "sidechain-s1",
        "sidechain-t1",
        None,
    ]


def test_what_the_client_says_in_a_users_name_is_not_theirs() -> None:
    typed, told, meta, summary, stopped = claude(
        user("t1", "Fix it", origin={"kind": "human"}),
        user("t2", "A task is done", origin={"kind": "task-notification"}),
        user("u1", "Caveat: …", isMeta=True),
        user("u2", "This session is being continued …", isCompactSummary=True),
        user("u3", [{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
    )

    assert (typed.origin, told.origin) == (None, Origin.CLIENT)
    assert [meta.origin, summary.origin] == [Origin.CLIENT, Origin.SUMMARY]
    # What its words tell of is known where all words are read, from the wire and from logs.
    assert (stopped.origin, stopped.mark, stopped.key) == (None, None, "u3")


def test_what_the_client_says_in_the_models_place_is_no_response() -> None:
    refused = assistant("a1", {"type": "text", "text": "API Error: 529 Overloaded"})
    refused["message"]["model"] = "<synthetic>"
    refused |= {"isApiErrorMessage": True, "error": "server_error", "apiErrorStatus": 529}
    silent = assistant("a2", {"type": "text", "text": "No response requested."})
    silent["message"]["model"] = "<synthetic>"

    error, words = claude(refused, silent)

    assert (error.mark, error.text) == ("error", "API Error: 529 Overloaded")
    assert error.data == {"code": "server_error", "status": 529}
    assert (error.turn, error.reply, words.reply) == (None, None, None)
    assert words.origin is Origin.CLIENT


def test_a_compaction_goes_on_from_where_it_was() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "uuid": "c1",
        "parentUuid": None,
        "logicalParentUuid": "a9",
        "compactMetadata": {"trigger": "auto", "preTokens": 155000, "postTokens": 8000},
        **BASE,
    }

    (mark,) = claude(boundary)

    assert (mark.mark, mark.text, mark.key, mark.follows) == ("compact", "Conversation compacted", "c1", "a9")
    assert mark.data == {"trigger": "auto", "tokens_before": 155000, "tokens_after": 8000}


def test_hooks_and_queued_words() -> None:
    def attached(**fields: object) -> dict[str, Any]:
        return {"type": "attachment", "uuid": "t1", "attachment": fields, **BASE}

    hook, pack, queued, told, other = claude(
        attached(type="hook_additional_context", content=["one", "two"], hookEvent="SessionStart"),
        attached(type="hook_additional_context", content=[PACK, "two"]),
        attached(type="queued_command", prompt="also the docs", commandMode="prompt"),
        attached(type="queued_command", prompt="task done", commandMode="task-notification"),
        attached(type="task_reminder", content=[], itemCount=0),
    )

    assert (hook.turn.role, hook.origin, parts(hook)) == (Role.SYSTEM, Origin.CLIENT, [Text("one\ntwo")])
    assert (pack.origin, parts(pack)) == (Origin.PACK, [Text(PACK), Text("two")])
    assert (queued.turn.role, queued.origin, parts(queued)) == (Role.USER, Origin.USER, [Text("also the docs")])
    assert told.origin is Origin.CLIENT
    assert (other.mark, other.text, other.key) == ("note", "task_reminder", "t1")
    assert other.data == {"type": "task_reminder", "content": [], "itemCount": 0}


def test_lines_beside_the_conversation_are_marks() -> None:
    entries = claude(
        {"type": "queue-operation", "operation": "enqueue", "content": "next", "sessionId": SESSION},
        {
            "type": "file-history-snapshot",
            "messageId": "u1",
            "snapshot": {"trackedFileBackups": {"b.py": {}, "a.py": {}}},
        },
        {"type": "mode", "mode": "plan", "sessionId": SESSION},
        {"type": "mode", "mode": "plan", "sessionId": SESSION},
        {"type": "permission-mode", "permissionMode": "acceptEdits", "sessionId": SESSION},
        {"type": "ai-title", "aiTitle": "Fix the test", "sessionId": SESSION},
        {"type": "summary", "summary": "An older talk", "leafUuid": "elsewhere"},
        {"type": "system", "subtype": "api_error", "error": {"error": {"error": {"message": "Overloaded"}}}},
        {"type": "pr-link", "prNumber": 7},
        "{broken",
    )

    assert marks(entries) == [
        ("queue", "next"),
        ("snapshot", ""),
        ("mode", "plan"),
        ("mode", "acceptEdits"),
        ("title", "Fix the test"),
        ("title", "An older talk"),
        ("error", "Overloaded"),
        ("note", "pr-link"),
        ("note", "{broken"),
    ]
    assert entries[0].data == {"operation": "enqueue"}
    assert entries[1].data == {"message": "u1", "files": ["a.py", "b.py"]}
    assert (entries[3].mark, entries[3].turn, entries[3].about) == (None, None, {})
    assert [entry.about.get("title") for entry in entries if entry.mark == "title"] == ["Fix the test", None]
    assert entries[8].data == {"type": "pr-link", "prNumber": 7}


def test_a_mode_that_is_first_told_later_was_no_change() -> None:
    said = {"type": "user", "uuid": "u1", "sessionId": SESSION, "message": {"role": "user", "content": "Hi"}}
    entries = claude(
        said,
        {"type": "mode", "mode": "normal", "sessionId": SESSION},
        {"type": "mode", "mode": "normal", "sessionId": SESSION},
        {"type": "mode", "mode": "plan", "sessionId": SESSION},
    )
    assert marks(entries) == [("note", "mode"), ("mode", "plan")]
    assert entries[1].data == {"type": "mode", "mode": "normal", "sessionId": SESSION}


def test_progress_of_a_sub_agent_names_its_call() -> None:
    note, link = claude(
        {"type": "progress", "parentToolUseID": "toolu_7", "data": {"type": "agent_progress", "agentId": "a735"}}
    )

    assert (note.mark, note.text) == ("note", "progress")
    assert (link.thread, link.call_id) == ("a735", "toolu_7")


def test_half_a_character_spoils_no_line() -> None:
    line = json.dumps(user("u1", "cut here: X")).replace("X", "\\ud83d")

    (entry,) = read("claude-code", FILE, [line], is_checked=False)

    assert parts(entry) == [Text("cut here: \ufffd")]


TYPES = [
    "user",
    "assistant",
    "attachment",
    "system",
    "summary",
    "mode",
    "permission-mode",
    "queue-operation",
    "file-history-snapshot",
    "agent-meta",
    "progress",
    "ai-title",
    "custom-title",
]
FIELDS = [
    "message",
    "attachment",
    "toolUseResult",
    "subtype",
    "uuid",
    "parentUuid",
    "sessionId",
    "agentId",
    "isSidechain",
    "isMeta",
    "snapshot",
    "data",
    "compactMetadata",
    "error",
    "permissionMode",
    "mode",
    "leafUuid",
    "timestamp",
]


@given(st.text())
def test_any_line_gives_something(text: str) -> None:
    entries = claude(text)

    assert bool(entries) == bool(text.strip())


@given(st.sampled_from(TYPES), st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5))
def test_any_fields_give_something(kind: str, fields: dict[str, Any]) -> None:
    assert claude({"type": kind, **fields})
