"""What is known of sessions and their plans: the notes of the memory, brought up to the trace first."""

import time
from collections.abc import Callable, Iterable, Mapping

from blackbird.artifacts.build import builder_version
from blackbird.artifacts.note import Note
from blackbird.errors import MemoryBusy, MemoryDamaged, NotFound
from blackbird.home import Home
from blackbird.store.memory import Reader
from blackbird.trace.folder import Trace
from blackbox.errors import UsageError

#: How long one waits for whoever else keeps the memory up to the trace.
_PATIENCE_SECONDS = 3.0
_PAUSE_SECONDS = 0.05
VARIABLE = "BLACKBIRD_SESSION"

Tell = Callable[[int, int], None]


def notes(home: Home, tell: Tell | None = None) -> dict[str, Note]:
    """The note of each session, as of now; if another process is at it and slow, as far as that is."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while _is_behind(home):
        # What derives takes longer to load than a look at what is there already.
        from blackbird import derive  # noqa: PLC0415

        try:
            derive.catch_up(home, tell)
            break
        except MemoryBusy:
            if time.monotonic() >= end:
                break
            time.sleep(_PAUSE_SECONDS)
    with Reader(home.derived) as reader:
        return reader.memory.notes() if reader.memory is not None else {}


def current(known: Mapping[str, Note], environ: Mapping[str, str]) -> str | None:
    """The session that is meant if none is named: that of this process, else the newest that was opened by hand.

    One that is over is not meant.
    """
    if environ.get(VARIABLE):
        return environ[VARIABLE]
    opened = [(note.opened, name) for name, note in known.items() if note.opened is not None and note.closed is None]
    return max(opened)[1] if opened else None


def with_task(known: Mapping[str, Note], task: str, session: str | None) -> str:
    """The session that has a task: the one that is meant if it has, else the only one.

    Raises `NotFound` if there is none, and `UsageError` if several have such a task.
    """
    having = [name for name, note in known.items() if any(one.id == task for one in note.plan)]
    if session in having:
        return session
    if len(having) == 1:
        return having[0]
    if having:
        raise UsageError(f"the sessions {_listed(having)} have a task {task}", "add --session ID")
    raise NotFound(f"there is no task {task}", "blackbird task list shows those of a session")


def _is_behind(home: Home) -> bool:
    """Whether the trace may have more than the memory; a memory of another builder has less than it should."""
    synced = Trace(home.trace).synced()
    try:
        with Reader(home.derived) as reader:
            memory = reader.memory
            mark = memory.mark() if memory is not None and memory.fits(builder_version()) else None
    except MemoryDamaged:
        return True
    return mark is None or synced is None or mark.sequence != synced.sequence


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)[:5])
