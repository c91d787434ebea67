"""Lines of agents' own logs, nested and flat, read as events."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blackbox.events.comments import RawEvent
from blackbox.formats import convert
from blackbox.formats.companion import from_companion
from blackbox.formats.flight import Loss, Reading
from blackbox.formats.recognise import Form
from blackbox.write.render import render_event

TIME = "2026-03-01T09:00:00.5+00:00"


def read(*lines: dict[str, Any]) -> Reading:
    return from_companion("".join(json.dumps(line) + "\n" for line in lines).encode())


def rendered(*lines: dict[str, Any]) -> list[str]:
    return [render_event(entry.event, entry.meta) for entry in read(*lines).flight.entries]


def assistant(block: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [block], "stop_reason": None, **more}
    return {"type": "assistant", "message": message, "timestamp": TIME}


def user(content: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}}


INIT = {
    "type": "system",
    "message": {
        "subtype": "init",
        "session_id": "b05e",
        "model": "m1",
        "cwd": "/srv/app",
        "claude_code_version": "2.0.7",
        "tools": ["Bash", "Read"],
        "mcp_servers": [{"name": "docs", "status": "connected"}],
        "skills": ["notes"],
        "permissionMode": "default",
        "plugins": [{"name": "x"}],
        "betas": None,
    },
    "timestamp": TIME,
}


@pytest.mark.requirement("DUAL-10")
def test_init_is_the_header_the_start_and_the_model() -> None:
    reading = read(INIT)
    assert reading.flight.header == {
        "format": "rlog/1",
        "id": "b05e",
        "model": "m1",
        "cwd": "/srv/app",
        "client_version": "2.0.7",
        "mcp": ["docs"],
        "skills": ["notes"],
        "extra.tools": ["Bash", "Read"],
        "extra.permissionMode": "default",
        "extra.plugins": '[{"name":"x"}]',
    }
    assert rendered(INIT, INIT) == [f"@start id=b05e ts={TIME}", *[f"@init model=m1 ts={TIME}"] * 2]


@pytest.mark.requirement("DUAL-10")
def test_nested_calls_results_text_and_thinking() -> None:
    usage = {"input_tokens": 2, "output_tokens": 3, "cache_read_input_tokens": 15, "cache_creation_input_tokens": 11}
    assert rendered(
        INIT,
        assistant({"type": "thinking", "thinking": "hm", "signature": "Ck9h"}, model="m1", usage=usage),
        assistant({"type": "text", "text": "I look."}, model="m1", usage=usage),
        assistant(
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls -l", "timeout": 5}},
            model="m2",
            usage=usage,
        ),
        user([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a\nb"}]),
        user([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Exit code 2", "is_error": True}]),
        user([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}, {"n": 1}]}]),
        user("and then?"),
        user([{"type": "text", "text": "so?"}]),
    )[2:] == [
        f"th: hm id=msg_1 sig=Ck9h tokens_in=2 tokens_out=3 tokens_cached=15 tokens_cache_create=11 ts={TIME}",
        f"a: I look. id=msg_1 ts={TIME}",
        f't!:Bash id=toolu_1 command="ls -l" timeout=5 model=m2 ts={TIME} → [running]',
        "o: id=toolu_1 → [ok] a\n  b",
        "o: id=toolu_1 → [error] Exit code 2",
        'o: id=t → [ok] x\n  {"n":1}',
        "u: and then?",
        "u: so?",
    ]


@pytest.mark.requirement("DUAL-10")
def test_tokens_count_once_a_message() -> None:
    usage = {"input_tokens": 2, "output_tokens": 3}
    entries = read(
        assistant({"type": "text", "text": "a"}, usage=usage),
        assistant({"type": "text", "text": "b"}, usage=usage),
        assistant({"type": "text", "text": "c"}, usage=usage, id="msg_2"),
    ).flight.entries
    assert [entry.meta.get("tokens_out") for entry in entries] == ["3", None, "3"]


@pytest.mark.requirement("DUAL-09")
def test_the_flat_form_of_the_founding_page() -> None:
    time = "2025-12-22T10:00:0"
    assert rendered(
        {"type": "user", "message": {"content": "Fix the login bug"}, "timestamp": f"{time}0Z"},
        {"type": "assistant", "message": {"content": "I'll investigate..."}, "timestamp": f"{time}5Z"},
        {"type": "tool_use", "tool": "Read", "input": {"file_path": "src/auth.rs"}, "timestamp": f"{time}6Z"},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "[file contents...]", "timestamp": f"{time}7Z"},
    ) == [
        f"u: Fix the login bug ts={time}0Z",
        f"a: I'll investigate... ts={time}5Z",
        f"t!:Read id=toolu_1 file_path=src/auth.rs ts={time}6Z → [running]",
        f"o: id=toolu_1 ts={time}7Z → [ok] [file contents...]",
    ]


@pytest.mark.requirement("DUAL-06", "DUAL-09")
def test_the_header_of_a_sub_agent() -> None:
    began = "2025-12-22T10:05:00Z"
    header = {
        "type": "header",
        "session_id": "sub-abc123",
        "parent_session": "123456-task-name",
        "agent_type": "explore",
        "started_at": began,
    }
    assert read(header).flight.header == {
        "format": "rlog/1",
        "id": "sub-abc123",
        "extra.parent_session": "123456-task-name",
        "extra.agent_type": "explore",
        "extra.started_at": began,
    }
    assert rendered(header) == [f"@start id=sub-abc123 ts={began}"]


@pytest.mark.requirement("DUAL-10")
def test_the_last_line_has_the_totals() -> None:
    message = {
        "subtype": "success",
        "result": "Done.",
        "total_cost_usd": 0.0125,
        "duration_ms": 65000,
        "num_turns": 4,
        "usage": {"input_tokens": 9, "output_tokens": 8},
    }
    assert rendered({"type": "result", "message": message}) == [
        '@end summary="Done." cost=$0.0125 duration=1m5s turns=4 tokens_in=9 tokens_out=8'
    ]
    said = assistant({"type": "text", "text": "Done."})
    assert "summary" not in rendered(said, {"type": "result", "message": message})[1]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "queue-operation", "operation": "enqueue"},
        {"type": "system", "message": {"subtype": "compact_boundary"}},
        {"type": "user", "message": {"content": 5}},
        {"type": "user", "message": {"content": ["x"]}},
        {"no": "type"},
        {"type": "assistant"},
    ],
)
def test_what_has_no_line_is_kept_as_it_was(line: dict[str, Any]) -> None:
    reading = read(line)
    (entry,) = reading.flight.entries
    assert isinstance(entry.event, RawEvent)
    assert entry.event.value == line
    assert reading.losses == [Loss("unknown-lines", 1, (1,))]


def test_blocks_that_have_no_line_are_kept_as_they_were() -> None:
    image = {"type": "image", "source": {"data": "aGk="}}
    first, second = read(user([image, {"type": "text", "text": "see"}])).flight.entries
    assert isinstance(first.event, RawEvent)
    assert first.event.value == image
    assert render_event(second.event) == "u: see"


@pytest.mark.requirement("DUAL-10")
def test_what_each_line_says_of_the_session_is_its_header() -> None:
    about = {
        "sessionId": "s1",
        "version": "2.1.0",
        "gitBranch": "main",
        "cwd": "/srv",
        "uuid": "u1",
        "parentUuid": None,
    }
    reading = read({**user("hi"), **about}, {**user("ho"), **about})
    assert reading.flight.header == {
        "format": "rlog/1",
        "id": "s1",
        "client_version": "2.1.0",
        "branch": "main",
        "cwd": "/srv",
    }
    assert reading.losses == []


def test_fields_that_a_log_has_no_place_for_are_named() -> None:
    reading = read(
        {**user("hi"), "userType": "external"}, assistant({"type": "text", "text": "a"}, stop_reason="end")
    )
    assert reading.losses == [Loss("native-fields", 2, (1, 2))]


_KEYS = st.sampled_from(
    [
        *(
            "type",
            "message",
            "content",
            "timestamp",
            "uuid",
            "parentUuid",
            "id",
            "model",
            "usage",
            "text",
            "thinking",
        ),
        *(
            "signature",
            "name",
            "input",
            "tool",
            "tool_use_id",
            "is_error",
            "subtype",
            "header",
            "session_id",
            "t",
            "bbox",
        ),
        *(
            "as",
            "joined",
            "result",
            "total_cost_usd",
            "duration_ms",
            "num_turns",
            "input_tokens",
            "_",
            "r",
            "n",
            "a",
            "c",
        ),
    ]
)
_LEAVES = st.sampled_from(
    [
        *(
            "user",
            "assistant",
            "system",
            "result",
            "tool_use",
            "tool_result",
            "header",
            "init",
            "event",
            "text",
            "x",
            "",
        ),
        *("thinking", "o", "t", "t!", "#", "@", "Task", "u", None, True, 5, -1, 1.5, 10**20),
    ]
)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5), max_leaves=12
)


_OBJECTS = st.dictionaries(_KEYS, _VALUES, max_size=5)
_BLOCKS = st.builds(
    lambda kind, rest: {**rest, "type": kind},
    st.sampled_from(["text", "thinking", "tool_use", "tool_result", "image"]),
    _OBJECTS,
)
_MESSAGES = st.builds(
    lambda rest, content, subtype: {**rest, "content": content, "subtype": subtype},
    _OBJECTS,
    _VALUES | st.lists(_BLOCKS, max_size=3),
    st.sampled_from(["init", "event", "x"]),
)
_LINES = st.builds(
    lambda rest, kind, message: {**rest, "type": kind, "message": message},
    _OBJECTS,
    st.sampled_from(["user", "assistant", "system", "result", "tool_use", "tool_result", "header"]),
    _MESSAGES,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_LINES | _OBJECTS, max_size=4))
def test_any_object_is_read_and_can_be_written_in_every_form(lines: list[dict[str, Any]]) -> None:
    flight = read(*lines).flight
    for form in Form:
        texts = convert.write(flight, form).texts
        assert all(text.encode() for text in texts.values())


@pytest.mark.parametrize("value", [-1, 10**20, True, "x", None])
def test_totals_that_are_none_do_no_harm(value: object) -> None:
    message = {"duration_ms": value, "total_cost_usd": value, "num_turns": "x", "usage": value}
    (line,) = rendered({"type": "result", "message": message})
    assert line.startswith("@end")
