"""The names of a session's files: a folder a day, and the time and the task in each name."""

import datetime as dt
import re
import unicodedata

from blackbox.errors import UsageError

_LONGEST = 40
_WORD = re.compile(r"[a-z0-9]+")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def slug(task: str) -> str:
    """A task as part of a name: `fix-the-login-bug`."""
    plain = unicodedata.normalize("NFKD", task).encode("ascii", "ignore").decode().lower().replace("'", "")
    name = ""
    for word in _WORD.findall(plain):
        longer = f"{name}-{word}" if name else word[:_LONGEST]
        if len(longer) > _LONGEST:
            break
        name = longer
    return name or "session"


def day(when: dt.datetime) -> str:
    """The folder of a day: `20251222`."""
    return when.strftime("%Y%m%d")


def stem(when: dt.datetime, task: str, number: int = 1) -> str:
    """`123456-fix-the-login-bug`, and `…-2` for the second of that name."""
    return f"{when.strftime('%H%M%S')}-{slug(task)}" + (f"-{number}" if number > 1 else "")


def session_id(when: dt.datetime, name: str) -> str:
    """The id of the session whose files have this name: `20251222-123456-fix-the-login-bug`, new every day."""
    return f"{day(when)}-{name}"


def check_id(given: str) -> str:
    """The id of a sub-agent, which becomes part of a file's name."""
    if not _ID.fullmatch(given):
        raise UsageError(f"id {given[:80]!r} cannot be part of a file's name", "use letters, digits, `_` and `-`")
    return given
