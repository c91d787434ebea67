"""Which session an id means: its own, a run's or a client's, whole or by its start."""

import difflib
from collections.abc import Sequence

from blackbird.errors import NotFound
from blackbird.sessions import rows, view
from blackbird.sessions.rows import Row
from blackbox.errors import UsageError

NOTHING_YET = (
    "Nothing is recorded yet. `blackbird run -- AGENT` runs an agent, recorded; `blackbird up` the recorder alone; "
    "`blackbird import` takes in what agents have on disk."
)
_HINTS = 5
_LEAST_PREFIX = 4


def choose(known: Sequence[Row], text: str | None) -> Row:
    """The session that is meant; without an id the newest that somebody is named for."""
    if not known:
        raise NotFound("there is no session yet", NOTHING_YET)
    if text is None:
        return next((row for row in known if row.filing != rows.UNATTRIBUTED), known[0])
    found = rows.find(known, text)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(dict.fromkeys(view.name_of(row) for row in found[:_HINTS]))
        raise UsageError(
            f"{_shown(text)} stands for {len(found)} sessions: {_shown(names)}", "give more of its characters"
        )
    raise NotFound(f"there is no session {_shown(text)}", _hint(known, text))


def _hint(known: Sequence[Row], text: str) -> str:
    """Ids that are near; without such, the newest sessions."""
    names = list(dict.fromkeys(name for row in known for name in rows.names_of(row)))
    near = difflib.get_close_matches(text, names, _HINTS)
    for length in range(len(text) - 1, _LEAST_PREFIX - 1, -1):
        near = near or [name for name in names if name.startswith(text[:length])][:_HINTS]
    if near:
        return _shown(f"near it: {', '.join(near)}")
    newest = ", ".join(view.name_of(row) for row in known[:_HINTS])
    return _shown(f"the newest are {newest}; blackbird sessions lists all")


def _shown(text: str) -> str:
    """An id as a message may hold it: what would steer a terminal is spelled out."""
    return text if text.isprintable() else ascii(text)
