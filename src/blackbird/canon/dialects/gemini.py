"""Google's Gemini: as JSON, as an array of JSON or as server-sent events, bare or wrapped by Code Assist."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import contents, parts
from blackbird.canon.model import Failure, Outcome, Part, Reply, Role, Settings, Text, Thinking, Turn, Usage
from blackbird.canon.places import Growing
from blackbird.canon.seen import Ask, Slice
from blackbird.exchange import payloads

NAME = "gemini"
ENDS = (":generateContent", ":streamGenerateContent", ":countTokens")

Fields = Mapping[str, Slice]

_MODEL = re.compile(r"/(?:models|tunedModels|endpoints)/([^/:?]+)")
_SYSTEM = re.compile(rb'"system_?[iI]nstruction"\s*:\s*')
#: What holds the request itself: Code Assist's, and that of a count.
_WRAPPERS = ("request", "generateContentRequest", "generate_content_request")
_STREAMS = ":streamGenerateContent"
_NOTHING = msgspec.Raw(b"")
_TEXT = b'"text":'


class _Declaration(msgspec.Struct):
    name: str | None = None


class _Words(msgspec.Struct, forbid_unknown_fields=True):
    text: msgspec.Raw = _NOTHING
    thought: bool = False


class _Content(msgspec.Struct):
    parts: list[_Words]


class _Candidate(msgspec.Struct):
    content: _Content
    finishReason: str | None = None  # noqa: N815 - as it is spelled
    index: int = 0


class _Chunk(msgspec.Struct):
    """The usual piece of a stream: nothing but words, of one candidate."""

    candidates: list[_Candidate]
    usageMetadata: dict[str, Any] | None = None  # noqa: N815
    responseId: str | None = None  # noqa: N815
    modelVersion: str | None = None  # noqa: N815
    response: None = None
    error: None = None
    promptFeedback: None = None  # noqa: N815


_CHUNKS = msgspec.json.Decoder(_Chunk)
_DECLARATIONS = msgspec.json.Decoder(list[_Declaration])


def ask(body: bytes, path: str) -> Ask | None:
    """What a request says; nothing if it has no contents."""
    outer = places.members(Slice(body, 0))
    fields = _unwrapped(outer)
    history = fields.get("contents")
    if history is None:
        return None
    system = _system(body, fields)
    tools = fields.get("tools")
    wanted = places.read_object(contents.pick(fields, "generationConfig").data)
    return Ask(
        settings=_settings(wanted, _model(path, outer, fields), path),
        history=tuple(places.items(history)) if history.data[:1] == b"[" else (history,),
        system=system,
        tools=tuple(_tool_names(tools)) if tools is not None else (),
        tools_digest=parts.digest([tools] if tools is not None else []),
        system_digest=parts.digest(system),
        hints=_hints(wanted),
    )


def _unwrapped(fields: Fields) -> Fields:
    for key in _WRAPPERS:
        if "contents" not in fields and key in fields:
            fields = places.members(fields[key])
    return fields


def _model(path: str, *levels: Fields) -> str | None:
    """The model that the path names, else the body."""
    found = _MODEL.search(path)
    if found is not None:
        return found[1]
    names = (parts.text_value(fields, "model") for fields in levels)
    return next((name.removeprefix("models/") for name in names if name), None)


def _system(body: bytes, fields: Fields) -> tuple[Slice, ...]:
    """The instruction with its key before it: what follows looks like a user's message."""
    value = contents.pick(fields, "systemInstruction")
    if not value.data:
        return ()
    start = max(body.rfind(key, 0, value.start) for key in (b'"systemInstruction"', b'"system_instruction"'))
    return (Slice(body[start : value.end], start),)


def _tool_names(tools: Slice) -> list[str]:
    """The functions that are declared, and the tools of the provider's own by their keys."""
    names: list[str] = []
    for tool in places.items(tools):
        for key, value in places.members(tool).items():
            if key in ("functionDeclarations", "function_declarations"):
                names += [each.name for each in places.decode(_DECLARATIONS, value.data) or [] if each.name]
            else:
                names.append(key)
    return names


def _settings(wanted: Mapping[str, Any], model: str | None, path: str) -> Settings:
    thinking = _either(wanted, "thinkingConfig", "thinking_config")
    effort = _either(thinking, "thinkingLevel", "thinking_level") if isinstance(thinking, dict) else None
    budget = _either(wanted, "maxOutputTokens", "max_output_tokens")
    return Settings(
        model=model,
        temperature=parts.real(wanted, "temperature"),
        top_p=parts.real({"p": _either(wanted, "topP", "top_p")}, "p"),
        max_tokens=payloads.number({"n": budget}, "n"),
        effort=effort if isinstance(effort, str) else None,
        stream=_STREAMS in path,
    )


def _either(fields: Mapping[str, Any], key: str, other: str) -> Any:
    return fields.get(key, fields.get(other))


def _hints(wanted: Mapping[str, Any]) -> dict[str, Any]:
    schema = _either(wanted, "responseJsonSchema", "response_json_schema")
    found = parts.schema_fields(schema or _either(wanted, "responseSchema", "response_schema"))
    return {"schema": found} if found else {}


def turns(message: Slice) -> tuple[Turn, ...]:
    """A content of the history, or the system instruction."""
    key = _SYSTEM.match(message.data)
    if key is not None:
        value = Slice(message.data[key.end() :], message.start + key.end())
        return (Turn(Role.SYSTEM, tuple(contents.read(value)), message.start, message.end),)
    role = contents.role_of(places.members(message)) if message.data[:1] == b"{" else Role.USER
    return (Turn(role, tuple(contents.read(message)), message.start, message.end),)


def reply(pieces: Sequence[Slice], *, status: int | None, is_cut: bool) -> Reply:  # noqa: ARG001 - its end tells
    """What came back, whole or in pieces."""
    if status is not None and status >= parts.FIRST_ERROR:
        return parts.failed(pieces, status)
    answer = _Answer()
    for piece in pieces:
        try:
            chunk = _CHUNKS.decode(piece.data)
        except (ValueError, RecursionError):
            answer.take(piece)
        else:
            answer.take_words(chunk, piece)
    return answer.reply()


class _Answer:
    """An answer as its pieces come."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._others: list[Part] = []
        self._growing = Growing()
        self._is_thought = False
        self._signature: str | None = None
        self._usage: dict[str, Any] = {}
        self._response_id: str | None = None
        self._model: str | None = None
        self._stop_reason: str | None = None
        self._failure: Failure | None = None
        self._is_count = False

    def take_words(self, chunk: _Chunk, piece: Slice) -> None:
        """A piece of nothing but words; anything more goes the long way."""
        candidates = chunk.candidates
        if len(candidates) != 1 or candidates[0].index or len(candidates[0].content.parts) != 1:
            self.take(piece)
            return
        words = candidates[0].content.parts[0]
        literal = places.find_member(piece, _TEXT, words.text)
        text = places.unquote(words.text)
        if literal is None or text is None:
            self.take(piece)
            return
        self._grow(is_thought=words.thought)
        self._growing.add(text, literal.start + 1, literal.end - 1)
        self._stop_reason = candidates[0].finishReason or self._stop_reason
        self._tell(chunk.usageMetadata, chunk.responseId, chunk.modelVersion)

    def take(self, piece: Slice) -> None:
        """A piece of any shape."""
        fields = places.members(piece)
        if "response" in fields and "candidates" not in fields:
            fields = places.members(fields["response"])
        if "error" in fields:
            self._failure = parts.failure(fields["error"].data)
            return
        self._is_count = self._is_count or bool(contents.pick(fields, "totalTokens").data)
        for candidate in places.items(fields.get("candidates", Slice(b"", 0))):
            self._take_candidate(candidate)
        plain = {key: places.read_any(value.data) for key, value in fields.items() if key != "candidates"}
        usage = _either(plain, "usageMetadata", "usage_metadata")
        response_id = _either(plain, "responseId", "response_id")
        model = _either(plain, "modelVersion", "model_version")
        self._tell(usage, response_id, model)
        self._refuse(_either(plain, "promptFeedback", "prompt_feedback"))

    def _take_candidate(self, candidate: Slice) -> None:
        fields = places.members(candidate)
        if "index" in fields and fields["index"].data != b"0":
            # Another answer to the same question: no one went on from it.
            self._others.append(parts.unknown("candidate", candidate))
            return
        for part in contents.read(fields.get("content", Slice(b"", 0))):
            self._add(part)
        reason = places.unquote(contents.pick(fields, "finishReason").data)
        self._stop_reason = reason or self._stop_reason

    def _add(self, part: Part) -> None:
        if isinstance(part, Text | Thinking):
            self._grow(is_thought=isinstance(part, Thinking))
            for span in part.spans:
                self._growing.add(part.text[span.first : span.last], span.start, span.end)
            if isinstance(part, Thinking):
                self._signature = part.signature or self._signature
        else:
            self._close()
            self._parts.append(part)

    def _grow(self, *, is_thought: bool) -> None:
        """Words of the same kind are one text, in how many pieces they may come."""
        if is_thought is not self._is_thought:
            self._close()
            self._is_thought = is_thought

    def _close(self) -> None:
        text, spans = self._growing.text, self._growing.spans
        if self._is_thought and (text or self._signature):
            self._parts.append(Thinking(text, self._signature, spans=spans))
        elif text:
            self._parts.append(Text(text, spans))
        self._growing, self._signature = Growing(), None

    def _tell(self, usage: Any, response_id: Any, model: Any) -> None:
        if isinstance(usage, dict):
            self._usage.update(usage)
        self._response_id = response_id if isinstance(response_id, str) else self._response_id
        self._model = model if isinstance(model, str) else self._model

    def _refuse(self, feedback: Any) -> None:
        """A question that was turned away has no candidates."""
        reason = _either(feedback, "blockReason", "block_reason") if isinstance(feedback, dict) else None
        if isinstance(reason, str):
            message = _either(feedback, "blockReasonMessage", "block_reason_message")
            self._failure = Failure(reason, message if isinstance(message, str) else "")

    def reply(self) -> Reply:
        self._close()
        is_complete = self._stop_reason is not None or self._is_count
        outcome = Outcome.COMPLETE if is_complete else Outcome.CUT
        return Reply(
            parts=(*self._parts, *self._others),
            outcome=outcome if self._failure is None else Outcome.ERROR,
            response_id=self._response_id,
            model=self._model,
            stop_reason=self._stop_reason,
            usage=_usage(self._usage),
            failure=self._failure,
        )


def _usage(fields: Mapping[str, Any]) -> Usage | None:
    if not fields:
        return None
    plain = {key.replace("_", "").lower(): value for key, value in fields.items()}
    read = parts.count(plain, "cachedcontenttokencount")
    thoughts = parts.count(plain, "thoughtstokencount")
    prompt = parts.count(plain, "prompttokencount") + parts.count(plain, "tooluseprompttokencount")
    return Usage(
        input=max(prompt - read, 0),
        cache_read=read,
        output=parts.count(plain, "candidatestokencount") + thoughts,
        reasoning=thoughts,
    )


def envelope(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The document that an answer would be of which only these values were kept."""
    return {**kept, "candidates": [{"finishReason": kept.get("finishReason")}]}
