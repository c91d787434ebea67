"""Everything the reader may do with any bytes: what the fuzzer runs, and the tests."""

import contextlib
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import zstandard

from blackbird.trace import header, synced, tombstones
from blackbird.trace.errors import TraceError
from blackbird.trace.scan import Intact
from blackbird.trace.seal.columns import read_rows
from blackbird.trace.segment import Place, Segment, State
from blackbird.trace.verify.verifier import Verifier
from tests.blackbird.trace.encoder import encode_header, identifier

ROOT = Path(__file__).resolve().parents[3]
CORPUS = ROOT / "fixtures" / "wal"
MAX_BYTES = 8192


def exercise(data: bytes) -> None:
    """Read the bytes as each thing that a trace is made of. Anything but a value or a `TraceError` is a fault."""
    for parse in (header.parse, synced.parse, tombstones.parse):
        with contextlib.suppress(TraceError):
            parse(data)
    with contextlib.suppress(TraceError):
        read_rows(data[1:], data[0] if data else 0, header.parse(encode_header()), 1000, identifier(1))
    for content, state in (
        (data, State.WRITTEN),
        (data, State.SEALED),
        (encode_header() + data, State.WRITTEN),
        (_with_index(data), State.SEALED),
    ):
        _verify(content, state)


def _with_index(raw: bytes) -> bytes:
    """A seal with this for its index, and no frames: as far as a fuzzer would never come by itself."""
    head = encode_header()
    start = b"\x89BBSEA\r\n" + struct.pack("<HHI", 1, 0, len(head)) + head
    packed = zstandard.compress(raw)
    footer = struct.pack("<QII", len(start), len(packed), len(raw)) + bytes(32)
    return start + packed + footer + struct.pack("<II", zlib.crc32(packed + footer), 0) + b"\x89BBSEA\r\n"


def _verify(data: bytes, state: State) -> None:
    place = Place(1, state, Path("00000001"), len(data), has_tombstone=False)
    verifier = Verifier()
    try:
        segment = Segment(data, is_sealed=state is State.SEALED, file="00000001")
        _read(segment)
    except TraceError as error:
        verifier.add(place, error)
    else:
        verifier.add(place, segment)
    report = verifier.finish()
    assert all(finding.message and finding.remedy for finding in report.findings)


def _read(segment: Segment) -> None:
    at = len(segment.header.raw)
    for step in segment.steps():
        start = step.offset if isinstance(step, Intact) else step.start
        if start != at or step.end <= start:
            raise AssertionError(f"{step} does not start where the one before ends: {at}")
        at = step.end
    if at != segment.raw_size:
        raise AssertionError(f"nothing is said of the bytes from {at} on")
    for request in segment.requests():
        segment.pick([request])


def seeds() -> Iterator[bytes]:
    """The corpus: whole files, and the index of each seal."""
    for path in sorted(path for path in CORPUS.rglob("*") if path.is_file() and path.suffix not in (".md", ".jsonl")):
        data = path.read_bytes()
        yield data
        if path.suffix == ".seal":
            offset, length = struct.unpack_from("<QI", data, len(data) - 64)
            yield zstandard.decompress(data[offset : offset + length])
