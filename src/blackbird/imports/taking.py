"""Takes logs in: reads what is new, sends it a batch at a time, and knows after each how far it came."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from blackbird.exchange.clock import to_rfc3339
from blackbird.imports import facts as glances
from blackbird.imports import files
from blackbird.imports.facts import Facts
from blackbird.imports.files import Piece
from blackbird.imports.finding import Candidate, State, beside_of, facts_of, glance_on
from blackbird.imports.ledger import DIGEST_BYTES, Ledger, Taken, digest, redactor, safe_folder
from blackbird.imports.sources import END, OPEN, PREFIX, Source, source_id
from blackbird.recorder.feed import Feed

#: What is sent at once, in bytes of the file: as JSON, it stays below 1 MiB. A longer piece goes alone.
_BATCH = 768 << 10
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Outcome(msgspec.Struct):
    """What became of one log, or of several."""

    files: int = 0
    is_kept: bool = True
    lines: int = 0
    bytes: int = 0
    #: Lines with bytes that are no UTF-8.
    damaged: int = 0
    #: Lines that should be JSON and are none: file and line.
    broken: list[str] = []
    redactions: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, other: "Outcome") -> None:
        """Count another one, too."""
        self.files += other.files
        self.lines += other.lines
        self.bytes += other.bytes
        self.damaged += other.damaged
        self.broken = self.broken + other.broken
        self.redactions = self.redactions + other.redactions


class Taker:
    """Sends logs to whoever writes the trace. `stop` is asked between batches, `advance` is told bytes."""

    def __init__(
        self,
        feed: Feed,
        ledger: Ledger,
        *,
        keep: bool = True,
        stop: Callable[[], bool] = lambda: False,
        advance: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._feed = feed
        self._ledger = ledger
        self.keep = keep
        self.stop = stop
        self._advance = advance

    def take(self, candidate: Candidate) -> Outcome:
        """Take in what is new of a log; what was answered is in the ledger whatever happens then.

        Raises `ReadError` for the log, and what `Feed.send` raises.
        """
        taken = begin(candidate, keep=self.keep)
        if not self.keep:
            return self.point_at(candidate, taken)
        path, about = candidate.file.path, candidate.format
        found = files.pieces(path, start=taken.source.reached, is_document=about.is_document)
        return Passage(self, candidate, taken).run(found)

    def state(self, event: str, source: Source, data: dict[str, Any]) -> None:
        """Say something of a source."""
        session = source.native_session
        named = {"session": session} if session is not None and _ID.fullmatch(session) else {}
        self.note(self._feed.send({"op": "event", "event": event, **named, "data": {"source": source.id, **data}}))

    def send(self, source: Source, lines: list[dict[str, Any]], size: int) -> dict[str, Any]:
        """Have a batch of lines written; what is answered."""
        answer = self._feed.send({"op": "import", "source": source.id.removeprefix(PREFIX), "lines": lines})
        self.note(answer)
        self._advance(size)
        return answer

    def note(self, answer: dict[str, Any]) -> None:
        """Remember the last record."""
        self._ledger.sequence = max(self._ledger.sequence, answer.get("sequence", 0))

    def know(self, taken: Taken) -> None:
        """Put into the ledger how far a source is."""
        self._ledger.put(taken)

    def known(self, format_name: str, path: Path) -> Taken | None:
        """What the ledger has of a source."""
        return self._ledger.get(format_name, path)

    def point_at(self, candidate: Candidate, taken: Taken) -> Outcome:
        """Leave the log where it is, and say that it is there."""
        found = glance_on(candidate)
        source = msgspec.structs.replace(
            taken.source,
            is_kept=False,
            first_at=found.first_at,
            last_at=found.last_at or candidate.file.mtime_ns,
            folder=safe_folder(found.folder),
        )
        times = {"first_at": _time(source.first_at), "last_at": _time(source.last_at)}
        self.state(OPEN, source, {**_about(source), "kept": False, **times, "folder": source.folder})
        file = candidate.file
        self.know(
            Taken(
                source=source,
                size=file.size,
                mtime_ns=file.mtime_ns,
                inode=file.inode,
                beside=beside_of(file.path),
            )
        )
        self._advance(candidate.rest)
        return Outcome(files=1, is_kept=False)


class Passage:
    """One log on its way."""

    def __init__(
        self,
        taker: Taker,
        candidate: Candidate,
        taken: Taken,
        *,
        facts: Facts | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._taker = taker
        self._candidate = candidate
        self._taken = taken
        self._facts, self._before = _already(candidate, taken) if facts is None else (facts, taken.source.lines)
        self._stop = stop or taker.stop
        #: An earlier import broke off before it could tell how far it came.
        self._was_cut = candidate.known is not None and candidate.known.is_cut
        self._outcome = Outcome(files=1)
        self._masked_before = Counter(taken.redactions)
        self._lines: list[dict[str, Any]] = []
        self._size = 0
        self._counted = 0
        self._is_open = False
        #: The parts of a long line that were taken; their text only of a document, which is looked at as a whole.
        self._part = 0
        self._texts: list[str] = []
        self._hash = hashlib.blake2b(digest_size=DIGEST_BYTES)

    def run(self, pieces: Iterable[Piece]) -> Outcome:
        """All that is new, as far as nobody says stop."""
        is_whole = True
        self._take_beside()
        for piece in pieces:
            self._take(piece)
            if self._size >= _BATCH:
                self._flush(is_line_whole=not piece.has_more)
                if not piece.has_more and self._stop():
                    is_whole = False
                    break
        self._flush(is_line_whole=True)
        if self._is_open or self._was_cut:
            self._describe()
            self._taker.state(END, self._taken.source, _summary(self._taken))
        if is_whole:
            file = self._candidate.file
            self._taken.size, self._taken.mtime_ns, self._taken.inode = file.size, file.mtime_ns, file.inode
        self._taker.know(self._taken)
        return self._outcome

    def _take_beside(self) -> None:
        beside = files.sidecar(self._candidate.file.path)
        found = digest(beside.text.encode()) if beside is not None else None
        if beside is not None and found != self._taken.beside:
            self._taken.beside = found
            self._lines.append({"offset": beside.offset, "length": beside.length, "text": beside.text})

    def _take(self, piece: Piece) -> None:
        if piece.length:
            line: dict[str, Any] = {"offset": piece.offset, "length": piece.length, "text": piece.text}
            self._lines.append(line | {"part": self._part, "more": piece.has_more} if _is_cut(piece) else line)
            self._hash.update(piece.text.encode())
            self._size += min(piece.length, files.LONGEST_PIECE)
            self._outcome.damaged += piece.is_damaged
            if piece.length <= files.LONGEST_PIECE or self._candidate.format.is_document:
                self._texts.append(piece.text)
        self._part += 1
        if piece.has_more:
            return
        if piece.length:
            self._finish(piece)
        self._taken.source = msgspec.structs.replace(self._taken.source, reached=piece.end)
        self._part, self._texts = 0, []

    def _finish(self, piece: Piece) -> None:
        about, text = self._candidate.format, "".join(self._texts)
        glances.take(self._facts, about.name, text)
        if not about.is_document and glances.is_broken(about.name, text):
            path = self._candidate.file.path
            self._outcome.broken.append(f"{path}:{files.line_number(path, piece.offset)}")
        self._counted += 1
        self._outcome.bytes += piece.end - piece.offset
        self._taken.tail_offset, self._taken.tail_length = piece.offset, piece.length
        self._taken.tail = self._hash.hexdigest()
        self._hash = hashlib.blake2b(digest_size=DIGEST_BYTES)

    def _flush(self, *, is_line_whole: bool) -> None:
        """Send what waits. The ledger knows of whole lines that were answered, and of nothing else."""
        if not self._lines:
            return
        if not self._is_open:
            if not self._before:
                # The first lines say more than the glance at them, if they are long.
                self._taken.source = msgspec.structs.replace(
                    self._taken.source,
                    native_session=self._facts.session,
                    native_thread=self._facts.thread,
                    client=self._candidate.format.client or self._facts.client,
                )
            self._taker.state(OPEN, self._taken.source, _about(self._taken.source))
            self._is_open = True
        answer = self._taker.send(self._taken.source, self._lines, self._size)
        self._outcome.redactions.update(answer.get("redactions", {}))
        self._outcome.lines += self._counted
        self._lines, self._size, self._counted = [], 0, 0
        if is_line_whole:
            self._describe()
            self._taker.know(msgspec.structs.replace(self._taken, is_cut=True))

    def _describe(self) -> None:
        found = self._facts
        self._taken.redactions = dict(self._masked_before + self._outcome.redactions)
        self._taken.source = msgspec.structs.replace(
            self._taken.source,
            lines=self._before + self._outcome.lines,
            messages=found.messages,
            first_at=found.first_at,
            last_at=found.last_at or self._candidate.file.mtime_ns,
            title=glances.shorten(redactor()(found.title)) if found.title is not None else None,
            folder=safe_folder(found.folder),
        )


def _is_cut(piece: Piece) -> bool:
    return piece.length > files.LONGEST_PIECE


def _already(candidate: Candidate, taken: Taken) -> tuple[Facts, int]:
    """What the lines that were taken in say, and how many there are; if nobody knows, they are read again."""
    about, path, known = candidate.format, candidate.file.path, candidate.known
    if known is not None and candidate.state in (State.GROWN, State.TAKEN) and not known.is_cut:
        return facts_of(known), known.source.lines
    found, count = glances.of_path(about.name, path), 0
    if taken.source.reached and not about.is_document:
        for piece in files.pieces(path):
            if piece.offset >= taken.source.reached:
                break
            if piece.length and not _is_cut(piece):
                glances.take(found, about.name, piece.text)
            count += bool(piece.length) and not piece.has_more
    return found, count


def begin(candidate: Candidate, *, keep: bool) -> Taken:
    """What is known of a log before more of it is taken in; one that was rewritten begins anew."""
    known = candidate.known
    if known is not None and candidate.state in (State.GROWN, State.TAKEN):
        return msgspec.structs.replace(known, is_cut=False)
    generation = 1 if known is None else known.source.generation + (candidate.state is State.REWRITTEN)
    about, path = candidate.format, str(candidate.file.path)
    return Taken(
        source=Source(
            id=source_id(about.name, path, generation),
            format=about.name,
            client=about.client or candidate.facts.client,
            path=path,
            generation=generation,
            native_session=candidate.facts.session,
            native_thread=candidate.facts.thread,
            is_kept=keep,
            is_document=about.is_document,
        )
    )


def _about(source: Source) -> dict[str, Any]:
    """What an `import.open` says."""
    return {
        "format": source.format,
        "client": source.client,
        "path": source.path,
        "native_session": source.native_session,
        "native_thread": source.native_thread,
        "generation": source.generation,
        "document": source.is_document,
    }


def _summary(taken: Taken) -> dict[str, Any]:
    """What an `import.end` says: of all that was taken in, and not of this time alone."""
    source = taken.source
    return {
        "lines": source.lines,
        "bytes": source.reached,
        "first_at": _time(source.first_at),
        "last_at": _time(source.last_at),
        "title": source.title,
        "folder": source.folder,
        "messages": source.messages,
        "redactions": taken.redactions,
    }


def _time(wall: int | None) -> str | None:
    return to_rfc3339(wall) if wall is not None else None
