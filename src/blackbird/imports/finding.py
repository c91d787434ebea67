"""Which logs there are, and what of each is not taken in yet."""

import enum
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from blackbird.imports import facts as glances
from blackbird.imports import files, places
from blackbird.imports.facts import Facts
from blackbird.imports.ledger import DIGEST_BYTES, Ledger, Taken, digest
from blackbird.imports.places import PLACES, SPECSTORY, File
from blackbird.imports.recognise import LOOK, Format, recognise
from blackbox.errors import ReadError

#: What is looked for in a folder that is named.
_PATTERNS = ("*.jsonl", "*.json", "*.bbox", "*.blackbox", "*.rlog", "*.md", "opencode*.db")


class State(enum.StrEnum):
    """What there is to be taken in of a log."""

    NEW = "new"
    GROWN = "grown"
    REWRITTEN = "rewritten"
    TAKEN = "taken"


class Candidate(msgspec.Struct, frozen=True):
    """A log, what it says of itself at a glance, and what is known of it."""

    file: File
    format: Format
    facts: Facts
    state: State
    known: Taken | None = None

    @property
    def client(self) -> str:
        """Whose it is, for people."""
        return self.format.client or self.facts.client or self.format.name

    @property
    def session(self) -> str:
        """The session, or what stands for it."""
        return self.facts.session or str(self.file.path)

    @property
    def start(self) -> int:
        """From which offset on it is to be taken in."""
        return self.known.source.reached if self.known is not None and self.state is State.GROWN else 0

    @property
    def rest(self) -> int:
        """About how many bytes are to be taken in."""
        return 0 if self.state is State.TAKEN else max(0, self.file.size - self.start)


class Search:
    """Looks for logs. What cannot be read, and what is no log, is named."""

    def __init__(self, ledger: Ledger, *, keep: bool = True, since: int | None = None) -> None:
        self._ledger = ledger
        self._keep = keep
        self._since = since
        self._known = {taken.source.path: taken for taken in ledger.all()}
        self.unreadable: list[str] = []
        self.unknown: list[Path] = []
        #: What was named and has no log, and why.
        self.barren: dict[Path, str] = {}
        #: The clients that keep nothing on this machine, and where was looked for it.
        self.absent: dict[str, list[Path]] = {}

    def on_machine(
        self, environ: Mapping[str, str], user_home: Path, project: Path, clients: Iterable[str] = ()
    ) -> Iterator[Candidate]:
        """What agents keep on this machine, of all or of some clients."""
        wanted = list(clients)
        roots = {place: place.root(environ, user_home) for place in PLACES.values()}
        roots[SPECSTORY] = project / SPECSTORY.usual
        for place, root in roots.items():
            if wanted and place.client not in wanted:
                continue
            found = list(places.logs(place, root, self.unreadable))
            if not found:
                self.absent[place.client] = [root / below for below in dict.fromkeys(name for name, _ in place.below)]
            yield from self._look(found)

    def at(self, paths: Iterable[Path]) -> Iterator[Candidate]:
        """The logs that paths name, and those in folders."""
        for path in paths:
            problems = len(self.unreadable)
            try:
                found = list(places.named(path, _PATTERNS, self.unreadable))
            except FileNotFoundError as error:
                message = f"{path}: {error.strerror}"
                raise ReadError(message, "name a log, or a folder that has some") from error
            has_logs = False
            for candidate in self._look(found):
                has_logs = True
                yield candidate
            if not has_logs and problems == len(self.unreadable) and not any(self._is_old(file) for file in found):
                self.barren[_whole(path)] = _why_barren(path, found)

    def _is_old(self, file: File) -> bool:
        return self._since is not None and file.mtime_ns < self._since

    def _look(self, found: Iterable[File]) -> Iterator[Candidate]:
        # The oldest first: what an import that is cut off leaves out is what still changes.
        for file in sorted(found, key=lambda file: (file.mtime_ns, file.path)):
            if not file.size or self._is_old(file) or files.is_sidecar(file.path):
                continue
            whole = file._replace(path=_whole(file.path))
            try:
                candidate = self._examine(whole)
            except OSError as error:
                self.unreadable.append(f"{whole.path}: {error.strerror or error}")
                continue
            if candidate is None:
                self.unknown.append(whole.path)
            else:
                yield candidate

    def _examine(self, file: File) -> Candidate | None:
        known = self._known.get(str(file.path))
        is_settled = known is not None and (known.source.is_kept or not self._keep)
        if known is not None and is_settled and known.is_same(file) and known.beside == beside_of(file.path):
            return Candidate(file, _format_of(known), facts_of(known), State.TAKEN, known)
        head = files.stretch(file.path, 0, LOOK)
        format_found = recognise(str(file.path), head)
        if format_found is None:
            return None
        known = self._ledger.get(format_found.name, file.path)
        state = _compare(known, file) if known is not None and is_settled else State.NEW
        if known is not None and state in (State.GROWN, State.TAKEN) and not known.is_cut:
            return Candidate(file, format_found, facts_of(known), state, known)
        return Candidate(file, format_found, glance(format_found, file.path, head), state, known)


def glance(about: Format, path: Path, head: bytes) -> Facts:
    """What the name of a file and its first lines say."""
    found = glances.of_path(about.name, path)
    text = head.decode(errors="replace")
    lines = [text] if about.is_document else text.split("\n")[: None if len(head) < LOOK else -1]
    for line in lines:
        glances.take(found, about.name, line)
    return found


def glance_on(candidate: Candidate) -> Facts:
    """What a log says that is not read as a whole: as at a glance, but when it ends, too. Raises `ReadError`."""
    about, file = candidate.format, candidate.file
    found = msgspec.structs.replace(candidate.facts)
    if file.size <= LOOK or files.MEMBER in file.path.name:
        return found
    if about.is_document:
        found = glances.of_path(about.name, file.path)
        text = "".join(piece.text for piece in files.pieces(file.path, is_document=True))
        glances.take(found, about.name, text)
        return found
    for piece in files.pieces(file.path, start=file.size - LOOK):
        glances.take(found, about.name, piece.text)
    return found


def facts_of(known: Taken) -> Facts:
    """What was found out about a source when it was taken in."""
    source = known.source
    return Facts(
        session=source.native_session,
        thread=source.native_thread,
        first_at=source.first_at,
        last_at=source.last_at,
        title=source.title,
        messages=source.messages,
        folder=source.folder,
        heard_until=source.last_at,
        client=source.client,
    )


def beside_of(path: Path) -> str | None:
    """The digest of what a client keeps beside a log."""
    beside = files.sidecar(path)
    return digest(beside.text.encode()) if beside is not None else None


def _whole(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - links stay what they are


def _why_barren(path: Path, found: list[File]) -> str:
    if path.is_dir():
        return "no log is in this folder" if not found else "what is in this folder is no log that is known here"
    if not found:
        return "this is neither a file nor a folder"
    return "this is no log that is known here" if found[0].size else "the file is empty"


def _format_of(known: Taken) -> Format:
    return Format(known.source.format, known.source.client, known.source.is_document)


def _compare(known: Taken, file: File) -> State:
    """A file that no longer has the line that was taken last, where it was, was rewritten."""
    source = known.source
    if source.is_document:
        return State.TAKEN if _is_same_document(known, file) else State.REWRITTEN
    if file.size < source.reached or not _has_tail(known, file.path):
        return State.REWRITTEN
    is_beside_new = known.beside != beside_of(file.path)
    return State.GROWN if file.size > source.reached or known.is_cut or is_beside_new else State.TAKEN


def _has_tail(known: Taken, path: Path) -> bool:
    if not known.tail_length:
        return True
    data = files.stretch(path, known.tail_offset, known.tail_length + 1)
    if len(data) != known.tail_length + 1 or not data.endswith(b"\n"):
        return False
    return known.tail is None or known.tail == digest(data[:-1].decode(errors="replace").encode())


def _is_same_document(known: Taken, file: File) -> bool:
    if known.tail is None:
        return file.size == known.tail_length
    found = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for piece in files.pieces(file.path, is_document=True):
        found.update(piece.text.encode())
    return found.hexdigest() == known.tail
