"""Files and folders: their owner's alone under any umask, replaced whole or not at all, never in foreign places."""

import contextlib
import errno
import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from blackbox.disk import (
    create_file,
    make_folder,
    refuse_foreign,
    reopen_file,
    replace_file,
    sync_file,
    sync_folder,
    write_error,
    write_once,
)
from blackbox.errors import UsageError, WriteError

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes, links and pipes of POSIX")
REMEDY = "check the folder's permissions and free space; nothing was changed"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "session.bbox"
    path.write_bytes(b"old\n")
    return path


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def no_space(*_arguments: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_content_is_replaced(log: Path) -> None:
    replace_file(log, b"new\r\n\xff")
    assert log.read_bytes() == b"new\r\n\xff"
    assert names_in(log.parent) == ["session.bbox"]


def test_new_file_is_made(tmp_path: Path) -> None:
    replace_file(tmp_path / "new.bbox", b"new\n")
    assert (tmp_path / "new.bbox").read_bytes() == b"new\n"


@POSIX
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o755])
@pytest.mark.requirement("FIX-03")
def test_mode_is_kept(log: Path, mode: int) -> None:
    log.chmod(mode)
    replace_file(log, b"new\n")
    assert log.stat().st_mode & 0o7777 == mode


@POSIX
def test_symbolic_link_stays_a_link(log: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "current.bbox"
    link.symlink_to(log)
    replace_file(link, b"new\n")
    assert link.is_symlink()
    assert log.read_bytes() == b"new\n"
    assert names_in(link.parent) == ["current.bbox"]


@POSIX
def test_loop_of_links_is_a_write_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(WriteError, match="could not be written: Too many levels of symbolic links"):
        replace_file(tmp_path / "a", b"new\n")


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.requirement("BAD-12")
def test_full_disk_leaves_the_old_file_and_nothing_else(
    log: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(os, step, no_space)
    with pytest.raises(WriteError) as caught:
        replace_file(log, b"new\n")
    assert caught.value.message == f"{log}: could not be written: No space left on device"
    assert caught.value.remedy == REMEDY
    assert log.read_bytes() == b"old\n"
    assert names_in(log.parent) == ["session.bbox"]


class FullDisk:
    """A file whose writes fail."""

    def __init__(self, handle: int, _mode: str) -> None:
        self.handle = handle

    def __enter__(self) -> "FullDisk":
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self.handle)

    write = staticmethod(no_space)


@pytest.mark.requirement("BAD-12")
def test_disk_that_fills_up_while_writing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fdopen", FullDisk)
    with pytest.raises(WriteError, match="No space left on device"):
        replace_file(log, b"new\n")
    assert log.read_bytes() == b"old\n"
    assert names_in(log.parent) == ["session.bbox"]


@pytest.mark.requirement("BAD-12")
def test_interrupt_while_writing_leaves_no_temporary_file(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_handle: int) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace_file(log, b"new\n")
    assert log.read_bytes() == b"old\n"
    assert names_in(log.parent) == ["session.bbox"]


@pytest.mark.requirement("BAD-12")
def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="could not be written: Is a directory"):
        replace_file(tmp_path, b"new\n")


@pytest.mark.requirement("BAD-12")
def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="No such file or directory"):
        replace_file(tmp_path / "nowhere" / "a.bbox", b"new\n")


#: Everything is imported before the privileges go: the interpreter may lie where only its owner can read.
SCRIPT = """
import os, sys
from pathlib import Path
from blackbox.errors import WriteError
from blackbox.disk import replace_file
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    replace_file(Path(sys.argv[1]), b"new")
except WriteError as error:
    print(error.message)
"""


@POSIX
@pytest.mark.requirement("BAD-12")
def test_folder_that_may_not_be_written() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "session.bbox"
        log.write_bytes(b"old\n")
        log.chmod(0o666)
        folder.chmod(0o555)
        done = subprocess.run([sys.executable, "-c", SCRIPT, str(log)], capture_output=True, text=True, check=True)
        folder.chmod(0o755)
        assert done.stdout == f"{log}: could not be written: Permission denied\n"
        assert log.read_bytes() == b"old\n"
        assert names_in(folder) == ["session.bbox"]


@POSIX
def test_named_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    replace_file(pipe, b"new\n")
    reader.join(timeout=10)
    assert got == [b"new\n"]
    assert pipe.is_fifo()


MASKS = pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])


@contextlib.contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@POSIX
@MASKS
def test_a_created_file_is_its_owners_alone(tmp_path: Path, mask: int) -> None:
    with umask(mask), create_file(tmp_path / "a") as file:
        file.write(b"one")
    assert mode_of(tmp_path / "a") == 0o600
    with reopen_file(tmp_path / "a") as file:
        file.write(b" two")
    assert (tmp_path / "a").read_bytes() == b"one two"


@POSIX
@MASKS
def test_a_file_written_once_is_its_owners_alone(tmp_path: Path, mask: int) -> None:
    with umask(mask):
        write_once(tmp_path / "a", b"one", sync=False)
        write_once(tmp_path / "b", b"two", sync=True)
        replace_file(tmp_path / "c", b"three")
    assert [mode_of(tmp_path / name) for name in "abc"] == [0o600, 0o600, 0o600]
    assert [(tmp_path / name).read_bytes() for name in "abc"] == [b"one", b"two", b"three"]


@POSIX
@MASKS
def test_new_folders_are_their_owners_alone(tmp_path: Path, mask: int) -> None:
    with umask(mask):
        make_folder(tmp_path / "a" / "b")
        make_folder(tmp_path / "a" / "b")
    assert [mode_of(tmp_path / "a"), mode_of(tmp_path / "a" / "b")] == [0o700, 0o700]


@POSIX
def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(0o755)
    make_folder(tmp_path / "a")
    assert mode_of(tmp_path / "a") == 0o755


def test_a_file_in_the_place_of_a_folder(log: Path) -> None:
    for folder in (log, log / "below"):
        with pytest.raises(WriteError) as caught:
            make_folder(folder)
        assert caught.value.message == f"{folder}: its parent is not a folder"


def test_an_existing_file_is_never_overwritten(log: Path) -> None:
    with pytest.raises(FileExistsError):
        create_file(log)
    assert log.read_bytes() == b"old\n"


@pytest.mark.parametrize(
    "place",
    [
        ".git",
        ".git/hooks",
        "repo/.git/objects",
        ".claude/projects/x",
        ".codex/sessions",
        ".config/opencode/a",
        ".local/share/opencode",
    ],
)
def test_nothing_is_written_where_another_program_keeps_its_files(tmp_path: Path, place: str) -> None:
    folder = tmp_path / place
    folder.mkdir(parents=True)
    for write in (
        lambda: create_file(folder / "a"),
        lambda: reopen_file(folder / "a"),
        lambda: make_folder(folder / "a"),
        lambda: replace_file(folder / "a", b""),
        lambda: write_once(folder / "a", b"", sync=False),
    ):
        with pytest.raises(UsageError, match="belongs to another program"):
            write()
    assert names_in(folder) == []


@POSIX
def test_a_link_into_such_a_place_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / "logs").symlink_to(tmp_path / ".claude")
    with pytest.raises(UsageError, match=r"\.claude belongs to another program"):
        create_file(tmp_path / "logs" / "a.bbox")


@pytest.mark.parametrize("place", ["my.git", "claude", ".github", ".config/other", "share/opencode", "opencode"])
def test_names_that_only_look_alike(tmp_path: Path, place: str) -> None:
    refuse_foreign(tmp_path / place / "a.bbox")


def test_a_folder_of_another_program_may_not_be_made_either(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="belongs to another program"):
        make_folder(tmp_path / ".git")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("step", ["chmod", "replace"])
def test_a_file_written_once_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(os, step, no_space)
    with pytest.raises(WriteError) as caught:
        write_once(tmp_path / "a", b"one", sync=False)
    assert caught.value.message == f"{tmp_path / 'a'}: no space left on the device"
    assert names_in(tmp_path) == []


def test_what_cannot_be_synced_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_once(tmp_path / "a", b"one", sync=True)
    monkeypatch.setattr(os, "fsync", no_space)
    for sync, path in ((sync_file, tmp_path / "a"), (sync_folder, tmp_path)):
        with pytest.raises(WriteError) as caught:
            sync(path)
        assert caught.value.message == f"{path}: no space left on the device"


def test_a_complaint_without_a_number_is_told_in_its_own_words() -> None:
    error = write_error("a.bbox", ValueError("write to closed file"))
    assert (error.message, error.remedy) == ("a.bbox: write to closed file", "check the disk and the path")
