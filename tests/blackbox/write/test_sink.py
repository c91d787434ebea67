"""The files behind a log: appended to, flushed, synced, never overwritten; and what their errors say."""

import errno
import io
import stat
import sys
from pathlib import Path

import pytest

from blackbox import UsageError, WriteError, parse, read_document
from blackbox.write import Durability, Writer
from blackbox.write.sink import FileSink, StreamSink


def create(path: Path, durability: Durability = Durability.FLUSH) -> Writer:
    return Writer.create(path, durability=durability, id="s", repo_sha="abc1234")


@pytest.mark.requirement("WRITE-03")
def test_each_entry_is_one_write_and_there_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []

    class Counting(io.FileIO):
        def write(self, data: bytes) -> int:  # type: ignore[override]  # the writer passes bytes
            written.append(bytes(data))
            return super().write(data)

    monkeypatch.setattr("blackbox.write.sink.io.FileIO", Counting)
    path = tmp_path / "s.bbox"
    with create(path) as log:
        log.user("one\ntwo")
        assert read_document(path).lines[-1].text.startswith("one")
        log.agent("three")
        assert len(written) == 4
    assert b"".join(written) == path.read_bytes()
    assert all(entry.endswith(b"\n") for entry in written)


@pytest.mark.requirement("WRITE-03")
@pytest.mark.parametrize("durability", Durability)
def test_syncing_is_asked_for_by_name(
    durability: Durability, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr("blackbox.write.sink.os.fsync", synced.append)
    with create(tmp_path / "s.bbox", durability) as log:
        log.user("one")
    # The folder, the header, @start, the message, @end and the totals.
    assert len(synced) == (6 if durability is Durability.FSYNC else 0)


def test_fsync_for_real(tmp_path: Path) -> None:
    with create(tmp_path / "s.bbox", Durability.FSYNC) as log:
        log.user("one")
    assert parse((tmp_path / "s.bbox").read_bytes()).lines[2].text.startswith("one")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    create(tmp_path / "s.bbox").close()
    assert stat.S_IMODE((tmp_path / "s.bbox").stat().st_mode) == 0o600


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    path.write_text("precious")
    with pytest.raises(UsageError, match="already") as refused:
        create(path)
    assert "reopen" in refused.value.remedy
    assert path.read_text() == "precious"


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="no such folder") as failed:
        create(tmp_path / "logs" / "s.bbox")
    assert failed.value.remedy == "create the folder first"
    assert not (tmp_path / "logs").exists()


def test_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    # Root may write anywhere, so the refusal is made up.
    monkeypatch.setattr("blackbox.write.sink.os.open", refuse)
    for attempt in (create, Writer.reopen):
        with pytest.raises(WriteError, match="permission denied") as failed:
            attempt(tmp_path / "s.bbox")
        assert failed.value.remedy == "choose a folder you may write to"


def test_a_directory_and_a_file_as_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="not a folder"):
        create(tmp_path / "file" / "s.bbox")
    with pytest.raises(WriteError, match="is a directory"):
        Writer.reopen(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk() -> None:
    with (
        Path("/dev/full").open("wb", buffering=0) as full,
        pytest.raises(WriteError, match="no space left") as failed,
    ):
        Writer(full, id="s", repo_sha="abc1234")
    assert "intact" in failed.value.remedy


class Filling(io.RawIOBase):
    """A disk that has room for so many bytes."""

    def __init__(self, room: int) -> None:
        self.kept = b""
        self.room = room

    def write(self, data: bytes) -> int:  # type: ignore[override]  # the writer passes bytes
        taken = min(self.room, len(data))
        if not taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.kept += data[:taken]
        self.room -= taken
        return taken


@pytest.mark.requirement("WRITE-04")
def test_an_entry_after_a_torn_one_begins_a_line(tmp_path: Path) -> None:
    disk = Filling(room=10)
    sink = FileSink(disk, tmp_path / "s.bbox", Durability.FLUSH)
    sink.write(b"u: one\n")
    for _ in range(2):
        with pytest.raises(WriteError, match="no space left"):
            sink.write(b"u: two\n")
    disk.room = 100
    sink.write(b"u: three\n")
    sink.write(b"u: four\n")
    assert disk.kept == b"u: one\nu: \nu: three\nu: four\n"
    assert sink.size == len(disk.kept)


def test_an_error_in_the_block_is_not_hidden_by_a_full_disk() -> None:
    disk = Filling(room=10**4)
    log = Writer(disk, id="s", repo_sha="abc1234")
    disk.room = 0
    with pytest.raises(KeyError) as failed, log:
        raise KeyError("x")
    assert "could not be closed" in failed.value.__notes__[0]


def test_any_stream_will_do() -> None:
    class Plain:
        def __init__(self) -> None:
            self.kept = b""

        def write(self, data: bytes) -> None:
            self.kept += data

        def flush(self) -> None:
            pass

    stream = Plain()
    with Writer(stream, id="s", repo_sha="abc1234") as log:
        log.user("one")
    assert b"u: one" in stream.kept
    partial = Filling(room=10**6)
    StreamSink(partial, Durability.FLUSH).write(b"x" * 100)
    assert len(partial.kept) == 100


def test_a_stream_stays_open_and_a_closed_one_is_an_error() -> None:
    stream = io.BytesIO()
    Writer(stream, id="s", repo_sha="abc1234").close()
    assert not stream.closed
    stream.close()
    with pytest.raises(WriteError):
        Writer(stream, id="s", repo_sha="abc1234")


def test_a_stream_that_cannot_be_synced() -> None:
    with pytest.raises(UsageError, match="synced"):
        Writer(io.BytesIO(), durability=Durability.FSYNC, id="s", repo_sha="abc1234")


def test_a_part_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "s.part2.bbox").write_text("other")
    with Writer.create(tmp_path / "s.bbox", rotate_bytes=1, id="s", repo_sha="abc1234", start=False) as log:
        log.user("one")
        log.user("two")
    assert (tmp_path / "s.part2.bbox").read_text() == "other"
    assert "@rotate file=s.part3.bbox" in (tmp_path / "s.bbox").read_text()


def test_a_reopened_part_goes_on_with_the_next_number(tmp_path: Path) -> None:
    log = Writer.create(tmp_path / "s.bbox", rotate_bytes=100, id="s", repo_sha="abc1234")
    log.user("x" * 100)
    log._recording.close()  # as the end of the process would
    with pytest.raises(UsageError, match=r"s\.part2\.bbox"):
        Writer.reopen(tmp_path / "s.bbox")
    with Writer.reopen(tmp_path / "s.part2.bbox", rotate_bytes=100) as again:
        again.user("y")
        again.user("z")
    assert "@rotate file=s.part3.bbox" in (tmp_path / "s.part2.bbox").read_text()
    assert (tmp_path / "s.part3.bbox").read_text().startswith((tmp_path / "s.bbox").read_text().split("---\n\n")[0])


def test_a_size_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rotate_bytes"):
        Writer.create(tmp_path / "s.bbox", rotate_bytes=0, id="s", repo_sha="abc1234")
    assert list(tmp_path.iterdir()) == []
