"""What is known of sessions and their plans: the notes of the memory, and which session is meant."""

import time
from collections.abc import Iterable, Mapping

from blackbird.artifacts.note import Note
from blackbird.errors import MemoryBusy, NotFound
from blackbird.home import Home
from blackbird.recall import Recall
from blackbird.store.memory import Memory
from blackbird.trace.folder import Trace
from blackbox.errors import UsageError

#: How long one waits for whoever else keeps the memory up to the trace.
_PATIENCE_SECONDS = 3.0
_PAUSE_SECONDS = 0.05
VARIABLE = "BLACKBIRD_SESSION"


def notes(recall: Recall, home: Home) -> dict[str, Note]:
    """The note of each session, as of now; if another process is at it and slow, as far as that is."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            found, is_behind = recall.ask(lambda memory: (memory.notes(), _is_behind(memory, home)))
        except MemoryBusy:
            # Another process makes the first memory of this home.
            if time.monotonic() >= end:
                raise
        else:
            if not is_behind or time.monotonic() >= end:
                return found
        time.sleep(_PAUSE_SECONDS)


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


def _is_behind(memory: Memory, home: Home) -> bool:
    """Whether the trace has more on the disk than the memory."""
    synced, mark = Trace(home.trace).synced(), memory.mark()
    return synced is not None and (mark is None or mark.sequence < synced.sequence)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)[:5])
