"""What a trace says of the logs that were taken in: which there are, whose they are, and how far each was read."""

import hashlib
from typing import Any

import msgspec

from blackbird.exchange import payloads
from blackbird.sessions import imported
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind, Record, read_object

OPEN, END = imported.OPEN, imported.END
PREFIX = "src_"
_DOMAIN = b"blackbird.source"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A log. A file that was rewritten is another source of the next `generation`.

    A log that names no session is one by itself: `native_session` is then its `id`.
    `id` is `src_` and 26 characters; `key` the 16 bytes that its records have in the place of a request's id. Times
    are nanoseconds since 1970. It was read up to the offset `reached`; `is_kept`: its lines are in the trace.
    """

    id: str
    format: str
    client: str | None
    path: str
    generation: int = 1
    native_session: str | None = None
    native_thread: str | None = None
    is_kept: bool = True
    is_document: bool = False
    lines: int = 0
    messages: int = 0
    reached: int = 0
    first_at: int | None = None
    last_at: int | None = None
    title: str | None = None
    #: The folder that the agent worked in, or the SHA-256 of its path.
    folder: str | None = None

    @property
    def key(self) -> bytes:
        """What stands in its records in the place of a request's id."""
        return ids.from_text(self.id.removeprefix(PREFIX)) or ids.ZERO


class Sources:
    """The sources that records speak of, each as it was last stated."""

    def __init__(self) -> None:
        self._known: dict[str, Source] = {}

    def take(self, record: Record) -> None:
        """Hear a record, in the order of the trace; all but statements about imports are passed over."""
        if record.kind != Kind.HARNESS_EVENT or record.payload is None or b'"import.' not in record.payload:
            return
        fields = read_object(record) or {}
        data = payloads.inner(fields, "data")
        name = payloads.text(data, "source")
        if name is None:
            return
        if fields.get("event") == OPEN:
            self._known[name] = _opened(name, data, self._known.get(name))
        elif fields.get("event") == END and name in self._known:
            self._known[name] = _ended(self._known[name], data)

    def know(self, source: Source) -> None:
        """Take a source that was stated in records which are not heard."""
        self._known[source.id] = source

    def all(self) -> list[Source]:
        """All of them, in the order in which they were first taken in."""
        return list(self._known.values())

    def current(self) -> list[Source]:
        """The same without those whose file was rewritten since and taken in anew as a whole."""
        newest: dict[tuple[str, str], int] = {}
        for source in self._known.values():
            place = (source.format, source.path)
            newest[place] = max(newest.get(place, 0), source.generation)
        known = self._known.values()
        return [
            source
            for source in known
            if not source.is_document or source.generation == newest[source.format, source.path]
        ]


def find(trace: Trace) -> Sources:
    """The sources of a trace; segments that cannot be read say nothing of them."""
    found = Sources()
    for segment in trace.segments():
        if isinstance(segment, TraceError):
            continue
        try:
            for record in segment.pick([ids.ZERO], bodies=False):
                found.take(record)
        except TraceError:
            continue
    return found


def source_id(format_name: str, path: str, generation: int) -> str:
    """The id of a source: the same for the same file whenever and wherever it is computed."""
    named = b"\0".join((_DOMAIN, format_name.encode(), path.encode(errors="surrogateescape"), b"%d" % generation))
    return PREFIX + ids.to_text(hashlib.sha256(named).digest()[: ids.BYTES])


def _opened(name: str, data: payloads.Fields, known: Source | None) -> Source:
    stated: dict[str, Any] = {
        "format": payloads.text(data, "format") or "",
        "client": payloads.text(data, "client"),
        "path": payloads.text(data, "path") or "",
        "generation": payloads.number(data, "generation") or 1,
        "native_session": payloads.text(data, "native_session") or name,
        "native_thread": payloads.text(data, "native_thread"),
        "is_kept": data.get("kept") is not False,
        "is_document": data.get("document") is True,
    }
    if known is not None:
        return msgspec.structs.replace(known, **stated)
    opened = Source(id=name, **stated)
    return opened if opened.is_kept else _ended(opened, data)


def _ended(source: Source, data: payloads.Fields) -> Source:
    return msgspec.structs.replace(
        source,
        lines=payloads.number(data, "lines") or 0,
        messages=payloads.number(data, "messages") or 0,
        reached=payloads.number(data, "bytes") or 0,
        first_at=imported.instant(payloads.text(data, "first_at")),
        last_at=imported.instant(payloads.text(data, "last_at")),
        title=payloads.text(data, "title"),
        folder=payloads.text(data, "folder"),
    )
