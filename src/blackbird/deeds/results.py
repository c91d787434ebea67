"""How a tool call ended: by what the protocol says, else by what the client's own log adds."""

from blackbird.canon import details
from blackbird.canon.model import ToolResult


def exit_code(result: ToolResult) -> int | None:
    """The exit code, if it is known."""
    code = result.details.get("exit_code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def is_error(result: ToolResult) -> bool:
    """Whether it failed, by what the protocol says or else by its exit code."""
    return result.error if result.error is not None else bool(exit_code(result))


def is_refused(result: ToolResult) -> bool:
    """Whether the user did not let it happen."""
    return result.details.get("is_rejected") is True or details.says_refused(result.text)


def is_interrupted(result: ToolResult) -> bool:
    """Whether the tool was stopped."""
    return result.details.get("is_interrupted") is True
