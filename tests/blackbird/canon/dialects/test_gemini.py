"""Google's Gemini: what a request says in either spelling, and answers put together from pieces of any kind."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon import streams
from blackbird.canon.dialects import gemini
from blackbird.canon.model import (
    Failure,
    Media,
    Outcome,
    Part,
    Reply,
    Role,
    Settings,
    Span,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)
from blackbird.canon.seen import Ask, Slice
from blackbird.provider.dialects import gemini as scripted
from blackbird.provider.dialects.reply import Ask as Question
from blackbird.provider.script import Ids
from tests.blackbird.canon.dialects.placed import bare, is_placed, words

PATH = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
SHELL = {"name": "shell", "parametersJsonSchema": {"properties": {"command": {"type": "string"}}}}


def spell(value: object) -> bytes:
    return json.dumps(value).encode()


def ask(value: object, path: str = PATH) -> Ask:
    found = gemini.ask(spell(value), path)
    assert found is not None
    return found


def read(*parts: object, role: str = "user") -> tuple[Role, list[Part]]:
    """A content of a history, in a body with something before it."""
    body = spell({"note": "Grüße", "contents": [{"parts": parts, "role": role}]})
    (piece,) = ask(json.loads(body)).history
    (turn,) = gemini.turns(piece)
    assert body[turn.start : turn.end] == piece.data
    assert is_placed(turn.parts, body)
    return turn.role, [bare(part) for part in turn.parts]


def chunk(*parts: object, **more: Any) -> dict[str, Any]:
    reason = {"finishReason": more.pop("reason")} if "reason" in more else {}
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **reason}], **more}


def stream(*chunks: object) -> bytes:
    return b"".join(b"data: " + spell(each) + b"\r\n\r\n" for each in chunks)


def answer(body: bytes, status: int | None = 200) -> Reply:
    pieces = streams.split(body, None)
    found = gemini.reply(pieces.pieces, status=status, is_cut=pieces.is_cut)
    assert is_placed(found.parts, body)
    return found


def script(verb: str, **query: str) -> bytes:
    body = {
        "contents": [{"role": "user", "parts": [{"text": "fix it"}]}],
        "tools": [{"functionDeclarations": [SHELL]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    }
    question = Question(f"/v1beta/models/m:{verb}", query, body, Ids(b"seed"), "")
    return b"".join(scripted.reply(question).pieces)


CAMEL = {
    "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
    "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
    "tools": [{"functionDeclarations": [{"name": "read"}, {"name": "write"}]}, {"googleSearch": {}}],
    "generationConfig": {
        "temperature": 1,
        "topP": 0.5,
        "maxOutputTokens": 100,
        "thinkingConfig": {"thinkingLevel": "low"},
        "responseJsonSchema": {"properties": {"b": {}, "a": {}}},
    },
}
SNAKE = {
    "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
    "system_instruction": {"parts": [{"text": "Be brief."}]},
    "tools": [{"function_declarations": [{"name": "read"}, {"name": "write"}]}, {"googleSearch": {}}],
    "generation_config": {
        "temperature": 1,
        "top_p": 0.5,
        "max_output_tokens": 100,
        "thinking_config": {"thinking_level": "low"},
        "response_schema": {"properties": {"b": {}, "a": {}}},
    },
}
WRAPPED = {"model": "gemini-2.5-pro", "project": "p", "request": CAMEL}


@pytest.mark.requirement("CANON-06")
@pytest.mark.parametrize(
    ("value", "path"), [(CAMEL, PATH), (SNAKE, PATH), (WRAPPED, "/v1internal:streamGenerateContent?alt=sse")]
)
def test_a_request(value: dict[str, Any], path: str) -> None:
    found = ask(value, path)
    body = spell(value)
    assert found.settings == Settings(
        model="gemini-2.5-pro", temperature=1.0, top_p=0.5, max_tokens=100, effort="low", stream=True
    )
    assert [json.loads(piece.data) for piece in found.history] == CAMEL["contents"]
    assert all(body[piece.start : piece.end] == piece.data for piece in (*found.history, *found.system))
    assert found.tools == ("read", "write", "googleSearch")
    assert found.tools_digest is not None
    assert found.system_digest is not None
    assert found.hints == {"schema": ["a", "b"]}
    (turn,) = gemini.turns(found.system[0])
    assert (turn.role, [bare(part) for part in turn.parts]) == (Role.SYSTEM, [Text("Be brief.")])
    assert is_placed(turn.parts, body)


def test_models_and_streams_by_the_path() -> None:
    value: dict[str, Any] = {"contents": []}
    assert ask(value, "/v1/models/m-1:generateContent").settings == Settings(model="m-1", stream=False)
    assert ask(value, "/v1/projects/p/locations/l/publishers/google/models/m:countTokens").settings.model == "m"
    count = {"generateContentRequest": {"model": "models/m", "contents": [{"parts": [{"text": "x"}]}]}}
    assert len(ask(count, "/x:countTokens").history) == 1
    assert ask(count, "/x:countTokens").settings.model == "m"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"messages":[]}', b'{"request":{}}'])
def test_other_requests(body: bytes) -> None:
    assert gemini.ask(body, PATH) is None


def test_contents_in_short() -> None:
    (piece,) = ask({"contents": {"parts": {"text": "hello"}}}).history
    assert words(gemini.turns(piece)[0].parts) == "hello"
    (piece,) = ask({"contents": "hello"}).history
    assert words(gemini.turns(piece)[0].parts) == "hello"


@pytest.mark.requirement("CANON-06")
def test_words_and_thoughts() -> None:
    thought = {"text": "hm", "thought": True, "thoughtSignature": "RmFrZQ=="}
    assert read(thought, {"text": "Grüße"}, {"text": ""}, role="model") == (
        Role.ASSISTANT,
        [Thinking("hm", "RmFrZQ=="), Text("Grüße")],
    )
    assert read({"text": "x"}, role="function")[0] is Role.USER
    assert read({"thoughtSignature": "RmFrZQ=="})[1] == []


def test_calls() -> None:
    call = {"functionCall": {"id": "read_0", "name": "read", "args": {"path": "a"}}, "thoughtSignature": "RmFrZQ=="}
    assert read(call)[1] == [ToolCall("read", "read_0", {"path": "a"}, '{"path": "a"}')]
    assert read({"function_call": {"name": "list"}})[1] == [ToolCall("list", None, {})]


@pytest.mark.parametrize(
    ("response", "text", "error"),
    [
        ({"output": "ok\n"}, "ok\n", False),
        ({"error": "gone"}, "gone", True),
        ({"result": "ok"}, "ok", None),
        ({"output": {"a": 1}}, '{"output": {"a": 1}}', False),
        ({"output": "ok", "code": 1}, '{"output": "ok", "code": 1}', False),
        ({"a": 1, "b": 2}, '{"a": 1, "b": 2}', None),
    ],
)
def test_results(response: object, text: str, error: bool | None) -> None:
    value = {"functionResponse": {"id": "read_0", "name": "read", "response": response}}
    assert read(value)[1] == [ToolResult("read_0", text, error, "read")]


@pytest.mark.parametrize("key", ["output", "result"])
def test_a_command_that_failed_is_given_back_like_any_output(key: str) -> None:
    def result(output: str) -> object:
        return {"functionResponse": {"id": "r", "name": "run_shell_command", "response": {key: output}}}

    text = "<untrusted_context>\nOutput: no\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>"
    named = ToolResult("r", text, True, "run_shell_command", details={"exit_code": 1})
    assert read(result(text))[1] == [named]
    assert read(result("Exit Code: 1"))[1][0] == ToolResult(
        "r", "Exit Code: 1", False if key == "output" else None, "run_shell_command"
    )


def test_media() -> None:
    digest = hashlib.sha256(b"\xfb\xff").hexdigest()
    shown = {"inlineData": {"mimeType": "image/png", "data": "-_8="}}
    kept = {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.com/a.mp4"}}
    paper = {"inline_data": {"mime_type": "application/pdf", "data": "+/8="}}
    picture = Media("image", "image/png", 2, digest)
    assert read(shown, kept, paper)[1] == [
        picture,
        Media("video", "video/mp4", url="https://example.com/a.mp4"),
        Media("document", "application/pdf", 2, digest),
    ]
    result = {"functionResponse": {"name": "look", "response": {"output": "x"}, "parts": [shown]}}
    assert read(result)[1] == [ToolResult(None, "x", False, "look", (picture,))]


def test_the_providers_own_tools() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    worked = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}
    failed = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED"}}
    assert read(code, worked, failed, role="model")[1] == [
        ToolCall("code_execution", None, None, "print(1)", is_hosted=True),
        ToolResult(None, "1\n", False, "code_execution"),
        ToolResult(None, "", True, "code_execution"),
    ]


def test_parts_that_nobody_knows() -> None:
    (found,) = read({"novel": {"a": 1}})[1]
    assert isinstance(found, Unknown)
    assert (found.kind, found.size) == ("novel", 19)


@pytest.mark.requirement("CANON-06", "CANON-07")
def test_all_forms_of_an_answer_say_the_same() -> None:
    bodies = [script("streamGenerateContent", alt="sse"), script("streamGenerateContent"), script("generateContent")]
    assert [body[:1] for body in bodies] == [b"d", b"[", b"{"]
    first, *others = (answer(body) for body in bodies)
    assert [type(part) for part in first.parts] == [Thinking, Text, ToolCall, ToolCall]
    assert isinstance(first.parts[2], ToolCall)
    assert first.parts[2].arguments == {"command": "cat calc.py"}
    assert (first.outcome, first.stop_reason, first.model) == (Outcome.COMPLETE, "STOP", "m")
    for other in others:
        assert [bare(part) for part in other.parts] == [bare(part) for part in first.parts]
        assert (other.response_id, other.usage, other.outcome) == (first.response_id, first.usage, first.outcome)


@pytest.mark.requirement("CANON-07")
def test_words_in_pieces_are_one_text() -> None:
    body = stream(
        chunk({"text": "think", "thought": True}),
        chunk({"text": "ing", "thought": True, "thoughtSignature": "RmFrZQ=="}),
        chunk({"text": "Gr\u00fc"}),
        chunk({"text": "\u00dfe"}, reason="STOP"),
    )
    found = answer(body).parts
    assert bare(found[0]) == Thinking("thinking", "RmFrZQ==")
    first, second = body.index(b'"Gr\\u00fc"') + 1, body.index(b'"\\u00dfe"') + 1
    assert found[1:] == (Text("Grüße", (Span(0, 3, first, first + 8), Span(3, 5, second, second + 7))),)


def test_several_parts_in_a_piece() -> None:
    signed = {"text": "a", "thought": True, "thoughtSignature": "RmFrZQ=="}
    pieces = [chunk({"text": "one"}, {"text": "two"}), chunk(signed, {"text": "b"}, {"text": "c", "thought": True})]
    found = [bare(part) for part in answer(stream(*pieces)).parts]
    assert found == [Text("onetwo"), Thinking("a", "RmFrZQ=="), Text("b"), Thinking("c")]


def test_an_answer_in_a_wrapper() -> None:
    found = answer(stream({"response": chunk({"text": "a"}), "traceId": "t"}, {"response": chunk(reason="STOP")}))
    assert (words(found.parts), found.outcome) == ("a", Outcome.COMPLETE)


def test_usage_is_what_the_last_piece_says() -> None:
    early = {"promptTokenCount": 100, "candidatesTokenCount": 1}
    late = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 80,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 10,
        "toolUsePromptTokenCount": 5,
        "totalTokenCount": 135,
    }
    found = answer(
        stream(chunk({"text": "a"}, usageMetadata=early), chunk({"text": "b"}, reason="STOP", usageMetadata=late))
    )
    assert found.usage == Usage(input=25, cache_read=80, output=30, reasoning=10)


def test_other_candidates_are_not_part_of_the_conversation() -> None:
    value = chunk({"text": "a"}, reason="STOP")
    value["candidates"].append({"content": {"parts": [{"text": "b"}]}, "index": 1, "finishReason": "STOP"})
    found = answer(spell(value)).parts
    assert bare(found[0]) == Text("a")
    assert [part.kind for part in found[1:] if isinstance(part, Unknown)] == ["candidate"]


@pytest.mark.requirement("CANON-07")
def test_a_stream_that_was_cut() -> None:
    found = answer(
        stream(chunk({"text": "hal"}, modelVersion="m", responseId="r"), chunk({"text": "f"})) + b'data: {"c'
    )
    assert (words(found.parts), found.outcome, found.stop_reason) == ("half", Outcome.CUT, None)
    assert (found.model, found.response_id) == ("m", "r")


REFUSED = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}


@pytest.mark.parametrize(
    ("body", "status", "failure"),
    [
        (spell(REFUSED), 429, Failure("RESOURCE_EXHAUSTED", "slow")),
        (spell([REFUSED]), 429, Failure("RESOURCE_EXHAUSTED", "slow")),
        (stream(chunk({"text": "a"}), REFUSED), 200, Failure("RESOURCE_EXHAUSTED", "slow")),
        (spell({"promptFeedback": {"blockReason": "SAFETY"}}), 200, Failure("SAFETY", "")),
        (
            spell({"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "no"}}),
            200,
            Failure("OTHER", "no"),
        ),
        (b"gone", 502, Failure("502", "gone")),
    ],
)
def test_failures(body: bytes, status: int, failure: Failure) -> None:
    found = answer(body, status)
    assert (found.outcome, found.failure) == (Outcome.ERROR, failure)


def test_a_count() -> None:
    assert answer(b'{"totalTokens": 19}') == Reply()


@given(st.data())
def test_a_body_cut_anywhere_gives_a_beginning(data: st.DataObject) -> None:
    verb, query = data.draw(
        st.sampled_from(
            [("streamGenerateContent", {"alt": "sse"}), ("streamGenerateContent", {}), ("generateContent", {})]
        )
    )
    body = script(verb, **query)
    found = answer(body[: data.draw(st.integers(0, len(body)))])
    whole = words(answer(body).parts)
    assert whole.startswith(words(found.parts))
    assert found.outcome is Outcome.CUT or words(found.parts) == whole


@given(st.lists(st.tuples(st.text(max_size=8), st.booleans()), max_size=6), st.booleans())
def test_pieces_of_any_text(texts: list[tuple[str, bool]], is_array: bool) -> None:
    chunks = [chunk({"text": text, "thought": thought}) for text, thought in texts]
    found = answer(spell(chunks) if is_array else stream(*chunks))
    assert words(found.parts) == "".join(text for text, _ in texts)


KEYS = st.sampled_from(
    ["contents", "parts", "text", "thought", "candidates", "content", "functionCall", "functionResponse", "args"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_odd_shapes_do_no_harm(value: object) -> None:
    gemini.reply([Slice(spell(value), 0)], status=None, is_cut=False)
    gemini.turns(Slice(spell(value), 0))
    found = gemini.ask(spell({"contents": value, "systemInstruction": value}), PATH)
    assert found is not None
    for piece in (*found.history, *found.system):
        gemini.turns(piece)


@given(st.binary(max_size=40))
def test_any_bytes_do_no_harm(data: bytes) -> None:
    gemini.ask(data, PATH)
    gemini.turns(Slice(data, 3))
    gemini.reply([Slice(data, 3)], status=200, is_cut=True)
