"""Puts flights and agents' own logs into a trace on disk, as a recorder and an import would."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from blackbird.exchange.clock import to_rfc3339
from blackbird.exchange.exchange import Exchange
from blackbird.imports import facts as glances
from blackbird.imports import sources
from blackbird.imports.facts import Facts
from blackbird.imports.sources import Source
from blackbird.trace import ids
from blackbird.trace.records import Direction, Flag, Kind
from tests.blackbird.flights import BEGIN
from tests.blackbird.trace.encoder import MONOTONIC, Tracer

_MICROSECOND = 1000
_NOON = "2026-11-16T12:00:00Z"


class Logbook:
    """A trace that is written. Records follow each other in the order of the calls."""

    def __init__(self) -> None:
        self.tracer = Tracer()
        self.tracer.segments = []
        self.tracer.rotate(wall=BEGIN)

    def exchange(self, exchange: Exchange, **start: Any) -> bytes:
        """All records of an exchange, its end included unless it was never told."""
        request = ids.parse(exchange.request_id)
        assert request is not None
        began = (exchange.started_ns or BEGIN) - BEGIN + MONOTONIC
        opening = {
            "method": exchange.method,
            "target": exchange.path,
            "version": "HTTP/1.1",
            "headers": [list(pair) for pair in exchange.headers],
            "session": exchange.session,
            "task": exchange.task,
            "run": exchange.run,
            "attribution": "run" if exchange.run else "client" if exchange.headers else "none",
            "client": exchange.client,
            "mode": "full",
        }
        self.tracer.add(Kind.REQUEST_START, request, opening | start, monotonic=began)
        self._bodies(exchange, request, began)
        about = {"complete": True, "redactions": {}}
        timings = {"first_byte": exchange.timings.first_byte_us, "end": exchange.timings.total_us}
        closing = {"request": about, "response": about, "timings": timings, "kept": {}}
        kind = Kind.RESPONSE_END
        if exchange.error is not None:
            kind = Kind.ERROR
            closing |= {"where": "upstream", "code": exchange.error.code, "message": exchange.error.message}
        total = (exchange.timings.total_us or 0) * _MICROSECOND
        self.tracer.add(kind, request, closing, monotonic=began + total)
        return request

    def _bodies(self, exchange: Exchange, request: bytes, began: int) -> None:
        if exchange.websocket is not None:
            self._head(exchange, request, began)
            for message in exchange.messages:
                flags = Flag.FROM_CLIENT if message.direction is Direction.REQUEST else 0
                time = began + message.at_us * _MICROSECOND
                self.tracer.add(Kind.WS_FRAME, request, message.data, flags=int(flags), monotonic=time)
            return
        for chunk in exchange.request_body.chunks:
            self.tracer.add(Kind.REQUEST_BODY, request, chunk.data, monotonic=began)
        self._head(exchange, request, began)
        for chunk in exchange.response_body.chunks:
            time = began + chunk.at_us * _MICROSECOND
            self.tracer.add(Kind.RESPONSE_BODY, request, chunk.data, monotonic=time)

    def _head(self, exchange: Exchange, request: bytes, began: int) -> None:
        if exchange.response is not None:
            head = {"status": exchange.response.status, "headers": [list(pair) for pair in exchange.response.headers]}
            self.tracer.add(Kind.RESPONSE_START, request, head, monotonic=began)

    def state(self, event: str, session: str | None = None, run: str | None = None, **data: Any) -> None:
        """What a harness states."""
        self.tracer.add(Kind.HARNESS_EVENT, payload={"event": event, "session": session, "run": run, "data": data})

    def plan(self, event: str, session: str | None, task: str | None, run: str | None = None, **data: Any) -> None:
        """What a harness states of a task."""
        about = {"event": event, "session": session, "task": task, "run": run}
        self.tracer.add(Kind.HARNESS_EVENT, payload={**about, "data": data})

    def tool(self, event: str, **fields: Any) -> None:
        """What a tool did, as whoever ran it states."""
        self.tracer.add(Kind.TOOL_EVENT, payload={"event": event, **fields})

    def log(self, name: str, path: str, session: str, lines: Iterable[str | dict[str, Any]], **more: Any) -> Source:
        """A file that was taken in, line by line; of the format `name`."""
        source = Source(
            id=sources.source_id(name, path, 1), format=name, client=name, path=path, native_session=session, **more
        )
        data = {"source": source.id, "format": name, "client": name, "path": path, "native_session": session}
        self.state(sources.OPEN, session, **data, kept=source.is_kept, document=source.is_document)
        offset = count = 0
        facts = Facts()
        for given in lines:
            text = given if isinstance(given, str) else json.dumps(given)
            glances.take(facts, name, text)
            length = len(text.encode())
            head = json.dumps({"offset": offset, "length": length}).encode()
            if source.is_kept:
                self.tracer.add(Kind.NATIVE_LINE, source.key, head + b"\n" + text.encode())
            offset, count = offset + length + 1, count + 1
        first, last = (_NOON if at is None else to_rfc3339(at) for at in (facts.first_at, facts.last_at))
        self.state(sources.END, session, source=source.id, lines=count, bytes=offset, first_at=first, last_at=last)
        return source

    def rotate(self) -> None:
        """Go on in the next segment, by the same clock."""
        self.tracer.rotate(wall=BEGIN)

    def save(self, folder: Path, *, sealed: Sequence[int] = ()) -> Path:
        """Write the files."""
        return self.tracer.save(folder, sealed=tuple(sealed))
