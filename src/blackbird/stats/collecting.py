"""Reads what figures are made of: the memory, how far the trace is, and the answers that are kept. Writes nothing."""

import itertools
import time
from collections import Counter
from pathlib import Path

from blackbird import usage
from blackbird.artifacts.note import Note
from blackbird.home import Home
from blackbird.sessions.follow import Follower
from blackbird.stats import prometheus as text_format
from blackbird.stats.figures import Figures, Holdings, Lag, figures
from blackbird.store.memory import Memory, Reader
from blackbird.store.values import Mark
from blackbird.trace.folder import Trace
from blackbird.trace.synced import Synced
from blackbox.errors import BlackboxError

_SECOND = 1_000_000_000


def collect(home: Home, session: str | None = None) -> Figures:
    """The figures of a home; with a session, its answers and what it spent. Nothing is derived for it.

    Raises `MemoryDamaged` if the memory cannot be read.
    """
    with Reader(home.derived) as reader:
        memory = reader.memory
        mark = memory.mark() if memory is not None else None
        notes = memory.notes() if memory is not None else {}
        holdings = _holdings(home, memory, session)
    chosen: list[Note] = [note for name, note in notes.items() if session in (None, name)]
    uses = [use for use in usage.read(home) if session in (None, use.session)]
    return figures(lag(home, mark), holdings, uses, chosen)


def prometheus(home: Home) -> str:
    """The figures of a home for Prometheus; a memory that cannot be read is told as such, and fails nothing."""
    try:
        return text_format.render(collect(home))
    except BlackboxError:
        return text_format.unreadable()


def lag(home: Home, mark: Mark | None) -> Lag:
    """How far a memory is behind what is on the disk of the trace."""
    trace = Trace(home.trace)
    synced = trace.synced()
    have = mark.sequence if mark is not None else 0
    if synced is not None and synced.sequence <= have:
        return Lag()
    since = Synced(mark.segment, mark.sequence, mark.offset) if mark is not None else None
    first = next(iter(trace.places()), None)
    with Follower.since(home.trace, since, segment=first.number if first else 1, bodies=False) as follower:
        news = follower.read()
        oldest = next(news, None)
        if oldest is None:
            return Lag()
        # A trace that nothing is known of the disk of counts as far as it can be read.
        count = synced.sequence - have if synced is not None else 1 + sum(1 for _ in news)
    return Lag(records=count, seconds=max(0.0, (time.time_ns() - oldest.wall) / _SECOND))


def _holdings(home: Home, memory: Memory | None, session: str | None) -> Holdings:
    size = _size(home.derived)
    if memory is None:
        return Holdings(bytes=size)
    if session is None:
        count, artifacts = len(memory.sessions()), memory.counts()
    else:
        kinds = sorted(str(stored.artifact.type) for stored in memory.find(session=session))
        count, artifacts = 1, dict(Counter(kinds))
    findings = len(memory.findings(session))
    return Holdings(bytes=size, sessions=count, artifacts=artifacts, findings=findings, builder=memory.builder)


def _size(folder: Path) -> int:
    """What the memory's files take; one that goes while it is measured counts as nothing."""
    total = 0
    for path in itertools.chain(folder.glob("memory-*"), folder.glob("packs/**/*")):
        try:
            about = path.lstat()
        except OSError:
            continue
        total += about.st_size
    return total
