"""What `verify` finds: nothing in a whole trace, and for each kind of damage exactly that."""

import json
import struct
import zlib
from pathlib import Path

import pytest

from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind
from blackbird.trace.synced import Synced
from blackbird.trace.verify.findings import REMEDIES, Code, Report, Severity
from blackbird.trace.verify.verifier import Verifier
from tests.blackbird.trace.encoder import Tracer, encode_header, identifier, tombstone

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def four() -> Tracer:
    """Four segments with an exchange and a checkpoint each: sequences 1-7, 8-14, 15-21 and 22-28."""
    tracer = Tracer()
    for number in (1, 2, 3, 4):
        if number > 1:
            tracer.rotate()
        tracer.exchange(number)
        tracer.checkpoint("rotation")
    return tracer


def verify(folder: Path, *, live: int | None = None, synced: Synced | None = None) -> Report:
    trace = Trace(folder)
    verifier = Verifier(synced or trace.synced(), live)
    for place, content in trace.contents():
        verifier.add(place, content)
    return verifier.finish()


def told(report: Report) -> list[tuple[Code, Severity, int | None]]:
    return [(finding.code, finding.severity, finding.segment) for finding in report.findings]


@pytest.mark.parametrize("sealed", [(), (1, 2, 3)], ids=["written", "sealed"])
def test_nothing_is_wrong_with_a_whole_trace(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    tracer = four()
    report = verify(tracer.save(tmp_path / "trace", sealed=sealed), synced=Synced(4, 28, 9))
    assert report.findings == []
    assert report.is_intact
    about = report.statistics
    assert (about.segments, about.sealed, about.gone) == (4, len(sealed), 0)
    assert (about.records, about.requests, about.last_sequence, about.synced_sequence) == (28, 4, 28, 28)
    assert about.raw_bytes == sum(len(segment.wal) for segment in tracer.segments)
    assert about.bytes == sum(path.stat().st_size for path in (tmp_path / "trace").iterdir())
    assert about.policies == ["2026.11.3"]


@pytest.mark.requirement("TRACE-14")
def test_a_deleted_segment(tmp_path: Path) -> None:
    folder = four().save(tmp_path / "trace")
    (folder / "00000002.wal").unlink()
    report = verify(folder)
    assert told(report) == [(Code.MISSING_SEGMENT, ERROR, 2), (Code.MISSING_SEQUENCES, ERROR, 3)]
    assert report.findings[1].message == "sequences 8 to 14 are missing, and no gap says so"


@pytest.mark.requirement("TRACE-14")
def test_deleted_segments_at_the_start(tmp_path: Path) -> None:
    folder = four().save(tmp_path / "trace")
    (folder / "00000001.wal").unlink()
    (folder / "00000002.wal").unlink()
    report = verify(folder)
    assert told(report) == [(Code.MISSING_SEGMENT, ERROR, 1), (Code.MISSING_SEQUENCES, ERROR, 3)]
    assert report.findings[0].message == "segments 1 to 2 are missing"


@pytest.mark.parametrize("sealed", [(), (2, 3)], ids=["written", "sealed"])
def test_two_segments_that_changed_places(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    folder = four().save(tmp_path / "trace", sealed=sealed)
    ending = "seal" if sealed else "wal"
    one, other = folder / f"00000002.{ending}", folder / f"00000003.{ending}"
    one.rename(folder / "aside")
    other.rename(one)
    (folder / "aside").rename(other)
    assert told(verify(folder)) == [
        (Code.NUMBER_CONTRADICTED, ERROR, 2),
        (Code.CHAIN_BROKEN, ERROR, 2),
        (Code.NUMBER_CONTRADICTED, ERROR, 3),
        (Code.CHAIN_BROKEN, ERROR, 3),
        (Code.SEQUENCE_REORDERED, ERROR, 3),
        (Code.CHAIN_BROKEN, ERROR, 4),
    ]


def test_a_copy_of_a_segment(tmp_path: Path) -> None:
    folder = four().save(tmp_path / "trace")
    (folder / "00000005.wal").write_bytes((folder / "00000002.wal").read_bytes())
    assert told(verify(folder)) == [
        (Code.NUMBER_CONTRADICTED, ERROR, 5),
        (Code.DUPLICATE_SEGMENT, ERROR, 5),
        (Code.CHAIN_BROKEN, ERROR, 5),
        (Code.SEQUENCE_REORDERED, ERROR, 5),
    ]


@pytest.mark.parametrize("sealed", [(), (2,)], ids=["written", "sealed"])
def test_an_edited_payload_with_a_right_checksum(tmp_path: Path, sealed: tuple[int, ...]) -> None:
    tracer = four()
    tracer.segments[1].change(11, b"data: forged\n\n")
    folder = tracer.save(tmp_path / "trace", sealed=sealed)
    report = verify(folder)
    assert told(report) == [(Code.CHECKPOINT_ROOT, ERROR, 2), (Code.CHAIN_BROKEN, ERROR, 3)]
    assert report.findings[0].offset == tracer.segments[1].offset_of(14)
    assert report.findings[1].message == "segment 2 is not as it was when segment 3 was started: its root differs"


@pytest.mark.requirement("TRACE-14")
def test_a_flipped_bit(tmp_path: Path) -> None:
    tracer = four()
    folder = tracer.save(tmp_path / "trace")
    segment = tracer.segments[1]
    data = bytearray(segment.wal)
    data[segment.offset_of(9) + 50] ^= 1
    (folder / "00000002.wal").write_bytes(data)
    report = verify(folder)
    assert told(report) == [
        (Code.CORRUPTION, ERROR, 2),
        (Code.MISSING_SEQUENCES, ERROR, 2),
        (Code.CHECKPOINT_ROOT, ERROR, 2),
        (Code.CHAIN_BROKEN, ERROR, 3),
    ]
    assert (report.findings[0].offset, report.findings[0].end) == (segment.offset_of(9), segment.offset_of(10))
    assert report.findings[1].message == "sequence 9 is missing, and no gap says so"


def test_a_removed_tail(tmp_path: Path) -> None:
    tracer = four()
    folder = tracer.save(tmp_path / "trace")
    segment = tracer.segments[1]
    (folder / "00000002.wal").write_bytes(segment.wal[: segment.offset_of(13)])
    report = verify(folder)
    assert told(report) == [(Code.CHAIN_BROKEN, ERROR, 3), (Code.MISSING_SEQUENCES, ERROR, 3)]
    assert report.findings[1].message == "sequences 13 to 14 are missing, and no gap says so"


def test_a_tail_removed_at_the_very_end_is_known_from_synced(tmp_path: Path) -> None:
    tracer = four()
    folder = tracer.save(tmp_path / "trace")
    segment = tracer.segments[3]
    (folder / "00000004.wal").write_bytes(segment.wal[: segment.offset_of(27)])
    assert told(verify(folder)) == []
    report = verify(folder, synced=Synced(4, 28, len(segment.wal)))
    assert told(report) == [(Code.MISSING_TAIL, ERROR, 4)]
    assert "synced sequence 28 in segment 4, and the trace ends with 26" in report.findings[0].message


@pytest.mark.requirement("TRACE-14")
@pytest.mark.parametrize(("live", "severity"), [(None, WARNING), (4, INFO), (3, WARNING)])
def test_a_torn_tail(tmp_path: Path, live: int | None, severity: Severity) -> None:
    tracer = four()
    tracer.current.torn = b"half a rec"
    end = len(tracer.current.wal)
    report = verify(tracer.save(tmp_path / "trace"), live=live)
    assert told(report) == [(Code.TORN_TAIL, severity, 4)]
    assert (report.findings[0].offset, report.findings[0].end) == (end - 10, end)
    assert report.is_intact


def test_a_torn_tail_in_a_seal(tmp_path: Path) -> None:
    tracer = four()
    tracer.current.torn = b"half a rec"
    assert told(verify(tracer.save(tmp_path / "trace", sealed=(4,)))) == [(Code.TORN_TAIL, WARNING, 4)]


def test_an_unreadable_header(tmp_path: Path) -> None:
    folder = four().save(tmp_path / "trace")
    path = folder / "00000002.wal"
    path.write_bytes(b"?" + path.read_bytes()[1:])
    assert told(verify(folder)) == [(Code.HEADER_UNREADABLE, ERROR, 2), (Code.MISSING_SEQUENCES, ERROR, 3)]


def test_a_header_that_was_never_finished_is_no_damage(tmp_path: Path) -> None:
    folder = four().save(tmp_path / "trace")
    (folder / "00000005.wal").write_bytes(encode_header(5)[:99])
    report = verify(folder)
    assert told(report) == [(Code.HEADER_TORN, WARNING, 5)]
    assert report.is_intact


def test_an_unreadable_seal(tmp_path: Path) -> None:
    folder = four().save(tmp_path / "trace", sealed=(2, 3))
    for number in (2, 3):
        path = folder / f"0000000{number}.seal"
        data = bytearray(path.read_bytes())
        data[-10 if number == 2 else 200] ^= 0xFF
        path.write_bytes(data)
    report = verify(folder)
    assert told(report)[:2] == [(Code.SEAL_UNREADABLE, ERROR, 2), (Code.SEAL_UNREADABLE, ERROR, 3)]
    assert {code for code, _, _ in told(report)[2:]} == {Code.MISSING_SEQUENCES}


def test_a_seal_with_other_records(tmp_path: Path) -> None:
    tracer = four()
    folder = tracer.save(tmp_path / "trace", sealed=(4,))
    path = folder / "00000004.seal"
    data = path.read_bytes()
    root = tracer.segments[3].root
    assert data.count(root) == 1
    tracer.segments[3].change(24, b"{}")
    forged = tracer.segments[3].seal
    assert forged.count(tracer.segments[3].root) == 1
    # The footer's checksum covers the root: whoever forges it must mend that, too.
    path.write_bytes(_with_root(forged, root))
    assert told(verify(folder)) == [(Code.SEAL_ROOT, ERROR, 4), (Code.CHECKPOINT_ROOT, ERROR, 4)]


def _with_root(seal: bytes, root: bytes) -> bytes:
    offset = struct.unpack_from("<Q", seal, len(seal) - 64)[0]
    footer = seal[-64:-48] + root
    return seal[:-64] + footer + struct.pack("<II", zlib.crc32(seal[offset:-64] + footer), 0) + seal[-8:]


def test_a_segment_of_another_trace(tmp_path: Path) -> None:
    tracer = four()
    tracer.rotate(trace=b"another trace 16")
    report = verify(tracer.save(tmp_path / "trace"))
    assert told(report) == [(Code.FOREIGN_TRACE, ERROR, 5)]


def test_a_first_segment_that_follows_on_another(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.segments.clear()
    tracer.rotate(previous_root=b"r" * 32)
    assert told(verify(tracer.save(tmp_path / "trace"))) == [(Code.CHAIN_BROKEN, ERROR, 1)]


def test_sequences_that_a_write_error_covers(tmp_path: Path) -> None:
    tracer = four()
    tracer.sequence += 5
    tracer.rotate()
    gap = {"reason": "write_error", "direction": None, "bytes": 900, "records": 5, "error": "no space"}
    tracer.add(Kind.GAP, payload=gap | {"first_sequence": 29, "last_sequence": 33})
    report = verify(tracer.save(tmp_path / "trace"))
    assert told(report) == [(Code.GAP, WARNING, None)]
    message = "1 gap(s) with the reason write_error: 900 bytes in 5 record(s) were not kept"
    assert report.findings[0].message == message


def test_sequences_that_a_write_error_covers_in_part(tmp_path: Path) -> None:
    tracer = four()
    tracer.sequence += 5
    gap = {"reason": "write_error", "bytes": 1, "records": 1, "first_sequence": 30, "last_sequence": 31}
    tracer.add(Kind.GAP, payload=gap)
    report = verify(tracer.save(tmp_path / "trace"))
    missing = [finding.message for finding in report.findings if finding.code is Code.MISSING_SEQUENCES]
    assert missing == [
        "sequence 29 is missing, and no gap says so",
        "sequences 32 to 33 are missing, and no gap says so",
    ]


def test_gaps_are_counted_by_their_reason(tmp_path: Path) -> None:
    tracer = Tracer()
    for reason, size in (("queue_full", 10), ("undecodable", 7), ("queue_full", 30)):
        payload = {"reason": reason, "direction": "response", "bytes": size, "records": 2}
        tracer.add(Kind.GAP, identifier(1), payload)
    report = verify(tracer.save(tmp_path / "trace"))
    assert told(report) == [(Code.GAP, WARNING, None), (Code.GAP, INFO, None)]
    assert "2 gap(s) with the reason queue_full: 40 bytes in 4 record(s)" in report.findings[0].message


def test_what_a_newer_version_wrote_is_told_and_is_no_damage(tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.add(Kind.CHECKPOINT, payload=b"no json")
    tracer.sequence += 1
    odd = tracer.current.records[0]
    tracer.current.records.append(type(odd)(2, 40, 0, 2, 0, bytes(16), 0, b""))
    tracer.rotate(policy="2027.1.0")
    report = verify(tracer.save(tmp_path / "trace"))
    assert told(report) == [
        (Code.PAYLOAD_UNREADABLE, WARNING, 1),
        (Code.UNKNOWN_RECORDS, INFO, None),
        (Code.POLICIES, INFO, None),
    ]
    assert report.statistics.policies == ["2026.11.3", "2027.1.0"]


def removed(tracer: Tracer, *numbers: int) -> None:
    """Record the removal of segments, as the recorder does before it removes them."""
    roots = [{"segment": number, "root": tracer.segments[number - 1].root.hex()} for number in numbers]
    tracer.checkpoint("removed", segments=roots)


@pytest.mark.requirement("TRACE-12")
def test_retention_is_not_tampering(tmp_path: Path) -> None:
    tracer = four()
    removed(tracer, 1, 2)
    report = verify(tracer.save(tmp_path / "trace", gone=(1, 2)))
    assert report.findings == []
    assert (report.statistics.segments, report.statistics.gone, report.statistics.last_sequence) == (2, 2, 29)


@pytest.mark.requirement("TRACE-12")
def test_a_forged_tombstone(tmp_path: Path) -> None:
    report = verify(four().save(tmp_path / "trace", gone=(3,)))
    assert told(report) == [(Code.TOMBSTONE_UNRECORDED, ERROR, 3)]


@pytest.mark.requirement("TRACE-12")
def test_a_forged_tombstone_among_true_ones(tmp_path: Path) -> None:
    tracer = four()
    removed(tracer, 3)
    report = verify(tracer.save(tmp_path / "trace", gone=(1, 3)))
    assert told(report) == [(Code.TOMBSTONE_UNRECORDED, ERROR, 1)]


@pytest.mark.requirement("TRACE-12")
def test_a_tombstone_with_another_root(tmp_path: Path) -> None:
    tracer = four()
    removed(tracer, 2)
    folder = tracer.save(tmp_path / "trace", gone=(2,))
    stone = tombstone(tracer.segments[1], root="ab" * 32)
    (folder / "00000002.gone").write_text(json.dumps(stone))
    assert told(verify(folder)) == [(Code.TOMBSTONE_NOT_CHAINED, ERROR, 2), (Code.TOMBSTONE_UNRECORDED, ERROR, 2)]
    stone = tombstone(tracer.segments[1], previous_root="ab" * 32)
    (folder / "00000002.gone").write_text(json.dumps(stone))
    assert told(verify(folder)) == [(Code.TOMBSTONE_NOT_CHAINED, ERROR, 2)]


def test_a_tombstone_that_cannot_be_read(tmp_path: Path) -> None:
    tracer = four()
    removed(tracer, 2)
    folder = tracer.save(tmp_path / "trace", gone=(2,))
    (folder / "00000002.gone").write_text("{}")
    assert told(verify(folder)) == [(Code.TOMBSTONE_UNREADABLE, ERROR, 2), (Code.MISSING_SEQUENCES, ERROR, 3)]


def test_a_removal_that_was_interrupted(tmp_path: Path) -> None:
    tracer = four()
    removed(tracer, 2)
    folder = tracer.save(tmp_path / "trace")
    tracer.save(folder, gone=(2,))
    report = verify(folder)
    assert told(report) == [(Code.REMOVAL_UNFINISHED, INFO, 2)]


def test_every_finding_has_a_remedy() -> None:
    assert set(REMEDIES) == set(Code)
    assert all(REMEDIES.values())
