"""Blobs on disk: a folder of files named by the hash of what is in them. The only I/O here."""

import contextlib
import datetime as dt
import enum
import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from blackbox.disk import FOREIGN, make_folder, refuse_foreign, sync_file, sync_folder, write_error, write_once
from blackbox.document.files import EXTENSIONS
from blackbox.errors import IntegrityError, ReadError, UsageError
from blackbox.syntax.results import Blob

#: The folder's name, beside the logs that use it.
FOLDER = ".bbox-blobs"
#: The shortest part of a hash that may stand for the whole.
LEAST_DIGITS = 6

_NAME = re.compile(r"[0-9a-f]{64}")
_PREFIX = re.compile(r"[0-9a-f]{6,64}")
_LEFTOVER = re.compile(r"\.(?:[0-9a-f]{64}|\.gitignore)\.\w+\.tmp", re.ASCII)
#: Logs, and the JSON files that stand beside them or were made from them.
_READ = (*EXTENSIONS, ".json", ".jsonl", ".ndjson")
_IGNORE_FILE = ".gitignore"
_IGNORED = b"*\n"
_BLOCK = 1 << 20


class State(enum.StrEnum):
    """How a file in the folder stands."""

    OK = "ok"
    DAMAGED = "damaged"
    FOREIGN = "foreign"


class Entry(NamedTuple):
    """What the folder has under a name: its size, when it was last written, and whether it is a plain file."""

    name: str
    bytes: int
    modified: dt.datetime
    is_regular: bool = True


class Verdict(NamedTuple):
    """What a look at one file showed; `found` is the hash of a damaged one."""

    name: str
    bytes: int
    state: State
    found: str = ""


class BlobStore:
    """The blobs beside a log. The folder is made when the first blob comes, for its owner alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: What this store has seen whole on disk, and whether it was synced.
        self._known: dict[str, bool] = {}

    @classmethod
    def beside(cls, log: Path) -> "BlobStore":
        """The store that the logs in this log's folder share."""
        return cls(log.parent / FOLDER)

    @property
    def is_there(self) -> bool:
        """Whether the folder has been made."""
        return self.folder.is_dir()

    def put(self, data: bytes, mime: str | None = None, *, sync: bool = False) -> Blob:
        """Keep `data` under its hash, written once; a file of that name with other content is replaced.

        With `sync` it is on the disk when this returns, and so is its name.
        """
        name = hashlib.sha256(data).hexdigest()
        is_enough = name in self._known and (self._known[name] or not sync)
        if not (is_enough and _renew(self.folder / name)):
            self._write(name, data, sync=sync)
            self._known[name] = sync
        return Blob(name, len(data), mime)

    def read(self, name: str) -> bytes:
        """The content of a blob, verified. `name` is its hash or the first digits of it, at least six."""
        path = self.folder / self.find(name)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ReadError(f"{path}: {error.strerror or error}", "check the file's permissions") from error
        found = hashlib.sha256(data).hexdigest()
        if found != path.name:
            raise IntegrityError(
                f"{path}: the content does not match its name: expected sha256 {path.name}, found {found}",
                "restore the file from a copy, or take its content for damaged",
            )
        return data

    def find(self, name: str) -> str:
        """The whole hash of the one blob that `name` stands for."""
        digits = name.lower()
        if not _PREFIX.fullmatch(digits):
            raise UsageError(
                f"{name[:80]!r} is no hash of a blob", f"give its sha256, or at least its first {LEAST_DIGITS} digits"
            )
        if len(digits) == 64:
            if _is_regular(self.folder / digits):
                return digits
        else:
            found = [entry.name for entry in self.entries() if entry.name.startswith(digits)]
            if len(found) > 1:
                raise UsageError(f"{name} stands for {len(found)} blobs in {self.folder}", "give more of its digits")
            if found:
                return found[0]
        raise ReadError(f"{self.folder}: there is no blob {name}", "check the hash; `blackbox blobs list` shows them")

    def entries(self) -> list[Entry]:
        """The blobs, by name; whether they match their names is not looked at. Folders and links are none."""
        return [entry for entry in self._files() if entry.is_regular and _NAME.fullmatch(entry.name)]

    def leftovers(self) -> list[Entry]:
        """Temporary files of writers that were stopped: never part of a log, whatever is in them."""
        return [entry for entry in self._files() if _is_leftover(entry)]

    def verify(self) -> list[Verdict]:
        """Every file in the folder looked at, but for its ignore file and what stopped writers left."""
        return [self.look(entry) for entry in self._files() if entry.name != _IGNORE_FILE and not _is_leftover(entry)]

    def look(self, entry: Entry) -> Verdict:
        """Whether one file is what its name says."""
        if not (entry.is_regular and _NAME.fullmatch(entry.name)):
            return Verdict(entry.name, entry.bytes, State.FOREIGN)
        found = self._digest(entry.name)
        if found == entry.name:
            return Verdict(entry.name, entry.bytes, State.OK)
        return Verdict(entry.name, entry.bytes, State.DAMAGED, found)

    def remove(self, name: str) -> None:
        """Take a blob or a leftover away; nothing else in the folder is ours to remove."""
        path = self.folder / name
        is_ours = _NAME.fullmatch(name) or _LEFTOVER.fullmatch(name)
        if not is_ours or (os.path.lexists(path) and not _is_regular(path)):
            raise UsageError(f"{name[:80]!r} is no blob", "remove it by hand if you no longer need it")
        refuse_foreign(path)
        self._known.pop(name, None)
        try:
            path.unlink()
        except OSError as error:
            raise write_error(path, error) from error

    def _write(self, name: str, data: bytes, *, sync: bool) -> None:
        path = self.folder / name
        if not self.folder.is_dir():
            make_folder(self.folder)
            if sync:
                sync_folder(self.folder.parent)
        if not os.path.lexists(self.folder / _IGNORE_FILE):
            write_once(self.folder / _IGNORE_FILE, _IGNORED, sync=sync)
        if not self._is_whole(path, data):
            write_once(path, data, sync=sync)
            return
        _renew(path)
        if sync:
            # Whoever wrote it may have left it to the operating system.
            sync_file(path)
            sync_folder(self.folder)

    def _is_whole(self, path: Path, data: bytes) -> bool:
        try:
            found = path.lstat()
            return stat.S_ISREG(found.st_mode) and found.st_size == len(data) and path.read_bytes() == data
        except OSError:
            # Not there, or not ours to read: written anew, which tells what is wrong if that fails as well.
            return False

    def _digest(self, name: str) -> str:
        digest = hashlib.sha256()
        path = self.folder / name
        try:
            with path.open("rb") as source:
                while block := source.read(_BLOCK):
                    digest.update(block)
        except OSError as error:
            raise ReadError(f"{path}: {error.strerror or error}", "check the file's permissions") from error
        return digest.hexdigest()

    def _files(self) -> Iterator[Entry]:
        try:
            with os.scandir(self.folder) as found:
                files = sorted(found, key=lambda file: file.name)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return
            raise ReadError(f"{self.folder}: {error.strerror or error}", "make the folder readable") from error
        for file in files:
            # Renamed or removed since the listing: no longer there to tell of.
            with contextlib.suppress(FileNotFoundError):
                about = file.stat(follow_symlinks=False)
                modified = dt.datetime.fromtimestamp(about.st_mtime, dt.UTC)
                yield Entry(file.name, about.st_size, modified, stat.S_ISREG(about.st_mode))


def _is_leftover(entry: Entry) -> bool:
    return entry.is_regular and _LEFTOVER.fullmatch(entry.name) is not None


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def find_stores(folder: Path) -> list[BlobStore]:
    """The stores in and below a folder; the folder may be one itself."""
    if folder.name == FOLDER:
        return [BlobStore(folder)]
    return [BlobStore(found / FOLDER) for found, names, _ in _walk(folder) if FOLDER in names]


def files_around(store: BlobStore) -> list[Path]:
    """The logs and JSON files in and below the folder that the store is in: all that may name its blobs."""
    return [
        folder / name for folder, _, names in _walk(store.folder.parent) for name in names if name.endswith(_READ)
    ]


def _renew(path: Path) -> bool:
    """Let a blob count as new, so that nobody takes it away before its line is written; False if it is gone."""
    try:
        os.utime(path, follow_symlinks=os.utime not in os.supports_follow_symlinks)
    except OSError:
        return False
    return True


def _walk(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    def stop(error: OSError) -> None:
        raise ReadError(f"{error.filename}: {error.strerror}", "make the folder readable, or leave it out") from error

    for name, folders, files in os.walk(folder, onerror=stop):
        yield Path(name), sorted(folders), sorted(files)
        # Where other programs keep their files there is nothing of ours, nor is there a log within a store.
        folders[:] = sorted(found for found in folders if found not in FOREIGN and found != FOLDER)
