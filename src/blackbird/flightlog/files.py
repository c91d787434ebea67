"""Flight logs on disk: the only module here that opens files."""

import contextlib
import datetime as dt
import decimal
import io
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from blackbird.canon.model import Generation, Usage
from blackbird.flightlog import companions
from blackbird.flightlog.entries.line import Line
from blackbird.flightlog.entries.spending import cost_of
from blackbird.flightlog.events import Composer, entries_of, first_model
from blackbird.flightlog.fitting import fit, without_secret_names
from blackbird.flightlog.header import header_of
from blackbird.flightlog.moments import first_of, last_of, moment, stamp
from blackbird.timeline.timeline import Timeline
from blackbox import disk
from blackbox.errors import UsageError
from blackbox.formats.convert import COMPANION, LOG
from blackbox.redaction.config import load_redactor
from blackbox.redaction.redactor import Redactor
from blackbox.write import Writer
from blackbox.write.header import HeaderFields
from blackbox.write.scalars import MetaFields
from blackbox.write.sink import Stream

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Written(NamedTuple):
    """The files of a session, how many entries they have, and the secrets that are hidden in them, by kind."""

    files: tuple[Path, ...]
    entries: int
    redactions: dict[str, int]


class FlightLog:
    """A flight log while it is written. Times are those of the session, never the clock's."""

    def __init__(self, log: Writer, redactor: Redactor, *, keeps: bool) -> None:
        self._log = log
        self._redactor = redactor
        self._keeps = keeps
        self.entries = 0

    @classmethod
    def create(
        cls, path: Path, header: HeaderFields, clock: "SessionClock", redactor: Redactor | None = None
    ) -> "FlightLog":
        """A log in a new file, with long results and arguments beside it."""
        log = Writer.create(
            path, clock=clock, steps=False, timestamps=False, start=False, redactor=redactor, **header
        )
        return cls(log, redactor or load_redactor(), keeps=True)

    @classmethod
    def to_stream(
        cls, stream: Stream, header: HeaderFields, clock: "SessionClock", redactor: Redactor | None = None
    ) -> "FlightLog":
        """A log with everything in its lines."""
        log = Writer(stream, clock=clock, steps=False, timestamps=False, start=False, redactor=redactor, **header)
        return cls(log, redactor or load_redactor(), keeps=False)

    @property
    def redactions(self) -> dict[str, int]:
        """How many secrets of each kind are hidden in it."""
        return self._log.redactions

    def start(self, name: str, at: int | None) -> None:
        """`@start`."""
        meta: MetaFields = {"id": name, "step": 1, **_when(at)}
        self._log.start(**meta)

    def write(self, lines: Iterable[Line]) -> None:
        """Entries in their order."""
        for line in lines:
            event = without_secret_names(line.event, self._clean)
            event = fit(event, self._keep) if self._keeps else event
            self._log.append(event, **line.meta)
            self.entries += 1

    def note(self, text: str) -> None:
        """`# notes: …`."""
        self._log.note(text)

    def close(self, timeline: Timeline) -> None:
        """`@end` and the closing line."""
        ended = timeline.about.ended if timeline.about.ended is not None else last_of(timeline)
        usage, cost = _used(timeline)
        meta: MetaFields = _when(ended)
        if usage is not None:
            meta |= {"tokens_in": usage.prompt, "tokens_out": usage.output, "tokens_cached": usage.cache_read}
        self._log.close(
            summary=_summary(timeline), tokens=None if usage is None else usage.total, cost=cost, meta=meta
        )

    def _clean(self, text: str) -> str:
        return self._redactor.redact(text).text

    def _keep(self, text: str) -> str:
        return self._log.blob(text.encode(errors="surrogatepass"), "text/plain").text


class SessionClock:
    """The time within a session: when it began, until it is told that it ended."""

    def __init__(self, timeline: Timeline) -> None:
        self._now = moment(first_of(timeline)) or _EPOCH

    def end(self, timeline: Timeline) -> None:
        """The session is over."""
        self._now = moment(timeline.about.ended) or moment(last_of(timeline)) or self._now

    def __call__(self) -> dt.datetime:
        return self._now


def write_bbox(timeline: Timeline, path: Path, *, force: bool = False, redactor: Redactor | None = None) -> Written:
    """The session as one `.bbox`, with `.bbox-blobs/` beside it. The file appears under its name when it is whole."""
    check_free([path], force=force)
    disk.make_folder(path.parent)
    rough = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    clock = SessionClock(timeline)
    with contextlib.ExitStack() as undo:
        undo.callback(rough.unlink, missing_ok=True)
        log = FlightLog.create(rough, header_of(timeline, form="bbox"), clock, redactor)
        _fill(log, timeline, clock, entries_of(timeline))
        _rename(rough, path)
        undo.pop_all()
    return Written((path,), log.entries, log.redactions)


def bbox_bytes(timeline: Timeline, redactor: Redactor | None = None) -> bytes:
    """The session as one `.bbox` with everything in its lines."""
    return bytes_of(timeline, entries_of(timeline), redactor)


def bytes_of(timeline: Timeline, lines: Iterable[Line], redactor: Redactor | None = None) -> bytes:
    """The same from entries that are at hand."""
    return _in_memory(timeline, header_of(timeline, form="bbox"), lines, redactor)[0]


def write_rlog(timeline: Timeline, path: Path, *, force: bool = False, redactor: Redactor | None = None) -> Written:
    """The session as `.rlog` for people and `.jsonl` with everything, and a `.jsonl` for each sub-agent."""
    composer = Composer(timeline.threads, timeline.about.mcp, model=first_model(timeline.items), apart=True)
    lines = [*composer.feed(timeline.items), *composer.close()]
    logs = composer.logs
    main = [line for line in lines if line.thread not in logs]
    header = header_of(timeline, form="rlog")
    data, log = _in_memory(timeline, header, main, redactor)
    texts = companions.pair(data)
    found = {path.with_suffix(LOG): texts.log, path.with_suffix(COMPANION): texts.companion}
    entries = log.entries
    hidden = dict(log.redactions)
    for thread, agent in logs.items():
        about = companions.subagent_header(header, agent, logs.get(agent.parent))
        own = [line for line in lines if line.thread == thread]
        data, log = _in_memory(timeline, about.fields, own, redactor, is_main=False)
        found[path.with_name(f"{path.stem}.sub-{agent.id}{COMPANION}")] = companions.subagent(data, about)
        entries += log.entries
        for kind, count in log.redactions.items():
            hidden[kind] = hidden.get(kind, 0) + count
    check_free(found, force=force)
    disk.make_folder(path.parent)
    for file, text in found.items():
        disk.write_once(file, text.encode(errors="surrogateescape"), sync=False)
    return Written(tuple(found), entries, hidden)


def check_free(paths: Iterable[Path], *, force: bool) -> None:
    """Refuse to write over a file unless that is asked for."""
    for path in paths:
        if path.is_dir():
            raise UsageError(f"{path} is a folder", "name a file, or the folder with a `/` behind it")
        if not force and os.path.lexists(path):
            raise UsageError(f"{path}: there is such a file already", "choose another name, or add --force")


def _in_memory(
    timeline: Timeline,
    header: HeaderFields,
    lines: Iterable[Line],
    redactor: Redactor | None,
    *,
    is_main: bool = True,
) -> tuple[bytes, FlightLog]:
    stream = io.BytesIO()
    clock = SessionClock(timeline)
    log = FlightLog.to_stream(stream, header, clock, redactor)
    if is_main:
        _fill(log, timeline, clock, lines)
    else:
        log.write(lines)
    return stream.getvalue(), log


def _fill(log: FlightLog, timeline: Timeline, clock: SessionClock, lines: Iterable[Line]) -> None:
    begin(log, timeline)
    log.write(lines)
    finish(log, timeline, clock)


def begin(log: FlightLog, timeline: Timeline) -> None:
    """`@start`."""
    log.start(header_of(timeline, form="bbox")["id"], first_of(timeline))


def finish(log: FlightLog, timeline: Timeline, clock: SessionClock) -> None:
    """The end of a log: what is to be known of its cost, `@end`, and the closing line."""
    if timeline.spent.unknown:
        names = ", ".join(timeline.spent.unknown)
        log.note(f"no price is known for {names}: what they cost is in no figure here")
    clock.end(timeline)
    log.close(timeline)


def _used(timeline: Timeline) -> tuple[Usage | None, decimal.Decimal | None]:
    """What all responses used and cost, as far as they say and their models have a price."""
    usage: Usage | None = None
    cost: decimal.Decimal | None = None
    for item in timeline.items:
        if isinstance(item, Generation):
            spent = cost_of(item)
            usage = usage if item.usage is None else (usage or Usage()) + item.usage
            cost = cost if spent is None else (cost or decimal.Decimal(0)) + spent
    return usage, cost


def _summary(timeline: Timeline) -> str | None:
    """In a few words: what it was about, and how its last run ended."""
    about = timeline.about
    words = [about.title] if about.title else []
    if about.is_active:
        words.append("still running when this was written")
    elif about.signal is not None:
        words.append(f"ended by {about.signal}")
    elif about.exit_code is not None:
        words.append(f"ended with exit code {about.exit_code}")
    return "; ".join(words) or None


def _when(at: int | None) -> MetaFields:
    text = stamp(at)
    return {} if text is None else {"ts": text}


def _rename(rough: Path, path: Path) -> None:
    try:
        rough.replace(path)
    except OSError as error:
        raise disk.write_error(path, error) from error
