"""From a pointer to the bytes that it means: out of the trace, or out of the file that was left outside."""

import itertools
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from blackbird.canon.model import Evidence, Side
from blackbird.exchange import catalog
from blackbird.imports import files, kept
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import Direction, Flag, Record
from blackbird.trace.tombstones import Tombstone
from blackbox.errors import ReadError

_SIDES = {Side.REQUEST: Direction.REQUEST, Side.RESPONSE: Direction.RESPONSE}


class Standing(NamedTuple):
    """A body or a line, and the records that the bytes which are meant stand in: segment and sequence of each."""

    body: bytes
    records: tuple[tuple[int, int], ...] = ()


def resolve(trace: Trace, evidence: Evidence) -> bytes | None:
    """The bytes; nothing if they are gone, as retention or the owner of the file removed them."""
    whole = body(trace, evidence)
    return whole[evidence.start : evidence.end] if whole is not None else None


def body(trace: Trace, evidence: Evidence) -> bytes | None:
    """The whole body, or the whole line, in which the bytes stand."""
    found = find(trace, evidence)
    return found.body if found is not None else None


def find(trace: Trace, evidence: Evidence) -> Standing | None:
    """The whole body, or the whole line, in which the bytes stand, and where in the trace they do."""
    if evidence.side is Side.EVENT:
        return _event(trace, evidence)
    if evidence.side is not Side.LINE:
        return _exchanged(trace, evidence)
    if evidence.sequence is None:
        return _outside(evidence)
    return _line(trace, evidence)


def is_gone(evidence: Evidence, removed: Container[int]) -> bool:
    """Whether the bytes were in one of the segments that were removed, or in a file that is not there any more."""
    if evidence.segment is not None:
        return evidence.segment in removed
    return evidence.file is not None and not Path(evidence.file).exists()


def _exchanged(trace: Trace, evidence: Evidence) -> Standing | None:
    request = ids.parse(evidence.source)
    exchange = catalog.load(trace, request) if request is not None else None
    if exchange is None:
        return None
    whole = exchange.body(_SIDES[evidence.side])
    ends = list(itertools.accumulate(chunk.length for chunk in whole.chunks))
    touched = (
        (chunk.segment, chunk.sequence)
        for chunk, end in zip(whole.chunks, ends, strict=True)
        if end - chunk.length < evidence.end and evidence.start < end
    )
    return Standing(whole.data, tuple(touched))


def _event(trace: Trace, evidence: Evidence) -> Standing | None:
    found = next((each for each in _records(trace, evidence, ids.ZERO) if each.sequence == evidence.sequence), None)
    return Standing(found.payload or b"", _places(evidence, [found])) if found is not None else None


def _outside(evidence: Evidence) -> Standing | None:
    if evidence.file is None or evidence.offset is None:
        return None
    try:
        line = next(files.read(Path(evidence.file), start=evidence.offset), None)
    except ReadError:
        return None
    return Standing(line.text.encode()) if line is not None else None


def _line(trace: Trace, evidence: Evidence) -> Standing | None:
    source = ids.parse(evidence.source)
    records = _records(trace, evidence, source) if source is not None else []
    wanted = [record for record in records if record.sequence >= (evidence.sequence or 0)]
    line = next(kept.lines(wanted), None)
    return Standing(line.text.encode(), _places(evidence, _pieces(wanted))) if line is not None else None


def _pieces(records: list[Record]) -> Iterator[Record]:
    """The records of the first line."""
    for record in records:
        yield record
        if not record.flags & Flag.CONTINUES:
            return


def _places(evidence: Evidence, records: Iterable[Record]) -> tuple[tuple[int, int], ...]:
    return tuple((evidence.segment or 0, record.sequence) for record in records)


def _records(trace: Trace, evidence: Evidence, owner: bytes) -> list[Record]:
    """The records of a request, a file or nobody (zeros) in the segment that is meant, as far as it is there."""
    place = trace.place(evidence.segment) if evidence.segment is not None else None
    if place is None:
        return []
    try:
        segment = trace.open(place)
        return segment.pick([owner]) if not isinstance(segment, Tombstone) else []
    except TraceError:
        return []
