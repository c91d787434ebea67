"""One WebSocket from its upgrade to its close: requests for the model as messages, its events as messages back."""

import base64
import hashlib
import json
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

from blackbird.provider.dialects import responses
from blackbird.provider.dialects.reply import Ask, compact
from blackbird.provider.manner import Fault, Manner
from blackbird.provider.pace import Pace
from blackbird.provider.script import Ids, step
from blackbird.provider.sending import head_bytes
from blackbird.provider.websocket import frames, packing
from blackbird.provider.websocket.frames import Frame, Opcode
from blackbird.provider.wire import Gone, Reader, Received

_KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_SCRIPTED_CLOSE = 1011


class _Over(Exception):
    """A scripted fault ended the connection."""


def is_asked_for(request: Received) -> bool:
    """Whether a request begins a WebSocket of a dialect that has one."""
    wants = request.get("upgrade").lower() == "websocket"
    return wants and request.request_line[0] == "GET" and responses.matches(request.path)


class Talk:
    """What one client asks and is answered; the answers' turns follow from all that it said on this connection."""

    def __init__(
        self,
        connection: socket.socket,
        reader: Reader,
        pace: Pace,
        manner: Manner,
        folder: str,
        of_step: Callable[[int, Manner], Manner],
    ) -> None:
        self._connection = connection
        self._reader = reader
        self._pace = pace
        self._usual = self._manner = manner
        self._of_step = of_step
        self._folder = folder
        self._packing: packing.Packing | None = None
        #: The whole input behind each response, since clients send only what is new.
        self._inputs: dict[str, list[Any]] = {}
        self._events = 0

    def serve(self, request: Received) -> str:
        """Agree, and answer until one side closes; the outcome in a word."""
        self._connection.sendall(head_bytes(101, self._agreement(request)))
        try:
            for message in frames.messages(self._reader.take):
                if message.opcode is Opcode.CLOSE:
                    self._connection.sendall(frames.spell(message))
                    return "answered"
                self._take(request, message)
        except _Over as over:
            return str(over)
        except (frames.Broken, ValueError) as error:
            self._connection.sendall(frames.spell(frames.close(1002, str(error)[:100])))
            return "broken"
        raise Gone

    def _agreement(self, request: Received) -> tuple[tuple[str, str], ...]:
        digest = hashlib.sha1(
            (request.get("sec-websocket-key") + _KEY_SUFFIX).encode(), usedforsecurity=False
        ).digest()
        fields = [
            ("connection", "Upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-accept", base64.b64encode(digest).decode()),
            *self._manner.field,
        ]
        if packing.is_offered(request.get("sec-websocket-extensions")):
            self._packing = packing.Packing()
            fields.append(("sec-websocket-extensions", packing.NAME))
        return tuple(fields)

    def _take(self, request: Received, message: Frame) -> None:
        if message.opcode is Opcode.PING:
            self._connection.sendall(frames.spell(Frame(Opcode.PONG, message.payload)))
        if message.opcode not in (Opcode.TEXT, Opcode.BINARY):
            return
        payload = message.payload
        if message.packed:
            if self._packing is None:
                raise frames.Broken("nobody agreed to compression")
            payload = self._packing.unpack(payload)
        request.messages.append(payload)
        for number, event in enumerate(self._answer(payload)):
            if number and not self._pace.wait(self._manner.gap):
                raise Gone
            self._send(compact(event))

    def _answer(self, payload: bytes) -> Iterator[dict[str, Any]]:
        """The events that one message is answered with."""
        asked = json.loads(payload)
        if not isinstance(asked, dict) or asked.get("type") != "response.create":
            yield responses.failure("the message is no response.create", 0)
            return
        said = self._inputs.get(asked.get("previous_response_id") or "", []) + list(asked.get("input") or [])
        generate = asked.get("generate", True)
        self._take_manner(step(responses.prompt({**asked, "input": said})) if generate else 0)
        if self._manner.status != 200:
            error = responses.error(self._manner.status, f"scripted {self._manner.status}")
            headers = {"retry-after": str(self._manner.retry_after)}
            yield {"type": "error", "status": self._manner.status, **error, "headers": headers}
            return
        ask = Ask("", {}, {**asked, "input": said}, Ids(hashlib.sha256(payload).digest()), self._folder)
        events = responses.events(ask) if generate else responses.warm_up(ask)
        self._inputs[events[-1]["response"]["id"]] = said
        for number, event in enumerate(events):
            if self._manner.fault is Fault.ERROR and self._events == self._manner.after:
                yield responses.failure("scripted error in the stream", number)
                return
            yield event

    def _take_manner(self, step_number: int) -> None:
        """A step's own manner counts events from its own answer, the usual one from the first of the connection."""
        before, self._manner = self._manner, self._of_step(step_number, self._usual)
        if self._manner is not before:
            self._events = 0

    def _send(self, payload: bytes) -> None:
        frame = Frame(Opcode.TEXT, payload)
        if self._packing is not None:
            frame = Frame(Opcode.TEXT, self._packing.pack(payload), packed=True)
        spelled = frames.spell(frame)
        if self._manner.fault is not None and self._events == self._manner.after:
            self._fail(self._manner.fault, spelled)
        self._events += 1
        self._connection.sendall(spelled)

    def _fail(self, fault: Fault, spelled: bytes) -> None:
        """Let the fault happen; an answer goes on if it is none of this protocol."""
        if fault in (Fault.CUT, Fault.RESET):
            self._connection.sendall(spelled[: len(spelled) // 2])
        if fault is Fault.RESET:
            # With no time to linger, close() sends a reset in place of an orderly end.
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif fault is Fault.CLOSE:
            self._connection.sendall(frames.spell(frames.close(_SCRIPTED_CLOSE, "scripted close")))
        elif fault is Fault.STALL:
            self._pace.wait_for_end()
        elif fault is not Fault.CUT:
            return
        raise _Over(fault.value)
