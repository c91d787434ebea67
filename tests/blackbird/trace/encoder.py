"""Writes traces as docs/formats/wal-1.md has them, so that the reader can be asked about any of them."""

import hashlib
import json
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from blackbird.trace import ids
from blackbird.trace.records import Kind, Record

WALL = 1_794_830_400_000_000_000
MONOTONIC = 5_000_000_000
TRACE = bytes([1] * 16)
INSTANCE = bytes([2] * 16)
POLICY = "2026.11.3"


def identifier(number: int) -> bytes:
    """An id that tells its number."""
    return b"\x01" + number.to_bytes(15, "big")


def encode_header(
    number: int = 1,
    *,
    id_: bytes | None = None,
    trace: bytes = TRACE,
    instance: bytes = INSTANCE,
    previous_root: bytes = bytes(32),
    first_sequence: int = 1,
    wall: int = WALL,
    monotonic: int = MONOTONIC,
    boot: bytes = bytes(16),
    policy: str = POLICY,
) -> bytes:
    name = policy.encode()
    body = b"\x89BBWAL\r\n" + struct.pack("<HHIQ", 1, 0, 150 + len(name), number)
    body += (id_ or bytes([3] * 8) + number.to_bytes(8, "big")) + trace + instance + previous_root
    body += struct.pack("<QqQ", first_sequence, wall, monotonic) + boot + struct.pack("<H", len(name)) + name
    return body + struct.pack("<I", zlib.crc32(body))


def spell(record: Record) -> bytes:
    """A record from offset 4 on."""
    numbers = (record.length, record.version, record.kind, record.flags, record.sequence, record.monotonic)
    return struct.pack("<IBBHQQ", *numbers) + record.request + (record.payload or b"")


def encode_record(segment: bytes, record: Record) -> bytes:
    spelled = spell(record)
    return struct.pack("<I", zlib.crc32(segment + spelled)) + spelled


def root_of(header: bytes, records: list[Record]) -> bytes:
    return hashlib.sha256(header + b"".join(spell(record) for record in records)).digest()


def leb(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def zigzag(number: int) -> int:
    wrapped = (number + (1 << 63)) % (1 << 64) - (1 << 63)
    return wrapped << 1 if wrapped >= 0 else (-wrapped << 1) - 1


def encode_rows(records: list[Record], first_sequence: int, monotonic: int, unit: int) -> bytes:
    columns: list[list[int]] = [[], [], [], [], []]
    for record in records:
        turn = record.monotonic - monotonic
        numbers = (
            record.kind,
            record.flags,
            record.sequence - first_sequence,
            zigzag(turn if unit == 1 else turn // unit),
            record.length,
        )
        for column, number in zip(columns, numbers, strict=True):
            column.append(number)
        first_sequence, monotonic = record.sequence, record.monotonic
    packed = (b"".join(map(leb, column)) for column in columns)
    return b"".join(struct.pack("<I", len(column)) + column for column in packed)


class Streams:
    """The four streams of a seal, cut into frames of a size that the test chooses."""

    def __init__(self, frame_bytes: int) -> None:
        self.frame_bytes = frame_bytes
        self.frames: list[tuple[str, bytearray]] = []
        self.open: dict[str, int] = {}

    def put(self, stream: str, data: bytes) -> list[list[int]]:
        stretch = []
        while data:
            at = self.open.get(stream)
            if at is None or len(self.frames[at][1]) >= self.frame_bytes:
                at = self.open[stream] = len(self.frames)
                self.frames.append((stream, bytearray()))
            frame = self.frames[at][1]
            piece, data = data[: self.frame_bytes - len(frame)], data[self.frame_bytes - len(frame) :]
            stretch.append([at, len(frame), len(piece)])
            frame += piece
        return stretch


def encode_seal(
    header: bytes, records: list[Record], torn: bytes = b"", *, frame_bytes: int = 1 << 20, root: bytes | None = None
) -> bytes:
    """The seal of a segment with these records."""
    first_sequence, monotonic = struct.unpack_from("<Q", header, 104)[0], struct.unpack_from("<Q", header, 120)[0]
    times = [record.monotonic for record in records]
    unit = 1000 if all(time % 1000 == 0 for time in [*times, monotonic]) else 1
    streams = Streams(frame_bytes)
    groups = []
    for request in dict.fromkeys(record.request for record in records):
        members = [record for record in records if record.request == request]
        parts: dict[str, bytes] = {"other": b"", "request": b"", "response": b""}
        for record in members:
            parts[_stream(record)] += record.payload or b""
        group: dict[str, Any] = {"id": "" if request == bytes(16) else ids.to_text(request), "count": len(members)}
        group["rows"] = streams.put("rows", encode_rows(members, first_sequence, monotonic, unit))
        groups.append(group | {name: streams.put(name, data) for name, data in parts.items()})
    index: dict[str, Any] = {"frames": [], "unit": unit, "records": len(records), "groups": groups}
    index["bytes"] = len(header) + sum(44 + record.length for record in records) + len(torn)
    if torn:
        index["torn"] = streams.put("other", torn)
    out = b"\x89BBSEA\r\n" + struct.pack("<HHI", 1, 0, len(header)) + header
    for stream, raw in streams.frames:
        packed = zstandard.compress(bytes(raw))
        about = {"stream": stream, "offset": len(out), "length": len(packed), "raw": len(raw), "crc": zlib.crc32(raw)}
        index["frames"].append(about)
        out += packed
    return finish_seal(out, index, root or root_of(header, records))


def finish_seal(start: bytes, index: dict[str, Any], root: bytes) -> bytes:
    """Index and footer behind the frames."""
    raw = json.dumps(index).encode()
    packed = zstandard.compress(raw)
    footer = struct.pack("<QII", len(start), len(packed), len(raw)) + root
    footer += struct.pack("<II", zlib.crc32(packed + footer), 0) + b"\x89BBSEA\r\n"
    return start + packed + footer


def _stream(record: Record) -> str:
    if record.kind == Kind.REQUEST_BODY or (record.kind == Kind.WS_FRAME and record.flags & 4):
        return "request"
    return "response" if record.kind in (Kind.RESPONSE_BODY, Kind.WS_FRAME) else "other"


def encode_synced(segment: int, sequence: int, offset: int) -> bytes:
    body = struct.pack("<QQQ", segment, sequence, offset)
    return body + struct.pack("<I", zlib.crc32(body))


@dataclass
class Written:
    """A segment that was written: its header and records, and how it is told to be in the folder."""

    number: int
    header: bytes
    records: list[Record] = field(default_factory=list)
    torn: bytes = b""

    @property
    def id(self) -> bytes:
        return self.header[24:40]

    @property
    def root(self) -> bytes:
        return root_of(self.header, self.records)

    @property
    def wal(self) -> bytes:
        return self.header + b"".join(encode_record(self.id, record) for record in self.records) + self.torn

    @property
    def seal(self) -> bytes:
        return encode_seal(self.header, self.records, self.torn)

    def offset_of(self, sequence: int) -> int:
        """Where the record with this sequence starts."""
        before = (44 + record.length for record in self.records if record.sequence < sequence)
        return len(self.header) + sum(before)

    def change(self, sequence: int, payload: bytes) -> None:
        """Put another payload in a record; its CRC is right again."""
        self.records = [
            make_record(record.kind, record.sequence, record.request, payload, record.flags, record.monotonic)
            if record.sequence == sequence
            else record
            for record in self.records
        ]


def make_record(
    kind: int, sequence: int, request: bytes, payload: bytes, flags: int = 0, monotonic: int | None = None
) -> Record:
    time = MONOTONIC + sequence * 1_000_000 if monotonic is None else monotonic
    return Record(1, kind, flags, sequence, time, request, len(payload), payload)


class Tracer:
    """Writes a trace record by record, as a recorder would."""

    def __init__(self, *, instance: bytes = INSTANCE) -> None:
        self.segments: list[Written] = []
        self.sequence = 0
        self.instance = instance
        self.rotate()

    @property
    def current(self) -> Written:
        return self.segments[-1]

    def rotate(self, **header: Any) -> Written:
        """Start the next segment."""
        number = len(self.segments) + 1
        previous = self.segments[-1].root if self.segments else bytes(32)
        about: dict[str, Any] = {"previous_root": previous, "first_sequence": self.sequence + 1}
        raw = encode_header(number, **(about | {"instance": self.instance} | header))
        self.segments.append(Written(number, raw))
        return self.current

    def add(self, kind: Kind, request: bytes = ids.ZERO, payload: Any = b"", **more: Any) -> Record:
        """Append a record; an object becomes JSON."""
        self.sequence += 1
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        record = make_record(kind, self.sequence, request, data, **more)
        self.current.records.append(record)
        return record

    def checkpoint(self, reason: str = "interval", **more: Any) -> Record:
        about = {"reason": reason, "sequence": self.sequence, "root": self.current.root.hex()}
        clock = {
            "wall": WALL + (self.sequence + 1) * 1_000_000,
            "monotonic": MONOTONIC + (self.sequence + 1) * 1_000_000,
        }
        return self.add(Kind.CHECKPOINT, payload=about | clock | more)

    def exchange(self, number: int, *, start: dict[str, Any] | None = None, end: bool = True) -> bytes:
        """One request with its response; returns its id."""
        request = identifier(number)
        self.add(Kind.REQUEST_START, request, START | (start or {}))
        self.add(Kind.REQUEST_BODY, request, b'{"model":"gannet-3","n":%d}' % number)
        self.add(Kind.RESPONSE_START, request, {"status": 200, "reason": "OK", "version": "HTTP/1.1", "headers": []})
        self.add(Kind.RESPONSE_BODY, request, b"data: one\n\n")
        self.add(Kind.RESPONSE_BODY, request, b"data: two\n\n")
        if end:
            self.add(Kind.RESPONSE_END, request, END)
        return request

    def save(self, folder: Path, *, sealed: tuple[int, ...] = (), gone: tuple[int, ...] = ()) -> Path:
        """Write the files."""
        folder.mkdir(exist_ok=True)
        for segment in self.segments:
            path = folder / f"{segment.number:08}"
            if segment.number in gone:
                path.with_suffix(".gone").write_text(json.dumps(tombstone(segment)) + "\n")
            elif segment.number in sealed:
                path.with_suffix(".seal").write_bytes(segment.seal)
            else:
                path.with_suffix(".wal").write_bytes(segment.wal)
        return folder


def tombstone(segment: Written, **more: Any) -> dict[str, Any]:
    """The tombstone of a segment."""
    sequences = [record.sequence for record in segment.records]
    return {
        "schema": "tombstone/1",
        "segment": segment.number,
        "id": ids.to_text(segment.id),
        "instance": ids.to_text(INSTANCE),
        "first_sequence": sequences[0],
        "last_sequence": sequences[-1],
        "previous_root": segment.header[72:104].hex(),
        "root": segment.root.hex(),
        "reason": "clean",
        "at": "2026-11-16T12:00:00Z",
        "bytes": len(segment.wal),
        "requests": 1,
        **more,
    }


START: dict[str, Any] = {
    "method": "POST",
    "target": "/v1/messages?beta=true",
    "version": "HTTP/1.1",
    "headers": [["Host", "127.0.0.1:4141"], ["x-api-key", "[redacted:header]"]],
    "upstream": "anthropic",
    "url": "https://api.anthropic.com/v1/messages?beta=true",
    "session": "harbour",
    "task": "t1",
    "run": "run_01JD4Q0000000000000000000A",
    "attribution": "run",
    "client": {},
    "mode": "full",
    "policy": POLICY,
}
END: dict[str, Any] = {
    "request": {"wire": 28, "decoded": 28, "stored": 28, "encoding": None, "complete": True, "redactions": {}},
    "response": {"wire": 15, "decoded": 22, "encoding": "gzip", "complete": True, "redactions": {"github_token": 1}},
    "timings": {"connected": 210, "request_sent": 400, "first_byte": 31000, "end": 812345},
    "kept": {},
}
