"""What an MCP server says to each message, as values: by the handshake revisions, and by the one without."""

from collections.abc import Mapping
from typing import Any

import msgspec

from blackbird.doors import schema
from blackbird.doors.answer import UNKNOWN_TOOL, Answer
from blackbird.doors.version import version

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = (
    -32700,
    -32600,
    -32601,
    -32602,
    -32603,
)
UNSUPPORTED_VERSION = -32022
#: Revisions that begin with `initialize`, oldest first; the newest is offered to whoever asks for another.
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
#: Revisions without a handshake: each request names its own.
ENVELOPES = ("2026-07-28",)
_PREFIX = "io.modelcontextprotocol/"
_VERSION, _CAPABILITIES, _SERVER = (_PREFIX + key for key in ("protocolVersion", "clientCapabilities", "serverInfo"))
#: How long a client may go on with what it was told of the server and its tools: they change with the program alone.
_FRESH_MS = 3_600_000
#: Whole numbers that JSON readers everywhere agree upon.
_LARGEST_ID = 1 << 53

_encode = msgspec.json.Encoder().encode
Id = int | str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request that can be answered, or a notification if it has no id."""

    id: Id | None
    method: str
    params: dict[str, Any]
    #: The revision that the request itself names, if it does.
    version: str | None = None

    @property
    def meta(self) -> dict[str, Any]:
        """What the client sent beside the arguments."""
        found = self.params.get("_meta")
        return found if isinstance(found, dict) else {}


class Fault(Exception):
    """A message that cannot be answered with a result."""

    def __init__(self, code: int, message: str, *, to: Id | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.to, self.data = code, message, to, data

    def line(self) -> bytes:
        """What is sent for it."""
        error = {"code": self.code, "message": self.message} | ({} if self.data is None else {"data": self.data})
        return _encode({"jsonrpc": "2.0", "id": self.to, "error": error}) + b"\n"


def read(line: bytes) -> Request | None:
    """The message of a line; nothing for an answer, since this server asks nothing. Raises `Fault`."""
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Fault(PARSE_ERROR, f"Parse error: {error}") from None
    if isinstance(message, list):
        raise Fault(INVALID_REQUEST, "Batches are not supported: one message a line")
    if not isinstance(message, dict):
        raise Fault(INVALID_REQUEST, "Invalid request: a message is an object")
    identifier = _id(message)
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, params = message.get("method"), message.get("params")
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise Fault(INVALID_REQUEST, 'Invalid request: "jsonrpc" is "2.0", and "method" a string', to=identifier)
    if params is not None and not isinstance(params, dict):
        raise Fault(INVALID_PARAMS, "Invalid params: an object is expected", to=identifier)
    request = Request(id=identifier, method=method, params=params or {})
    return msgspec.structs.replace(request, version=_version(request))


def respond(request: Request) -> dict[str, Any]:
    """The result of any request but a call of a tool. Raises `Fault`."""
    if request.version is not None:
        return _respond_alone(request)
    match request.method:
        case "initialize":
            asked = request.params.get("protocolVersion")
            version = asked if asked in HANDSHAKES else HANDSHAKES[-1]
            return {"protocolVersion": version, "serverInfo": server(), **_about()}
        case "ping":
            return {}
        case "tools/list":
            return {"tools": schema.listed()}
        case _:
            raise _unknown(request)


def called(request: Request) -> tuple[str, Any]:
    """The name and the arguments of a call of a tool. Raises `Fault`."""
    name = request.params.get("name")
    if not isinstance(name, str):
        raise Fault(INVALID_PARAMS, "Invalid params: a tool has a name", to=request.id)
    return name, request.params.get("arguments")


def result(request: Request, answer: Answer) -> dict[str, Any]:
    """The result of a call. Raises `Fault` for a tool that does not exist, as the protocol wants it."""
    if answer.code == UNKNOWN_TOOL:
        raise Fault(INVALID_PARAMS, answer.text, to=request.id, data=answer.values)
    content = [{"type": "text", "text": answer.text}]
    values = {"content": content, "structuredContent": answer.values, "isError": answer.is_error}
    return _complete(values) if request.version is not None else values


def line(request: Request, values: Mapping[str, Any]) -> bytes:
    """A result as a line."""
    return _encode({"jsonrpc": "2.0", "id": request.id, "result": values}) + b"\n"


def server() -> dict[str, str]:
    """What this server calls itself."""
    return {"name": "blackbird", "title": "Blackbird memory", "version": version()}


def _respond_alone(request: Request) -> dict[str, Any]:
    fresh = {"ttlMs": _FRESH_MS, "cacheScope": "private"}
    match request.method:
        case "server/discover":
            return _complete({"supportedVersions": list(ENVELOPES), **_about(), **fresh})
        case "tools/list":
            return _complete({"tools": schema.listed(), **fresh})
        case _:
            raise _unknown(request)


def _about() -> dict[str, Any]:
    return {"capabilities": {"tools": {"listChanged": False}}, "instructions": schema.INSTRUCTIONS}


def _complete(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "resultType": "complete", "_meta": {_SERVER: server()}}


def _unknown(request: Request) -> Fault:
    return Fault(METHOD_NOT_FOUND, "Method not found", to=request.id, data=request.method[:200])


def _id(message: Mapping[str, Any]) -> Id | None:
    if "id" not in message:
        return None
    found = message["id"]
    is_number = isinstance(found, int) and not isinstance(found, bool) and abs(found) <= _LARGEST_ID
    if is_number or isinstance(found, str):
        return found  # type: ignore[no-any-return]
    raise Fault(INVALID_REQUEST, "Invalid request: an id is a string or a whole number")


def _version(request: Request) -> str | None:
    """The revision that a request names for itself. `initialize` begins a handshake, whatever stands beside it."""
    if request.method == "initialize" or request.id is None or _VERSION not in request.meta:
        return None
    version = request.meta[_VERSION]
    if not isinstance(version, str) or _CAPABILITIES not in request.meta:
        raise Fault(INVALID_PARAMS, f"Invalid params: _meta has {_VERSION} and {_CAPABILITIES}", to=request.id)
    if version not in ENVELOPES:
        asked = {"supported": list(ENVELOPES), "requested": version}
        raise Fault(UNSUPPORTED_VERSION, "Unsupported protocol version", to=request.id, data=asked)
    return version
