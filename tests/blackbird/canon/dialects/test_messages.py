"""Anthropic Messages in canonical words: whole, in events, cut, failed; each text in its place."""

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon import streams
from blackbird.canon.dialects import messages
from blackbird.canon.model import (
    Failure,
    Media,
    Outcome,
    Refusal,
    Reply,
    Role,
    Settings,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)
from blackbird.canon.seen import Slice
from tests.blackbird.canon import bodies
from tests.blackbird.canon.bodies import compact, events, indented, is_beginning, spaced
from tests.blackbird.canon.dialects.placed import bare

PIXEL = b"\x89PNG not really"
HEAD: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": []}
START = {**HEAD, "stop_reason": None}
USAGE = {
    "input_tokens": 11,
    "cache_creation_input_tokens": 30,
    "cache_read_input_tokens": 500,
    "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
    "output_tokens": 1,
}


def start(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", **fields}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def end(reason: str, **usage: int) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


STREAM = [
    {"type": "message_start", "message": {**START, "usage": USAGE}},
    {"type": "ping"},
    start(0, {"type": "thinking", "thinking": "", "signature": ""}),
    delta(0, "thinking", thinking="I think "),
    delta(0, "thinking", thinking="thinking"),
    delta(0, "signature", signature="c2ln"),
    stop(0),
    start(1, {"type": "redacted_thinking", "data": "ZW5j"}),
    stop(1),
    start(2, {"type": "text", "text": ""}),
    delta(2, "text", text='So "text" \\ it\n'),
    delta(2, "text", text="text"),
    delta(2, "text", text="😀ä"),
    stop(2),
    start(3, {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}),
    delta(3, "input_json", partial_json=""),
    delta(3, "input_json", partial_json='{"comm'),
    delta(3, "input_json", partial_json='and": "ls"}'),
    stop(3),
    start(4, {"type": "tool_use", "id": "toolu_2", "name": "Now", "input": {}}),
    stop(4),
    *end("tool_use", output_tokens=42),
]
WORDS = 'So "text" \\ it\ntext😀ä'


@pytest.mark.requirement("CANON-07")
@pytest.mark.parametrize("spell", [compact, spaced])
def test_a_stream(spell: bodies.Spell) -> None:
    found = bodies.reply(messages, events(STREAM, spell))
    thinking, encrypted, text, call, bare = found.parts
    assert isinstance(thinking, Thinking)
    assert (thinking.text, thinking.signature, len(thinking.spans)) == ("I think thinking", "c2ln", 2)
    assert encrypted == Thinking("", "ZW5j", is_encrypted=True)
    assert isinstance(text, Text)
    assert (text.text, len(text.spans)) == (WORDS, 3)
    assert isinstance(call, ToolCall)
    assert (call.name, call.call_id, call.raw) == ("Bash", "toolu_1", '{"command": "ls"}')
    assert call.arguments == {"command": "ls"}
    assert bare == ToolCall("Now", "toolu_2", {})
    assert found.outcome is Outcome.COMPLETE
    assert (found.response_id, found.model, found.stop_reason) == ("msg_1", "m-1", "tool_use")
    assert found.usage == Usage(input=11, cache_read=500, cache_write=30, cache_write_1h=20, output=42)


@pytest.mark.requirement("CANON-09")
@pytest.mark.parametrize("spell", [compact, spaced, indented])
def test_the_same_as_one_document(spell: bodies.Spell) -> None:
    content = [
        {"type": "thinking", "thinking": "I think thinking", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZW5j"},
        {"type": "text", "text": WORDS, "citations": [{"type": "char_location", "cited_text": WORDS}]},
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
        {"type": "tool_use", "id": "toolu_2", "name": "Now", "input": {}},
    ]
    usage = {**USAGE, "output_tokens": 42}
    body = spell({**START, "content": content, "stop_reason": "tool_use", "usage": usage})
    whole = bodies.reply(messages, body)
    streamed = bodies.reply(messages, events(STREAM))
    assert [type(part) for part in whole.parts] == [type(part) for part in streamed.parts]
    assert [getattr(part, "text", getattr(part, "arguments", None)) for part in whole.parts] == [
        getattr(part, "text", getattr(part, "arguments", None)) for part in streamed.parts
    ]
    assert (whole.outcome, whole.usage, whole.stop_reason) == (Outcome.COMPLETE, streamed.usage, "tool_use")
    assert (whole.response_id, whole.model) == ("msg_1", "m-1")


def test_the_last_usage_counts() -> None:
    last = end("end_turn", output_tokens=9, input_tokens=70, cache_read_input_tokens=80)
    found = bodies.reply(messages, events([STREAM[0], *last]))
    assert found.usage == Usage(input=70, cache_read=80, cache_write=30, cache_write_1h=20, output=9)


def test_tools_that_the_provider_runs() -> None:
    result: dict[str, Any] = {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [
            {"type": "web_search_result", "title": "A page", "url": "http://a/", "encrypted_content": "x" * 99},
            {"type": "web_search_result", "title": "B", "url": "http://b/"},
        ],
    }
    refused: dict[str, Any] = {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_2",
        "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
    }
    ran: dict[str, Any] = {
        "type": "bash_code_execution_tool_result",
        "tool_use_id": "srvtoolu_3",
        "content": {"type": "bash_code_execution_result", "stdout": "out", "stderr": "", "return_code": 0},
    }
    found = bodies.reply(
        messages,
        events(
            [
                STREAM[0],
                start(0, {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
                delta(0, "input_json", partial_json='{"query":"q"}'),
                stop(0),
                *(start(index, block) for index, block in enumerate((result, refused, ran), 1)),
                *end("end_turn"),
            ]
        ),
    )
    call, *results = found.parts
    assert isinstance(call, ToolCall)
    assert (call.name, call.is_hosted, call.arguments) == ("web_search", True, {"query": "q"})
    assert [(part.call_id, part.text, part.error) for part in results if isinstance(part, ToolResult)] == [
        ("srvtoolu_1", "A page\nhttp://a/\nB\nhttp://b/", False),
        ("srvtoolu_2", "max_uses_exceeded", True),
        ("srvtoolu_3", "out", False),
    ]


@pytest.mark.requirement("CANON-11")
def test_an_error_in_the_stream() -> None:
    failure = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    found = bodies.reply(messages, events([*STREAM[:11], failure]))
    assert found.outcome is Outcome.ERROR
    assert found.failure == Failure("overloaded_error", "Overloaded")
    assert bodies.words(found.parts[-1]) == 'So "text" \\ it\n'


@pytest.mark.requirement("CANON-11")
@pytest.mark.parametrize(
    ("body", "status", "failure"),
    [
        (
            compact({"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}),
            429,
            Failure("rate_limit_error", "slow"),
        ),
        (b"<html>Bad gateway</html>", 502, Failure("502", "<html>Bad gateway</html>")),
        (b"", 500, Failure("500", "")),
        (compact({"error": {"type": "x", "message": "in a good status"}}), 200, Failure("x", "in a good status")),
        (compact({"detail": "no such route"}), 404, Failure("404", "no such route")),
        (compact({"error": "why"}), 400, Failure("400", "why")),
    ],
)
def test_errors(body: bytes, status: int, failure: Failure) -> None:
    assert bodies.reply(messages, body, status) == Reply(outcome=Outcome.ERROR, failure=failure)


@pytest.mark.requirement("CANON-11")
def test_arguments_that_were_cut_are_none() -> None:
    found = bodies.reply(messages, events(STREAM[:17]))
    call = found.parts[-1]
    assert isinstance(call, ToolCall)
    assert (call.arguments, call.raw) == (None, '{"comm')
    assert found.outcome is Outcome.CUT
    begun = bodies.reply(messages, events(STREAM[:15])).parts[-1]
    assert begun == ToolCall("Bash", "toolu_1", None)


def test_deltas_whose_start_is_missing() -> None:
    found = bodies.reply(messages, events([delta(0, "text", text="late"), {"type": "new_event"}, b"not json"]))
    text, odd = found.parts
    assert bodies.words(text) == "late"
    assert odd == Unknown("unknown", 8, 126, 134)


def test_a_refusal() -> None:
    details = {"type": "refusal", "category": "x", "explanation": "I must not."}
    last = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}
    found = bodies.reply(messages, events([STREAM[0], last, {"type": "message_stop"}]))
    assert found.stop_reason == "refusal"
    assert [(type(part), bodies.words(part)) for part in found.parts] == [(Refusal, "I must not.")]
    whole = bodies.reply(messages, compact({**START, "stop_reason": "refusal", "stop_details": details}))
    assert [bodies.words(part) for part in whole.parts] == ["I must not."]


def test_a_count_spends_nothing() -> None:
    assert bodies.reply(messages, b'{"input_tokens": 12}') == Reply()
    assert bodies.reply(messages, b'{"what": 1}') == Reply(parts=(Unknown("unknown", 11, 0, 11),))


@given(st.integers(0, len(events(STREAM))))
@pytest.mark.requirement("CANON-11")
def test_a_cut_answer_is_the_beginning_of_the_whole(size: int) -> None:
    body = events(STREAM)
    whole, cut = bodies.reply(messages, body), bodies.reply(messages, body[:size])
    assert is_beginning(cut.parts, whole.parts)
    # The last event is there when all but its blank line is.
    assert cut.outcome is (Outcome.COMPLETE if size >= len(body) - 2 else Outcome.CUT)


@given(st.binary(), st.sampled_from([None, 200, 500]))
def test_any_bytes(body: bytes, status: int | None) -> None:
    found = streams.split(body, None)
    messages.reply(found.pieces, status=status, is_cut=found.is_cut)
    messages.ask(body, "")
    messages.turns(Slice(body, 0))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["type", "role", "content", "text", "index", "delta", "content_block", "message", "usage", "input", "source"]
    ), inner, max_size=4),
    max_leaves=15,
)  # fmt: skip


@given(VALUES, VALUES)
def test_any_json(first: Any, second: Any) -> None:
    body = events([first, second])
    bodies.reply(messages, body)
    bodies.reply(messages, compact({"type": "message", "content": first, "usage": second}))
    bodies.turns(messages, {"messages": [first, {"role": "user", "content": second}], "system": [second]})
    messages.ask(compact(first), "")


def test_what_a_request_asks() -> None:
    schema = {"type": "object", "properties": {"title": {}, "branch": {}}}
    value = {
        "model": "m-1",
        "max_tokens": 64,
        "temperature": 0,
        "top_p": 0.5,
        "stream": True,
        "thinking": {"type": "disabled"},
        "metadata": {"user_id": "u"},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": schema}},
        "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "Bash", "input_schema": {}}, {"type": "web_search_20250305", "name": "web_search"}],
        "messages": [{"role": "user", "content": "hi"}],
    }
    found = bodies.ask(messages, value)
    assert found.settings == Settings(
        model="m-1", temperature=0.0, top_p=0.5, max_tokens=64, effort="high", stream=True
    )
    assert found.tools == ("Bash", "web_search")
    assert found.hints == {"schema": ["branch", "title"], "thinking": "disabled", "user": "u"}
    assert [len(found.system), len(found.history)] == [1, 1]
    same = bodies.ask(messages, {**value, "messages": []})
    other = bodies.ask(messages, {**value, "tools": [], "system": "S"})
    assert (same.tools_digest, same.system_digest) == (found.tools_digest, found.system_digest)
    assert other.tools_digest != found.tools_digest
    assert other.system_digest != found.system_digest
    bare = bodies.ask(messages, {"messages": []})
    assert (bare.tools_digest, bare.system_digest, bare.hints) == (None, None, {})


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages": "no"}', b'{"messages": [', b"x"])
def test_what_is_no_request(body: bytes) -> None:
    assert messages.ask(body, "") is None


@pytest.mark.requirement("CANON-08")
@pytest.mark.parametrize("spell", [compact, spaced, indented])
def test_a_history(spell: bodies.Spell) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _base64(PIXEL)}}
    value = {
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "role"},
            {"role": "system", "content": [{"type": "text", "text": "Now."}, {"type": "text", "text": ""}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm", "signature": "s"},
                    {"type": "text", "text": "text", "cache_control": {"type": "ephemeral"}},
                    {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "ä", "all": False}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "plain"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "t2",
                        "is_error": True,
                        "content": [{"type": "text", "text": "one"}, image, {"type": "text", "text": "two"}],
                    },
                    {"type": "tool_result", "tool_use_id": "t3"},
                    {"type": "tool_result", "tool_use_id": "t4", "is_error": True, "content": "Exit code 2\nno"},
                    {"type": "tool_result", "tool_use_id": "t5", "content": "<returncode>3</returncode>"},
                    {"type": "tool_result", "tool_use_id": "t6", "is_error": False, "content": "Exit code 2"},
                    {"type": "hologram", "x": 1},
                ],
            },
        ],
    }
    system, first, told, said, answered = bodies.turns(messages, value, spell)
    assert [system.role, first.role, told.role] == [Role.SYSTEM, Role.USER, Role.SYSTEM]
    assert [said.role, answered.role] == [Role.ASSISTANT, Role.USER]
    assert [bodies.words(turn.parts[0]) for turn in (system, first, told)] == ["Be brief.", "role", "Now."]
    assert len(told.parts) == 1
    thought, text, call = said.parts
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature, bodies.words(text)) == ("Hm", "s", "text")
    assert isinstance(call, ToolCall)
    assert (call.call_id, call.arguments) == ("t1", {"path": "ä", "all": False})
    plain, failed, empty, *commands, odd = answered.parts
    assert isinstance(plain, ToolResult)
    assert (plain.call_id, plain.text, plain.error) == ("t1", "plain", False)
    assert isinstance(failed, ToolResult)
    assert (failed.call_id, failed.text, failed.error) == ("t2", "one\ntwo", True)
    assert failed.media == (_picture(),)
    assert empty == ToolResult("t3", "", error=False)
    assert [bare(part) for part in commands] == [
        ToolResult("t4", "Exit code 2\nno", True, details={"exit_code": 2}),
        ToolResult("t5", "<returncode>3</returncode>", True, details={"exit_code": 3}),
        ToolResult("t6", "Exit code 2", False),
    ]
    assert isinstance(odd, Unknown)
    assert (odd.kind, spell(value)[odd.start : odd.end].split()[0][:1]) == ("hologram", b"{")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _picture() -> Media:
    return Media("image", mime="image/png", size=len(PIXEL), sha256=hashlib.sha256(PIXEL).hexdigest())


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _base64(PIXEL)}},
            _picture(),
        ),
        ({"type": "image", "source": {"type": "url", "url": "http://x/y"}}, Media("image", url="http://x/y")),
        ({"type": "image", "source": {"type": "file", "file_id": "f1"}}, Media("image", name="f1")),
        (
            {"type": "document", "title": "T", "source": {"type": "text", "media_type": "text/plain", "data": "ä"}},
            Media("document", mime="text/plain", size=2, sha256=hashlib.sha256("ä".encode()).hexdigest(), name="T"),
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "[redacted:x]"}},
            Media("image", mime="image/png"),
        ),
    ],
)
def test_media(block: dict[str, Any], expected: Media) -> None:
    (turn,) = bodies.turns(messages, {"messages": [{"role": "user", "content": [block]}]})
    assert turn.parts == (expected,)
