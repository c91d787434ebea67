"""From an artifact to the very bytes that it comes from, and whether they are what was written."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from blackbird.artifacts.model import Artifact, Provenance
from blackbird.artifacts.proof import Proof, judge
from blackbird.recall.model import Piece, RecordAt
from blackbird.timeline import evidence
from blackbird.timeline.evidence import Standing
from blackbird.trace.chain import Chain
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import spell_fields
from blackbird.trace.scan import Corruption, Intact, Torn
from blackbird.trace.segment import Segment


class _Checked(NamedTuple):
    """A segment that was read from end to end: where the records are that were asked for, and what is wrong."""

    places: dict[int, RecordAt]
    problems: tuple[str, ...]


def proofs(folder: Path, artifact: Artifact) -> tuple[Proof, ...]:
    """Whether the words of each pointer stand where it says, in the trace of a folder."""
    trace = Trace(folder)
    return tuple(judge(evidence.body(trace, each.evidence), each) for each in artifact.provenance)


def pieces(folder: Path, artifact: Artifact) -> list[Piece]:
    """The evidence of an artifact, each pointer in its turn. Each segment is read and checked once."""
    trace = Trace(folder)
    standing = [evidence.find(trace, each.evidence) for each in artifact.provenance]
    wanted: dict[int, set[int]] = {}
    for segment, sequence in (place for found in standing if found is not None for place in found.records):
        wanted.setdefault(segment, set()).add(sequence)
    checked = {number: _check(trace, number, sequences) for number, sequences in wanted.items()}
    return [_piece(each, found, checked) for each, found in zip(artifact.provenance, standing, strict=True)]


def _piece(provenance: Provenance, found: Standing | None, checked: dict[int, _Checked]) -> Piece:
    pointer = provenance.evidence
    touched = dict.fromkeys(number for number, _ in found.records) if found is not None else {}
    return Piece(
        item=provenance.item,
        evidence=pointer,
        quote=provenance.quote,
        data=found.body[pointer.start : pointer.end] if found is not None else None,
        records=tuple(_places(found, checked)) if found is not None else (),
        proof=judge(found.body if found is not None else None, provenance),
        problems=tuple(problem for number in touched for problem in checked[number].problems),
    )


def _places(found: Standing, checked: dict[int, _Checked]) -> Iterable[RecordAt]:
    for number, sequence in found.records:
        place = checked[number].places.get(sequence)
        if place is not None:
            yield place


def _check(trace: Trace, number: int, sequences: set[int]) -> _Checked:
    """Read a segment: each record against its checksum, all of them against the root that vouches for the segment."""
    place = trace.place(number)
    try:
        segment = trace.open(place) if place is not None else None
        return _walk(trace, number, segment, sequences) if isinstance(segment, Segment) else _Checked({}, ())
    except TraceError as error:
        return _Checked({}, (f"segment {number} cannot be read: {error.reason}",))


def _walk(trace: Trace, number: int, segment: Segment, sequences: set[int]) -> _Checked:
    chain = Chain(segment.header.raw)
    places: dict[int, RecordAt] = {}
    problems: list[str] = []
    for step in segment.steps():
        match step:
            case Intact(offset=offset, end=end, record=record):
                chain.add(spell_fields(record))
                chain.add(record.payload or b"")
                if record.sequence in sequences:
                    places[record.sequence] = RecordAt(
                        segment=number, sequence=record.sequence, offset=offset, end=end
                    )
            case Corruption(start=start, end=end):
                problems.append(f"bytes {start} to {end} of segment {number} are damaged")
            case Torn():
                # The last write of a recorder that died, or the one under way.
                pass
    named = _named_root(trace, number, segment)
    if named is not None and named != chain.root():
        problems.append(f"segment {number} is not as it was recorded: its root differs")
    return _Checked(places, tuple(problems))


def _named_root(trace: Trace, number: int, segment: Segment) -> bytes | None:
    """The root that vouches for a segment: in its seal, or in the one that follows; nothing for the newest."""
    if segment.sealed_root is not None:
        return segment.sealed_root
    place = trace.place(number + 1)
    following = trace.open(place) if place is not None else None
    if isinstance(following, Segment):
        return following.header.previous_root
    return bytes.fromhex(following.previous_root) if following is not None else None
