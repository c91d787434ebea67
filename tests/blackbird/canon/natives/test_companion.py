"""The JSON lines beside a flight log in canonical words."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Reply, Role, Settings, Text, ToolCall, ToolResult, Usage
from blackbird.canon.seen import Entry
from blackbox.document.document import parse
from blackbox.formats.companion import to_companion
from blackbox.formats.flight import flight_of
from blackbox.formats.shortkeys import to_jsonl
from tests.blackbird.canon.natives.reading import JSON, SOURCE, Line, marks, parts, read

FILE = "/logs/20251222/123456-task-name.jsonl"
LOG = """---
format: bbox/1
id: sess_1
repo_sha: 55d2215
model: opus
---
@start id=sess_1 ts=2025-12-23T10:00:00Z
u: Fix it. id=u1
th: Hm. sig=c2ln
a: Reading. id=a1 tokens_in=2 tokens_out=9 tokens_cached=100
t:read a.py id=c1 → [ok] 12 lines latency_ms=40
t!:Bash cmd="cargo test" id=c2 tid=2 → [running]
o: id=c2 tid=2 → [err: failed]
x:explore "find it" id=c3 → [started]
@compact reason="full" tokens_before=180000 tokens_after=8000
q: "Which?" options=[A,B] id=c5 → [selected: A]
"""


def companion(*lines: Line) -> list[Any]:
    return read("companion", FILE, lines)


def test_the_nested_form() -> None:
    usage = {"input_tokens": 2, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 3}
    message = {"id": "msg_1", "role": "assistant", "model": "sonnet", "usage": usage}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Exit code 2", "is_error": True}
    init, words, called, result = companion(
        {
            "type": "system",
            "message": {
                "subtype": "init",
                "session_id": "s1",
                "model": "sonnet",
                "cwd": "/code",
                "claude_code_version": "2.0.76",
                "tools": ["Bash"],
            },
            "timestamp": "2025-12-23T17:26:44.639287041+00:00",
        },
        {"type": "assistant", "message": {**message, "content": [{"type": "text", "text": "Looking."}]}},
        {"type": "assistant", "message": {**message, "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [answer]}},
    )

    assert (init.session, init.at) == ("s1", 1766510804639287041)
    assert init.about == {"version": "2.0.76", "cwd": "/code", "model": "sonnet"}
    assert init.data == {"tools": ["Bash"]}
    assert words.reply == Reply(
        response_id="msg_1", model="sonnet", usage=Usage(input=2, cache_read=100, cache_write=5, output=3)
    )
    assert (called.reply, called.settings) == (words.reply, Settings(model="sonnet"))
    assert parts(words) == [Text("Looking.")]
    assert parts(called) == [ToolCall("Bash", "toolu_1", {"command": "ls"}, '{"command":"ls"}')]
    assert parts(result) == [ToolResult("toolu_1", "Exit code 2", True, details={"exit_code": 2})]
    assert [entry.session for entry in (words, called, result)] == ["s1"] * 3


def test_the_flat_form_joins_a_call_with_the_id_of_its_result() -> None:
    user, agent, call, result = companion(
        {"type": "user", "message": {"content": "Fix the bug"}, "timestamp": "2025-12-22T10:00:00Z"},
        {"type": "assistant", "message": {"content": "I'll look."}, "timestamp": "2025-12-22T10:00:05Z"},
        {"type": "tool_use", "tool": "Read", "input": {"path": "a"}, "timestamp": "2025-12-22T10:00:06Z"},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "text", "timestamp": "2025-12-22T10:00:07Z"},
    )

    assert (user.session, user.turn.role, parts(user)) == ("123456-task-name", Role.USER, [Text("Fix the bug")])
    assert (agent.turn.role, parts(agent)) == (Role.ASSISTANT, [Text("I'll look.")])
    assert (call.at, parts(call)) == (
        1766397606000000000,
        [ToolCall("Read", "toolu_1", {"path": "a"}, '{"path":"a"}')],
    )
    assert result.turn.parts[0].call_id == "toolu_1"
    assert result.turn.parts[0].text == "text"


def test_a_flat_call_without_a_result_is_told_all_the_same() -> None:
    first, second = companion({"type": "tool_use", "tool": "Read"}, {"type": "tool_use", "name": "Grep", "id": "t2"})
    (alone,) = companion({"type": "tool_use", "tool": "Read"})

    assert parts(first) == parts(alone) == [ToolCall("Read", None, {})]
    assert parts(second) == [ToolCall("Grep", "t2", {})]


def test_a_message_may_be_a_text() -> None:
    (entry,) = companion({"type": "user", "message": "Fix it"})

    assert parts(entry) == [Text("Fix it")]


def test_a_sub_agents_file_names_its_parent() -> None:
    header, words = companion(
        {
            "type": "header",
            "session_id": "sub-abc123",
            "parent_session": "123456-task-name",
            "agent_type": "explore",
            "started_at": "2025-12-22T10:05:00Z",
        },
        {"type": "assistant", "message": {"content": "found"}},
    )

    assert header.at == 1766397900000000000
    assert [(entry.session, entry.thread, entry.kind) for entry in (header, words)] == [
        ("123456-task-name", "sub-abc123", "explore")
    ] * 2


def test_the_report_of_a_sub_agent_names_its_file_and_says_its_words() -> None:
    block = {"type": "tool_result", "tool_use_id": "c1", "content": 'session_id=sub-c1 summary="All is\\nwell."'}
    report = {"type": "user", "message": {"content": [block]}, "bbox": {"as": "raw", "t": "x", "n": "explore"}}
    # Its words are escaped twice: they stand nowhere as they are.
    result, link = read("companion", FILE, [report], is_checked=False)

    assert parts(result) == [ToolResult("c1", "All is\nwell.", False)]
    assert (link.thread, link.call_id, link.turn) == ("sub-c1", "c1", None)


def test_a_call_and_a_result_that_were_one_line_took_their_time() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "c1", "content": "no result was recorded"}
    time = {"timestamp": "2025-12-22T10:00:00Z"}
    joined = {"joined": True, "latency_ms": 40}
    called, result = companion(
        {"type": "assistant", "message": {"content": [call]}, "bbox": joined, **time},
        {"type": "user", "message": {"content": [answer]}, **time},
    )
    assert (result.at - called.at, result.turn.parts[0].details) == (40_000_000, {"duration_ms": 40})

    (alone,) = companion(
        {"type": "assistant", "message": {"content": [call]}},
        {"type": "user", "message": {"content": [answer]}, "bbox": {"as": "skip"}},
    )
    assert isinstance(alone.turn.parts[0], ToolCall)


def test_what_went_into_a_cache_for_an_hour_is_told_beside_the_message() -> None:
    message = {"id": "m", "content": "x", "usage": {"cache_creation_input_tokens": 9}}
    bbox = {"extra.cache_creation_1h_input_tokens": "4"}
    (entry,) = companion({"type": "assistant", "message": message, "bbox": bbox})

    assert entry.reply.usage == Usage(cache_write=9, cache_write_1h=4)


def test_words_of_a_call_s_sub_agent_are_its_thread() -> None:
    (entry,) = companion({"type": "assistant", "message": {"content": "found"}, "parent_tool_use_id": "toolu_7"})

    assert (entry.thread, entry.call_id) == ("call-toolu_7", "toolu_7")


def test_lines_without_a_home_are_notes() -> None:
    entries = companion(
        {"type": "result", "total_cost_usd": 0.5, "usage": {"input_tokens": 9}},
        {"type": "system", "message": {"subtype": "status", "x": 1}},
        {"type": "user", "message": {"content": []}},
        "{",
    )

    assert marks(entries) == [("note", "result"), ("note", "status"), ("note", "user"), ("note", "{")]
    assert entries[0].reply is None
    assert entries[0].data["total_cost_usd"] == 0.5


def told(entries: list[Entry]) -> list[Any]:
    """What entries say, apart from where; calls without an id are named by their line, which differs."""
    said: list[Any] = []
    for entry in entries:
        if entry.turn is not None:
            said += [(entry.thread, part) for part in parts(entry)]
        elif entry.mark is not None:
            said.append((entry.thread, entry.mark, entry.text, entry.data))
    return said


def test_our_own_companion_says_what_its_log_says() -> None:
    document = parse(LOG.encode())
    lines = to_companion(flight_of(document).flight).splitlines()
    ours = read("companion", FILE, lines, is_checked=False)
    log = read("bbox", FILE, LOG.splitlines())

    assert ours[0].about == {"sha": "55d2215", "model": "opus"}
    assert {entry.session for entry in ours} == {"sess_1"}
    assert [thread_of(item) for item in told(ours)] == [thread_of(item) for item in told(log)]
    assert [
        part for _, part in (item for item in told(ours) if len(item) == 2) if not isinstance(part, ToolCall)
    ] == [part for _, part in (item for item in told(log) if len(item) == 2) if not isinstance(part, ToolCall)]
    results = [part for entry in ours if entry.turn for part in entry.turn.parts if isinstance(part, ToolResult)]
    assert [result.details for result in results if result.call_id == "c1"] == [{"duration_ms": 40}]
    assert [entry.reply.usage for entry in ours if entry.reply is not None] == [
        Usage(input=2, cache_read=100, output=9)
    ]


def test_the_short_key_form_says_what_its_log_says() -> None:
    lines = to_jsonl(flight_of(parse(LOG.encode())).flight).splitlines()
    header, *short = read("companion", FILE, lines, is_checked=False)
    _, *log = read("bbox", FILE, LOG.splitlines())

    assert (header.session, header.about) == ("sess_1", {"sha": "55d2215", "model": "opus"})
    assert told(short) == told(log)
    assert [entry.reply for entry in short] == [entry.reply for entry in log]
    assert [entry.at for entry in short] == [entry.at for entry in log]


def thread_of(item: Any) -> Any:
    """The thread, and what kind of thing was said in it; of a call its id, too."""
    part = item[1]
    return (item[0], type(part).__name__, getattr(part, "call_id", part if isinstance(part, str) else None))


def test_every_line_of_an_example_is_told() -> None:
    document = parse(Path("examples/feature-session.bbox").read_bytes())
    lines = to_companion(flight_of(document).flight).splitlines()

    entries = read("companion", "feature.jsonl", lines, is_checked=False)

    assert len(entries) >= len(lines)
    assert SOURCE not in {entry.session for entry in entries}


@given(st.text())
def test_any_line_gives_something(text: str) -> None:
    assert bool(companion(text)) == bool(text.strip())


KINDS = ["system", "user", "assistant", "result", "tool_use", "tool_result", "header", "other"]
FIELDS = ["message", "subtype", "bbox", "sessionId", "uuid", "content", "input", "tool", "id", "header", "timestamp"]
EVENTS = ["u", "a", "th", "td", "t", "t!", "t~", "o", "s", "p", "m", "r", "x", "c", "q", "@", "#"]
KEYS = ["c", "n", "a", "r", "q", "s", "m", "v", "id", "tid", "ts", "bbox", "escape", "metrics", "comment"]


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5))
def test_any_fields_give_something(kind: str, fields: dict[str, Any]) -> None:
    assert companion({"type": kind, **fields})


@given(st.sampled_from(EVENTS), st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4))
def test_any_event_gives_something(kind: str, fields: dict[str, Any]) -> None:
    message = {"subtype": "event", "t": kind, **fields}

    assert read("companion", FILE, [{"type": "system", "message": message}], is_checked=False)
    assert read("companion", FILE, [{"t": kind, **fields}], is_checked=False)
