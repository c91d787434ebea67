"""The words that can be ids of sessions, tasks and runs: those that the recorder takes."""

import re

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
#: What to say of a word that is none.
REMEDY = "use 1 to 64 letters, digits and . _ - (and not dots alone)"


def is_name(text: str) -> bool:
    """Whether a word can be an id: it becomes part of a path, where `.` and `..` mean something else."""
    return _NAME.fullmatch(text) is not None and text not in (".", "..")
