"""Counts what passed, from the records of a trace as they come: calls, bytes, statuses, errors, secrets, models."""

import re
import urllib.parse
from collections import Counter
from typing import Any

import msgspec

from blackbird.exchange import payloads
from blackbird.trace.records import Direction, Flag, Kind, Record, read_object

_FINAL_STATUS = 200
_FAILED_STATUS = 400
_UPGRADED_STATUS = 101
#: Longer requests are counted, and their model is not looked for.
_LONGEST_BODY = 32 << 20


#: Gemini and those that speak like it: `/v1beta/models/NAME:streamGenerateContent`.
_IN_PATH = re.compile(r"/models/([^/:?]+):")


class _Asked(msgspec.Struct):
    model: str | None = None


_BODY = msgspec.json.Decoder(_Asked)


class _Call(msgspec.Struct):
    """A request that has no end yet, and what of it is recorded."""

    path: str | None
    request_bytes: int = 0
    response_bytes: int = 0
    body: list[bytes] = []
    is_read: bool = False
    has_failed: bool = False


class Tally:
    """What the requests of a session, a task or a run (or all) came to. Records of others are passed over."""

    def __init__(self, *, session: str | None = None, task: str | None = None, run: str | None = None) -> None:
        self._wanted = {"session": session, "task": task, "run": run}
        self._open: dict[bytes, _Call] = {}
        self._request_bytes = 0
        self._response_bytes = 0
        self.calls = 0
        #: Those of the calls of which nothing was decoded: tunnels to hosts that are not recorded.
        self.tunnels = 0
        #: Calls that failed, whether a status or a broken connection says so.
        self.failures = 0
        #: Responses by status, the good ones included.
        self.statuses: Counter[int] = Counter()
        #: Exchanges that ended before their time, by code.
        self.faults: Counter[str] = Counter()
        #: Secrets that were replaced, by kind.
        self.redactions: Counter[str] = Counter()
        #: Calls by the model they asked for; without the records' bodies, only those that the path names.
        self.models: Counter[str] = Counter()
        #: Pieces of bodies that are missing, by reason.
        self.gaps: Counter[str] = Counter()

    @property
    def active(self) -> int:
        """Calls that have no end yet."""
        return len(self._open)

    @property
    def request_bytes(self) -> int:
        """Bytes of bodies on the wire; of a call that has no end yet, what is recorded of them."""
        return self._request_bytes + sum(call.request_bytes for call in self._open.values())

    @property
    def response_bytes(self) -> int:
        """The same of the responses."""
        return self._response_bytes + sum(call.response_bytes for call in self._open.values())

    @property
    def errors(self) -> Counter[int]:
        """Responses by status, only those that say that something failed."""
        return Counter({status: count for status, count in self.statuses.items() if status >= _FAILED_STATUS})

    def take(self, record: Record) -> bool:
        """Count a record, in the order of the trace; whether it belongs to what is counted."""
        if record.kind == Kind.REQUEST_START:
            fields = read_object(record) or {}
            if any(wanted not in (None, fields.get(key)) for key, wanted in self._wanted.items()):
                return False
            self.begin(record.request, fields)
            return True
        call = self._open.get(record.request)
        if call is None:
            return False
        direction = record.direction
        if direction is None:
            self._go_on(call, record)
        else:
            _weigh(call, record, direction)
            if direction is Direction.REQUEST and record.payload is not None:
                self._read_on(call, record, record.payload)
        return True

    def weigh(self, record: Record) -> None:
        """Count a piece of a body by its length alone."""
        call, direction = self._open.get(record.request), record.direction
        if call is not None and direction is not None:
            _weigh(call, record, direction)

    def begin(self, request: bytes, fields: dict[str, Any]) -> None:
        """Count a call; `fields` are those of its `request.start`, and empty if that is not in the trace."""
        self._open[request] = _Call(payloads.text(fields, "target"))
        self.calls += 1
        self.tunnels += fields.get("via") == "tunnel"

    def add(self, other: "Tally") -> None:
        """Count what another counted as well; of calls without an end, both go on to take their own."""
        self._request_bytes += other.request_bytes
        self._response_bytes += other.response_bytes
        self.calls += other.calls
        self.tunnels += other.tunnels
        self.failures += other.failures
        for mine, theirs in (
            (self.faults, other.faults),
            (self.redactions, other.redactions),
            (self.models, other.models),
            (self.gaps, other.gaps),
        ):
            mine.update(theirs)
        self.statuses.update(other.statuses)

    def _go_on(self, call: _Call, record: Record) -> None:
        if record.kind == Kind.RESPONSE_START:
            self._answer(call, read_object(record) or {})
        elif record.kind == Kind.GAP:
            self.gaps[payloads.gap(read_object(record) or {}).reason] += 1
        elif record.kind in (Kind.RESPONSE_END, Kind.ERROR):
            self._look_for_model(call)
            self._end(call, record)

    def _read_on(self, call: _Call, record: Record, payload: bytes) -> None:
        """Keep the request's body until the response begins; its model may stand at the very end."""
        if call.is_read:
            return
        call.body.append(payload)
        if record.kind == Kind.WS_FRAME:
            if not record.flags & Flag.CONTINUES:
                self._look_for_model(call, is_last=False)
        elif call.request_bytes > _LONGEST_BODY:
            call.is_read, call.body = True, []

    def _answer(self, call: _Call, fields: dict[str, Any]) -> None:
        status = payloads.number(fields, "status")
        if status is None:
            return
        if status >= _FINAL_STATUS or status == _UPGRADED_STATUS:
            self.statuses[status] += 1
        if status >= _FINAL_STATUS:
            self._look_for_model(call)
        if status >= _FAILED_STATUS:
            self._fail(call)

    def _fail(self, call: _Call) -> None:
        self.failures += not call.has_failed
        call.has_failed = True

    def _look_for_model(self, call: _Call, *, is_last: bool = True) -> None:
        """Of a WebSocket, the first message that names one counts; of any other request, its body."""
        if call.is_read:
            return
        model = model_of(call.path, b"".join(call.body))
        call.is_read = is_last or model is not None
        call.body = []
        if model is not None:
            self.models[model] += 1

    def _end(self, call: _Call, record: Record) -> None:
        fields = read_object(record) or {}
        del self._open[record.request]
        sent = payloads.number(payloads.inner(fields, "request"), "wire")
        received = payloads.number(payloads.inner(fields, "response"), "wire")
        self._request_bytes += call.request_bytes if sent is None else sent
        self._response_bytes += call.response_bytes if received is None else received
        for side in ("request", "response"):
            self.redactions.update(payloads.counts(payloads.inner(fields, side), "redactions"))
        if record.kind == Kind.ERROR and not payloads.is_left(fields):
            self.faults[payloads.fault(fields).code] += 1
            self._fail(call)


def _weigh(call: _Call, record: Record, direction: Direction) -> None:
    if direction is Direction.REQUEST:
        call.request_bytes += record.length
    else:
        call.response_bytes += record.length


def model_of(path: str | None, body: bytes) -> str | None:
    """The model, if one is named; `body` is the whole of it, or nothing if it is not known."""
    found = _IN_PATH.search(path or "")
    if found is not None:
        return urllib.parse.unquote(found[1])
    try:
        return _BODY.decode(body).model or None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
