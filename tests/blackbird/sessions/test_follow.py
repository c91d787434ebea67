"""A growing trace, followed: each record once and in order, however it is written, rotated, sealed and removed."""

import itertools
import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.sessions.follow import Follower
from blackbird.sessions.growing import Growing
from blackbird.trace.records import Kind, Record
from blackbird.trace.segment import Segment
from blackbird.trace.synced import Synced
from tests.blackbird.trace.encoder import (
    MONOTONIC,
    WALL,
    Tracer,
    Written,
    encode_record,
    encode_synced,
    identifier,
    tombstone,
)
from tests.blackbird.trace.strategies import segments


class Disk:
    """A trace that is written byte by byte, as a recorder does it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tracer = Tracer()

    def path(self, number: int, suffix: str) -> Path:
        return self.folder / f"{number:08}.{suffix}"

    def write(self, upto: int | None = None) -> None:
        """The segment that is being written, up to some byte."""
        self.folder.mkdir(exist_ok=True)
        current = self.tracer.current
        # Appended to, as the recorder does: a file that is open must not be another one afterwards.
        with self.path(current.number, "wal").open("ab") as file:
            file.write(current.wal[file.tell() : upto])

    def seal(self, number: int) -> None:
        self.path(number, "seal").write_bytes(self.tracer.segments[number - 1].seal)
        self.path(number, "wal").unlink()

    def remove(self, number: int) -> None:
        self.path(number, "gone").write_text(json.dumps(tombstone(self.tracer.segments[number - 1])))
        self.path(number, "wal").unlink(missing_ok=True)
        self.path(number, "seal").unlink(missing_ok=True)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path / "trace")


def sequences(records: list[Record]) -> list[int]:
    return [record.sequence for record in records]


def test_before_anything_was_recorded_there_is_nothing_and_later_all(disk: Disk) -> None:
    follower = Follower.now(disk.folder)
    assert follower.poll() == []
    disk.tracer.exchange(1)
    disk.write()
    assert follower.poll() == disk.tracer.current.records
    assert follower.poll() == []


def test_a_record_half_written_is_not_there_yet(disk: Disk) -> None:
    disk.tracer.exchange(1)
    third = disk.tracer.current.offset_of(3)
    follower = Follower(disk.folder)
    for upto, expected in ((10, []), (third + 43, [1, 2]), (third + 50, []), (None, [3, 4, 5, 6])):
        disk.write(upto)
        assert sequences(follower.poll()) == expected


def test_rotation_sealing_and_removal_lose_nothing_that_was_there(disk: Disk) -> None:
    follower = Follower(disk.folder)
    disk.tracer.exchange(1)
    disk.write()
    assert sequences(follower.poll()) == [1, 2, 3, 4, 5, 6]
    disk.tracer.exchange(2)
    disk.write()
    disk.tracer.rotate()
    disk.tracer.exchange(3)
    disk.write()
    disk.seal(1)
    assert sequences(follower.poll()) == list(range(7, 19))
    for number in (4, 5):
        disk.tracer.rotate()
        disk.tracer.exchange(number)
        disk.write()
    disk.seal(3)
    disk.remove(2)
    assert sequences(follower.poll()) == list(range(19, 31))
    assert follower.problems == []


def test_the_segment_that_is_read_is_sealed_and_nothing_follows_it(disk: Disk) -> None:
    disk.tracer.exchange(1)
    disk.write()
    follower = Follower(disk.folder)
    next(follower.read())
    disk.seal(1)
    assert sequences(follower.poll()) == [2, 3, 4, 5, 6]
    assert follower.poll() == []
    disk.tracer.rotate()
    disk.tracer.exchange(2)
    disk.write()
    assert sequences(follower.poll()) == list(range(7, 13))


def test_what_was_removed_before_it_was_reached_is_passed_over(disk: Disk) -> None:
    for number in (1, 2, 3):
        disk.tracer.exchange(number)
        disk.write()
        disk.tracer.rotate()
    disk.remove(1)
    disk.path(2, "wal").unlink()
    assert sequences(Follower(disk.folder).poll()) == list(range(13, 19))


def test_a_torn_tail_is_left_behind_when_the_next_recorder_starts(disk: Disk) -> None:
    follower = Follower(disk.folder)
    disk.tracer.exchange(1)
    disk.tracer.current.torn = encode_record(disk.tracer.current.id, disk.tracer.current.records[0])[:30]
    disk.write()
    assert sequences(follower.poll()) == [1, 2, 3, 4, 5, 6]
    disk.tracer.rotate(instance=bytes([9] * 16))
    disk.tracer.exchange(2)
    disk.write()
    sightings = list(follower.read())
    assert [sighting.record.sequence for sighting in sightings] == list(range(7, 13))
    assert {sighting.header.instance for sighting in sightings} == {bytes([9] * 16)}
    assert follower.problems == []


def test_damage_in_the_segment_that_is_written_hides_one_record(disk: Disk) -> None:
    disk.tracer.exchange(1)
    disk.write()
    with disk.path(1, "wal").open("r+b") as file:
        file.seek(disk.tracer.current.offset_of(2) + 50)
        file.write(b"X")
    assert sequences(Follower(disk.folder).poll()) == [1, 3, 4, 5, 6]


def test_a_segment_without_a_header_is_named_and_passed_over(disk: Disk) -> None:
    disk.tracer.exchange(1)
    disk.tracer.rotate()
    disk.tracer.exchange(2)
    disk.write()
    disk.path(1, "wal").write_bytes(b"no segment")
    follower = Follower(disk.folder)
    assert sequences(follower.poll()) == list(range(7, 13))
    assert [problem.file for problem in follower.problems] == ["segment 1"]


def test_a_seal_that_cannot_be_read_is_named_and_passed_over(disk: Disk) -> None:
    disk.tracer.exchange(1)
    disk.tracer.rotate()
    disk.tracer.exchange(2)
    disk.write()
    disk.path(1, "seal").write_bytes(b"no seal")
    follower = Follower(disk.folder)
    assert sequences(follower.poll()) == list(range(7, 13))
    assert [problem.file for problem in follower.problems] == [str(disk.path(1, "seal"))]


@pytest.mark.parametrize("synced", [None, 3, 6], ids=["no synced", "behind", "all"])
def test_from_now_on(disk: Disk, synced: int | None) -> None:
    disk.tracer.exchange(1)
    disk.write()
    if synced is not None:
        end = disk.tracer.current.offset_of(synced + 1)
        (disk.folder / "synced").write_bytes(encode_synced(1, synced, end))
    follower = Follower.now(disk.folder)
    assert follower.poll() == []
    disk.tracer.exchange(2)
    disk.write()
    assert sequences(follower.poll()) == list(range(7, 13))


@pytest.mark.parametrize(
    "synced", [(1, 3, 10**6), (2, 3, 200), (1, 3, 4)], ids=["beyond", "another", "in the header"]
)
def test_from_now_on_with_a_synced_that_does_not_fit(disk: Disk, synced: tuple[int, int, int]) -> None:
    disk.tracer.exchange(1)
    disk.write()
    (disk.folder / "synced").write_bytes(encode_synced(*synced))
    follower = Follower.now(disk.folder)
    disk.tracer.exchange(2)
    disk.write()
    assert sequences(follower.poll()) == list(range(7, 13))


@pytest.mark.parametrize("is_sealed", [False, True], ids=["written", "sealed meanwhile"])
def test_from_what_was_on_the_disk_earlier(disk: Disk, is_sealed: bool) -> None:
    disk.tracer.exchange(1)
    disk.write()
    mark = Synced(1, 4, disk.tracer.current.offset_of(5))
    if is_sealed:
        disk.seal(1)
    assert sequences(Follower.since(disk.folder, mark).poll()) == [5, 6]
    assert sequences(Follower.since(disk.folder, None).poll()) == [1, 2, 3, 4, 5, 6]


def test_from_now_on_behind_a_sealed_segment(disk: Disk) -> None:
    disk.tracer.exchange(1)
    disk.write()
    disk.seal(1)
    follower = Follower.now(disk.folder)
    assert follower.poll() == []
    disk.tracer.rotate()
    disk.tracer.exchange(2)
    disk.write()
    assert sequences(follower.poll()) == list(range(7, 13))


@pytest.mark.parametrize(("count", "first"), [(0, 13), (1, 13), (2, 7), (3, 1), (9, 1)])
def test_from_the_last_requests_on(disk: Disk, count: int, first: int) -> None:
    for number in (1, 2, 3):
        disk.tracer.exchange(number)
        disk.write()
        if number < 3:
            disk.tracer.rotate()
    disk.seal(1)
    assert sequences(Follower.last(disk.folder, count).poll())[0] == first


def test_from_the_last_requests_of_some_kind_on(disk: Disk) -> None:
    for number in (1, 2, 3):
        disk.tracer.exchange(number)
        disk.write()
        if number < 3:
            disk.tracer.rotate()
    follower = Follower.last(disk.folder, 1, lambda record: record.request == identifier(2))
    assert sequences(follower.poll())[0] == 7


def test_bodies_are_left_out_if_they_are_not_asked_for(disk: Disk) -> None:
    disk.tracer.exchange(1)
    disk.write()
    bodies = [record for record in Follower(disk.folder, bodies=False).poll() if record.direction is not None]
    assert [(record.length, record.payload) for record in bodies] == [(26, None), (11, None), (11, None)]


def test_when_a_record_was_written_goes_by_the_last_anchor(disk: Disk) -> None:
    disk.tracer.exchange(1)
    disk.tracer.checkpoint(wall=WALL + 60_000_000_000, monotonic=MONOTONIC)
    disk.tracer.exchange(2)
    disk.write()
    walls = {sighting.record.sequence: sighting.wall for sighting in Follower(disk.folder).read()}
    assert (walls[1], walls[8]) == (WALL + 1_000_000, WALL + 60_008_000_000)


def test_files_are_let_go(disk: Disk) -> None:
    disk.tracer.exchange(1)
    disk.write()
    with Follower(disk.folder) as follower:
        follower.poll()
        opened = os.dup(0)
    os.close(opened)
    # The system gives the lowest number that is free: the file's own is below the next.
    with disk.path(1, "wal").open("rb") as file:
        assert file.fileno() < opened


@given(segments(), st.lists(st.integers(0, 3000), max_size=12), st.binary(max_size=60))
def test_any_split_of_what_is_written_gives_the_records_of_the_whole(
    segment: Written, cuts: list[int], torn: bytes
) -> None:
    segment.torn = torn
    assert _in_pieces(segment.wal, cuts) == list(Segment(segment.wal, is_sealed=False).records())


@given(segments(), st.lists(st.integers(0, 3000), max_size=12), st.lists(st.integers(150, 3000), max_size=3))
def test_so_it_does_with_damage(segment: Written, cuts: list[int], damage: list[int]) -> None:
    data = bytearray(segment.wal)
    for at in damage:
        if len(segment.header) <= at < len(data):
            data[at] ^= 0x55
    assert _in_pieces(bytes(data), cuts) == list(Segment(bytes(data), is_sealed=False).records())


def _in_pieces(data: bytes, cuts: list[int]) -> list[Record]:
    places = [0, *sorted(cuts), len(data)]
    growing = Growing(bodies=True)
    found: list[Record] = []
    for start, end in itertools.pairwise(places):
        found += growing.feed(data[start:end])
    return [*found, *growing.close()]


@given(st.lists(st.sampled_from(["add", "half", "rotate", "seal", "remove", "poll"]), max_size=30))
def test_any_course_of_a_trace_gives_each_record_once_and_in_order(steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        disk = Disk(Path(folder) / "trace")
        disk.write()
        follower = Follower(disk.folder)
        found: list[Record] = []
        lost: set[int] = set()
        for number, step in enumerate(steps):
            _go(disk, step, number, found, lost, follower)
        disk.write()
        found += follower.poll()
        follower.close()
    told = sequences(found)
    assert told == sorted(set(told))
    assert set(range(1, disk.tracer.sequence + 1)) - set(told) <= lost


def _go(disk: Disk, step: str, number: int, found: list[Record], lost: set[int], follower: Follower) -> None:
    closed = [segment for segment in disk.tracer.segments[:-1] if disk.path(segment.number, "wal").exists()]
    if step == "add":
        disk.tracer.add(Kind.REQUEST_BODY, identifier(number), b"x" * number)
        disk.write()
    elif step == "half":
        disk.tracer.add(Kind.REQUEST_BODY, identifier(number), b"y" * number)
        disk.write(len(disk.tracer.current.wal) - 20)
    elif step == "rotate" and disk.tracer.current.records:
        disk.write()
        disk.tracer.rotate()
        disk.write()
    elif step == "seal" and closed:
        disk.seal(closed[0].number)
    elif step == "remove" and closed:
        lost.update(record.sequence for record in closed[0].records)
        disk.remove(closed[0].number)
    elif step == "poll":
        found += follower.poll()
