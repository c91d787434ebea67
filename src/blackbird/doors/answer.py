"""The answer to a call of a tool: values for programs, and the same as text for models."""

from typing import Any

import msgspec

UNKNOWN_TOOL, INVALID_ARGUMENTS = "unknown_tool", "invalid_arguments"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a call comes to. The values of an error are its code, what happened, and what to do about it."""

    values: dict[str, Any]
    text: str
    is_error: bool = False

    @property
    def code(self) -> str | None:
        """What kind of error it is, if it is one."""
        return str(self.values["code"]) if self.is_error else None


def failed(code: str, message: str, remedy: str = "") -> Answer:
    """An answer that is an error."""
    text = f"{code}: {message}" + (f" ({remedy})" if remedy else "")
    return Answer(values={"code": code, "message": message, "remedy": remedy}, text=text, is_error=True)
