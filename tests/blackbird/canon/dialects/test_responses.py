"""OpenAI's Responses: what a request says, and answers put together from any stream."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon import streams
from blackbird.canon.dialects import responses
from blackbird.canon.model import (
    Failure,
    Outcome,
    Refusal,
    Reply,
    Role,
    Settings,
    Span,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    Usage,
)
from blackbird.canon.seen import Ask, Slice
from blackbird.provider.dialects import responses as scripted
from blackbird.provider.dialects.reply import Ask as Question
from blackbird.provider.script import Ids
from tests.blackbird.canon.dialects.placed import bare, is_placed, words

PATH = "/v1/responses"
SHELL = {"type": "function", "name": "shell", "parameters": {"properties": {"command": {"type": "string"}}}}
QUESTION: dict[str, Any] = {"model": "m", "input": "fix it", "tools": [SHELL], "reasoning": {"effort": "low"}}


def spell(value: object) -> bytes:
    return json.dumps(value).encode()


def ask(value: object, path: str = PATH) -> Ask:
    found = responses.ask(spell(value), path)
    assert found is not None
    return found


def stream(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {event['type']}\n".encode() + b"data: " + spell(event) + b"\n\n" for event in events)


def answer(body: bytes, status: int | None = 200) -> Reply:
    pieces = streams.split(body, None)
    found = responses.reply(pieces.pieces, status=status, is_cut=pieces.is_cut)
    assert is_placed(found.parts, body)
    return found


def script(**more: object) -> bytes:
    question = Question(PATH, {}, {**QUESTION, **more}, Ids(b"seed"), "")
    return b"".join(scripted.reply(question).pieces)


def delta(kind: str, text: str, **place: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": 0, **place, "delta": text}


def item(state: str, value: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": f"response.output_item.{state}", "output_index": index, "item": value}


def ended(state: str = "completed", **more: Any) -> dict[str, Any]:
    return {"type": f"response.{state}", "response": {"id": "resp_1", "status": state, **more}}


def test_a_request() -> None:
    value = {
        "model": "m",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "hello"}, {"type": "reasoning", "summary": []}],
        "tools": [
            SHELL,
            {"type": "namespace", "name": "mcp__notes", "tools": [{"type": "function", "name": "find"}]},
            {"type": "web_search"},
            {"type": "mcp", "server_label": "wiki"},
        ],
        "temperature": 1,
        "top_p": 0.5,
        "max_output_tokens": 100,
        "reasoning": {"effort": "high"},
        "stream": True,
        "previous_response_id": "resp_0",
        "user": "someone",
        "text": {"format": {"type": "json_schema", "schema": {"properties": {"title": {}}}}},
    }
    body = spell(value)
    found = ask(value)
    assert found.settings == Settings(
        model="m", temperature=1.0, top_p=0.5, max_tokens=100, effort="high", stream=True
    )
    assert [json.loads(piece.data) for piece in found.history] == value["input"]
    assert all(body[piece.start : piece.end] == piece.data for piece in (*found.history, *found.system))
    assert found.tools == ("shell", "mcp__notes__find", "web_search", "wiki")
    assert (found.previous, found.is_idle) == ("resp_0", False)
    assert found.hints == {"schema": ["title"], "user": "someone"}
    (turn,) = responses.turns(found.system[0])
    assert (turn.role, [bare(part) for part in turn.parts]) == (Role.SYSTEM, [Text("Be brief.")])
    assert is_placed(turn.parts, body)


def test_digests_tell_of_changes_alone() -> None:
    first = ask({**QUESTION, "instructions": "a"})
    assert first.system_digest is not None
    assert first.tools_digest is not None
    again = ask({**QUESTION, "instructions": "a", "input": "more"})
    assert (again.tools_digest, again.system_digest) == (first.tools_digest, first.system_digest)
    other = ask({**QUESTION, "instructions": "b", "tools": []})
    assert other.tools_digest != first.tools_digest
    assert other.system_digest != first.system_digest
    assert ask({"input": "x"}).tools_digest is None


def test_tools_that_are_offered_in_an_item() -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": [{"type": "custom", "name": "exec"}]}
    found = ask({"model": "m", "input": [added, {"role": "user", "content": "x"}]})
    assert found.tools == ("exec",)
    assert found.tools_digest is not None


def test_a_text_as_input_is_the_users() -> None:
    (piece,) = ask({"input": 'say "instructions": now'}).history
    (turn,) = responses.turns(piece)
    assert (turn.role, words(turn.parts)) == (Role.USER, 'say "instructions": now')


def test_a_warm_up() -> None:
    assert ask({"type": "response.create", "input": [], "generate": False}, "/").is_idle
    assert not ask({"type": "response.create", "input": [], "generate": True}, "/").is_idle


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"", PATH),
        (b"[]", PATH),
        (b"{", PATH),
        (b'{"model":"m"}', PATH),
        (b'{"messages":[],"input":"x"}', PATH),
        (b'{"model":"m","input":"x"}', "/v1/embeddings"),
        (b'{"model":"m","input":["x"],"dimensions":3}', "/v1/embeddings"),
        (b'{"model":"m","input":"x","voice":"v"}', "/v1/audio/speech"),
    ],
)
def test_other_requests(body: bytes, path: str) -> None:
    assert responses.ask(body, path) is None


def test_a_request_is_known_by_its_shape_as_well() -> None:
    assert ask({"input": "x", "store": False}, "/some/other/path").settings == Settings()


@pytest.mark.requirement("CANON-07")
def test_a_stream_says_what_a_document_says() -> None:
    whole, told = answer(script()), answer(script(stream=True))
    assert [bare(part) for part in told.parts] == [bare(part) for part in whole.parts]
    assert [type(part) for part in told.parts] == [Thinking, Text, ToolCall, ToolCall]
    assert (told.outcome, told.stop_reason, told.model) == (Outcome.COMPLETE, "completed", "m")
    assert (told.response_id, told.usage) == (whole.response_id, whole.usage)
    call = told.parts[2]
    assert isinstance(call, ToolCall)
    assert call.arguments == {"command": "cat calc.py"}
    assert len(call.spans) > 1


@pytest.mark.requirement("CANON-07")
def test_the_places_are_those_of_the_deltas() -> None:
    place = {"item_id": "msg_1", "content_index": 0}
    events = [delta("output_text", "Gr\u00fc", **place), delta("output_text", "\u00dfe", **place)]
    body = stream(*events, item("done", {"type": "message", "content": [{"type": "output_text", "text": "Grüße"}]}))
    (part,) = answer(body).parts
    first, second = body.index(b'"Gr\\u00fc"') + 1, body.index(b'"\\u00dfe"') + 1
    assert part == Text("Grüße", (Span(0, 3, first, first + 8), Span(3, 5, second, second + 7)))


def test_what_was_done_counts_where_its_deltas_tell_something_else() -> None:
    done = {"type": "message", "content": [{"type": "output_text", "text": "the key is [redacted]"}]}
    found = answer(stream(delta("output_text", "the key is se"), delta("output_text", "cret"), item("done", done)))
    assert words(found.parts) == "the key is [redacted]"


def test_items_without_deltas_and_without_events() -> None:
    message = {"type": "message", "id": "a", "content": [{"type": "output_text", "text": "hello"}]}
    call = {"type": "function_call", "id": "b", "call_id": "c", "name": "f", "arguments": "{}"}
    found = answer(stream(item("done", message), ended(output=[message, call])))
    assert [bare(part) for part in found.parts] == [Text("hello"), ToolCall("f", "c", {}, "{}")]


def test_events_that_only_name_their_item() -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "item": {"type": "message", "id": "a", "content": []}},
        {"type": "response.output_item.added", "item": {"type": "message", "id": "b", "content": []}},
        {"type": "response.output_text.delta", "item_id": "b", "delta": "second"},
        {"type": "response.output_text.delta", "item_id": "a", "delta": "first"},
    ]
    assert [bare(part) for part in answer(stream(*events)).parts] == [Text("first"), Text("second")]


def test_all_kinds_of_deltas() -> None:
    events = [
        item("added", {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"}),
        delta("reasoning_text", "long", content_index=0),
        delta("reasoning_summary_text", "shorter", summary_index=1),
        delta("reasoning_summary_text", "short", summary_index=0),
        {**delta("refusal", "I cannot."), "output_index": 1},
        item("added", {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": ""}, 2),
        {**delta("custom_tool_call_input", "*** Begin"), "output_index": 2},
    ]
    found = answer(stream(*events)).parts
    assert [bare(part) for part in found[:3]] == [Thinking("short"), Thinking("shorter"), Thinking("long")]
    assert isinstance(found[3], Refusal)
    assert found[3].text == "I cannot."
    assert bare(found[4]) == ToolCall("patch", "c", None, "*** Begin")


@pytest.mark.requirement("CANON-07")
def test_a_stream_that_was_cut() -> None:
    begun = {"type": "function_call", "call_id": "c", "name": "f", "status": "in_progress", "arguments": ""}
    created = {"type": "response.created", "response": {"id": "resp_1", "model": "m", "status": "in_progress"}}
    found = answer(stream(created, item("added", begun), delta("function_call_arguments", '{"cmd": "l')))
    assert [bare(part) for part in found.parts] == [ToolCall("f", "c", None, '{"cmd": "l')]
    assert (found.outcome, found.response_id, found.model) == (Outcome.CUT, "resp_1", "m")
    assert (found.stop_reason, found.usage) == (None, None)
    assert [bare(part) for part in answer(stream(item("added", begun))).parts] == [ToolCall("f", "c", None, "")]


def test_a_piece_that_is_no_event_ends_nothing() -> None:
    created = {"type": "response.created", "response": {"id": "resp_1"}}
    assert answer(stream(created) + b"data: {}\n\n") == Reply(outcome=Outcome.CUT, response_id="resp_1")


def test_usage_and_cost() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 80},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 10},
        "cost": 0.0125,
    }
    found = answer(stream(ended(usage=usage, output=[])))
    assert found.usage == Usage(input=20, cache_read=80, output=30, reasoning=10)
    assert found.reported_cost == Decimal("0.0125")


def test_an_answer_that_ran_out_of_tokens() -> None:
    found = answer(stream(ended("incomplete", incomplete_details={"reason": "max_output_tokens"}, output=[])))
    assert (found.outcome, found.stop_reason) == (Outcome.COMPLETE, "max_output_tokens")


FAILURES = [
    (stream(ended("failed", error={"code": "server_error", "message": "no"})), 200, Failure("server_error", "no")),
    (stream(ended("failed")), 200, Failure("failed", "")),
    (stream({"type": "error", "code": "overloaded", "message": "later"}), 200, Failure("overloaded", "later")),
    (
        stream({"type": "error", "status": 400, "error": {"type": "bad", "message": "no"}}),
        None,
        Failure("bad", "no"),
    ),
    (spell({"error": {"code": "rate_limit", "message": "slow"}}), 429, Failure("rate_limit", "slow")),
    (b"<html>gone</html>", 502, Failure("502", "<html>gone</html>")),
    (b"", 500, Failure("500", "")),
]


@pytest.mark.parametrize(("body", "status", "failure"), FAILURES)
def test_failures(body: bytes, status: int | None, failure: Failure) -> None:
    found = answer(body, status)
    assert (found.outcome, found.failure) == (Outcome.ERROR, failure)


def test_an_error_keeps_what_came_before_it() -> None:
    found = answer(stream(delta("output_text", "half"), {"type": "error", "code": "x", "message": "y"}))
    assert (found.outcome, words(found.parts)) == (Outcome.ERROR, "half")


def test_answers_that_are_no_conversation() -> None:
    assert answer(b'{"object": "response.input_tokens", "input_tokens": 11}') == Reply()
    assert answer(spell({"id": "r", "status": "queued", "output": []})).outcome is Outcome.ACTIVE
    assert answer(spell({"id": "r", "status": "cancelled", "output": []})).outcome is Outcome.CUT
    (odd,) = answer(b'{"hello": 1}').parts
    assert odd == Unknown("unknown", 12, 0, 12)
    assert answer(b"").outcome is Outcome.CUT


@given(st.data())
def test_a_body_cut_anywhere_gives_a_beginning(data: st.DataObject) -> None:
    is_stream = data.draw(st.booleans())
    body = script(stream=is_stream)
    cut = body[: data.draw(st.integers(0, len(body)))]
    whole, found = words(answer(body).parts), answer(cut)
    assert whole.startswith(words(found.parts))
    assert found.outcome in (Outcome.CUT, Outcome.COMPLETE)
    assert found.outcome is Outcome.CUT or words(found.parts) == whole


@given(st.lists(st.text(max_size=8), max_size=6))
def test_deltas_of_any_text(texts: list[str]) -> None:
    found = answer(stream(*(delta("output_text", text) for text in texts), ended()))
    assert words(found.parts) == "".join(texts)
    assert [span.last - span.first for part in found.parts for span in getattr(part, "spans", ())] == [
        len(text) for text in texts if text
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        "type",
        "role",
        "content",
        "text",
        "item",
        "delta",
        "response",
        "output",
        "output_index",
        "arguments",
        "error",
        "id",
        "input",
        "instructions",
        "tools",
        "summary",
        "action",
        "status",
        "usage",
        "call_id",
        "name",
    ]
)
KINDS = st.sampled_from(
    [
        "message",
        "reasoning",
        "function_call",
        "shell_call_output",
        "function_call_output",
        "mcp_call",
        "error",
        "response.create",
        "response.output_item.done",
        "response.output_text.delta",
        "response.completed",
    ]
)
ODD = st.dictionaries(KEYS, KINDS | VALUES | st.dictionaries(KEYS, KINDS | VALUES, max_size=4), max_size=6)


@given(st.lists(ODD, max_size=4), ODD | VALUES)
def test_odd_shapes_do_no_harm(events: list[dict[str, Any]], value: object) -> None:
    pieces = [Slice(spell(event), 0) for event in events]
    responses.reply(pieces, status=None, is_cut=False)
    responses.turns(Slice(spell(value), 0))
    found = responses.ask(spell(value), PATH)
    for piece in (*found.history, *found.system) if found is not None else ():
        responses.turns(piece)


@given(st.binary(max_size=40))
def test_any_bytes_do_no_harm(data: bytes) -> None:
    responses.ask(data, PATH)
    responses.turns(Slice(data, 3))
    responses.reply([Slice(data, 3)], status=200, is_cut=True)
