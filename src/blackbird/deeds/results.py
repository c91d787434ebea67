"""How a tool call ended: by what the protocol says, else by what the client's own log adds."""

from blackbird.canon.model import ToolResult


def exit_code(result: ToolResult) -> int | None:
    """The exit code, if it is known."""
    code = result.details.get("exit_code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def is_error(result: ToolResult) -> bool:
    """Whether it failed, by what the protocol says or else by its exit code."""
    return result.error if result.error is not None else bool(exit_code(result))


#: How clients tell an agent that its user did not let a call happen, where nothing but the words says so.
_REFUSALS = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "[Request interrupted by user",
)


def is_refused(result: ToolResult) -> bool:
    """Whether the user did not let it happen."""
    return result.details.get("is_rejected") is True or result.text.lstrip().startswith(_REFUSALS)


def is_interrupted(result: ToolResult) -> bool:
    """Whether the tool was stopped."""
    return result.details.get("is_interrupted") is True
