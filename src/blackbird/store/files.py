"""Which file is the memory, who may write it, and how a new one takes the place of the old.

`memory.db` is a link to the file that holds it. Readers of the old file go on in peace when the link is set anew, and
the log that SQLite keeps beside a file never meets another file.
"""

import contextlib
import fcntl
import re
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from blackbird.errors import MemoryBusy, MemoryDamaged
from blackbox.disk import create_file, make_folder, write_error
from blackbox.errors import ReadError, WriteError

LINK, LOCK = "memory.db", "memory.lock"
_NAME = re.compile(r"^memory-([0-9]{8})\.db(-wal|-shm|-journal)?$")
_BUSY_MS = 10_000
_GRACE_SECONDS = 60.0
_REMEDY = "blackbird derive --rebuild makes it anew from the trace"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """For one writer at a time. Raises `MemoryBusy` if there is another."""
    make_folder(folder.parent)
    make_folder(folder)
    path = folder / LOCK
    try:
        with contextlib.suppress(FileExistsError):
            create_file(path).close()
        lock = path.open("rb")
    except OSError as error:
        raise write_error(path, error) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MemoryBusy(f"{folder}: another process writes the memory", "wait for its end, or end it") from error
        yield


def current(folder: Path) -> Path | None:
    """The file that holds the memory, if there is one."""
    try:
        path = folder / (folder / LINK).readlink()
    except OSError:
        return None
    return path if path.parent == folder and path.is_file() else None


def create(folder: Path) -> Path:
    """A new, empty file that is not the memory yet. What others left half-made goes away."""
    numbers = [int(found[1]) for path in folder.iterdir() if (found := _NAME.match(path.name))]
    _clean(folder, keep=current(folder))
    path = folder / f"memory-{max(numbers, default=0) + 1:08}.db"
    try:
        create_file(path).close()
    except OSError as error:
        raise write_error(path, error) from error
    return path


def put_in_place(folder: Path, path: Path) -> None:
    """Make a file the memory. The one before stays for a while: somebody may be about to read it."""
    link, temporary = folder / LINK, folder / f".{LINK}.tmp"
    try:
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(path.name)
        temporary.replace(link)
    except OSError as error:
        raise write_error(link, error) from error


def sweep(folder: Path) -> None:
    """Throw away the file before the current one, once nobody can be about to read it any more."""
    keep = current(folder)
    try:
        since = time.time() - (folder / LINK).lstat().st_mtime
    except OSError:
        return
    if keep is not None and since > _GRACE_SECONDS:
        _clean(folder, keep)


def remove(path: Path) -> None:
    """Throw a file away that did not become the memory."""
    for beside in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + beside).unlink(missing_ok=True)


def _clean(folder: Path, keep: Path | None) -> None:
    for path in folder.iterdir():
        found = _NAME.match(path.name)
        if found is not None and (keep is None or not path.name.startswith(keep.name)):
            path.unlink(missing_ok=True)


def connect(path: Path, *, writable: bool) -> apsw.Connection:
    """A connection to a file that is there; a reader waits rather than fail while another sweeps up after a crash."""
    with told(path):
        found = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        found.set_busy_timeout(_BUSY_MS)
        if writable:
            found.pragma("journal_mode", "wal")
            found.pragma("synchronous", "normal")
        else:
            found.pragma("query_only", True)
        return found


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's complaints, in the words of this package."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise MemoryDamaged(f"{path}: the memory is damaged: {error}", _REMEDY) from error
    except (apsw.FullError, apsw.ReadOnlyError) as error:
        raise WriteError(f"{path}: {error}", "check free space and permissions; the trace has everything") from error
    except apsw.SQLError as error:
        # A table that is missing: the file is whole, and is no memory of ours.
        raise MemoryDamaged(f"{path}: it is no memory: {error}", _REMEDY) from error
    except apsw.Error as error:
        raise ReadError(f"{path}: {error}", _REMEDY) from error
