"""Exchanges become questions and answers: dialect, purpose, places, redaction, and whatever is missing."""

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon import dialects, reading
from blackbird.canon.model import Failure, Outcome, Purpose, Settings, Side, Span, Text, Thinking, ToolCall, Usage
from blackbird.canon.seen import Exchanged, Slice
from blackbird.exchange.exchange import (
    Body,
    Chunk,
    Close,
    Exchange,
    Fault,
    Head,
    Message,
    Provenance,
    Sent,
    State,
    Timings,
    WebSocket,
)
from blackbird.provider.dialects.reply import Ask as Asked
from blackbird.provider.routes import DIALECTS
from blackbird.provider.script import Ids
from blackbird.sessions.links import Agent
from blackbird.trace.records import Direction
from tests.blackbird.canon.bodies import check_places, compact, events

STARTED = 1_790_000_000_000_000_000
KEY = "ghp_" + "a1B2" * 9
CALLS = {"object": "chat.completion.chunk", "model": "m-1", "id": "c-1"}


def body(*pieces: bytes, segment: int = 1, first: int = 10) -> Body:
    chunks = [Chunk(100 * number, len(piece), piece, segment, first + number) for number, piece in enumerate(pieces)]
    return Body(chunks, complete=True)


def exchange(asked: bytes, answered: bytes, path: str = "/v1/chat/completions", **more: Any) -> Exchange:
    head = Head(200, "OK", "HTTP/1.1", [("Content-Type", "text/event-stream"), ("X-Request-Id", "prov-1")])
    fields: dict[str, Any] = {
        "request_id": "req_1",
        "state": State.COMPLETE,
        "provenance": Provenance([], 1, 9),
        "method": "POST",
        "path": path,
        "started_ns": STARTED,
        "response": head,
        "request_body": body(asked),
        "response_body": body(answered, first=20),
        "timings": Timings(10, 20, 30, 40),
        "run": "run-1",
        "task": "task-1",
    }
    return Exchange(**{**fields, **more})


def said(*words: str, reason: str | None = "stop") -> bytes:
    chunks = [{**CALLS, "choices": [{"index": 0, "delta": {"content": word}}]} for word in words]
    end = {**CALLS, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return events([*chunks, end] if reason is not None else chunks)


def one(found: Exchange, redact: reading.Redact = str) -> Exchanged:
    (seen,) = reading.read(found, redact)
    return seen


QUESTION = compact({"model": "m-1", "messages": [{"role": "user", "content": "hi"}]})


@pytest.mark.requirement("CANON-09")
def test_an_exchange() -> None:
    headers = [("X-Claude-Code-Session-Id", "s1"), ("User-Agent", "claude-cli/2.1.0 (x)")]
    seen = one(exchange(QUESTION, said("Hel", "lo"), headers=headers))
    assert (seen.request_id, seen.round, seen.dialect, seen.purpose) == ("req_1", 0, "chat", Purpose.TURN)
    assert (seen.at, seen.ended) == (STARTED, STARTED + 40_000)
    assert (seen.first_byte_us, seen.duration_us) == (30, 40)
    assert (seen.run, seen.task, seen.method, seen.status) == ("run-1", "task-1", "POST", 200)
    assert seen.path == "/v1/chat/completions"
    assert seen.provider_request == "prov-1"
    assert (seen.links.session, seen.agent) == ("s1", Agent("Claude Code", "2.1.0"))
    assert seen.ask is not None
    assert seen.ask.settings.model == "m-1"
    assert seen.turns(seen.ask.history[0])[0].parts == (Text("hi", (Span(0, 2, 53, 55),)),)
    assert seen.reply is not None
    assert [getattr(part, "text", None) for part in seen.reply.parts] == ["Hello"]
    assert seen.reply.outcome is Outcome.COMPLETE


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/messages?beta=true", "messages"),
        ("/bb/s/t/v1/messages/count_tokens", "messages"),
        ("/v1/messages/", "messages"),
        ("/api/v1/chat/completions", "chat"),
        ("/backend-api/codex/responses", "responses"),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", "gemini"),
        ("/api/chat", "ollama"),
        ("/api/generate", "ollama"),
        ("/v1/models", None),
        ("/", None),
        (None, None),
    ],
)
def test_a_dialect_is_found_by_the_end_of_the_path(path: str | None, name: str | None) -> None:
    found = dialects.by_path(path)
    assert (found.NAME if found is not None else None) == name


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"type": "message_start", "message": {}}, "messages"),
        ({"type": "message", "content": []}, "messages"),
        (CALLS, "chat"),
        ({"type": "response.created"}, "responses"),
        ({"id": "resp_1", "object": "response"}, "responses"),
        ({"candidates": []}, "gemini"),
        ({"model": "m", "created_at": "x", "done": False}, "ollama"),
        ({"object": "list", "data": []}, None),
        ([], None),
    ],
)
def test_a_dialect_is_found_by_the_shape_of_the_answer(document: object, name: str | None) -> None:
    found = dialects.by_shape([Slice(compact(document), 0)])
    assert (found.NAME if found is not None else None) == name
    assert dialects.by_shape([]) is None


def test_a_path_that_nobody_knows_is_read_by_its_shape() -> None:
    assert one(exchange(QUESTION, said("x"), "/gateway/v9")).dialect == "chat"
    other = one(exchange(QUESTION, b'{"ok":true}', "/gateway/v9"))
    assert (other.dialect, other.purpose, other.ask, other.reply) == (None, Purpose.OTHER, None, None)
    # A path of the same end that is something else.
    thread = one(exchange(b'{"role":"user","content":"x"}', b'{"object":"thread.message"}', "/v1/threads/1/messages"))
    assert (thread.dialect, thread.purpose, thread.reply) == (None, Purpose.OTHER, None)


def test_a_websocket_that_was_refused_is_no_turn() -> None:
    seen = one(exchange(b"", b"Upgrade Required", "/v1/responses", method="GET", response=Head(426, "", "", [])))
    assert (seen.dialect, seen.purpose, seen.status) == (None, Purpose.OTHER, 426)


def test_purposes() -> None:
    schema = {"format": {"type": "json_schema", "schema": {"properties": {"title": {}}}}}
    title = compact({"messages": [{"role": "user", "content": "x"}], "output_config": schema})
    assert one(exchange(title, b"", "/v1/messages")).purpose is Purpose.TITLE
    assert one(exchange(QUESTION, b'{"input_tokens":1}', "/v1/messages/count_tokens")).purpose is Purpose.COUNT
    summary = [
        {"role": "user", "content": "do it"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "Create a detailed summary of the conversation so far"},
    ]
    assert one(exchange(compact({"messages": summary}), said("x"))).purpose is Purpose.COMPACTION
    system = compact({"messages": [{"role": "system", "content": "You are a title generator."}, *summary[:1]]})
    assert one(exchange(system, said("x"))).purpose is Purpose.TITLE
    assert one(exchange(b"", b"", "/v1/models", method="GET")).purpose is Purpose.MODELS


@pytest.mark.requirement("CANON-11")
def test_a_request_that_was_cut() -> None:
    seen = one(exchange(QUESTION[:-4], b"", response=None, state=State.INTERRUPTED, timings=Timings()))
    assert (seen.dialect, seen.purpose, seen.ask) == ("chat", Purpose.TURN, None)
    assert seen.reply is not None
    assert (seen.reply.outcome, seen.reply.parts, seen.status) == (Outcome.CUT, (), None)
    assert (seen.ended, seen.provider_request) == (STARTED, None)


@pytest.mark.requirement("CANON-11")
def test_an_answer_without_its_end() -> None:
    begun = said("so far", reason=None)
    cut = one(exchange(QUESTION, begun, state=State.INTERRUPTED, timings=Timings())).reply
    running = one(exchange(QUESTION, begun, state=State.ACTIVE, timings=Timings()))
    fault = Fault("upstream", "upstream_closed", "gone")
    failed = one(exchange(QUESTION, begun, state=State.ERROR, error=fault)).reply
    assert cut is not None
    assert (cut.outcome, cut.failure) == (Outcome.CUT, None)
    assert running.reply is not None
    assert (running.reply.outcome, running.ended, running.first_byte_us) == (Outcome.ACTIVE, None, 0)
    assert running.reply.parts == cut.parts
    assert failed is not None
    assert (failed.outcome, failed.failure) == (Outcome.CUT, Failure("upstream_closed", "gone"))
    # A client that leaves behind the end has all of it.
    left = one(exchange(QUESTION, said("all"), state=State.ERROR, error=fault)).reply
    assert left is not None
    assert (left.outcome, left.failure) == (Outcome.COMPLETE, None)


@pytest.mark.requirement("CANON-11")
@pytest.mark.parametrize("mode", ["privacy", "passthrough"])
def test_what_was_not_recorded(mode: str) -> None:
    empty = Body([], wire=100, decoded=100, complete=True)
    bodiless = exchange(b"", b"", "/v1/messages", mode=mode, request_body=empty, response_body=empty)
    seen = one(bodiless)
    assert (seen.dialect, seen.purpose, seen.reply) == ("messages", Purpose.TURN, None)
    assert seen.ask is not None
    assert (seen.ask.history, seen.ask.settings.model) == ((), None)
    assert seen.locate(Side.REQUEST, 0, 0).sequence is None
    refused = one(msgspec.structs.replace(bodiless, response=Head(429, "", "", []))).reply
    assert refused is not None
    assert (refused.outcome, refused.failure) == (Outcome.ERROR, Failure("429", ""))


KEPT = [
    ("/v1/messages", {"usage": {"input_tokens": 3, "output_tokens": 4}, "stop_reason": "end_turn"}),
    ("/v1/chat/completions", {"usage": {"prompt_tokens": 3, "completion_tokens": 4}, "finish_reason": "end_turn"}),
    ("/v1beta/models/m:generateContent", {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}}),
    ("/v1/responses", {"usage": {"input_tokens": 3, "output_tokens": 4}, "status": "completed"}),
    ("/api/chat", {"prompt_eval_count": 3, "eval_count": 4, "done": True, "done_reason": "end_turn"}),
]


@pytest.mark.requirement("CANON-15")
@pytest.mark.parametrize(("path", "answered"), KEPT)
def test_passthrough_mode_keeps_what_it_took(path: str, answered: dict[str, Any]) -> None:
    kept = {"request": {"model": "m", "max_tokens": 9, "stream": True}, "response": answered}
    seen = one(exchange(b"", b"", path, mode="passthrough", kept=kept))
    assert seen.ask is not None
    assert seen.ask.settings == Settings(model="m", max_tokens=9, stream=True)
    assert seen.reply is not None
    assert (seen.reply.usage, seen.reply.parts) == (Usage(input=3, output=4), ())


@pytest.mark.requirement("CANON-08")
@given(st.lists(st.integers(0, 400), max_size=6))
def test_places_lead_to_the_records_that_hold_them(cuts: list[int]) -> None:
    response = said("Hel", "lo ", "there")
    edges = [0, *sorted(min(cut, len(response)) for cut in cuts), len(response)]
    pieces = [response[first:last] for first, last in itertools.pairwise(edges)]
    whole = one(exchange(QUESTION, response))
    seen = one(exchange(QUESTION, b"", response_body=body(*pieces, segment=7, first=20)))
    assert seen.reply == whole.reply
    assert seen.reply is not None
    check_places(response, seen.reply.parts)
    (text,) = seen.reply.parts
    assert isinstance(text, Text)
    for span in text.spans:
        found = seen.locate(Side.RESPONSE, span.start, span.end)
        assert (found.source, found.side, found.start, found.end) == ("req_1", Side.RESPONSE, span.start, span.end)
        assert found.segment == 7
        number = (found.sequence or 0) - 20
        before = sum(len(piece) for piece in pieces[:number])
        assert before <= span.start < before + len(pieces[number])
    assert seen.locate(Side.REQUEST, 3, 4).sequence == 10


def test_a_secret_over_several_stretches_is_hidden() -> None:
    response = said("the key is ", KEY[:9], KEY[9:], " so")
    (seen,) = reading.read(exchange(QUESTION, response))
    assert seen.reply is not None
    (text,) = seen.reply.parts
    assert isinstance(text, Text)
    assert text.text == "the key is [redacted:github_token] so"
    (span,) = text.spans
    assert (span.first, span.last) == (0, len(text.text))
    assert response[span.start :].startswith(b"the key is ")
    assert response[: span.end].endswith(b" so")


def test_a_secret_in_arguments_is_hidden() -> None:
    def call(arguments: str) -> dict[str, Any]:
        delta = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}}]}
        return {**CALLS, "choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}

    response = events([call('{"a": "SEC'), call('RET"}')])
    reply = one(exchange(QUESTION, response), lambda text: text.replace("SECRET", "***")).reply
    assert reply is not None
    (part,) = reply.parts
    assert isinstance(part, ToolCall)
    assert (part.raw, part.arguments, len(part.spans)) == ('{"a": "***"}', {"a": "***"}, 1)


def test_text_in_one_stretch_was_redacted_when_it_was_recorded() -> None:
    reply = one(exchange(QUESTION, said("once")), lambda text: text.upper()).reply
    assert reply is not None
    assert [getattr(part, "text", None) for part in reply.parts] == ["once"]


def socket(*messages: tuple[str, object]) -> Exchange:
    sides = {"client": Direction.REQUEST, "server": Direction.RESPONSE}
    passed = [
        Message(sides[side], 100 * at, len(compact(value)), binary=False, complete=True, data=compact(value))
        for at, (side, value) in enumerate(messages)
    ]
    halves = [body(*(each.data or b"" for each in passed if each.direction is side)) for side in sides.values()]
    found = exchange(b"", b"", "/v1/responses", method="GET", response=Head(101, "", "", []))
    websocket = WebSocket(Sent(1), Sent(1, close=Close(1000, None)), passed)
    return msgspec.structs.replace(found, websocket=websocket, request_body=halves[0], response_body=halves[1])


def test_the_rounds_of_a_websocket() -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}
    usage = {"input_tokens": 3, "output_tokens": 2}
    done = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    found = socket(
        ("client", {"type": "response.create", "model": "m", "generate": False, "input": []}),
        ("server", {"type": "response.completed", "response": {**done, "id": "resp_0", "output": []}}),
        ("client", {"type": "response.create", "model": "m", "input": [{"role": "user", "content": "hello"}]}),
        ("server", {"type": "response.output_item.done", "output_index": 0, "item": item}),
        ("server", {"type": "response.completed", "response": done}),
        ("client", {"type": "response.create", "model": "m", "previous_response_id": "resp_1", "input": []}),
    )
    warm, seen, last = reading.read(found, str)
    assert [each.round for each in (warm, seen, last)] == [0, 1, 2]
    assert [each.purpose for each in (warm, seen, last)] == [Purpose.WARMUP, Purpose.TURN, Purpose.TURN]
    assert warm.ask is not None
    assert warm.ask.is_idle
    assert seen.ask is not None
    assert seen.reply is not None
    request, response = found.request_body.data, found.response_body.data
    (message,) = seen.ask.history
    assert request[message.start : message.end] == message.data
    (turn,) = seen.turns(message)
    check_places(request, turn.parts)
    assert [getattr(part, "text", None) for part in (*turn.parts, *seen.reply.parts)] == ["hello", "Hi"]
    check_places(response, seen.reply.parts)
    assert seen.locate(Side.REQUEST, message.start, message.end).sequence == 11
    assert (seen.reply.outcome, seen.reply.usage) == (Outcome.COMPLETE, Usage(input=3, output=2))
    assert (seen.at, seen.ended) == (STARTED + 200_000, STARTED + 400_000)
    assert (seen.first_byte_us, seen.duration_us) == (100, 200)
    assert last.ask is not None
    assert last.ask.previous == "resp_1"
    assert last.reply is not None
    assert last.reply.outcome is Outcome.CUT


def test_a_websocket_in_which_nothing_was_asked() -> None:
    (seen,) = reading.read(socket(("server", {"type": "hello"})), str)
    assert (seen.dialect, seen.purpose, seen.ask, seen.reply) == (None, Purpose.OTHER, None, None)


SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
FUNCTION = {"name": "bash", "parameters": SCHEMA}
SCRIPTED: list[tuple[str, dict[str, Any]]] = [
    (
        "/v1/messages",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "fix it"}],
            "tools": [{"name": "bash", "input_schema": SCHEMA}],
            "thinking": {"type": "enabled"},
        },
    ),
    (
        "/v1/chat/completions",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "fix it"}],
            "tools": [{"type": "function", "function": FUNCTION}],
        },
    ),
    ("/v1/responses", {"model": "m", "input": "fix it", "tools": [{"type": "function", **FUNCTION}]}),
    (
        "/api/chat",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "fix it"}],
            "tools": [{"type": "function", "function": FUNCTION}],
        },
    ),
]


@pytest.mark.requirement("CANON-07")
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("path", "value"), SCRIPTED, ids=[path for path, _ in SCRIPTED])
def test_the_scripted_provider_says_the_same_in_every_dialect(path: str, value: dict[str, Any], stream: bool) -> None:
    request = {**value, "stream": stream, "stream_options": {"include_usage": True}}
    dialect = next(entry for entry in DIALECTS if entry.matches(path))
    answer = dialect.reply(Asked(path, {}, request, Ids(b"seed"), ""))
    response = b"".join(answer.pieces)
    seen = one(exchange(compact(request), response, path))
    assert seen.ask is not None
    assert seen.reply is not None
    check_places(response, seen.reply.parts)
    (turn,) = seen.turns(seen.ask.history[0])
    check_places(compact(request), turn.parts)
    assert [getattr(part, "text", None) for part in turn.parts] == ["fix it"]
    assert seen.ask.tools == ("bash",)
    text, *calls = [part for part in seen.reply.parts if not isinstance(part, Thinking)]
    assert isinstance(text, Text)
    assert text.text == "Step 1: read calc.py."
    assert [part.arguments for part in calls if isinstance(part, ToolCall)] == [
        {"command": "cat calc.py"},
        {"command": "cat test_calc.py"},
    ]
    assert seen.reply.outcome is Outcome.COMPLETE
    assert seen.reply.usage is not None
    assert seen.reply.usage.output > 0


@given(st.binary(), st.binary(), st.sampled_from([path for path, _ in SCRIPTED] + ["/x"]))
def test_any_bytes(request: bytes, response: bytes, path: str) -> None:
    assert len(reading.read(exchange(request, response, path), str)) == 1


@pytest.mark.parametrize("depth", [400, 900, 990, 5000])
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/api/chat"])
def test_what_is_nested_too_deep(path: str, depth: int) -> None:
    deep = b'{"content":' * depth + b"1" + b"}" * depth
    call = b'{"type":"tool_use","id":"1","name":"n","input":%s}' % deep
    result = b'{"type":"tool_result","tool_use_id":"1","content":%s}' % deep
    request = b'{"messages":[{"role":"user","content":[%s,%s]},%s]}' % (call, result, deep)
    answer = b'{"type":"message","content":[%s],"choices":[{"message":%s}],"done":true,"message":%s}' % (
        call,
        deep,
        deep,
    )
    for seen in reading.read(exchange(request, answer, path), str):
        for message in seen.ask.history if seen.ask is not None else ():
            seen.turns(message)
