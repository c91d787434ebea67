"""What the readers of JSON lines have in common: where a value stands in a line, and the metadata of responses."""

from collections.abc import Mapping
from typing import Any

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import blocks
from blackbird.canon.model import Reply, Role, Turn, Usage
from blackbird.canon.seen import Slice

#: The value of a field that is not there.
NOTHING = msgspec.Raw(b"null")


class _Created(msgspec.Struct):
    minutes: int | None = msgspec.field(default=None, name="ephemeral_5m_input_tokens")
    hour: int | None = msgspec.field(default=None, name="ephemeral_1h_input_tokens")


class _Usage(msgspec.Struct):
    input: int | None = msgspec.field(default=None, name="input_tokens")
    cache_read: int | None = msgspec.field(default=None, name="cache_read_input_tokens")
    cache_write: int | None = msgspec.field(default=None, name="cache_creation_input_tokens")
    created: _Created | None = msgspec.field(default=None, name="cache_creation")
    output: int | None = msgspec.field(default=None, name="output_tokens")


class Said(msgspec.Struct):
    """A message of a provider's shape, with its content left as it is."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: _Usage | None = None
    content: msgspec.Raw = NOTHING


_SAID = msgspec.json.Decoder(Said)


def is_blank(text: str) -> bool:
    """Whether a line holds nothing at all."""
    return not text or text.isspace()


def encode(text: str) -> bytes:
    """The bytes of a line as it stood in its file."""
    return text.encode(errors="surrogatepass")


def is_given(value: msgspec.Raw) -> bool:
    """Whether a field is there, and not null."""
    return value is not NOTHING and bytes(value) != b"null"


def placed(data: bytes, key: bytes, value: places.Spelled) -> Slice:
    """A value of a line and where it stands. `key` is its key with quotes and colon, as most clients write it."""
    spelled = bytes(value)
    for head in (key, key + b" "):
        at = data.find(head + spelled)
        if at >= 0:
            return Slice(spelled, at + len(head))
    return Slice(spelled, max(data.find(spelled), 0))


def read_message(message: msgspec.Raw) -> Said:
    """The message of a line; an empty one if it is none."""
    return (places.decode(_SAID, message) if is_given(message) else None) or Said()


def turn_of(said: Said, message: Slice, role: Role) -> Turn | None:
    """What a message says; nothing if it is empty."""
    if not is_given(said.content):
        return None
    content = placed(message.data, b'"content":', said.content)
    parts = blocks.read_content(Slice(content.data, message.start + content.start))
    return Turn(role, parts, message.start, message.end, said.id) if parts else None


def text_of(fields: Mapping[str, Any], key: str) -> str:
    """A text of an object; an empty one if it has none there."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def object_of(fields: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object inside of an object; an empty one if there is none."""
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def reply_of(said: Said) -> Reply | None:
    """The metadata of the response that a message belongs to; each line of a response repeats them."""
    if said.id is None and said.usage is None:
        return None
    return Reply(response_id=said.id, model=said.model, stop_reason=said.stop_reason, usage=_usage_of(said.usage))


def _usage_of(found: _Usage | None) -> Usage | None:
    if found is None:
        return None
    hour = (found.created.hour or 0) if found.created is not None else 0
    minutes = (found.created.minutes or 0) if found.created is not None else 0
    return Usage(
        input=found.input or 0,
        cache_read=found.cache_read or 0,
        cache_write=max(found.cache_write or 0, hour + minutes),
        cache_write_1h=hour,
        output=found.output or 0,
    )
