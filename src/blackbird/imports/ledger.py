"""What was taken in of each log, and how far: kept in a file, and found again from the trace itself."""

import contextlib
import fcntl
import functools
import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from blackbird.home import Home
from blackbird.imports.kept import Joiner
from blackbird.imports.line import Line
from blackbird.imports.places import File
from blackbird.imports.sources import Source, Sources
from blackbird.trace import ids
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import Flag, Kind, Record
from blackbird.trace.segment import Segment
from blackbox.disk import create_file, make_folder, replace_file, write_error
from blackbox.errors import WriteError
from blackbox.redaction.config import load_redactor

SCHEMA = "imports/1"
DIGEST_BYTES = 16
_PROFILE = "wire"
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Taken(msgspec.Struct, kw_only=True):
    """A source and how far it was taken in.

    `size`, `mtime_ns` and `inode` are those of the file when that was done. `tail` is the digest of the last line
    that was taken, `tail_offset` where it begins; without a digest, only its length is known. `is_cut`: its end was
    never told, so what its lines say of it is not known either.
    """

    source: Source
    size: int = -1
    mtime_ns: int = 0
    inode: int = 0
    tail_offset: int = 0
    tail_length: int = 0
    tail: str | None = None
    #: The digest of what the client keeps beside the log.
    beside: str | None = None
    is_cut: bool = False
    redactions: dict[str, int] = {}
    #: Of a database: when its newest row was written, and the rows that may be read again.
    mark: int = 0
    recent: list[str] = []

    def is_same(self, file: File) -> bool:
        """Whether the file looks as it did."""
        return (self.size, self.mtime_ns, self.inode) == (file.size, file.mtime_ns, file.inode)


class _Stored(msgspec.Struct):
    schema: str
    trace: str | None
    #: An import was under way from this segment on; if it still is, nobody is there to end it.
    open_since: int | None
    sequence: int
    taken: list[Taken]


class Ledger:
    """All sources, the newest generation of each file."""

    def __init__(self, path: Path, trace: Trace) -> None:
        self._path = path
        self._trace = trace
        self._taken: dict[tuple[str, str], Taken] = {}
        #: The last record that was answered.
        self.sequence = 0
        #: It knows something that its file does not.
        self.is_new = False

    def get(self, format_name: str, path: Path) -> Taken | None:
        """What is known of a file."""
        return self._taken.get((format_name, str(path)))

    def put(self, taken: Taken) -> None:
        """Know a file, or know it better."""
        folder = safe_folder(taken.source.folder)
        if folder != taken.source.folder:
            taken = msgspec.structs.replace(taken, source=msgspec.structs.replace(taken.source, folder=folder))
            self.is_new = True
        place = (taken.source.format, taken.source.path)
        known = self._taken.get(place)
        if known is None or known.source.generation <= taken.source.generation:
            self._taken[place] = taken

    def see(self, taken: Taken | None, file: File) -> None:
        """A file has nothing new, whatever the file system says of it."""
        if taken is not None and not taken.is_same(file):
            self.put(msgspec.structs.replace(taken, size=file.size, mtime_ns=file.mtime_ns, inode=file.inode))
            self.is_new = True

    def all(self) -> list[Taken]:
        """All that is known."""
        return list(self._taken.values())

    def load(self) -> None:
        """Read the file. What it cannot know, because an import was cut off or it is gone, is read in the trace."""
        stored = self._read()
        if stored is None or stored.trace != _identity(self._trace) or _is_ahead(self._trace, stored.sequence):
            self._learn(0)
            self.is_new = True
            return
        for taken in stored.taken:
            self.put(taken)
        self.sequence = stored.sequence
        if stored.open_since is not None:
            self._learn(stored.open_since)
            self.is_new = True

    def save(self, *, is_open: bool) -> None:
        """Write the file; `is_open` before anything is sent, so that it is not trusted if nobody writes it again."""
        places = self._trace.places()
        since = (places[-1].number if places else 1) if is_open else None
        stored = _Stored(SCHEMA, _identity(self._trace), since, self.sequence, self.all())
        make_folder(self._path.parent)
        replace_file(self._path, msgspec.json.encode(stored))
        self.is_new = False

    def _read(self) -> _Stored | None:
        try:
            stored = msgspec.json.decode(self._path.read_bytes(), type=_Stored)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return stored if stored.schema == SCHEMA else None

    def _learn(self, first: int) -> None:
        heard, learnt = Sources(), {taken.source.id: taken for taken in self.all()}
        for known in learnt.values():
            heard.know(known.source)
        tails: dict[bytes, _Tail] = {}
        for segment in self._trace.segments():
            if isinstance(segment, Segment) and segment.header.number >= first:
                _read_segment(segment, heard, tails)
        for source in heard.all():
            tail, before = tails.get(source.key), learnt.get(source.id)
            if tail is None:
                self.put(before or Taken(source=source, is_cut=source.is_kept and not source.lines))
            else:
                self.put(tail.taken(source, before))


class _Tail:
    """The last line of a source that is whole."""

    def __init__(self) -> None:
        self._joiner = Joiner()
        self._is_redacted = False
        self._last: Line | None = None
        self._beside: str | None = None

    def take(self, record: Record) -> None:
        if record.payload is not None and record.payload[:1] != b"\n":
            self._is_redacted = False
        self._is_redacted |= bool(record.flags & Flag.REDACTED)
        line = self._joiner.take(record)
        if line is not None and line.length:
            text = None if self._is_redacted or "\ufffd" in line.text else line.text
            self._last = line._replace(text=text or "")
        elif line is not None:
            self._beside = digest(line.text.encode())

    def taken(self, source: Source, before: Taken | None) -> Taken:
        last = self._last
        if last is None:
            return before or Taken(source=source, is_cut=True)
        reached = last.offset + last.length + (not source.is_document)
        if before is not None and before.source.reached >= reached:
            return before
        is_cut = source.reached != reached
        return Taken(
            source=msgspec.structs.replace(source, reached=reached),
            tail_offset=last.offset,
            tail_length=last.length,
            tail=digest(last.text.encode()) if last.text else None,
            beside=self._beside or (before.beside if before is not None else None),
            is_cut=is_cut,
        )


def digest(data: bytes) -> str:
    """What a line is known by."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


@functools.cache
def redactor() -> Callable[[str], str]:
    """The rules for traffic, as the recorder has them: what is noted outside of the trace holds no secret either."""
    found = load_redactor().for_profile(_PROFILE)
    return lambda text: found.redact(text).text


@functools.lru_cache(maxsize=4096)
def safe_folder(folder: str | None) -> str | None:
    """A folder that may be noted: one whose path has a secret is the SHA-256 of the path without it.

    That is how a run's own folder stands in the trace, so that both are still found to be the same.
    """
    if folder is None or _SHA256.fullmatch(folder):
        return folder
    redacted = redactor()(folder)
    return folder if redacted == folder else hashlib.sha256(redacted.encode(errors="surrogateescape")).hexdigest()


@contextlib.contextmanager
def opened(home: Home) -> Iterator[Ledger]:
    """The ledger of a home, for one import at a time. Raises `WriteError` if another is under way."""
    make_folder(home.path)
    make_folder(home.derived)
    path = home.derived / "imports.lock"
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
            message = f"{home.path}: another import is under way"
            raise WriteError(message, "wait for its end, or end it with Ctrl-C") from error
        ledger = read(home)
        yield ledger


def read(home: Home) -> Ledger:
    """The same to be looked at."""
    ledger = Ledger(home.derived / "imports.json", Trace(home.trace))
    ledger.load()
    return ledger


def _identity(trace: Trace) -> str | None:
    """Which trace it is; nothing as long as it has no segment."""
    for segment in trace.segments():
        if isinstance(segment, Segment):
            return ids.to_text(segment.header.trace)
    return None


def _is_ahead(trace: Trace, sequence: int) -> bool:
    """Whether more was answered than came to be on the disk, as after a power cut."""
    synced = trace.synced()
    return synced is not None and synced.sequence < sequence


def _read_segment(segment: Segment, heard: Sources, tails: dict[bytes, _Tail]) -> None:
    """As far as it can be read: what is behind damage is taken in again."""
    with contextlib.suppress(TraceError):
        for record in _records(segment):
            if record.kind == Kind.NATIVE_LINE:
                tails.setdefault(record.request, _Tail()).take(record)
            else:
                heard.take(record)


def _records(segment: Segment) -> Iterator[Record]:
    """Statements and lines. Of a seal, only what has them is unpacked."""
    if not segment.is_sealed:
        yield from segment.records()
        return
    yield from segment.pick([ids.ZERO])
    for request in segment.requests():
        first = next(iter(segment.pick([request], bodies=False)), None)
        if first is not None and first.kind == Kind.NATIVE_LINE:
            yield from segment.pick([request])
