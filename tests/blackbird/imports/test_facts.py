"""What a log says of itself at a glance."""

import json
from pathlib import PurePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.imports import facts as glances
from blackbird.imports.facts import Facts

UUID = "6f0c8a52-95a7-4d5e-8d4c-0f1f8f3f9f10"
NOON = 1_794_830_400_000_000_000
TIME = "2026-11-16T12:00:00Z"


def learnt(format_name: str, *lines: dict[str, Any] | str) -> Facts:
    facts = Facts()
    for line in lines:
        glances.take(facts, format_name, line if isinstance(line, str) else json.dumps(line))
    return facts


def known(found: Facts) -> tuple[str | None, str | None, int | None, int | None, str | None, int]:
    return found.session, found.thread, found.first_at, found.last_at, found.title, found.messages


def test_claude_code() -> None:
    def line(kind: str, content: object, second: int, **more: object) -> dict[str, Any]:
        time = f"2026-11-16T12:00:{second:02}Z"
        return {"type": kind, "sessionId": UUID, "timestamp": time, "message": {"content": content}} | more

    found = learnt(
        "claude-code",
        {"type": "mode", "sessionId": UUID},
        line("user", "not the user's", 0, isMeta=True),
        line("user", "<system-reminder>nor these</system-reminder>", 1),
        line("user", [{"type": "text", "text": "<x>"}, {"type": "text", "text": "mend\n the  lamp"}], 2),
        line("assistant", [{"type": "thinking", "thinking": "hm"}], 3),
        line("assistant", [{"type": "text", "text": "done"}], 3),
        line("assistant", [{"type": "tool_use", "name": "Bash", "input": {}}], 3),
        line("user", [{"type": "tool_result", "content": "ok"}], 3),
        line("assistant", "Overloaded", 3, isApiErrorMessage=True),
        line("user", "what was said so far", 3, isCompactSummary=True),
        line("user", "thanks", 4),
    )
    assert known(found) == (UUID, None, NOON, NOON + 4_000_000_000, "mend the lamp", 3)


@pytest.mark.parametrize(
    ("format_name", "line"),
    [
        ("qwen-code", {"cwd": "/lamp"}),
        ("gemini-cli", {"projectHash": "/lamp"}),
        ("gemini-cli", {"directories": ["/lamp", "/other"]}),
        ("codex", {"type": "session_meta", "payload": {"id": "c", "cwd": "/lamp"}}),
        ("codex", {"type": "turn_context", "payload": {"cwd": "/lamp"}}),
        ("opencode", {"table": "session", "directory": "/lamp"}),
    ],
)
def test_the_folder_that_an_agent_worked_in_is_the_first(format_name: str, line: dict[str, Any]) -> None:
    later = json.dumps(line).replace("/lamp", "/elsewhere")
    assert learnt(format_name, {"sessionId": "q"}, line, later).folder == "/lamp"


def test_a_folder_counts_more_than_its_digest() -> None:
    context = "<session_context>\n- **Workspace Directories:**\n  - /srv/lamp\n  - /srv/other\n</session_context>"
    told = {"$set": {"messages": [{"id": "0", "type": "user", "content": [{"text": context}]}]}}
    digest = {"sessionId": "g", "projectHash": "a1" * 32}
    assert learnt("gemini-cli", digest).folder == "a1" * 32
    assert learnt("gemini-cli", digest, told, digest).folder == "/srv/lamp"
    quoted = {"id": "1", "type": "user", "content": f"it says {context}"}
    assert learnt("gemini-cli", digest, quoted).folder == "a1" * 32


def test_codex_names_the_session_of_a_sub_agent() -> None:
    meta = {"session_id": "root", "id": "child", "parent_thread_id": "root"}
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "mend the lamp"}]}
    context = message | {"content": [{"type": "input_text", "text": "<environment_context>"}]}
    found = learnt(
        "codex",
        {"timestamp": TIME, "type": "session_meta", "payload": meta},
        {"timestamp": TIME, "type": "response_item", "payload": context},
        {"timestamp": TIME, "type": "response_item", "payload": message},
        {"timestamp": TIME, "type": "event_msg", "payload": {"type": "user_message", "message": "mend the lamp"}},
        {"timestamp": TIME, "type": "response_item", "payload": message | {"role": "developer"}},
        {"timestamp": TIME, "type": "response_item", "payload": message | {"role": "assistant"}},
    )
    assert known(found) == ("root", "child", NOON, NOON, "mend the lamp", 2)


def test_gemini_states_messages_anew() -> None:
    user = {"id": "1", "timestamp": TIME, "type": "user", "content": [{"text": "mend the lamp"}]}
    wrapper = user | {"content": [{"text": "<session_context>"}]}
    agent = {"id": "2", "timestamp": TIME, "type": "gemini", "content": "Looking.", "thoughts": [{"subject": "x"}]}
    silent = {"id": "3", "timestamp": TIME, "type": "gemini", "content": "", "toolCalls": [{"id": "c"}]}
    result = {"id": "4", "timestamp": TIME, "type": "user", "content": [{"functionResponse": {"id": "c"}}]}
    chat = [wrapper | {"id": "0"}, user, agent, silent, result]
    head = {"sessionId": "g", "startTime": TIME}
    found = learnt("gemini-cli", head, *chat, agent | {"toolCalls": []}, {"$set": {"messages": chat}})
    assert known(found) == ("g", None, NOON, NOON, "mend the lamp", 2)
    assert known(learnt("gemini-cli", head | {"messages": chat})) == known(found)


def test_what_was_counted_before_is_not_counted_again() -> None:
    found = Facts(messages=2, heard_until=NOON)
    for second, key in ((0, "1"), (1, "2"), (1, "2")):
        time = f"2026-11-16T12:00:{second:02}Z"
        line = {"id": key, "timestamp": time, "type": "gemini", "content": "Looking."}
        glances.take(found, "gemini-cli", json.dumps(line))
    assert found.messages == 3


def test_qwen_code_keeps_words_in_parts() -> None:
    def line(kind: str, *parts: dict[str, Any]) -> dict[str, Any]:
        return {"type": kind, "sessionId": "q", "timestamp": TIME, "message": {"role": "x", "parts": list(parts)}}

    found = learnt(
        "qwen-code",
        line("user", {"text": "mend the lamp"}),
        line("assistant", {"text": "Hm.", "thought": True}, {"functionCall": {"name": "x"}}),
        line("assistant", {"text": "Done."}),
        line("tool_result", {"functionResponse": {"name": "x"}}),
    )
    assert known(found) == ("q", None, NOON, NOON, "mend the lamp", 2)


def test_markdown() -> None:
    text = (
        f"# head\n<!-- Claude Code Session {UUID} (x) -->\n_**User**_\n\nmend the lamp\nnow\n\n"
        "_**Agent**_\n\ndone\n\n"
        '_**Agent**_\n\n<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\nls\n</details></tool-use>\n'
        "\n"
        "_**User**_\n\n<local-command-stdout>x</local-command-stdout>\n"
    )
    assert known(learnt("specstory", text)) == (UUID, None, None, None, "mend the lamp", 2)


def spoken(*turns: tuple[str, str], header: str = "2026-11-16 12:00:00Z") -> str:
    head = f"# {header}\n\n<!-- Claude Code Session {UUID} ({header}) -->\n\n"
    return head + "".join(f"_**{who}**_\n\n{words}\n\n---\n\n" for who, words in turns)


def test_times_of_markdown_are_those_of_its_header_and_turns() -> None:
    text = spoken(
        ("User (2026-11-16 12:00:00Z)", "mend the lamp of 2019-01-01T00:00:00Z"),
        ("Agent (some-model 2026-11-16T12:00:03.500Z)", "done at 2030-01-01T00:00:00Z"),
        ("User (2026-11-16 13:00+0100)", "thanks"),
    )
    assert known(learnt("specstory", text)) == (
        UUID,
        None,
        NOON,
        NOON + 3_500_000_000,
        "mend the lamp of 2019-01-01T00:00:00Z",
        3,
    )


@pytest.mark.parametrize(
    "quoted",
    [
        "```\n_**User (2030-01-01 00:00:00Z)**_\n```",
        "````md\n```\n_**User (2030-01-01 00:00:00Z)**_\n```\n````",
        "earlier:\n\n_**User (2019-01-01 00:00:00Z)**_\n\nquoted",
    ],
)
def test_quoted_turns_of_markdown_say_nothing(quoted: str) -> None:
    found = learnt("specstory", spoken(("User (2026-11-16 12:00:00Z)", f"mend the lamp\n{quoted}")))
    assert known(found) == (UUID, None, NOON, NOON, "mend the lamp", 1)


def test_a_fence_that_is_never_closed_hides_no_turn() -> None:
    text = spoken(
        ("User (2026-11-16 12:00:00Z)", "mend\n```sh\nnever closed"),
        ("Agent (m 2026-11-16 12:00:01Z)", "```py\nx\n```"),
        ("User (2026-11-16 12:00:02Z)", "thanks"),
    )
    assert known(learnt("specstory", text)) == (UUID, None, NOON, NOON + 2_000_000_000, "mend", 3)


COMMAND = (
    "<command-message>{0}</command-message>\n<command-name>/{0}</command-name>\n<command-args>{1}</command-args>"
)
CAVEAT = "<local-command-caveat>Caveat: x</local-command-caveat>"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ([COMMAND.format("review", "151"), "## Context"], "/review 151"),
        (["<command-name>/review</command-name>", "## Context"], "/review"),
        ([CAVEAT, COMMAND.format("review", "7"), "<local-command-stderr>no</local-command-stderr>"], "/review 7"),
        ([COMMAND.format("model", ""), "<local-command-stdout>ok</local-command-stdout>", "mend it"], "mend it"),
        ([COMMAND.format("exit", ""), "<local-command-stdout>bye</local-command-stdout>", CAVEAT], "/exit"),
        ([CAVEAT], None),
    ],
)
def test_a_command_is_a_title_too(said: list[str], title: str | None) -> None:
    turns = [("User (2026-11-16 12:00:00Z)", words) for words in said]
    assert learnt("specstory", spoken(*turns)).title == title


def test_a_flight_log() -> None:
    found = learnt("bbox", "id: sess_1", "agent: pelican", "u: mend the lamp id=m1 step=2", f"a: done ts={TIME}")
    assert known(found) == ("sess_1", None, NOON, NOON, "mend the lamp", 2)
    assert found.client == "pelican"


@pytest.mark.parametrize(
    "quoted",
    [
        "o: id=c1 → 21|lamp|2025-12-20T17:41:39Z",
        "t:Bash id=c1 cmd=date → 2025-12-20T17:41:39Z",
        "u: since 2025-12-20T17:41:39Z it is dark",
        "  it was 2025-12-20T17:41:39Z ts=2025-12-20T17:41:39Z",
        "# seen 2025-12-20T17:41:39Z",
    ],
)
def test_a_time_that_is_quoted_in_a_flight_log_is_not_its_own(quoted: str) -> None:
    found = learnt("bbox", f"@start id=s ts={TIME}", quoted)
    assert (found.first_at, found.last_at) == (NOON, NOON)


def test_a_header_is_at_the_start_of_a_flight_log() -> None:
    found = learnt("bbox", "agent: unknown", "id: s", "u: mend", "agent: gannet", "id: t")
    assert (found.session, found.client) == ("s", None)


def test_a_flight_log_of_a_sub_agent_belongs_to_its_parent() -> None:
    found = learnt("bbox", "id: sub_1", "extra.parent_session: sess_1")
    assert (found.session, found.thread) == ("sess_1", "sub_1")


def test_a_companion_names_its_agent_and_a_sub_agent_its_parent() -> None:
    init = {"subtype": "init", "session_id": "s", "header": {"id": "s", "agent": "pelican"}}
    found = learnt("companion", {"type": "system", "message": init, "timestamp": TIME, "sessionId": "s"})
    assert found == Facts("s", None, NOON, NOON, client="pelican")
    head = {"type": "header", "session_id": "sub-1", "parent_session": "s", "started_at": TIME}
    words = {"type": "user", "sessionId": "sub-1", "message": {"role": "user", "content": "look"}}
    assert known(learnt("companion", head, words)) == ("s", "sub-1", NOON, NOON, "look", 1)


def test_rows_of_a_database() -> None:
    row = {"time_created": NOON // 1_000_000, "time_updated": NOON // 1_000_000 + 5}
    part = {"table": "part", "message_id": "m1", "data": {"type": "text", "text": "mend it"}} | row
    found = learnt(
        "opencode",
        {"table": "session", "title": "mend the lamp"} | row,
        {"table": "message", "id": "m1"} | row,
        part,
        part | {"id": "p2"},
        {"table": "message", "id": "m2"} | row,
        part | {"message_id": "m2", "data": {"type": "tool"}},
        part | {"message_id": "m2", "data": {"type": "text", "text": "Read the file", "synthetic": True}},
        part | {"message_id": "m3", "data": {"type": "text", "text": ""}},
    )
    assert known(found) == (None, None, NOON, NOON + 5_000_000, "mend the lamp", 1)


def test_the_short_form_of_a_log() -> None:
    found = learnt(
        "companion", {"t": "u", "c": "mend the lamp", "ts": TIME}, {"t": "t", "n": "x"}, {"t": "a", "c": "ok"}
    )
    assert known(found) == (None, None, NOON, NOON, "mend the lamp", 2)


@pytest.mark.parametrize(
    ("format_name", "path", "session", "thread"),
    [
        ("claude-code", f"/p/-lamp/{UUID}.jsonl", UUID, None),
        ("claude-code", f"/p/-lamp/{UUID}/subagents/agent-a1.jsonl", UUID, "a1"),
        ("claude-code", "/p/-lamp/agent-a1.jsonl", None, "a1"),
        ("claude-code", "/backup/notes.jsonl", None, None),
        ("codex", f"/s/2026/11/16/rollout-2026-11-16T01-25-02-{UUID}.jsonl", UUID, None),
        ("gemini-cli", "/t/lamp/chats/session-1.jsonl", None, None),
        ("gemini-cli", f"/t/lamp/chats/{UUID}/x1.jsonl", UUID, "x1"),
        ("bbox", f"/x/{UUID}.bbox", None, None),
    ],
)
def test_what_a_name_tells(format_name: str, path: str, session: str | None, thread: str | None) -> None:
    found = glances.of_path(format_name, PurePath(path))
    assert (found.session, found.thread) == (session, thread)


def test_a_title_fits_into_a_line() -> None:
    assert glances.shorten("x" * 120) == "x" * 120
    assert glances.shorten("x" * 121) == "x" * 119 + "…"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "timestamp", "message", "payload", "content", "$set", "id"]), inner
        )
    ),
    max_leaves=8,
)


@given(st.sampled_from(["claude-code", "codex", "gemini-cli", "opencode", "specstory", "bbox", "companion"]), JSON)
def test_no_line_is_too_odd(format_name: str, value: object) -> None:
    learnt(format_name, json.dumps(value))
    learnt(format_name, json.dumps({"type": "user", "message": value, "$set": value, "payload": value}))
