"""Chat Completions in canonical words, as OpenAI and the servers that speak like it say it."""

import base64
import hashlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon import streams
from blackbird.canon.dialects import chat
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

PIXEL = b"\x89PNG not really"
PICTURE = Media("image", mime="image/png", size=len(PIXEL), sha256=hashlib.sha256(PIXEL).hexdigest())
DATA_URL = "data:image/png;base64," + base64.b64encode(PIXEL).decode()
DONE = b"[DONE]"


def chunk(delta: dict[str, Any] | None = None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice], **more}


def call(index: int | None, arguments: str, call_id: str | None = None, name: str | None = None) -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": name} if name is not None else {})}
    place = {"index": index} if index is not None else {}
    return {**place, **({"id": call_id, "type": "function"} if call_id is not None else {}), "function": function}


STREAM = [
    chunk({"role": "assistant", "content": "", "refusal": None}),
    chunk({"content": None, "reasoning_content": "I reason"}),
    chunk({"reasoning_content": "."}),
    chunk({"content": "index"}),
    chunk({"content": ' "content": ä😀\n'}),
    chunk({"tool_calls": [call(0, "", "call_1", "read")]}),
    chunk({"tool_calls": [call(0, '{"path":')]}),
    chunk({"tool_calls": [call(0, '"a"}'), call(1, '"a"}', "call_2", "odd")]}),
    chunk({"tool_calls": [call(2, "", "call_3", "now")]}),
    chunk({}, "tool_calls"),
    {**chunk(), "choices": [], "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 7},
    }},
    DONE,
]  # fmt: skip


@pytest.mark.requirement("CANON-07")
@pytest.mark.parametrize("spell", [compact, spaced])
def test_a_stream(spell: bodies.Spell) -> None:
    found = bodies.reply(chat, events(STREAM, spell))
    assert [(type(part), bodies.words(part)) for part in found.parts] == [
        (Thinking, "I reason."),
        (Text, 'index "content": ä😀\n'),
        (ToolCall, '{"path":"a"}'),
        (ToolCall, '"a"}'),
        (ToolCall, ""),
    ]
    calls = [part for part in found.parts if isinstance(part, ToolCall)]
    assert [(part.call_id, part.name, part.arguments) for part in calls] == [
        ("call_1", "read", {"path": "a"}),
        ("call_2", "odd", None),
        ("call_3", "now", {}),
    ]
    # Two fragments that are spelled alike stand in two places.
    assert calls[0].spans[-1].start < calls[1].spans[0].start
    assert found.outcome is Outcome.COMPLETE
    assert (found.response_id, found.model, found.stop_reason) == ("chatcmpl-1", "m-1", "tool_calls")
    assert found.usage == Usage(input=36, cache_read=64, output=20, reasoning=7)


@pytest.mark.requirement("CANON-09")
@pytest.mark.parametrize("spell", [compact, spaced, indented])
def test_one_document(spell: bodies.Spell) -> None:
    message = {
        "role": "assistant",
        "content": "message",
        "reasoning": "R",
        "refusal": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path": "ä"}'}},
            {"id": "call_2", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}},
        ],
    }
    body = spell(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "m-1",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 6, "cost": 0.00125},
        }
    )
    found = bodies.reply(chat, body)
    assert [(type(part), bodies.words(part)) for part in found.parts] == [
        (Thinking, "R"),
        (Text, "message"),
        (ToolCall, '{"path": "ä"}'),
        (ToolCall, "*** Begin"),
    ]
    calls = [part for part in found.parts if isinstance(part, ToolCall)]
    assert [part.arguments for part in calls] == [{"path": "ä"}, None]
    assert [part.name for part in calls] == ["read", "patch"]
    assert (found.usage, found.reported_cost) == (Usage(input=5, output=6), Decimal("0.00125"))


def test_servers_that_say_it_in_their_own_way() -> None:
    encrypted = [{"type": "reasoning.encrypted", "data": "ZW5j"}, {"type": "reasoning.text", "signature": "sig"}]
    found = bodies.reply(
        chat,
        events(
            [
                chunk({"reasoning": "vllm", "reasoning_details": encrypted}),
                chunk({"tool_calls": [call(None, '{"a":1}', "c1", "f")]}),
                chunk({"tool_calls": [call(None, '{"a":2}', "c2", "f")]}),
                chunk({"tool_calls": [call(None, " ")]}),
                chunk({"tool_calls": [call(0, "{}", "c3", "g")]}),
                chunk({}, "stop", usage={"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}),
            ]
        ),
    )
    assert found.parts[0] == Thinking("", "ZW5j", is_encrypted=True)
    thought = found.parts[1]
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature) == ("vllm", "sig")
    assert [(part.call_id, part.raw) for part in found.parts[2:] if isinstance(part, ToolCall)] == [
        ("c1", '{"a":1}'),
        ("c2", '{"a":2} '),
        ("c3", "{}"),
    ]
    assert found.usage == Usage(input=5, cache_read=4)
    assert found.outcome is Outcome.COMPLETE


def test_deltas_whose_content_has_parts() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    found = bodies.reply(
        chat,
        events(
            [
                chunk({"content": [thought]}),
                chunk({"content": [{"type": "text", "text": "So"}, {"type": "hologram"}]}),
                chunk({"images": [{"type": "image_url", "image_url": {"url": DATA_URL}}]}),
                chunk({}, "stop"),
            ]
        ),
    )
    *said, odd, picture = found.parts
    assert [(type(part), bodies.words(part)) for part in said] == [(Thinking, "Hm"), (Text, "So")]
    assert isinstance(odd, Unknown)
    assert (odd.kind, picture) == ("hologram", PICTURE)


def test_half_characters() -> None:
    body = events([chunk({"content": "HALF1"}), chunk({"content": "HALF2 x"}), chunk({}, "stop")])
    body = body.replace(b"HALF1", rb"\ud83d").replace(b"HALF2", rb"\ude00")
    found = streams.split(body, None)
    (text,) = chat.reply(found.pieces, status=200, is_cut=False).parts
    assert isinstance(text, Text)
    assert text.text == "\ufffd\ufffd x"
    assert [body[span.start : span.end] for span in text.spans] == [rb"\ud83d", rb"\ude00 x"]


def test_a_function_call_of_old() -> None:
    found = bodies.reply(
        chat,
        events(
            [
                chunk({"function_call": {"name": "f", "arguments": ""}}),
                chunk({"function_call": {"arguments": '{"x":1}'}}),
                chunk({}, "function_call"),
            ]
        ),
    )
    (part,) = found.parts
    assert isinstance(part, ToolCall)
    assert (part.name, part.call_id, part.arguments) == ("f", None, {"x": 1})


def test_a_refusal() -> None:
    found = bodies.reply(chat, events([chunk({"refusal": "I will "}), chunk({"refusal": "not."}), chunk({}, "stop")]))
    assert [(type(part), bodies.words(part)) for part in found.parts] == [(Refusal, "I will not.")]


def test_other_answers_to_the_same_question_are_set_aside() -> None:
    choices = [
        {"index": 1, "message": {"content": "other"}, "finish_reason": "stop"},
        {"index": 0, "message": {"content": "mine"}, "finish_reason": "stop"},
    ]
    body = compact({"choices": choices})
    text, other = bodies.reply(chat, body).parts
    assert bodies.words(text) == "mine"
    assert isinstance(other, Unknown)
    assert (other.kind, body[other.start : other.end]) == ("choice", compact(choices[0]))


@pytest.mark.requirement("CANON-11")
def test_errors() -> None:
    refused = compact({"error": {"message": "too long", "type": "invalid_request_error", "code": "context_length"}})
    expected = Reply(outcome=Outcome.ERROR, failure=Failure("context_length", "too long"))
    assert bodies.reply(chat, refused, 400) == expected
    midway = {**chunk({"content": ""}, "error"), "error": {"code": 502, "message": "gone"}}
    found = bodies.reply(chat, events([chunk({"content": "so far"}), midway]))
    assert (found.outcome, found.failure) == (Outcome.ERROR, Failure("502", "gone"))
    assert [bodies.words(part) for part in found.parts] == ["so far"]
    assert bodies.reply(chat, compact({"error": {"message": "m", "type": "t", "code": None}})).failure == Failure(
        "t", "m"
    )


@pytest.mark.requirement("CANON-11")
@given(st.integers(0, len(events(STREAM))))
def test_a_cut_answer_is_the_beginning_of_the_whole(size: int) -> None:
    body = events(STREAM)
    whole, cut = bodies.reply(chat, body), bodies.reply(chat, body[:size])
    assert is_beginning(cut.parts, whole.parts)
    # All was said with the chunk that gives the reason to stop; its blank line may be missing.
    assert cut.outcome is (Outcome.COMPLETE if size >= len(events(STREAM[:10])) - 2 else Outcome.CUT)


@pytest.mark.requirement("CANON-11")
def test_arguments_that_were_cut_are_none() -> None:
    found = bodies.reply(chat, events(STREAM[:7]))
    part = found.parts[-1]
    assert isinstance(part, ToolCall)
    assert (part.arguments, part.raw, found.outcome, found.usage) == (None, '{"path":', Outcome.CUT, None)


@given(st.binary(), st.sampled_from([None, 200, 500]))
def test_any_bytes(body: bytes, status: int | None) -> None:
    found = streams.split(body, None)
    chat.reply(found.pieces, status=status, is_cut=found.is_cut)
    chat.ask(body, "")
    chat.turns(Slice(body, 0))


KEYS = ["choices", "delta", "message", "content", "tool_calls", "function", "arguments", "type", "text", "image_url"]
KEYS += [
    "index",
    "role",
    "images",
    "function_call",
    "usage",
    "error",
    "reasoning_details",
    "refusal",
    "custom",
    "url",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([*KEYS, "assistant", "tool", "file"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=15,
)


@given(VALUES, VALUES)
def test_any_json(first: Any, second: Any) -> None:
    bodies.reply(chat, events([first, chunk({"tool_calls": first, "content": second}), second]))
    bodies.reply(chat, compact({"choices": [{"index": 0, "message": first}, second]}))
    for role in ("user", "assistant", "tool"):
        bodies.turns(chat, {"messages": [first, {"role": role, "content": second, "tool_calls": first}]})
    chat.ask(compact(first), "")


def test_what_a_request_asks() -> None:
    schema: dict[str, Any] = {"schema": {"properties": {"title": {}}}}
    value = {
        "model": "m-1",
        "temperature": 0.2,
        "max_completion_tokens": 7,
        "max_tokens": 9,
        "reasoning_effort": "low",
        "stream": False,
        "user": "u",
        "response_format": {"type": "json_schema", "json_schema": schema},
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        "messages": [
            {"role": "system", "content": "A"},
            {"role": "developer", "content": "B"},
            {"role": "user", "content": "C"},
            {"role": "system", "content": "D"},
        ],
    }
    found = bodies.ask(chat, value)
    assert found.settings == Settings(model="m-1", temperature=0.2, max_tokens=7, effort="low", stream=False)
    assert (found.tools, found.hints) == (("bash",), {"schema": ["title"], "user": "u"})
    assert [len(found.system), len(found.history)] == [2, 2]
    assert bodies.ask(chat, {"messages": [], "functions": [{"name": "f"}], "max_tokens": 9}).tools == ("f",)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages": {}}', b'{"messages": [', b"x"])
def test_what_is_no_request(body: bytes) -> None:
    assert chat.ask(body, "") is None


@pytest.mark.requirement("CANON-08")
@pytest.mark.parametrize("spell", [compact, spaced, indented])
def test_a_history(spell: bodies.Spell) -> None:
    sound = {"data": base64.b64encode(b"la").decode(), "format": "wav"}
    value = {
        "messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look"},
                    {"type": "image_url", "image_url": {"url": DATA_URL}},
                    {"type": "image_url", "image_url": {"url": "http://x/y.png"}},
                    {"type": "input_audio", "input_audio": sound},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,bGE="}},
                    {"type": "file", "file": {"file_id": "file-1"}},
                    {"type": "hologram"},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
                    {"id": "c2", "type": "function", "function": {"name": "g", "arguments": {"b": 2}}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": each} for each in "xy"]},
            {"role": "function", "name": "old", "content": "z"},
            {"role": "tool", "tool_call_id": "c3", "content": "no\n\nCommand exited with code 1"},
            {"role": "assistant", "content": [{"type": "text", "text": "ok"}, {"type": "refusal", "refusal": "no"}]},
        ]
    }  # fmt: skip
    system, user, calls, *results, last = bodies.turns(chat, value, spell)
    assert [turn.role for turn in (system, user, calls, *results, last)] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        *[Role.USER] * 4,
        Role.ASSISTANT,
    ]
    digest = hashlib.sha256(b"la").hexdigest()
    assert user.parts[1:-1] == (
        PICTURE,
        Media("image", url="http://x/y.png"),
        Media("audio", mime="audio/wav", size=2, sha256=digest),
        Media("document", mime="application/pdf", size=2, sha256=digest, name="a.pdf"),
        Media("document", name="file-1"),
    )
    assert [(part.call_id, part.arguments) for part in calls.parts if isinstance(part, ToolCall)] == [
        ("c1", {"a": 1}),
        ("c2", {"b": 2}),
    ]
    found = [part for turn in results for part in turn.parts if isinstance(part, ToolResult)]
    assert [(part.call_id, part.name, part.text, part.error) for part in found] == [
        ("c1", None, "done", None),
        ("c2", None, "x\ny", None),
        (None, "old", "z", None),
        ("c3", None, "no\n\nCommand exited with code 1", True),
    ]
    assert [part.details for part in found] == [{}, {}, {}, {"exit_code": 1}]
    assert [(type(part), bodies.words(part)) for part in last.parts] == [(Text, "ok"), (Refusal, "no")]
