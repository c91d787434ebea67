"""Ids that users give, checked; apart from the commands, since `run` reads its arguments without their machinery."""

from blackbird.recorder import names
from blackbox.errors import UsageError
from blackbox.terminal.output import printable


def check_id(option: str, text: str | None) -> str | None:
    """An id that a user gave, if one was."""
    if text is None or names.is_name(text):
        return text
    raise UsageError(f"{option}: `{printable(text)}` is no id", names.REMEDY)
