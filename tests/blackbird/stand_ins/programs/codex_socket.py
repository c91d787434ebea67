"""The WebSocket of the stand-in for Codex: an upgrade that may be declined, and one response after the other."""

import base64
import http.client
import json
import os
from collections.abc import Mapping
from typing import IO, Any
from urllib.parse import urlsplit

from blackbird.provider.websocket import frames, packing
from blackbird.provider.websocket.frames import Frame, Opcode
from tests.blackbird.stand_ins.programs.wire import Seen, kind_of, note, way_to


class Socket:
    """An open WebSocket that compresses."""

    def __init__(self, connection: http.client.HTTPConnection, source: IO[bytes]) -> None:
        self._connection = connection
        self._source = source
        self._messages = frames.messages(self._take)
        self._packing = packing.Packing()
        self.is_open = True

    def create(self, what: str, body: Mapping[str, Any]) -> Any:
        """Ask for a response; nothing if an error came in its place. All events are noted."""
        packed = self._packing.pack(json.dumps({"type": "response.create", **body}).encode())
        self._connection.sock.sendall(frames.spell(Frame(Opcode.TEXT, packed, packed=True), os.urandom(4)))
        seen = Seen(101)
        try:
            event = self._events(seen)
        except (EOFError, OSError) as error:
            seen.trouble = kind_of(error)
            self.is_open = False
            event = {}
        note(what, seen)
        return event.get("response")

    def _events(self, seen: Seen) -> dict[str, Any]:
        """The last event of a response."""
        while True:
            message = next(self._messages)
            if message.opcode is Opcode.CLOSE:
                raise EOFError(frames.close_code(message.payload))
            event: dict[str, Any] = json.loads(self._packing.unpack(message.payload))
            seen.body += json.dumps(event).encode() + b"\n"
            if event["type"] in ("response.completed", "error"):
                return event

    def close(self) -> None:
        """Say that this was all, and hear the same."""
        self._connection.sock.sendall(frames.spell(frames.close(1000), os.urandom(4)))
        note("close", Seen(frames.close_code(next(self._messages).payload)))
        self._connection.close()

    def _take(self, size: int) -> bytes:
        data = self._source.read(size)
        if len(data) < size:
            raise EOFError
        return data


def upgrade(base: str, trust: str, fields: Mapping[str, str]) -> Socket | None:
    """Ask for a WebSocket; none if the provider says 426, upon which Codex turns to HTTP at once."""
    url = urlsplit(base)
    connection = way_to(url, trust)
    connection.putrequest("GET", f"{url.path}/responses", skip_accept_encoding=True)
    asked = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": base64.b64encode(os.urandom(16)).decode(),
        "sec-websocket-extensions": "permessage-deflate; client_max_window_bits",
        "openai-beta": "responses_websockets=2026-02-06",
        **fields,
    }
    for name, value in asked.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    told = [(name, value) for name, value in response.getheaders() if name.lower() != "sec-websocket-accept"]
    seen = Seen(response.status, told)
    if response.status != http.HTTPStatus.SWITCHING_PROTOCOLS:
        seen.body = response.read()
        connection.close()
    note("upgrade", seen)
    if response.status == http.HTTPStatus.SWITCHING_PROTOCOLS:
        return Socket(connection, response.fp)
    if response.status != http.HTTPStatus.UPGRADE_REQUIRED:
        raise SystemExit(f"the upgrade was answered {response.status}")
    return None
