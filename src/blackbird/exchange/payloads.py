"""What the JSON of records says: a value of another shape than the page has counts as not given."""

from collections.abc import Mapping
from typing import Any

from blackbird.exchange.exchange import Close, Fault, Gap, Head, Sent, Timings

Fields = Mapping[str, Any]


def text(fields: Fields, key: str) -> str | None:
    """A text, if it is one."""
    value = fields.get(key)
    return value if isinstance(value, str) else None


def number(fields: Fields, key: str) -> int | None:
    """A whole number, if it is one."""
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def inner(fields: Fields, key: str) -> Fields:
    """An object inside; an empty one if there is none."""
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def headers(fields: Fields) -> list[tuple[str, str]]:
    """Header fields, in order."""
    value = fields.get("headers")
    pairs = (pair for pair in value if isinstance(pair, list) and len(pair) == 2) if isinstance(value, list) else ()
    return [(name, content) for name, content in pairs if isinstance(name, str) and isinstance(content, str)]


def counts(fields: Fields, key: str) -> dict[str, int]:
    """Numbers by name."""
    return {name: value for name, value in inner(fields, key).items() if isinstance(value, int)}


def texts(fields: Fields, key: str) -> dict[str, str]:
    """Texts by name."""
    return {name: value for name, value in inner(fields, key).items() if isinstance(value, str)}


def head(fields: Fields) -> Head:
    """A `response.start`."""
    reason, version = text(fields, "reason") or "", text(fields, "version") or ""
    return Head(number(fields, "status"), reason, version, headers(fields))


def timings(fields: Fields) -> Timings:
    """The timings of a `response.end` or an `error`."""
    times = inner(fields, "timings")
    return Timings(*(number(times, key) for key in ("connected", "request_sent", "first_byte", "end")))


def fault(fields: Fields) -> Fault:
    """What an `error` says went wrong."""
    return Fault(text(fields, "where"), text(fields, "code") or "unknown", text(fields, "message") or "")


def is_left(fields: Fields) -> bool:
    """Whether an `error` says no more than that a client left its WebSocket without a word, as some do when done."""
    return text(fields, "code") == "client_disconnected" and "websocket" in fields


def gap(fields: Fields) -> Gap:
    """A `gap`."""
    size, records = number(fields, "bytes") or 0, number(fields, "records") or 0
    return Gap(text(fields, "reason") or "unknown", text(fields, "direction"), size, records)


def sent(fields: Fields, found: int) -> Sent:
    """What an end says that a side of a WebSocket sent; as long as there is none, how many messages were found."""
    closed = fields.get("close")
    close = Close(number(closed, "code"), text(closed, "reason")) if isinstance(closed, dict) else None
    messages = number(fields, "messages")
    return Sent(found if messages is None else messages, number(fields, "pings"), number(fields, "pongs"), close)
