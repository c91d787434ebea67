"""Ids that users give, checked; apart from the commands, since `run` reads its arguments without their machinery."""

import re

from blackbox.errors import UsageError
from blackbox.terminal.output import printable

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def check_id(option: str, text: str | None) -> str | None:
    """An id that a user gave, if one was: it becomes part of a path, where `.` and `..` mean something else."""
    if text is None or (_ID.fullmatch(text) and text not in (".", "..")):
        return text
    raise UsageError(
        f"{option}: `{printable(text)}` is no id", "use 1 to 64 letters, digits and . _ - (and not dots alone)"
    )
