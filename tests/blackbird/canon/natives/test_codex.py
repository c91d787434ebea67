"""The log of Codex in canonical words."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Origin, Reply, Role, Settings, Text, Thinking, ToolCall, ToolResult, Usage
from tests.blackbird.canon.natives.reading import JSON, SOURCE, Line, marks, parts, read

THREAD = "01a1e1f6-e6d0-73d1-9957-daaf87030ee3"
FILE = f"/home/dev/.codex/sessions/2026/11/16/rollout-2026-11-16T01-26-57-{THREAD}.jsonl"
META: dict[str, Any] = {
    "id": THREAD,
    "timestamp": "2026-11-16T01:26:57.148Z",
    "cwd": "/code",
    "cli_version": "0.166.0",
    "git": {"commit_hash": "55d2215", "branch": "main", "repository_url": "git@example.com:a/b.git"},
}


def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-11-16T01:26:58.081Z", "type": kind, "payload": payload}


def item(**payload: Any) -> dict[str, Any]:
    return line("response_item", payload)


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **payload})


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(type="message", role=role, content=[{"type": kind, "text": text}], **more)


def tokens(given: int, cached: int, got: int, reasoning: int = 0) -> dict[str, int]:
    return {
        "input_tokens": given,
        "cached_input_tokens": cached,
        "output_tokens": got,
        "reasoning_output_tokens": reasoning,
    }


def codex(*lines: Line) -> list[Any]:
    return read("codex", FILE, lines)


def test_the_first_line_tells_of_the_session_and_its_instructions() -> None:
    about, system = codex(line("session_meta", {**META, "base_instructions": {"text": "You are an agent."}}))

    assert (about.session, about.thread, about.parent_thread) == (THREAD, None, None)
    assert about.at == 1794792417148000000
    assert about.about == {
        "client": "Codex",
        "version": "0.166.0",
        "cwd": "/code",
        "sha": "55d2215",
        "branch": "main",
        "repository": "git@example.com:a/b.git",
    }
    assert (system.turn.role, system.origin, parts(system)) == (
        Role.SYSTEM,
        Origin.SYSTEM,
        [Text("You are an agent.")],
    )


def test_a_sub_agent_names_its_session_and_parent() -> None:
    spawn = {"parent_thread_id": "parent", "depth": 1, "agent_nickname": "Darwin", "agent_role": "explorer"}
    new = {**META, "id": "child", "session_id": "root", "source": {"subagent": {"thread_spawn": spawn}}}
    old = {**META, "id": "child", "source": {"subagent": "review"}, "parent_thread_id": "parent"}

    (newer, words) = codex(line("session_meta", new), said("user", "look"))
    (older,) = codex(line("session_meta", old))

    assert (newer.session, newer.thread, newer.parent_thread, newer.kind) == ("root", "child", "parent", "explorer")
    assert (words.session, words.thread, words.parent_thread, words.kind) == ("root", "child", "parent", "explorer")
    assert (older.session, older.thread, older.parent_thread, older.kind) == ("parent", "child", "parent", "review")


def test_a_fork_keeps_its_own_id() -> None:
    forked = {**META, "forked_from_id": "before"}
    first, copied = codex(line("session_meta", forked), line("session_meta", {**META, "id": "before"}))

    assert first.data["forked_from"] == "before"
    assert (copied.session, copied.mark, copied.text) == (THREAD, "note", "session_meta")


def test_items_are_turns_and_their_events_say_nothing_new() -> None:
    entries = codex(
        said("user", "Fix it.", id="msg_u"),
        event("user_message", message="Fix it."),
        event("agent_reasoning", text="Hm."),
        item(
            type="reasoning", id="rs_1", summary=[{"type": "summary_text", "text": "Hm."}], encrypted_content="eA=="
        ),
        event("agent_message", message="Reading."),
        said("assistant", "Reading.", id="msg_a"),
        item(type="function_call", id="fc_1", name="exec_command", arguments='{"cmd": "ls"}', call_id="call_1"),
        said("developer", "rules"),
    )
    told = [entry for entry in entries if entry.turn is not None]

    assert [entry.mark for entry in entries] == [None] * len(entries)
    assert len(entries) - len(told) == 3
    assert [entry.turn.role.value for entry in told] == ["user", "assistant", "assistant", "assistant", "system"]
    assert [entry.key for entry in told][:4] == ["msg_u", "rs_1", "msg_a", "fc_1"]
    assert [parts(entry) for entry in told] == [
        [Text("Fix it.")],
        [Thinking("Hm.")],
        [Text("Reading.")],
        [ToolCall("exec_command", "call_1", {"cmd": "ls"}, '{"cmd": "ls"}')],
        [Text("rules")],
    ]


def test_newer_logs_say_whose_words_a_message_holds() -> None:
    def passthrough(*kinds: dict[str, Any]) -> dict[str, Any]:
        return {"content_item_metadata": [{"provenance": kind} for kind in kinds]}

    name = "internal_chat_message_metadata_passthrough"
    entries = codex(
        said("user", "a", **{name: passthrough({"type": "user"})}),
        said("user", "b", **{name: passthrough({"type": "harness", "hook": False})}),
        said("user", "c", **{name: passthrough({"type": "harness", "hook": True})}),
        said("user", "d", **{name: passthrough({"type": "user"}, {"type": "harness"})}),
        said("user", "e"),
    )

    assert [entry.origin for entry in entries] == [Origin.USER, Origin.CLIENT, None, None, None]


def test_each_response_is_counted_once_by_records() -> None:
    usage = tokens(5240, 1000, 149, 20)
    entries = codex(
        line("turn_context", {"model": "gpt-5.2-codex", "effort": "high", "cwd": "/code"}),
        said("assistant", "a"),
        line("token_usage_record", {"response_id": "resp_1", "usage": usage}),
        event("token_count", info={"total_token_usage": usage, "last_token_usage": usage}),
        event("token_count", info={"total_token_usage": usage, "last_token_usage": usage}, rate_limits={"p": 1}),
    )

    counted = Usage(input=4240, cache_read=1000, output=149, reasoning=20)
    assert [entry.reply for entry in entries if entry.reply] == [
        Reply(response_id="resp_1", model="gpt-5.2-codex", usage=counted)
    ]
    assert entries[1].settings == Settings(model="gpt-5.2-codex", effort="high")
    assert entries[0].about == {"cwd": "/code", "model": "gpt-5.2-codex"}


def test_each_response_is_counted_once_by_counts() -> None:
    first, second = tokens(100, 10, 5), tokens(200, 150, 7)
    total = tokens(300, 160, 12)
    entries = codex(
        event("token_count", info=None),
        event("token_count", info={"total_token_usage": first, "last_token_usage": first}),
        event("token_count", info={"total_token_usage": first, "last_token_usage": first}),
        event("token_count", info={"total_token_usage": total, "last_token_usage": second}),
    )

    assert [entry.reply.usage for entry in entries if entry.reply] == [
        Usage(input=90, cache_read=10, output=5),
        Usage(input=50, cache_read=150, output=7),
    ]


def test_a_count_before_its_items_is_told_behind_them() -> None:
    first, second = tokens(100, 10, 5), tokens(200, 150, 7)
    entries = codex(
        said("user", "Fix it."),
        event("token_count", info={"total_token_usage": first, "last_token_usage": first}),
        said("assistant", "Reading."),
        item(type="function_call", name="shell", arguments="{}", call_id="1"),
        output("1", "text"),
        event("token_count", info={"total_token_usage": second, "last_token_usage": second}),
        said("assistant", "Done."),
    )
    told = [
        entry.reply.usage.output if entry.reply is not None else entry.turn.role.value
        for entry in entries
        if entry.reply is not None or entry.turn is not None
    ]

    assert told == ["user", "assistant", "assistant", 5, "user", "assistant", 7]


def output(call: str, text: str, **more: Any) -> dict[str, Any]:
    return item(type="function_call_output", call_id=call, output=text, **more)


def results(*lines: Line) -> list[ToolResult]:
    turns = (entry.turn for entry in codex(*lines) if entry.turn is not None)
    return [part for turn in turns for part in turn.parts if isinstance(part, ToolResult)]


def test_results_say_how_a_command_ended() -> None:
    wrapped = json.dumps({"output": "no\n", "metadata": {"exit_code": 2, "duration_seconds": 0.1}})
    found = results(
        output("1", "Chunk ID: 5\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nExit code: 0"),
        output("2", "Exit code: 0\nWall time: 1 seconds\nOutput:\nhi"),
        output("3", wrapped),
        output("4", "Wall time: 0.1 seconds\naborted by user"),
        output("5", "unsupported call: spawn_agent"),
    )

    assert [result.details for result in found] == [
        {"exit_code": 1},
        {"exit_code": 0},
        {"exit_code": 2},
        {"is_interrupted": True},
        {},
    ]
    assert [result.error for result in found] == [True, False, True, None, None]
    assert found[2].text == wrapped


def test_events_before_a_result_are_its_details() -> None:
    change = {
        "/code/a": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"},
        "/code/n": {"add": {"content": "x\n"}},
    }
    command = {"type": "CommandExecution", "id": "1", "exit_code": 3, "duration": {"secs": 1, "nanos": 6500000}}
    tool = {"type": "McpToolCall", "id": "3", "result": {"content": [], "isError": True}}
    found = results(
        event("item_completed", item=command),
        event("patch_apply_end", call_id="2", success=True, stdout="", stderr="careful", changes=change),
        event("item_completed", item=tool),
        event("mcp_tool_call_end", call_id="4", result={"Err": "gone"}),
        *(output(call, "text") for call in "1234"),
    )

    assert [result.details for result in found] == [
        {"exit_code": 3, "duration_ms": 1006},
        {
            "stdout": "",
            "stderr": "careful",
            "path": "/code/a, /code/n",
            "patch": "--- /code/a\n+++ /code/a\n@@ -1 +1 @@\n-a\n+b\n--- /code/n\n+++ /code/n\n@@ -0,0 +1,1 @@\n+x\n",
        },
        {},
        {},
    ]
    assert [result.error for result in found] == [True, False, True, True]


def test_an_end_without_a_result_is_told_at_the_end() -> None:
    nothing, left = codex(event("exec_command_end", call_id="9", exit_code=137))

    assert (nothing.turn, nothing.mark) == (None, None)
    assert (left.mark, left.data) == ("note", {"call": "9", "exit_code": 137})


def test_commands_that_a_script_ran_are_told_each_by_the_line_of_its_end() -> None:
    commands = [{"type": "CommandExecution", "id": f"exec-{code}", "exit_code": code} for code in (0, 1)]
    *_, first, second, complete, one, other = codex(
        *(event("item_completed", item=command) for command in commands), event("task_complete")
    )

    assert complete.text == "task_complete"
    assert [told.data for told in (one, other)] == [
        {"call": "exec-0", "exit_code": 0},
        {"call": "exec-1", "exit_code": 1},
    ]
    assert [told.evidence for told in (one, other)] == [told.evidence for told in (first, second)]
    assert [told.at for told in (one, other)] == [told.at for told in (first, second)] != [None, None]


def test_a_call_that_started_a_thread_is_linked_to_it() -> None:
    spawned = {
        "type": "CollabAgentToolCall",
        "id": "call_7",
        "tool": "spawn_agent",
        "sender_thread_id": THREAD,
        "receiver_thread_ids": ["child"],
    }
    ended = {"call_id": "call_8", "sender_thread_id": THREAD, "new_thread_id": "other", "new_agent_role": "worker"}
    newer, older = codex(event("item_completed", item=spawned), event("collab_agent_spawn_end", **ended))

    assert (newer.thread, newer.parent_thread, newer.call_id, newer.kind) == ("child", THREAD, "call_7", None)
    assert (older.thread, older.parent_thread, older.call_id, older.kind) == ("other", THREAD, "call_8", "worker")


def test_a_compaction_is_told_once_with_its_summary() -> None:
    mark, summary, again, silent = codex(
        line("compacted", {"message": "So far: all good.", "replacement_history": [{}, {}]}),
        event("context_compacted"),
        event("context_compacted"),
    )

    assert (mark.mark, mark.data) == ("compact", {"retained": 2})
    assert (summary.turn.role, summary.origin, parts(summary)) == (
        Role.USER,
        Origin.SUMMARY,
        [Text("So far: all good.")],
    )
    assert (again.mark, silent.mark) == (None, "compact")


def test_turns_that_were_taken_back_are_a_branch() -> None:
    *_, after = codex(
        said("user", "one", id="u1"),
        event("user_message", message="one"),
        said("assistant", "first", id="a1"),
        said("user", "two", id="u2"),
        event("user_message", message="two"),
        said("assistant", "second"),
        event("thread_rolled_back", num_turns=1),
        said("user", "three", id="u3"),
    )

    assert (after.key, after.follows) == ("u3", "a1")


def test_settings_that_change_are_marks() -> None:
    def context(model: str, sandbox: str) -> dict[str, Any]:
        return line("turn_context", {"model": model, "sandbox_policy": {"type": sandbox}, "approval_policy": "never"})

    entries = codex(context("gpt-5", "read-only"), context("gpt-5", "read-only"), context("gpt-6", "workspace-write"))

    assert marks(entries) == [("model", "gpt-6"), ("mode", "workspace-write")]
    assert entries[-1].data == {"sandbox": "workspace-write"}
    assert [entry.about for entry in entries[:3]] == [
        {"model": "gpt-5", "sandbox": "read-only"},
        {},
        {"model": "gpt-6", "sandbox": "workspace-write"},
    ]


def test_events_beside_the_conversation_are_marks() -> None:
    entries = codex(
        event("turn_aborted", reason="interrupted"),
        event("error", message="stream disconnected"),
        event("thread_name_updated", thread_name="Fix it"),
        event("task_started", turn_id="1"),
        item(type="ghost_snapshot", ghost_commit={"id": "abc"}),
        item(type="hologram", x=1),
        line("world_state", {"full": True}),
        "[1, 2",
    )

    assert marks(entries) == [
        ("interrupt", "interrupted"),
        ("error", "stream disconnected"),
        ("title", "Fix it"),
        ("note", "task_started"),
        ("snapshot", ""),
        ("note", "hologram"),
        ("note", "world_state"),
        ("note", "[1, 2"),
    ]
    assert entries[2].about == {"title": "Fix it"}
    assert entries[6].data == {"full": True}


def test_the_first_versions_wrote_bare_items() -> None:
    about, system, words, state = codex(
        {"id": "old", "timestamp": "2025-06-01T10:00:00.000Z", "instructions": "Be brief."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"record_type": "state"},
    )

    assert (about.session, about.at) == ("old", 1748772000000000000)
    assert parts(system) == [Text("Be brief.")]
    assert (words.session, parts(words)) == ("old", [Text("hi")])
    assert words.key == f"{SOURCE}:{words.evidence.offset}"
    assert (state.mark, state.data) == ("note", {"record_type": "state"})


@given(st.text())
def test_any_line_gives_something(text: str) -> None:
    assert bool(codex(text)) == bool(text.strip())


KINDS = ["session_meta", "turn_context", "response_item", "event_msg", "compacted", "token_usage_record", "other"]
EVENTS = [
    "token_count",
    "item_completed",
    "patch_apply_end",
    "mcp_tool_call_end",
    "thread_rolled_back",
    "collab_agent_spawn_end",
    "message",
    "function_call_output",
    "compaction",
]
FIELDS = ["item", "info", "usage", "call_id", "changes", "result", "duration", "num_turns", "message", "content"]
FIELDS += ["source", "git", "sandbox_policy", "role", "output", "id", "new_thread_id", "base_instructions"]


@given(st.sampled_from(KINDS), st.sampled_from(EVENTS), st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5))
def test_any_fields_give_something(kind: str, inner: str, fields: dict[str, Any]) -> None:
    assert codex(line(kind, {"type": inner, **fields}))
