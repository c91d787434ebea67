"""An exchange as text for people, and as objects for programs."""

import contextlib
from collections.abc import Sequence
from typing import Any

import msgspec

from blackbird.exchange.exchange import Body, Exchange, Head, Message, Sent, WebSocket
from blackbird.exchange.listing import describe_bytes
from blackbird.trace.records import Direction

REQUEST_SCHEMA = "request/1"
EXCHANGE_SCHEMA = "exchange/1"


def describe(exchange: Exchange) -> dict[str, Any]:
    """What a list of requests says of one."""
    return {
        "schema": REQUEST_SCHEMA,
        "request_id": exchange.request_id,
        "session": exchange.session,
        "task": exchange.task,
        "run": exchange.run,
        "attribution": exchange.attribution,
        "method": exchange.method,
        "path": exchange.path,
        "upstream": exchange.upstream,
        "status": exchange.status,
        "request_bytes": exchange.request_body.size,
        "response_bytes": exchange.response_body.size,
        "started": exchange.started,
        "timings": msgspec.to_builtins(exchange.timings),
        "complete": exchange.complete,
        "state": exchange.state.value,
        "error": msgspec.to_builtins(exchange.error),
        "mode": exchange.mode,
        **_counts(exchange.websocket),
    }


def _counts(websocket: WebSocket | None) -> dict[str, Any]:
    if websocket is None:
        return {}
    return {"messages": {"client": websocket.client.messages, "server": websocket.server.messages}}


def describe_whole(exchange: Exchange, sides: Sequence[Direction], *, bodies: bool) -> dict[str, Any]:
    """All that is known of one request; `sides` chooses heads and bodies."""
    whole = {
        **describe(exchange),
        "schema": EXCHANGE_SCHEMA,
        "url": exchange.url,
        "policy": exchange.policy,
        "gaps": msgspec.to_builtins(exchange.gaps),
        "provenance": msgspec.to_builtins(exchange.provenance),
    }
    if exchange.websocket is not None:
        whole["websocket"] = _describe_websocket(exchange.websocket, sides, bodies=bodies)
        bodies = False
    if Direction.REQUEST in sides:
        head: dict[str, Any] = {"version": exchange.version, "headers": exchange.headers}
        whole["request"] = {**head, **_describe_body(exchange.request_body, bodies=bodies)}
    if Direction.RESPONSE in sides:
        head = msgspec.to_builtins(exchange.response) if exchange.response is not None else {}
        interim = msgspec.to_builtins(exchange.interim)
        body = _describe_body(exchange.response_body, bodies=bodies)
        whole["response"] = {**head, "interim": interim, **body}
    return whole


def _describe_body(body: Body, *, bodies: bool) -> dict[str, Any]:
    about: dict[str, Any] = {
        "wire_bytes": body.wire,
        "decoded_bytes": body.decoded,
        "stored_bytes": body.stored,
        "encoding": body.encoding,
        "complete": body.complete,
        "redactions": body.redactions,
        "chunks": [{"at_us": chunk.at_us, "bytes": chunk.length} for chunk in body.chunks],
    }
    return {**about, "body": describe_bytes(body.data)} if bodies else about


def _describe_websocket(websocket: WebSocket, sides: Sequence[Direction], *, bodies: bool) -> dict[str, Any]:
    return {
        "client": msgspec.to_builtins(websocket.client),
        "server": msgspec.to_builtins(websocket.server),
        "messages": [
            _describe_message(each, bodies=bodies) for each in websocket.messages if each.direction in sides
        ],
    }


def _describe_message(message: Message, *, bodies: bool) -> dict[str, Any]:
    about: dict[str, Any] = {
        "at_us": message.at_us,
        "from": "client" if message.direction is Direction.REQUEST else "server",
        "bytes": message.length,
        "binary": message.binary,
        "complete": message.complete,
    }
    return {**about, **describe_bytes(message.data or b"")} if bodies else about


def request_head(exchange: Exchange) -> list[str]:
    """The lines of the request's head, as the client sent them."""
    first = " ".join((exchange.method or "?", exchange.path or "?", exchange.version or ""))
    return [first.rstrip(), *(f"{name}: {value}" for name, value in exchange.headers)]


def response_heads(exchange: Exchange) -> list[list[str]]:
    """The lines of each head that came back; the final one is the last."""
    heads = [*exchange.interim, *([exchange.response] if exchange.response is not None else [])]
    return [_head_lines(head) for head in heads]


def _head_lines(head: Head) -> list[str]:
    first = " ".join((head.version, str(head.status or "?"), head.reason)).strip()
    return [first, *(f"{name}: {value}" for name, value in head.headers)]


def message_line(message: Message) -> str:
    """The line above a message: which way it went, when, and what it is."""
    arrow = "→" if message.direction is Direction.REQUEST else "←"
    kind = "binary" if message.binary else "text"
    end = "" if message.complete else ", not complete"
    return f"{arrow} {milliseconds(message.at_us)}  {kind}, {message.length} bytes{end}"


def messages_summary(websocket: WebSocket) -> str:
    """How many messages passed each way, and how each side closed."""
    return f"{_sent('→', websocket.client)}; {_sent('←', websocket.server)}"


def _sent(arrow: str, sent: Sent) -> str:
    count = f"{arrow} {sent.messages} message{'' if sent.messages == 1 else 's'}"
    if sent.close is None:
        return f"{count}, no close"
    reason = f" {sent.close.reason}" if sent.close.reason else ""
    return f"{count}, closed{'' if sent.close.code is None else f' {sent.close.code}'}{reason}"


def body_lines(data: bytes) -> list[str]:
    """A body for people: JSON laid out, all else as it is."""
    if not data:
        return []
    if data.lstrip()[:1] in (b"{", b"["):
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            data = msgspec.json.format(data, indent=2)
    return data.decode(errors="replace").removesuffix("\n").split("\n")


def milliseconds(microseconds: int | None) -> str:
    """A time as a list shows it."""
    if microseconds is None:
        return "-"
    return f"{microseconds / 1000:.1f} ms" if microseconds < 1_000_000 else f"{microseconds / 1_000_000:.2f} s"
