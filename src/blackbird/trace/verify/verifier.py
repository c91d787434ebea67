"""Checks a trace one segment after the other: each by itself, its link to the one before, and all together."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from blackbird.trace.chain import Chain
from blackbird.trace.errors import TraceError
from blackbird.trace.header import NO_ROOT, SHORTEST, Header
from blackbird.trace.ids import to_text
from blackbird.trace.records import JSON_KINDS, NAMES, VERSION, Kind, Record, read_object, spell_fields
from blackbird.trace.scan import Corruption, Intact, Torn
from blackbird.trace.segment import Place, Segment, State
from blackbird.trace.synced import Synced
from blackbird.trace.tombstones import Tombstone
from blackbird.trace.verify.findings import Code, Finding, Report, Severity, Statistics
from blackbird.trace.verify.intervals import Sequences

_UNREADABLE = {
    State.WRITTEN: Code.HEADER_UNREADABLE,
    State.SEALED: Code.SEAL_UNREADABLE,
    State.GONE: Code.TOMBSTONE_UNREADABLE,
}
#: Reasons of gaps that follow from the user's own choices; the others are losses.
_CHOSEN_GAPS = frozenset({"undecodable", "decode_memory", "decode_size"})


class Verifier:
    """Takes the segments of a trace in the order of their numbers."""

    def __init__(self, synced: Synced | None = None, live: int | None = None) -> None:
        """`synced` must have been read before the segments; `live` is the number of the one being written."""
        self._synced = synced
        self._live = live
        self._findings: list[Finding] = []
        self._statistics = Statistics(synced_sequence=synced.sequence if synced is not None else None)
        self._sequences = Sequences()
        self._number = 0
        #: The root of the segment before; nothing if it is not known.
        self._root: bytes | None = NO_ROOT
        self._stone: Tombstone | None = None
        self._trace: bytes | None = None
        self._names: dict[str, int] = {}
        self._stones: dict[int, Tombstone] = {}
        self._removed: dict[int, set[str]] = {}
        self._gaps: dict[str, Counter[str]] = {}
        self._unknown: Counter[str] = Counter()

    def add(self, place: Place, content: Segment | Tombstone | TraceError) -> None:
        """The next segment, or why it cannot be read."""
        self._expect_number(place.number)
        if place.has_tombstone and place.state is not State.GONE:
            message = f"segment {place.number} has a tombstone, and is still there"
            self._find(Code.REMOVAL_UNFINISHED, Severity.INFO, message, place.number)
        self._statistics.bytes += place.size
        if isinstance(content, TraceError):
            self._unreadable(place, content)
        elif isinstance(content, Tombstone):
            self._take_stone(place.number, content)
        else:
            self._take_segment(place.number, content)

    def finish(self) -> Report:
        """Everything that was found, what only the whole trace shows included."""
        self._check_stones()
        for hole in self._sequences.holes():
            many = f"sequences {hole.first} to {hole.last} are"
            what = many if hole.last > hole.first else f"sequence {hole.first} is"
            message = f"{what} missing, and no gap says so"
            self._find(Code.MISSING_SEQUENCES, Severity.ERROR, message, hole.segment, hole.offset)
        if self._synced is not None and self._synced.sequence > self._sequences.last:
            message = (
                f"the recorder had synced sequence {self._synced.sequence} in segment {self._synced.segment}, "
                f"and the trace ends with {self._sequences.last}"
            )
            self._find(Code.MISSING_TAIL, Severity.ERROR, message, self._synced.segment, self._synced.offset)
        self._tell_totals()
        self._statistics.last_sequence = self._sequences.last
        ordered = sorted(self._findings, key=lambda one: (one.segment is None, one.segment or 0, one.offset or 0))
        return Report(ordered, self._statistics)

    def _find(
        self,
        code: Code,
        severity: Severity,
        message: str,
        segment: int | None = None,
        offset: int | None = None,
        end: int | None = None,
    ) -> None:
        self._findings.append(Finding(code, severity, message, segment, offset, end))

    def _expect_number(self, number: int) -> None:
        first = self._number + 1
        if number > first:
            what = f"segment {first} is" if number == first + 1 else f"segments {first} to {number - 1} are"
            self._find(Code.MISSING_SEGMENT, Severity.ERROR, f"{what} missing", first)
            self._forget_link()
        self._number = number

    def _forget_link(self) -> None:
        self._root, self._stone = None, None

    def _unreadable(self, place: Place, error: TraceError) -> None:
        if place.state is State.WRITTEN and place.size < SHORTEST:
            message = f"segment {place.number} has only the first {place.size} bytes of a header"
            self._find(Code.HEADER_TORN, Severity.WARNING, message, place.number, 0, place.size)
        else:
            message = f"segment {place.number} cannot be read: {error.reason}"
            self._find(_UNREADABLE[place.state], Severity.ERROR, message, place.number, error.offset)
        self._statistics.segments += 1
        self._forget_link()

    def _take_stone(self, number: int, stone: Tombstone) -> None:
        self._statistics.gone += 1
        self._stones[number] = stone
        self._check_name(number, stone.segment, stone.id)
        self._check_link(number, bytes.fromhex(stone.previous_root), Code.TOMBSTONE_NOT_CHAINED)
        self._check_order(number, stone.first_sequence)
        if stone.last_sequence >= stone.first_sequence:
            self._sequences.add(stone.first_sequence, stone.last_sequence, number, 0)
        self._root, self._stone = bytes.fromhex(stone.root), stone

    def _take_segment(self, number: int, segment: Segment) -> None:
        header = segment.header
        statistics = self._statistics
        statistics.segments += 1
        statistics.sealed += segment.is_sealed
        statistics.raw_bytes += segment.raw_size
        if header.policy not in statistics.policies:
            statistics.policies.append(header.policy)
        self._check_name(number, header.number, to_text(header.id))
        self._check_trace(number, header)
        self._check_link(number, header.previous_root, Code.CHAIN_BROKEN)
        self._check_order(number, header.first_sequence)
        chain = Chain(header.raw)
        self._root, self._stone = None, None
        try:
            self._walk(number, segment, chain)
        except TraceError as error:
            message = f"segment {number} cannot be unpacked: {error.reason}"
            self._find(Code.SEAL_UNREADABLE, Severity.ERROR, message, number, error.offset)
            return
        self._root = chain.root()
        if segment.sealed_root is not None and segment.sealed_root != self._root:
            message = f"the records of segment {number} are not those that were sealed: their root differs"
            self._find(Code.SEAL_ROOT, Severity.ERROR, message, number)

    def _walk(self, number: int, segment: Segment, chain: Chain) -> None:
        for step in segment.steps():
            match step:
                case Intact(offset=offset, record=record):
                    self._sequences.add(record.sequence, record.sequence, number, offset)
                    self._look_at(number, offset, record, chain)
                    chain.add(spell_fields(record))
                    chain.add(record.payload or b"")
                case Corruption(start=start, end=end):
                    message = f"bytes {start} to {end} of segment {number} are damaged; records go on behind them"
                    self._find(Code.CORRUPTION, Severity.ERROR, message, number, start, end)
                case Torn(start=start, end=end):
                    is_live = number == self._live
                    severity = Severity.INFO if is_live else Severity.WARNING
                    what = "are still being written" if is_live else "are the rest of a write that was cut off"
                    message = f"the last {end - start} bytes of segment {number} {what}"
                    self._find(Code.TORN_TAIL, severity, message, number, start, end)

    def _look_at(self, number: int, offset: int, record: Record, chain: Chain) -> None:
        self._statistics.records += 1
        if record.kind not in NAMES or record.version != VERSION:
            known = record.version == VERSION
            self._unknown[f"type {record.kind}" if known else f"version {record.version}"] += 1
            return
        if record.kind == Kind.REQUEST_START:
            self._statistics.requests += 1
        if record.kind not in JSON_KINDS:
            return
        fields = read_object(record)
        if fields is None:
            message = f"the payload of the {record.name} with the sequence {record.sequence} is no JSON object"
            self._find(Code.PAYLOAD_UNREADABLE, Severity.WARNING, message, number, offset)
        elif record.kind == Kind.CHECKPOINT:
            self._check_checkpoint(number, offset, record, fields, chain)
        elif record.kind == Kind.GAP:
            self._take_gap(fields)

    def _check_checkpoint(
        self, number: int, offset: int, record: Record, fields: Mapping[str, Any], chain: Chain
    ) -> None:
        if fields.get("root") != chain.root().hex():
            message = f"the checkpoint with the sequence {record.sequence} has another root than what lies before it"
            self._find(Code.CHECKPOINT_ROOT, Severity.ERROR, message, number, offset)
        segments = fields.get("segments")
        for one in segments if fields.get("reason") == "removed" and isinstance(segments, list) else ():
            if isinstance(one, dict) and isinstance(one.get("segment"), int) and isinstance(one.get("root"), str):
                self._removed.setdefault(one["segment"], set()).add(one["root"])

    def _take_gap(self, fields: Mapping[str, Any]) -> None:
        reason = fields.get("reason")
        totals = self._gaps.setdefault(reason if isinstance(reason, str) else "unknown", Counter())
        totals["gaps"] += 1
        for what in ("bytes", "records"):
            count = fields.get(what)
            totals[what] += count if isinstance(count, int) else 0
        first, last = fields.get("first_sequence"), fields.get("last_sequence")
        if reason == "write_error" and isinstance(first, int) and isinstance(last, int):
            self._sequences.cover(first, last)

    def _check_name(self, number: int, stated: int, name: str) -> None:
        if stated != number:
            message = f"the file of segment {number} says that it is segment {stated}"
            self._find(Code.NUMBER_CONTRADICTED, Severity.ERROR, message, number)
        other = self._names.setdefault(name, number)
        if other != number:
            message = f"segments {other} and {number} are the same segment: both have the id {name}"
            self._find(Code.DUPLICATE_SEGMENT, Severity.ERROR, message, number)

    def _check_trace(self, number: int, header: Header) -> None:
        if self._trace is None:
            self._trace = header.trace
        elif self._trace != header.trace:
            message = f"segment {number} belongs to the trace {to_text(header.trace)}, and those before it do not"
            self._find(Code.FOREIGN_TRACE, Severity.ERROR, message, number)

    def _check_link(self, number: int, previous: bytes, code: Code) -> None:
        if self._root is None or previous == self._root:
            return
        if self._stone is not None:
            message = f"the tombstone of segment {number - 1} has another root than segment {number} follows on"
            self._find(Code.TOMBSTONE_NOT_CHAINED, Severity.ERROR, message, number - 1)
        elif number == 1:
            self._find(code, Severity.ERROR, "segment 1 follows on a segment, and should be the first", number)
        else:
            message = f"segment {number - 1} is not as it was when segment {number} was started: its root differs"
            self._find(code, Severity.ERROR, message, number)

    def _check_order(self, number: int, first: int) -> None:
        if first <= self._sequences.last:
            message = f"segment {number} starts with the sequence {first}, and {self._sequences.last} came before"
            self._find(Code.SEQUENCE_REORDERED, Severity.ERROR, message, number)

    def _check_stones(self) -> None:
        for number, stone in self._stones.items():
            recorded = self._removed.get(number)
            if recorded is None:
                message = f"segment {number} is gone, and the recorder did not record that it removed it"
                self._find(Code.TOMBSTONE_UNRECORDED, Severity.ERROR, message, number)
            elif stone.root not in recorded:
                message = f"the recorder removed segment {number}, but with another root than its tombstone has"
                self._find(Code.TOMBSTONE_UNRECORDED, Severity.ERROR, message, number)

    def _tell_totals(self) -> None:
        for reason, totals in self._gaps.items():
            severity = Severity.INFO if reason in _CHOSEN_GAPS else Severity.WARNING
            message = (
                f"{totals['gaps']} gap(s) with the reason {reason}: "
                f"{totals['bytes']} bytes in {totals['records']} record(s) were not kept"
            )
            self._find(Code.GAP, severity, message)
        for what, count in self._unknown.items():
            message = f"{count} record(s) of {what}, which this version does not know"
            self._find(Code.UNKNOWN_RECORDS, Severity.INFO, message)
        if len(self._statistics.policies) > 1:
            policies = ", ".join(self._statistics.policies)
            self._find(Code.POLICIES, Severity.INFO, f"more than one redaction policy was in force: {policies}")
