"""What a line of a flight log is made of before it is written, and the words that many lines share."""

import re
from typing import Any, NamedTuple

from blackbird.canon.model import Media, Message, Refusal, Text, Unknown, Usage
from blackbird.canon.natives.flight.tokens import HOUR_KEY, REASONING_KEY
from blackbox.events.build import Event
from blackbox.write import scalars
from blackbox.write.scalars import MetaFields

#: What a name behind a prefix cannot hold.
_NO_NAME = re.compile(r"[^\w.\-+/:]+")
_LONGEST_NAME = 120


class Line(NamedTuple):
    """An entry of a log: whose it is, what it says, and its metadata."""

    thread: str
    event: Event
    meta: MetaFields


def name_of(text: str | None, otherwise: str) -> str:
    """A text as a name that can stand behind a prefix."""
    plain = _NO_NAME.sub("-", text or "")[:_LONGEST_NAME].strip("-")
    return plain or otherwise


def server_of(text: str) -> str:
    """The name of an MCP server, which ends at its first dot."""
    return name_of(text, "server").replace(".", "-")


def merged(*metas: MetaFields) -> MetaFields:
    """Metadata of several sources as one; what one says is not lost to the fields that another adds."""
    found: MetaFields = {}
    for meta in metas:
        extra = {**found.get("extra", {}), **meta.get("extra", {})}
        found = {**found, **meta}
        if extra:
            found["extra"] = extra
    return found


def tokens_of(usage: Usage) -> MetaFields:
    """What a response used, as the metadata of its first line; what was read from a cache is not in `tokens_in`."""
    used: MetaFields = {
        "tokens_in": usage.input,
        "tokens_out": usage.output,
        "tokens_cached": usage.cache_read,
        "tokens_cache_create": usage.cache_write,
    }
    parts = {HOUR_KEY: usage.cache_write_1h, REASONING_KEY: usage.reasoning}
    extra = {key: count for key, count in parts.items() if count}
    return {**used, "extra": extra} if extra else used


def spoken(message: Message) -> str:
    """All that a message says but its thoughts; what is no text is named in brackets."""
    said = [text for part in message.parts if (text := part_text(part)) is not None]
    return "\n".join(said)


def part_text(part: object) -> str | None:
    """A part as text; None for a thought or a call."""
    match part:
        case Text(text) | Refusal(text):
            return text
        case Media():
            return media_text(part)
        case Unknown(kind, size):
            return f"[a part of the kind {kind}, {size} bytes]"
        case _:
            return None


def media_text(media: Media) -> str:
    """A reference to an image, a sound or a document."""
    size = f"{media.size} bytes" if media.size is not None else None
    digest = f"sha256 {media.sha256}" if media.sha256 else None
    words = [word for word in (media.mime, media.name, media.url, size, digest) if word]
    return f"[{media.kind}: {', '.join(words)}]" if words else f"[{media.kind}]"


def count_of(data: dict[str, Any], *keys: str) -> int | None:
    """The first of these values that is a count."""
    for key in keys:
        value = data.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**18:
            return value
    return None


def text_in(data: dict[str, Any], *keys: str) -> str | None:
    """The first of these values that is there, as a text."""
    for key in keys:
        value = data.get(key)
        if value is not None and value != "":
            return scalars.text_of(value)
    return None
