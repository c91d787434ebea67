"""The folder of a trace: what there is, what changes under a reader's hands, and that nothing is ever written."""

import os
from pathlib import Path

import pytest

from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.segment import Place, Segment, State
from blackbird.trace.synced import Synced
from blackbird.trace.tombstones import Tombstone
from blackbird.trace.verify.verifier import Verifier
from blackbox.errors import ReadError
from tests.blackbird.trace.encoder import Tracer, encode_synced


def three() -> Tracer:
    tracer = Tracer()
    tracer.exchange(1)
    tracer.rotate()
    tracer.exchange(2)
    tracer.rotate()
    tracer.exchange(3)
    return tracer


def states(trace: Trace) -> list[tuple[int, State, bool]]:
    return [(place.number, place.state, place.has_tombstone) for place in trace.places()]


def test_there_may_be_no_folder(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "none")
    assert not trace.exists()
    assert trace.places() == []
    assert trace.synced() is None
    assert list(trace.contents()) == []


def test_each_segment_has_one_state(tmp_path: Path) -> None:
    trace = Trace(three().save(tmp_path / "trace", sealed=(2,), gone=(1,)))
    for name in ("lock", ".00000003.seal.tmp", "0000004.wal", "00000005.wal.bak"):
        (trace.folder / name).touch()
    assert states(trace) == [(1, State.GONE, True), (2, State.SEALED, False), (3, State.WRITTEN, False)]


def test_a_seal_goes_before_its_segment_and_a_tombstone_after_both(tmp_path: Path) -> None:
    tracer = three()
    folder = tracer.save(tmp_path / "trace")
    (folder / "00000001.seal").write_bytes(tracer.segments[0].seal)
    tracer.save(folder, gone=(1, 2))
    assert states(Trace(folder)) == [(1, State.SEALED, True), (2, State.WRITTEN, True), (3, State.WRITTEN, False)]


def test_numbers_beyond_eight_digits_sort_as_numbers(tmp_path: Path) -> None:
    for number in (100_000_000, 99_999_999):
        (tmp_path / f"{number:08}.wal").touch()
    assert [place.number for place in Trace(tmp_path).places()] == [99_999_999, 100_000_000]


@pytest.mark.parametrize("after", ["sealed", "gone"])
def test_a_segment_that_changed_since_it_was_listed_is_found_again(tmp_path: Path, after: str) -> None:
    tracer = three()
    trace = Trace(tracer.save(tmp_path / "trace"))
    place = trace.places()[0]
    place.path.unlink()
    tracer.save(trace.folder, sealed=(1,) if after == "sealed" else (), gone=(1,) if after == "gone" else ())
    content = trace.open(place)
    if after == "gone":
        assert isinstance(content, Tombstone)
    else:
        assert isinstance(content, Segment)
        assert list(content.records()) == tracer.segments[0].records


def test_a_segment_that_went_without_a_trace_is_told(tmp_path: Path) -> None:
    trace = Trace(three().save(tmp_path / "trace"))
    place = trace.places()[0]
    place.path.unlink()
    with pytest.raises(ReadError, match="went away while it was read"):
        trace.open(place)


def test_an_open_segment_outlives_its_file(tmp_path: Path) -> None:
    tracer = three()
    trace = Trace(tracer.save(tmp_path / "trace"))
    segment = trace.open(trace.places()[0])
    assert isinstance(segment, Segment)
    (trace.folder / "00000001.wal").unlink()
    assert list(segment.records()) == tracer.segments[0].records


def test_an_unreadable_file_is_told_with_its_name_and_place(tmp_path: Path) -> None:
    trace = Trace(three().save(tmp_path / "trace"))
    path = trace.folder / "00000002.wal"
    path.write_bytes(path.read_bytes()[:100])
    contents = [content for _, content in trace.contents()]
    error = contents[1]
    assert isinstance(error, TraceError)
    assert (error.file, error.offset) == (str(path), 100)
    assert error.message == f"{path}: a header has at least 150 bytes, here are 100 (byte 100)"
    assert [isinstance(content, Segment) for content in contents] == [True, False, True]


def test_an_empty_file_is_no_segment(tmp_path: Path) -> None:
    path = tmp_path / "00000001.wal"
    path.touch()
    with pytest.raises(TraceError, match="at least 150 bytes, here are 0"):
        Trace(tmp_path).open(Place(1, State.WRITTEN, path, 0, has_tombstone=False))


def test_a_folder_that_may_not_be_read_is_an_error_of_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(ReadError, match="Not a directory"):
        Trace(path).places()


def test_synced_is_read_and_a_torn_one_is_as_good_as_none(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    (tmp_path / "synced").write_bytes(encode_synced(1, 6, 700))
    assert trace.synced() == Synced(1, 6, 700)
    (tmp_path / "synced").write_bytes(encode_synced(1, 6, 700)[:20])
    assert trace.synced() is None


@pytest.mark.requirement("TRACE-14")
def test_a_reader_never_writes(tmp_path: Path) -> None:
    tracer = three()
    tracer.current.torn = b"torn"
    folder = tracer.save(tmp_path / "trace", sealed=(2,), gone=(1,))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    for path in folder.iterdir():
        path.chmod(0o400)
    folder.chmod(0o500)
    trace = Trace(folder)
    verifier = Verifier(trace.synced())
    for place, content in trace.contents():
        verifier.add(place, content)
    verifier.finish()
    folder.chmod(0o700)
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before


def test_free_room_is_told(tmp_path: Path) -> None:
    free = Trace(tmp_path).free_bytes()
    assert free is None if not hasattr(os, "statvfs") else isinstance(free, int)
