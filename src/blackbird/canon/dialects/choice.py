"""One answer of Chat Completions as its deltas come, or as it stands whole in a document or a history."""

from collections.abc import Iterator, Mapping

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import parts
from blackbird.canon.model import Media, Part, Refusal, Text, Thinking, ToolCall
from blackbird.canon.places import Growing
from blackbird.canon.seen import Slice

_NOTHING = msgspec.Raw(b"")
_TEXTS = frozenset({"text"})
_THOUGHTS = ("reasoning_content", "reasoning")


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: msgspec.Raw = _NOTHING


class _Call(msgspec.Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class Delta(msgspec.Struct, gc=False):
    """What one chunk adds."""

    content: msgspec.Raw = _NOTHING
    reasoning_content: msgspec.Raw = _NOTHING
    reasoning: msgspec.Raw = _NOTHING
    reasoning_details: msgspec.Raw = _NOTHING
    refusal: msgspec.Raw = _NOTHING
    images: msgspec.Raw = _NOTHING
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None


class Choice(msgspec.Struct, gc=False):
    """One of the answers in a chunk or a document."""

    index: int | None = None
    delta: Delta | None = None
    message: msgspec.Raw = _NOTHING
    finish_reason: str | None = None


class _Detail(msgspec.Struct):
    type: str = ""
    signature: str | None = None
    data: str | None = None


_DETAILS = msgspec.json.Decoder(list[_Detail])


class _OpenCall:
    """A call of which more may come."""

    def __init__(self, call_id: str | None) -> None:
        self.call_id = call_id
        self.name = ""
        self.raw = Growing()

    def made(self, *, is_done: bool) -> ToolCall:
        """The call as far as it came."""
        return parts.string_call(self.name, self.call_id, self.raw, is_done=is_done)


class Draft:
    """An answer of which more may come."""

    def __init__(self) -> None:
        self.is_done = False
        self._text = Growing()
        self._thinking = Growing()
        self._refusal = Growing()
        self._signature = ""
        self._encrypted: list[Part] = []
        self._open: dict[int, _OpenCall] = {}
        self._calls: list[_OpenCall | ToolCall] = []
        self._more: list[Part] = []

    def grow(self, delta: Delta, piece: Slice, position: int) -> None:
        """Add what a chunk brings; the choice is the one at a position in it."""
        if bytes(delta.content).startswith(b"["):
            self._take(places.inside(piece, "choices", position, "delta", "content"))
        elif delta.content:
            self._text.add_member(piece, b'"content":', delta.content)
        if delta.reasoning_content:
            self._thinking.add_member(piece, b'"reasoning_content":', delta.reasoning_content)
        elif delta.reasoning:
            self._thinking.add_member(piece, b'"reasoning":', delta.reasoning)
        if delta.refusal:
            self._refusal.add_member(piece, b'"refusal":', delta.refusal)
        if delta.reasoning_details:
            self._detail(delta.reasoning_details)
        if delta.images:
            images = places.inside(piece, "choices", position, "delta", "images")
            self._more += (_media(image) for image in places.items(images or piece))
        begin = 0
        for call in delta.tool_calls or ():
            begin = self._call(self._opened(call), call.function, piece, begin)
        if delta.function_call is not None:
            self._call(self._opened(_Call(index=-1)), delta.function_call, piece, 0)

    def _take(self, content: Slice | None) -> None:
        """Add content that came as parts."""
        for part in read_content(content) if content is not None else ():
            if isinstance(part, Text):
                self._text.add_all(part.text, part.spans)
            elif isinstance(part, Thinking):
                self._thinking.add_all(part.text, part.spans)
            else:
                self._more.append(part)

    def _opened(self, call: _Call) -> _OpenCall:
        """The call that is meant: by its index, and by its id where all have the same index or none."""
        index = call.index if call.index is not None else len(self._open) - (0 if call.id else 1)
        found = self._open.get(index)
        if found is None or (call.id and found.call_id and call.id != found.call_id):
            found = self._open[index] = _OpenCall(call.id)
            self._calls.append(found)
        found.call_id = found.call_id or call.id
        return found

    def _call(self, target: _OpenCall, function: _Function | None, piece: Slice, begin: int) -> int:
        if function is None:
            return begin
        target.name = target.name or function.name or ""
        return target.raw.add_member(piece, b'"arguments":', function.arguments, begin)

    def _detail(self, details: msgspec.Raw) -> None:
        for detail in places.decode(_DETAILS, details) or ():
            self._signature += detail.signature or ""
            if detail.data:
                self._encrypted.append(Thinking("", detail.data, is_encrypted=True))

    @staticmethod
    def whole(message: Slice) -> "Draft":
        """An answer that stands in one document."""
        draft = Draft()
        draft.is_done = True
        fields = places.members(message)
        for key, growing in (("refusal", draft._refusal), *((key, draft._thinking) for key in _THOUGHTS)):
            if key in fields and not growing:
                growing.add_literal(fields[key])
        if "reasoning_details" in fields:
            draft._detail(msgspec.Raw(fields["reasoning_details"].data))
        if "content" in fields:
            draft._more += read_content(fields["content"])
        draft._more += (_media(image) for image in places.items(fields.get("images", Slice(b"", 0))))
        draft._calls += (_whole_call(call) for call in places.items(fields.get("tool_calls", Slice(b"", 0))))
        if "function_call" in fields and fields["function_call"].data[:1] == b"{":
            draft._calls.append(_string_call(None, places.members(fields["function_call"])))
        return draft

    def parts(self) -> tuple[Part, ...]:
        """What it says: thoughts, words, refusals, calls."""
        found: list[Part] = [*self._encrypted]
        if self._thinking or self._signature:
            found.append(Thinking(self._thinking.text, self._signature or None, spans=self._thinking.spans))
        if self._text:
            found.append(Text(self._text.text, self._text.spans))
        found += self._more
        if self._refusal:
            found.append(Refusal(self._refusal.text, self._refusal.spans))
        found += (call if isinstance(call, ToolCall) else call.made(is_done=self.is_done) for call in self._calls)
        return tuple(found)


def _whole_call(call: Slice) -> ToolCall:
    fields = places.members(call)
    function = places.members(fields["function"]) if "function" in fields else {}
    return _string_call(parts.text_value(fields, "id"), function or _custom(fields))


def _custom(fields: Mapping[str, Slice]) -> Mapping[str, Slice]:
    """A call whose input is free text."""
    custom = places.members(fields["custom"]) if "custom" in fields else {}
    return {"arguments" if key == "input" else key: value for key, value in custom.items()}


def _string_call(call_id: str | None, function: Mapping[str, Slice]) -> ToolCall:
    name, arguments = parts.text_value(function, "name") or "", function.get("arguments")
    if arguments is not None and arguments.data[:1] == b"{":
        return parts.object_call(name, call_id, arguments)
    raw = Growing()
    if arguments is not None:
        raw.add_literal(arguments)
    return parts.string_call(name, call_id, raw)


def read_content(content: Slice) -> Iterator[Part]:
    """The content of a message: a text, or parts."""
    if content.data[:1] == b'"':
        text = parts.text_part(content)
        if text is not None:
            yield text
        return
    for value in places.items(content):
        fields = places.members(value)
        kind = parts.text_value(fields, "type") or ""
        literal = fields.get(kind)
        if literal is not None and kind in ("text", "refusal", "thinking"):
            yield from _words(kind, literal)
        elif kind in ("image_url", "input_audio", "file"):
            yield _media(value)
        else:
            yield parts.unknown(kind, value)


def _words(kind: str, literal: Slice) -> Iterator[Part]:
    """A text, or texts in an array."""
    growing = Growing()
    growing.add_literal(literal)
    parts.collect(literal, _TEXTS, growing)
    text, spans = growing.text, growing.spans
    if not text:
        return
    if kind == "thinking":
        yield Thinking(text, spans=spans)
    else:
        yield Refusal(text, spans) if kind == "refusal" else Text(text, spans)


def _media(value: Slice) -> Media:
    fields = places.members(value)
    kind = parts.text_value(fields, "type") or ""
    inner = places.members(fields[kind]) if kind in fields else {}
    if kind == "input_audio" and "data" in inner:
        form = parts.text_value(inner, "format")
        return parts.base64_media("audio", f"audio/{form}" if form else None, inner["data"])
    if kind == "file":
        name = parts.text_value(inner, "filename") or parts.text_value(inner, "file_id")
        return (
            parts.url_media("document", inner["file_data"], name)
            if "file_data" in inner
            else Media("document", name=name)
        )
    literal = inner.get("url") or fields.get(kind)
    return parts.url_media("image", literal) if literal is not None else Media("image")
